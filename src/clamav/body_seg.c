/* SPDX-License-Identifier: MIT */
/* Segments of the body that is read: their bytes, and the rarest literal in them. */
#include <ctype.h>
#include <string.h>

#include "base/hex.h"
#include "clamav/body_internal.h"

enum {
    SEG_MAX = UINT16_MAX, /* bytes of a segment, and its elements */
    KEY_MAX = 24,         /* bytes of a literal for the matcher */
    SEGS_MAX = 1024       /* of a body */
};

/* ---- cells ----------------------------------------------------------------------------------- */

enum clam_taken body_add_cell(struct body *body, struct body_cell cell)
{
    if (body->cells.n >= SEG_MAX)
        return clam_bad(body->set, "the body is too long");
    struct body_cell *room = clam_grow(&body->cells, sizeof cell, 1);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    *room = cell;
    return CLAM_TAKEN;
}

struct body_cell body_folded(const struct body *body, struct body_cell cell)
{
    if ((body->options & CLAM_NOCASE) != 0 && cell.mask == 0xFF && isalpha(cell.value)) {
        cell.mask = 0xDF;
        cell.value &= 0xDF;
    }
    return cell;
}

/* Two characters as a cell. False: they are none. */
bool body_read_cell(struct clam_text *text, struct body_cell *cell)
{
    if (text->len < 2)
        return false;
    *cell = (struct body_cell){0, 0};
    for (int i = 0; i < 2; i++) {
        const int digit = hex_digit(text->at[i]);
        const int shift = i == 0 ? 4 : 0;

        if (digit < 0 && text->at[i] != '?')
            return false;
        if (digit >= 0) {
            cell->value |= (uint8_t)(digit << shift);
            cell->mask |= (uint8_t)(0xF << shift);
        }
    }
    text->at += 2;
    text->len -= 2;
    return true;
}

/* ---- elements -------------------------------------------------------------------------------- */

enum clam_taken body_put_pool(struct body *body, uint32_t begin, uint32_t len, bool masks,
                              uint32_t *index)
{
    const struct body_cell *cells = (const struct body_cell *)body->cells.at + begin;
    uint8_t *bytes = clam_push(body->set, CLAM_A_BYTES, len, index);

    if (bytes == NULL)
        return CLAM_NO_MEMORY;
    for (uint32_t i = 0; i < len; i++)
        bytes[i] = masks ? cells[i].mask : cells[i].value;
    return CLAM_TAKEN;
}

/* A run of cells without wildcards, or of nibbles and folded letters with no two wildcards beside
 * each other. */
static enum clam_taken put_run(struct body *body, uint32_t begin, uint32_t end, bool exact)
{
    uint32_t index;
    struct clam_elem *elem = clam_push(body->set, CLAM_A_ELEMS, 1, &index);
    struct clam_elem run = {.kind = exact ? CLAM_EXACT : CLAM_MASKED,
                            .at = (uint16_t)begin,
                            .len = (uint16_t)(end - begin)};

    if (elem == NULL)
        return CLAM_NO_MEMORY;
    enum clam_taken taken = body_put_pool(body, begin, run.len, false, &run.bytes);
    if (taken == CLAM_TAKEN && !exact)
        taken = body_put_pool(body, begin, run.len, true, &run.masks);
    ((struct clam_elem *)body->set->records[CLAM_A_ELEMS].at)[index] = run;
    return taken;
}

static enum clam_taken put_runs(struct body *body)
{
    const struct body_cell *cells = (const struct body_cell *)body->cells.at;
    const uint32_t n = body_here(body);
    enum clam_taken taken = CLAM_TAKEN;

    for (uint32_t i = 0; i < n && taken == CLAM_TAKEN;) {
        const uint32_t begin = i;
        const bool exact = cells[i].mask == 0xFF;

        while (i < n && (cells[i].mask == 0xFF) == exact && (exact || cells[i].mask != 0))
            i++;
        if (i > begin)
            taken = put_run(body, begin, i, exact);
        else
            i++; /* any byte */
    }
    return taken;
}

/* ---- literals -------------------------------------------------------------------------------- */

/* The information of a byte behind another, in bits: a model of programs and texts. Their frequent
 * bytes (zeros, fillers, letters) have little. */
static float bits_of(uint8_t byte, int before)
{
    float bits = 7.0F;

    if (byte == before)
        return 1.0F;
    if (byte == 0x00)
        bits = 1.5F;
    else if (byte == 0xFF)
        bits = 2.5F;
    else if (byte == 0x20 || byte == 0x90 || byte == 0xCC)
        bits = 3.5F;
    else if (islower(byte))
        bits = 4.0F;
    else if (isalnum(byte) || byte == 0x8B || byte == 0x48 || byte == 0x89)
        bits = 4.5F;
    else if (byte < 0x10 || ispunct(byte))
        bits = 5.5F;
    return bits;
}

/* The rarest literal of the cells from begin to end, all of which are fixed but for case. */
static void choose_key(const struct body_cell *cells, uint32_t begin, uint32_t end,
                       struct clam_seg *seg)
{
    float bits = 0;
    uint32_t from = begin;

    for (uint32_t i = begin; i < end; i++) {
        if (i - from == KEY_MAX) {
            bits -= bits_of(cells[from].value, -1);
            from++;
            /* The information of the new first byte does not depend on the byte before it. */
            bits +=
                bits_of(cells[from].value, -1) - bits_of(cells[from].value, cells[from - 1].value);
        }
        bits += bits_of(cells[i].value, i > from ? cells[i - 1].value : -1);
        if (bits > seg->key_bits) {
            seg->key_bits = bits;
            seg->key_at = (uint16_t)from;
            seg->key_len = (uint16_t)(i + 1 - from);
        }
    }
}

/* Whether the bytes of the literal lie in those of one element. */
static bool key_is_there(const struct body *body, struct clam_seg *seg)
{
    const struct clam_elem *elems = (const struct clam_elem *)body->set->records[CLAM_A_ELEMS].at;

    for (uint32_t e = seg->elems; e < clam_count(body->set, CLAM_A_ELEMS); e++)
        if (elems[e].kind <= CLAM_MASKED && elems[e].at <= seg->key_at &&
            seg->key_at + seg->key_len <= elems[e].at + elems[e].len) {
            seg->key = elems[e].bytes + (uint32_t)(seg->key_at - elems[e].at);
            return true;
        }
    return false;
}

static enum clam_taken put_key(struct body *body, struct clam_seg *seg)
{
    const struct body_cell *cells = (const struct body_cell *)body->cells.at;
    const uint32_t n = body_here(body);

    for (uint32_t i = 0; i < n;) {
        const uint32_t begin = i;

        while (i < n && (cells[i].mask == 0xFF || cells[i].mask == 0xDF))
            i++;
        choose_key(cells, begin, i, seg);
        i += i == begin;
    }
    for (uint32_t i = seg->key_at; i < (uint32_t)seg->key_at + seg->key_len; i++)
        seg->key_case |= cells[i].mask == 0xDF;
    return seg->key_len == 0 || key_is_there(body, seg)
               ? CLAM_TAKEN
               : body_put_pool(body, seg->key_at, seg->key_len, false, &seg->key);
}

/* ---- segments -------------------------------------------------------------------------------- */

enum clam_taken body_append_seg(struct body *body, const struct clam_seg *seg)
{
    uint32_t index;

    if (body->n_segs == SEGS_MAX)
        return clam_bad(body->set, "the body has too many parts");
    struct clam_seg *room = clam_push(body->set, CLAM_A_SEGS, 1, &index);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    *room = *seg;
    if (body->seg_begins_part)
        body->last_part = body->n_segs;
    body->groups += body->n_segs == 0 || seg->gap_max == CLAM_UNBOUNDED;
    body->n_segs++;
    body->seg_begins_part = false;
    body->gap_min = body->gap_max = 0;
    return CLAM_TAKEN;
}

/* Most segments are bytes, and no more: these need no element. */
static void drop_lone_elem(struct body *body, struct clam_seg *seg)
{
    const struct clam_elem *elem =
        (const struct clam_elem *)body->set->records[CLAM_A_ELEMS].at + seg->elems;

    if (seg->n_elems == 1 && elem->kind == CLAM_EXACT && elem->len == seg->len) {
        seg->elems = elem->bytes;
        seg->n_elems = 0;
        body->set->records[CLAM_A_ELEMS].n--;
    }
}

/* Ends the segment being read, if there is one. */
enum clam_taken body_end_segment(struct body *body)
{
    struct clam_seg seg = {.gap_min = body->gap_min, .gap_max = body->gap_max};
    uint32_t index;

    if (body->cells.n == 0 && body->extra.n == 0)
        return CLAM_TAKEN;
    seg.elems = clam_count(body->set, CLAM_A_ELEMS);
    enum clam_taken taken = put_runs(body);
    if (taken != CLAM_TAKEN)
        return taken;
    if (body->extra.n > (size_t)(SEG_MAX - body_here(body)))
        return clam_bad(body->set, "the body is too long");
    if (body->extra.n > 0) {
        void *room = clam_push(body->set, CLAM_A_ELEMS, body->extra.n, &index);

        if (room == NULL)
            return CLAM_NO_MEMORY;
        memcpy(room, body->extra.at, body->extra.n * sizeof(struct clam_elem));
    }
    seg.n_elems = (uint16_t)(clam_count(body->set, CLAM_A_ELEMS) - seg.elems);
    seg.len = seg.len_max = (uint16_t)body_here(body);
    taken = put_key(body, &seg);
    drop_lone_elem(body, &seg);
    if (taken == CLAM_TAKEN)
        taken = body_append_seg(body, &seg);
    body->cells.n = 0;
    body->extra.n = 0;
    return taken;
}

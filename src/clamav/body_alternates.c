/* SPDX-License-Identifier: MIT */
/* Blocks of the body that is read: alternates, and classes of bytes. */
#include <ctype.h>
#include <string.h>

#include "clamav/body_internal.h"

enum { ALTS_MAX = 4096 /* alternates in one block */ };

/* Whether not all bits of the cells from `begin` on count. */
static bool is_masked(const struct body *body, size_t begin)
{
    const struct body_cell *cells = (const struct body_cell *)body->cells.at;

    for (size_t i = begin; i < body->cells.n; i++)
        if (cells[i].mask != 0xFF)
            return true;
    return false;
}

static enum clam_taken read_alternate(struct body *body, struct clam_text text)
{
    struct clam_alt alt = {.masks = CLAM_NONE};
    const size_t begin = body->cells.n;
    enum clam_taken taken = CLAM_TAKEN;
    uint32_t index;

    while (text.len > 0 && taken == CLAM_TAKEN) {
        struct clam_text range;
        struct body_cell cell;
        uint32_t n;

        if (text.at[0] == '{') { /* of one length: so many wildcards */
            text.at++;
            text.len--;
            if (!clam_text_cut(&text, '}', &range) || !clam_text_u32(range, 0, &n) ||
                n > BODY_INLINE_MAX)
                return clam_bad(body->set, "alternates hold no ranges but {n}, n below 128");
            for (; n > 0 && taken == CLAM_TAKEN; n--)
                taken = body_add_cell(body, (struct body_cell){0, 0});
            continue;
        }
        if (text.at[0] == '(' || text.at[0] == '!')
            return clam_skip(body->set, "alternates inside alternates are not supported");
        if (!body_read_cell(&text, &cell))
            return clam_bad(body->set, "an alternate is not made of hexadecimal bytes");
        taken = body_add_cell(body, body_folded(body, cell));
        if (taken == CLAM_TAKEN && (body->options & CLAM_WIDE) != 0)
            taken = body_add_cell(body, (struct body_cell){0, 0xFF});
    }
    alt.len = (uint32_t)(body->cells.n - begin);
    if (taken == CLAM_TAKEN && alt.len == 0)
        return clam_bad(body->set, "an alternate is empty");
    if (taken == CLAM_TAKEN)
        taken = body_put_pool(body, (uint32_t)begin, alt.len, false, &alt.bytes);
    if (taken == CLAM_TAKEN && is_masked(body, begin))
        taken = body_put_pool(body, (uint32_t)begin, alt.len, true, &alt.masks);
    body->cells.n = begin;
    if (taken != CLAM_TAKEN)
        return taken;
    struct clam_alt *room = clam_push(body->set, CLAM_A_ALTS, 1, &index);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    *room = alt;
    return CLAM_TAKEN;
}

/* An element of the segment being read. */
static enum clam_taken add_extra(struct body *body, struct clam_elem elem)
{
    struct clam_elem *room = clam_grow(&body->extra, sizeof elem, 1);

    if (room == NULL)
        return CLAM_NO_MEMORY;
    *room = elem;
    for (uint32_t i = 0; i < elem.len; i++) {
        const enum clam_taken taken = body_add_cell(body, (struct body_cell){0, 0});

        if (taken != CLAM_TAKEN)
            return taken;
    }
    return CLAM_TAKEN;
}

/* Alternates of several lengths are a segment of their own. */
static enum clam_taken put_variable(struct body *body, struct clam_elem elem, uint32_t min,
                                    uint32_t max)
{
    struct clam_seg seg = {.n_elems = 1, .len = (uint16_t)min, .len_max = (uint16_t)max};
    enum clam_taken taken = body_end_segment(body);

    if (taken != CLAM_TAKEN)
        return taken;
    seg.gap_min = body->gap_min;
    seg.gap_max = body->gap_max;
    struct clam_elem *room = clam_push(body->set, CLAM_A_ELEMS, 1, &seg.elems);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    elem.kind = CLAM_VARIABLE;
    elem.at = 0;
    *room = elem;
    return body_append_seg(body, &seg);
}

static enum clam_taken put_alternates(struct body *body, uint32_t first, bool negated)
{
    const struct clam_alt *alts = (const struct clam_alt *)body->set->records[CLAM_A_ALTS].at;
    const uint32_t n = clam_count(body->set, CLAM_A_ALTS) - first;
    struct clam_elem elem = {
        .kind = CLAM_ALTS, .negated = negated, .at = (uint16_t)body_here(body)};
    uint32_t min = UINT32_MAX, max = 0;

    if (n > ALTS_MAX)
        return clam_bad(body->set, "a block has more than %d alternates", ALTS_MAX);
    for (uint32_t i = first; i < first + n; i++) {
        min = alts[i].len < min ? alts[i].len : min;
        max = alts[i].len > max ? alts[i].len : max;
    }
    elem.n_alts = (uint16_t)n;
    elem.bytes = first;
    if (min != max && negated)
        return clam_bad(body->set, "alternates of several lengths cannot be negated");
    if (min != max)
        return put_variable(body, elem, min, max);
    elem.len = (uint16_t)min;
    return add_extra(body, elem);
}

static enum clam_taken add_single(struct body *body, uint8_t value)
{
    char text[3];
    const struct clam_text hex = {text, 2};
    const unsigned options = body->options;

    text[0] = "0123456789abcdef"[value >> 4];
    text[1] = "0123456789abcdef"[value & 15];
    body->options = 0;
    const enum clam_taken taken = read_alternate(body, hex);
    body->options = options;
    return taken;
}

/* (B), (L), (W) inside a part: one byte (or a CRLF) of the class. */
static enum clam_taken put_class(struct body *body, char class, bool negated)
{
    const uint32_t first = clam_count(body->set, CLAM_A_ALTS);
    const unsigned options = body->options;
    enum clam_taken taken = CLAM_TAKEN;

    if (class == 'L' && negated)
        return clam_skip(body->set, "!(L) inside a body is not supported");
    for (int byte = 0; byte < 256 && taken == CLAM_TAKEN; byte++)
        if ((class == 'W' && !isalnum(byte)) ||
            (class == 'B' && clam_word_side((uint8_t)byte) != 0))
            taken = add_single(body, (uint8_t)byte);
    if (class == 'L') {
        body->options = 0;
        taken = read_alternate(body, (struct clam_text){"0a", 2});
        if (taken == CLAM_TAKEN)
            taken = read_alternate(body, (struct clam_text){"0d0a", 4});
        body->options = options;
    }
    return taken == CLAM_TAKEN ? put_alternates(body, first, negated) : taken;
}

bool body_part_ends(const struct body *body)
{
    return body->rest.len == 0 || body->rest.at[0] == '*' || body->rest.at[0] == '{';
}

static enum clam_taken read_class(struct body *body, char class, bool negated)
{
    const bool wide = (body->options & CLAM_WIDE) != 0 && class == 'W';
    const enum clam_elem_kind left = class == 'B'   ? CLAM_LEFT_B
                                     : class == 'L' ? CLAM_LEFT_L
                                     : wide         ? CLAM_LEFT_WIDE
                                                    : CLAM_LEFT_W;
    struct clam_elem elem = {.negated = negated, .at = (uint16_t)body_here(body)};

    if (body_part_ends(body)) {
        elem.kind = (uint8_t)(left + (CLAM_RIGHT_B - CLAM_LEFT_B));
        return add_extra(body, elem);
    }
    if (body->part_begins && !negated) { /* negated it takes a byte: libclamav's way */
        elem.kind = (uint8_t)left;
        return add_extra(body, elem);
    }
    return put_class(body, class, negated);
}

/* Behind the opening parenthesis. */
enum clam_taken body_read_block(struct body *body, bool negated)
{
    const uint32_t first = clam_count(body->set, CLAM_A_ALTS);
    struct clam_text block, alternate;
    enum clam_taken taken = CLAM_TAKEN;

    if (memchr(body->rest.at, ')', body->rest.len) == NULL)
        return clam_bad(body->set, "a parenthesis is not closed");
    clam_text_cut(&body->rest, ')', &block);
    if (block.len == 1 && strchr("BLW", block.at[0]) != NULL)
        return read_class(body, block.at[0], negated);
    if (block.len == 0)
        return clam_bad(body->set, "a block is empty");
    do {
        const bool more = clam_text_cut(&block, '|', &alternate);

        taken = read_alternate(body, alternate);
        if (!more)
            break;
    } while (taken == CLAM_TAKEN);
    return taken == CLAM_TAKEN ? put_alternates(body, first, negated) : taken;
}

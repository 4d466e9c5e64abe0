/* SPDX-License-Identifier: MIT */
/* Bodies: offsets, and hexadecimal text with wildcards (ClamAV: BodySignatureFormat). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/hex.h"
#include "clamav/set.h"

enum {
    INLINE_MAX = 127,  /* `{n}` up to here is n wildcards and no border of parts */
    BRACKET_MAX = 32,  /* `[x-y]` */
    SEG_MAX = 1 << 16, /* bytes of a segment */
    ALTS_MAX = 4096,   /* alternates in one block */
    KEY_MAX = 24,      /* bytes of a literal for the matcher */
    SEGS_MAX = 1024    /* of a body */
};

/* ---- offsets --------------------------------------------------------------------------------- */

static bool begins(struct clam_text text, const char *word)
{
    return text.len >= strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}

static bool read_u32(struct clam_text text, size_t from, uint32_t *value)
{
    uint64_t number;

    if (from > text.len)
        return false;
    text.at += from;
    text.len -= from;
    if (!clam_text_number(text, INT32_MAX, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

/* Sx+n, SEx, SL+n. */
static bool read_section(struct clam_text text, struct clam_offset *offset)
{
    struct clam_text section;

    if (begins(text, "SL+")) {
        offset->kind = CLAM_LAST_PLUS;
        return read_u32(text, 3, &offset->offset);
    }
    if (begins(text, "SE")) {
        offset->kind = CLAM_SECTION_WHOLE;
        return read_u32(text, 2, &offset->section);
    }
    offset->kind = CLAM_SECTION_PLUS;
    return clam_text_cut(&text, '+', &section) && read_u32(section, 1, &offset->section) &&
           read_u32(text, 0, &offset->offset);
}

enum clam_taken clam_offset_read(struct sl_clamav_set *set, struct clam_text text, uint8_t target,
                                 struct clam_offset *offset)
{
    struct clam_text place;
    bool good;

    memset(offset, 0, sizeof *offset);
    if (clam_text_is(text, "*"))
        return CLAM_TAKEN;
    if (begins(text, "VI"))
        return clam_skip(set, "offset VI (version information) is not supported");
    if (memchr(text.at, '$', text.len) != NULL)
        return clam_skip(set, "macros are not supported");
    if (clam_text_cut(&text, ',', &place) && !read_u32(text, 0, &offset->shift))
        return clam_bad(set, "the offset's MaxShift is no number");
    if (begins(place, "EOF-")) {
        offset->kind = CLAM_EOF_MINUS;
        good = read_u32(place, 4, &offset->offset);
    } else if (begins(place, "EP+") || begins(place, "EP-")) {
        offset->kind = place.at[2] == '+' ? CLAM_EP_PLUS : CLAM_EP_MINUS;
        good = read_u32(place, 3, &offset->offset);
    } else if (begins(place, "S")) {
        good = read_section(place, offset);
    } else {
        offset->kind = CLAM_ABSOLUTE;
        good = read_u32(place, 0, &offset->offset);
    }
    if (!good)
        return clam_bad(set, "'%.*s' is no offset", (int)(place.len < 64 ? place.len : 64),
                        place.at);
    if (offset->kind >= CLAM_EP_PLUS && !clam_is_executable(target))
        return clam_bad(set, "offset '%.*s' needs target 1, 6 or 9 (PE, ELF, Mach-O)",
                        (int)(place.len < 64 ? place.len : 64), place.at);
    return CLAM_TAKEN;
}

/* ---- the body being read --------------------------------------------------------------------- */

/* A byte at a fixed place in the segment being read. */
struct cell {
    uint8_t value, mask;
};

struct body {
    struct sl_clamav_set *set;
    unsigned options;
    struct clam_text rest;
    struct clam_records cells; /* struct cell: the segment so far */
    struct clam_records extra; /* struct clam_elem: its alternates and borders */
    uint32_t gap_min, gap_max; /* before it */
    bool part_begins;          /* nothing of this part has been read yet */
    bool seg_begins_part;
    uint32_t segs, n_segs, last_part, groups;
};

static uint32_t here(const struct body *body)
{
    return (uint32_t)body->cells.n;
}

static enum clam_taken add_cell(struct body *body, struct cell cell)
{
    if (body->cells.n >= SEG_MAX)
        return clam_bad(body->set, "the body is too long");
    struct cell *room = clam_grow(&body->cells, sizeof cell, 1);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    *room = cell;
    return CLAM_TAKEN;
}

static struct cell folded(const struct body *body, struct cell cell)
{
    if ((body->options & CLAM_NOCASE) != 0 && cell.mask == 0xFF && isalpha(cell.value)) {
        cell.mask = 0xDF;
        cell.value &= 0xDF;
    }
    return cell;
}

/* Two characters as a cell. False: they are none. */
static bool read_cell(struct clam_text *text, struct cell *cell)
{
    if (text->len < 2)
        return false;
    *cell = (struct cell){0, 0};
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

/* ---- segments -------------------------------------------------------------------------------- */

static enum clam_taken put_pool(struct body *body, uint32_t begin, uint32_t len, bool masks,
                                uint32_t *index)
{
    const struct cell *cells = (const struct cell *)body->cells.at + begin;
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
    struct clam_elem run = {.kind = exact ? CLAM_EXACT : CLAM_MASKED, .at = begin};

    if (elem == NULL)
        return CLAM_NO_MEMORY;
    run.len = end - begin;
    enum clam_taken taken = put_pool(body, begin, run.len, false, &run.bytes);
    if (taken == CLAM_TAKEN && !exact)
        taken = put_pool(body, begin, run.len, true, &run.masks);
    ((struct clam_elem *)body->set->records[CLAM_A_ELEMS].at)[index] = run;
    return taken;
}

static enum clam_taken put_runs(struct body *body)
{
    const struct cell *cells = (const struct cell *)body->cells.at;
    const uint32_t n = here(body);
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
static void choose_key(const struct cell *cells, uint32_t begin, uint32_t end, struct clam_seg *seg)
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
            seg->key_at = from;
            seg->key_len = (uint16_t)(i + 1 - from);
        }
    }
}

static enum clam_taken put_key(struct body *body, struct clam_seg *seg)
{
    const struct cell *cells = (const struct cell *)body->cells.at;
    const uint32_t n = here(body);

    for (uint32_t i = 0; i < n;) {
        const uint32_t begin = i;

        while (i < n && (cells[i].mask == 0xFF || cells[i].mask == 0xDF))
            i++;
        choose_key(cells, begin, i, seg);
        i += i == begin;
    }
    for (uint32_t i = seg->key_at; i < seg->key_at + seg->key_len; i++)
        seg->key_case |= cells[i].mask == 0xDF;
    return seg->key_len > 0 ? put_pool(body, seg->key_at, seg->key_len, false, &seg->key)
                            : CLAM_TAKEN;
}

static enum clam_taken append_seg(struct body *body, const struct clam_seg *seg)
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

/* Ends the segment being read, if there is one. */
static enum clam_taken end_segment(struct body *body)
{
    struct clam_seg seg = {.gap_min = body->gap_min, .gap_max = body->gap_max};
    uint32_t index;

    if (body->cells.n == 0 && body->extra.n == 0)
        return CLAM_TAKEN;
    seg.elems = clam_count(body->set, CLAM_A_ELEMS);
    enum clam_taken taken = put_runs(body);
    if (taken == CLAM_TAKEN && body->extra.n > 0) {
        void *room = clam_push(body->set, CLAM_A_ELEMS, body->extra.n, &index);

        if (room == NULL)
            return CLAM_NO_MEMORY;
        memcpy(room, body->extra.at, body->extra.n * sizeof(struct clam_elem));
    }
    seg.n_elems = clam_count(body->set, CLAM_A_ELEMS) - seg.elems;
    seg.len = seg.len_max = here(body);
    if (taken == CLAM_TAKEN)
        taken = put_key(body, &seg);
    if (taken == CLAM_TAKEN)
        taken = append_seg(body, &seg);
    body->cells.n = 0;
    body->extra.n = 0;
    return taken;
}

/* ---- alternates ------------------------------------------------------------------------------ */

static enum clam_taken read_alternate(struct body *body, struct clam_text text)
{
    struct clam_alt alt = {0};
    const size_t begin = body->cells.n;
    enum clam_taken taken = CLAM_TAKEN;
    uint32_t index;

    while (text.len > 0 && taken == CLAM_TAKEN) {
        struct clam_text range;
        struct cell cell;
        uint32_t n;

        if (text.at[0] == '{') { /* of one length: so many wildcards */
            text.at++;
            text.len--;
            if (!clam_text_cut(&text, '}', &range) || !read_u32(range, 0, &n) || n > INLINE_MAX)
                return clam_bad(body->set, "alternates hold no ranges but {n}, n below 128");
            for (; n > 0 && taken == CLAM_TAKEN; n--)
                taken = add_cell(body, (struct cell){0, 0});
            continue;
        }
        if (text.at[0] == '(' || text.at[0] == '!')
            return clam_skip(body->set, "alternates inside alternates are not supported");
        if (!read_cell(&text, &cell))
            return clam_bad(body->set, "an alternate is not made of hexadecimal bytes");
        taken = add_cell(body, folded(body, cell));
        if (taken == CLAM_TAKEN && (body->options & CLAM_WIDE) != 0)
            taken = add_cell(body, (struct cell){0, 0xFF});
    }
    alt.len = (uint32_t)(body->cells.n - begin);
    if (taken == CLAM_TAKEN && alt.len == 0)
        return clam_bad(body->set, "an alternate is empty");
    if (taken == CLAM_TAKEN)
        taken = put_pool(body, (uint32_t)begin, alt.len, false, &alt.bytes);
    if (taken == CLAM_TAKEN)
        taken = put_pool(body, (uint32_t)begin, alt.len, true, &alt.masks);
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
        const enum clam_taken taken = add_cell(body, (struct cell){0, 0});

        if (taken != CLAM_TAKEN)
            return taken;
    }
    return CLAM_TAKEN;
}

/* Alternates of several lengths are a segment of their own. */
static enum clam_taken put_variable(struct body *body, struct clam_elem elem, uint32_t min,
                                    uint32_t max)
{
    struct clam_seg seg = {.n_elems = 1, .len = min, .len_max = max};
    enum clam_taken taken = end_segment(body);

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
    return append_seg(body, &seg);
}

static enum clam_taken put_alternates(struct body *body, uint32_t first, bool negated)
{
    const struct clam_alt *alts = (const struct clam_alt *)body->set->records[CLAM_A_ALTS].at;
    const uint32_t n = clam_count(body->set, CLAM_A_ALTS) - first;
    struct clam_elem elem = {.kind = CLAM_ALTS, .negated = negated, .at = here(body)};
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
    elem.len = min;
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

static bool part_ends(const struct body *body)
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
    struct clam_elem elem = {.negated = negated, .at = here(body)};

    if (part_ends(body)) {
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
static enum clam_taken read_block(struct body *body, bool negated)
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

/* ---- gaps ------------------------------------------------------------------------------------ */

static enum clam_taken end_part(struct body *body, uint32_t min, uint32_t max)
{
    const enum clam_taken taken = end_segment(body);

    if (taken != CLAM_TAKEN)
        return taken;
    if (body->part_begins)
        return clam_bad(body->set, "there is nothing between two ranges, or before the first");
    body->gap_min = min;
    body->gap_max = max;
    body->part_begins = true;
    body->seg_begins_part = true;
    return CLAM_TAKEN;
}

/* Behind `{`. */
static enum clam_taken read_range(struct body *body)
{
    struct clam_text range, from;
    uint32_t min = 0, max = CLAM_UNBOUNDED;
    enum clam_taken taken = CLAM_TAKEN;

    if (!clam_text_cut(&body->rest, '}', &range))
        return clam_bad(body->set, "a brace is not closed");
    if (memchr(range.at, '-', range.len) == NULL) {
        if (!read_u32(range, 0, &min))
            return clam_bad(body->set, "a range is no number");
        if (min == 0 || min > INLINE_MAX)
            return end_part(body, min, min);
        body->part_begins = false;
        for (; min > 0 && taken == CLAM_TAKEN; min--)
            taken = add_cell(body, (struct cell){0, 0});
        return taken;
    }
    clam_text_cut(&range, '-', &from);
    if ((from.len > 0 && !read_u32(from, 0, &min)) ||
        (range.len > 0 && !read_u32(range, 0, &max)) || min > max)
        return clam_bad(body->set, "a range is not {n}, {-n}, {n-} or {n-m}");
    return end_part(body, min, max);
}

/* Behind `[`. */
static enum clam_taken read_bracket(struct body *body)
{
    struct clam_text range, from;
    uint32_t min, max;

    if (!clam_text_cut(&body->rest, ']', &range))
        return clam_bad(body->set, "a bracket is not closed");
    const bool two = clam_text_cut(&range, '-', &from);
    if (!read_u32(from, 0, &min) || !read_u32(two ? range : from, 0, &max) || min > max)
        return clam_bad(body->set, "a range is not [x-y]");
    if ((body->options & (CLAM_WIDE | CLAM_FULLWORD)) != 0)
        return end_part(body, min, max);
    if (max > BRACKET_MAX)
        return clam_bad(body->set, "[x-y] reaches above %d", BRACKET_MAX);

    const enum clam_taken taken = end_segment(body);
    if (taken != CLAM_TAKEN)
        return taken;
    if (body->part_begins || part_ends(body))
        return clam_bad(body->set, "[x-y] stands at the end of a part");
    body->gap_min = min;
    body->gap_max = max;
    return CLAM_TAKEN;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum clam_taken read_byte(struct body *body)
{
    struct cell cell;

    if (!read_cell(&body->rest, &cell))
        return clam_bad(body->set, "the body is not hexadecimal at '%.*s'",
                        (int)(body->rest.len < 8 ? body->rest.len : 8), body->rest.at);
    const enum clam_taken taken = add_cell(body, folded(body, cell));
    if (taken != CLAM_TAKEN || (body->options & CLAM_WIDE) == 0)
        return taken;
    return add_cell(body, (struct cell){0, 0xFF});
}

static enum clam_taken read_step(struct body *body)
{
    const char c = body->rest.at[0];
    enum clam_taken taken;

    if (c != '*' && c != '{' && c != '[' && c != '(' && c != '!') {
        taken = read_byte(body);
        body->part_begins = false;
        return taken;
    }
    body->rest.at++;
    body->rest.len--;
    switch (c) {
    case '*':
        return end_part(body, 0, CLAM_UNBOUNDED);
    case '{':
        return read_range(body);
    case '[':
        return read_bracket(body);
    case '!':
        if (body->rest.len == 0 || body->rest.at[0] != '(')
            return clam_bad(body->set, "'!' stands before no block");
        body->rest.at++;
        body->rest.len--;
        break;
    default:
        break;
    }
    taken = read_block(body, c == '!');
    body->part_begins = false;
    return taken;
}

static enum clam_taken read_parts(struct body *body, struct clam_text hex)
{
    enum clam_taken taken = CLAM_TAKEN;

    body->rest = hex;
    body->part_begins = body->seg_begins_part = true;
    while (body->rest.len > 0 && taken == CLAM_TAKEN)
        taken = read_step(body);
    if (taken == CLAM_TAKEN && body->part_begins)
        return clam_bad(body->set, "the body is empty, or ends in a range");
    if (taken == CLAM_TAKEN)
        taken = end_segment(body);
    if (taken == CLAM_TAKEN && body->n_segs == 0)
        return clam_bad(body->set, "the body is empty");
    return taken;
}

/* Something of it must be known, or it would match everywhere. */
static bool has_content(const struct body *body)
{
    const struct clam_seg *segs = (const struct clam_seg *)body->set->records[CLAM_A_SEGS].at;
    const struct clam_elem *elems = (const struct clam_elem *)body->set->records[CLAM_A_ELEMS].at;

    for (uint32_t s = body->segs; s < body->segs + body->n_segs; s++)
        for (uint32_t e = segs[s].elems; e < segs[s].elems + segs[s].n_elems; e++)
            if (elems[e].kind <= CLAM_VARIABLE)
                return true;
    return false;
}

static enum clam_taken put_pattern(struct body *body, const struct clam_offset *offset,
                                   uint32_t *pattern)
{
    if (!has_content(body))
        return clam_bad(body->set, "the body matches everywhere");
    struct clam_pattern *room = clam_push(body->set, CLAM_A_PATTERNS, 1, pattern);
    if (room == NULL)
        return CLAM_NO_MEMORY;
    room->segs = body->segs;
    room->n_segs = body->n_segs;
    room->last_part = body->last_part;
    room->groups = body->groups;
    room->offset_kind = offset->kind;
    room->section = offset->section;
    room->offset = offset->offset;
    room->shift = offset->shift;
    return CLAM_TAKEN;
}

/* 128 bits of a good hash stand for the text: equal bodies are one pattern. */
static void key_of(struct clam_text hex, unsigned options, const struct clam_offset *offset,
                   uint64_t key[2])
{
    const uint32_t head[] = {options, offset->kind, offset->section, offset->offset, offset->shift};
    const XXH128_hash_t hash =
        XXH3_128bits_withSeed(hex.at, hex.len, XXH3_64bits(head, sizeof head));

    key[0] = hash.low64;
    key[1] = hash.high64;
}

/* Makes the text one of a body between two word boundaries. Returns its memory; NULL: there is
 * none. */
static char *bound_by_words(struct clam_text *hex)
{
    static const char border[3] = "(W)";
    char *framed = malloc(hex->len + 2 * sizeof border);

    if (framed == NULL)
        return NULL;
    memcpy(framed, border, sizeof border);
    if (hex->len != 0)
        memcpy(framed + sizeof border, hex->at, hex->len);
    memcpy(framed + sizeof border + hex->len, border, sizeof border);
    *hex = (struct clam_text){framed, hex->len + 2 * sizeof border};
    return framed;
}

enum clam_taken clam_body_read(struct sl_clamav_set *set, struct clam_text hex, unsigned options,
                               const struct clam_offset *offset, uint32_t *pattern)
{
    struct body body = {.set = set, .options = options};
    char *framed = NULL;
    uint64_t key[2];

    key_of(hex, options, offset, key);
    *pattern = clam_chain_find(set, key);
    if (*pattern != CLAM_NONE)
        return CLAM_TAKEN;
    if ((options & CLAM_FULLWORD) != 0) {
        framed = bound_by_words(&hex);
        if (framed == NULL)
            return CLAM_NO_MEMORY;
    }
    body.segs = clam_count(set, CLAM_A_SEGS);
    enum clam_taken taken = read_parts(&body, hex);
    if (taken == CLAM_TAKEN)
        taken = put_pattern(&body, offset, pattern);
    if (taken == CLAM_TAKEN && !clam_chain_add(set, key))
        taken = CLAM_NO_MEMORY;
    free(framed);
    free(body.cells.at);
    free(body.extra.at);
    return taken;
}

/* SPDX-License-Identifier: MIT */
/* Bodies: hexadecimal text with wildcards (ClamAV: BodySignatureFormat). */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "clamav/body_internal.h"

enum { BRACKET_MAX = 32 /* `[x-y]` */ };

/* ---- gaps ------------------------------------------------------------------------------------ */

static enum clam_taken end_part(struct body *body, uint32_t min, uint32_t max)
{
    const enum clam_taken taken = body_end_segment(body);

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
        if (!clam_text_u32(range, 0, &min))
            return clam_bad(body->set, "a range is no number");
        if (min == 0 || min > BODY_INLINE_MAX)
            return end_part(body, min, min);
        body->part_begins = false;
        for (; min > 0 && taken == CLAM_TAKEN; min--)
            taken = body_add_cell(body, (struct body_cell){0, 0});
        return taken;
    }
    clam_text_cut(&range, '-', &from);
    if ((from.len > 0 && !clam_text_u32(from, 0, &min)) ||
        (range.len > 0 && !clam_text_u32(range, 0, &max)) || min > max)
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
    if (!clam_text_u32(from, 0, &min) || !clam_text_u32(two ? range : from, 0, &max) || min > max)
        return clam_bad(body->set, "a range is not [x-y]");
    if ((body->options & (CLAM_WIDE | CLAM_FULLWORD)) != 0)
        return end_part(body, min, max);
    if (max > BRACKET_MAX)
        return clam_bad(body->set, "[x-y] reaches above %d", BRACKET_MAX);

    const enum clam_taken taken = body_end_segment(body);
    if (taken != CLAM_TAKEN)
        return taken;
    if (body->part_begins || body_part_ends(body))
        return clam_bad(body->set, "[x-y] stands at the end of a part");
    body->gap_min = min;
    body->gap_max = max;
    return CLAM_TAKEN;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum clam_taken read_byte(struct body *body)
{
    struct body_cell cell;

    if (!body_read_cell(&body->rest, &cell))
        return clam_bad(body->set, "the body is not hexadecimal at '%.*s'",
                        (int)(body->rest.len < 8 ? body->rest.len : 8), body->rest.at);
    const enum clam_taken taken = body_add_cell(body, body_folded(body, cell));
    if (taken != CLAM_TAKEN || (body->options & CLAM_WIDE) == 0)
        return taken;
    return body_add_cell(body, (struct body_cell){0, 0xFF});
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
    taken = body_read_block(body, c == '!');
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
        taken = body_end_segment(body);
    if (taken == CLAM_TAKEN && body->n_segs == 0)
        return clam_bad(body->set, "the body is empty");
    return taken;
}

/* Something of it must be known, or it would match everywhere. */
static bool has_content(const struct body *body)
{
    const struct clam_seg *segs = (const struct clam_seg *)body->set->records[CLAM_A_SEGS].at;
    const struct clam_elem *elems = (const struct clam_elem *)body->set->records[CLAM_A_ELEMS].at;

    for (uint32_t s = body->segs; s < body->segs + body->n_segs; s++) {
        if (segs[s].n_elems == 0)
            return true;
        for (uint32_t e = segs[s].elems; e < segs[s].elems + segs[s].n_elems; e++)
            if (elems[e].kind <= CLAM_VARIABLE)
                return true;
    }
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
    room->n_segs = (uint16_t)body->n_segs;
    room->last_part = (uint16_t)body->last_part;
    room->groups = (uint16_t)body->groups;
    room->offset_kind = (uint8_t)offset->kind;
    room->section = (uint16_t)(offset->section < UINT16_MAX ? offset->section : UINT16_MAX);
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
    *pattern = clam_chain_find(&set->bodies, key);
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
    if (taken == CLAM_TAKEN && !clam_chain_add(&set->bodies, key))
        taken = CLAM_NO_MEMORY;
    free(framed);
    free(body.cells.at);
    free(body.extra.at);
    return taken;
}

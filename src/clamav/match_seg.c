/* SPDX-License-Identifier: MIT */
/* One segment: whether it lies at a place, and where it lies next. */
#include <ctype.h>
#include <string.h>

#include "clamav/match_internal.h"

/* ---- at a place ------------------------------------------------------------------------------ */

static bool masked_equal(const struct clam_match *match, uint32_t values, uint32_t masks,
                         const uint8_t *at, uint32_t len)
{
    const uint8_t *value = match->bytes + values, *mask = match->bytes + masks;

    for (uint32_t i = 0; i < len; i++)
        if ((at[i] & mask[i]) != value[i])
            return false;
    return true;
}

/* Most are short, where a call costs more than a loop. */
static bool bytes_equal(const uint8_t *a, const uint8_t *b, uint32_t len)
{
    enum { SHORT = 8 };

    if (len > SHORT)
        return memcmp(a, b, len) == 0;
    for (uint32_t i = 0; i < len; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool alternate_equal(struct clam_match *match, const struct clam_alt *alt, const uint8_t *at)
{
    match->work++;
    return alt->masks == CLAM_NONE ? bytes_equal(at, match->bytes + alt->bytes, alt->len)
                                   : masked_equal(match, alt->bytes, alt->masks, at, alt->len);
}

static bool one_of(struct clam_match *match, const struct clam_elem *elem, const uint8_t *at)
{
    for (uint32_t i = elem->bytes; i < elem->bytes + elem->n_alts; i++)
        if (alternate_equal(match, &match->alts[i], at))
            return true;
    return false;
}

/* A border before `at` or behind it; nothing of it is part of the match. */
static bool border_holds(struct clam_match *match, uint8_t kind, uint64_t at)
{
    struct clam_object *object = match->object;
    const bool left = kind < CLAM_RIGHT_B, end = left ? at == 0 : at == object->len;
    const uint8_t *near = end ? NULL : clam_object_at(object, left ? at - 1 : at, 1);
    const uint8_t byte = near != NULL ? *near : 0;
    const uint8_t *pair;

    object->before |= left && at < (kind == CLAM_LEFT_WIDE ? 2U : 1U);
    object->behind |= !left && end;
    if (end)
        return true;
    switch (kind) {
    case CLAM_LEFT_B:
        return (clam_word_side(byte) & 1) != 0;
    case CLAM_RIGHT_B:
        return (clam_word_side(byte) & 2) != 0;
    case CLAM_LEFT_L:
        return byte == '\n';
    case CLAM_RIGHT_L:
        pair = clam_object_at(object, at, 2);
        return byte == '\n' || (byte == '\r' && pair != NULL && pair[1] == '\n');
    case CLAM_LEFT_WIDE:
        pair = at >= 2 ? clam_object_at(object, at - 2, 2) : NULL;
        return pair == NULL || !isalnum(pair[0]) || pair[1] != 0;
    case CLAM_RIGHT_WIDE:
        pair = clam_object_at(object, at, 2);
        return pair == NULL ? !isalnum(byte) : !isalnum(pair[0]) || pair[1] != 0;
    default:
        return !isalnum(byte);
    }
}

/* Whether a border depends on bytes behind a part that goes on. */
static bool border_waits(const struct clam_object *object, uint8_t kind, uint64_t at)
{
    const uint64_t need = kind == CLAM_RIGHT_L || kind == CLAM_RIGHT_WIDE ? 2 : 1;

    return object->goes_on && kind >= CLAM_RIGHT_B && at + need > object->len;
}

static bool elem_holds(struct clam_match *match, const struct clam_elem *elem, const uint8_t *seg)
{
    switch (elem->kind) {
    case CLAM_EXACT:
        return bytes_equal(seg + elem->at, match->bytes + elem->bytes, elem->len);
    case CLAM_MASKED:
        return masked_equal(match, elem->bytes, elem->masks, seg + elem->at, elem->len);
    default:
        return one_of(match, elem, seg + elem->at) != (elem->negated != 0);
    }
}

bool match_alternate_at(struct clam_match *match, const struct clam_alt *alt, uint64_t at)
{
    const uint8_t *bytes = clam_object_at(match->object, at, alt->len);

    return bytes != NULL && alternate_equal(match, alt, bytes);
}

bool match_is_variable(const struct clam_match *match, const struct clam_seg *seg)
{
    return seg->n_elems == 1 && match->elems[seg->elems].kind == CLAM_VARIABLE;
}

bool match_seg_at(struct clam_match *match, const struct clam_seg *seg, uint64_t at)
{
    const struct clam_elem *elems = match->elems + seg->elems;
    const uint8_t *bytes;

    match->work++;
    if (match_is_variable(match, seg)) {
        for (uint32_t i = elems->bytes; i < elems->bytes + elems->n_alts; i++)
            if (match_alternate_at(match, &match->alts[i], at))
                return true;
        return false;
    }
    bytes = clam_object_at(match->object, at, seg->len);
    if (bytes == NULL)
        return false;
    if (seg->n_elems == 0)
        return bytes_equal(bytes, match->bytes + seg->elems, seg->len);
    for (uint32_t i = 0; i < seg->n_elems; i++)
        if (elems[i].kind < CLAM_VARIABLE && !elem_holds(match, &elems[i], bytes))
            return false;
    for (uint32_t i = 0; i < seg->n_elems; i++) {
        if (elems[i].kind <= CLAM_VARIABLE)
            continue;
        const bool waits = border_waits(match->object, elems[i].kind, at + elems[i].at);

        match->object->behind |= waits;
        if (waits ||
            border_holds(match, elems[i].kind, at + elems[i].at) == (elems[i].negated != 0))
            return false;
    }
    return true;
}

/* ---- from a place on ------------------------------------------------------------------------- */

/* Bounds *to, so that so many bytes fit behind it. False: they fit nowhere. */
static bool ends_here(struct clam_object *object, uint64_t len, uint64_t *to)
{
    if (object->len >= len && *to <= object->len - len)
        return true;
    object->behind = true;
    *to = object->len - len;
    return object->len >= len;
}

/* The first place in [from, to] where the segment's literal begins. */
static uint64_t key_from(struct clam_match *match, const struct clam_seg *seg, uint64_t from,
                         uint64_t to)
{
    struct clam_object *object = match->object;

    if (!ends_here(object, seg->key_len, &to))
        return MATCH_NOWHERE;
    if (match->needle_of != seg)
        clam_needle_init(&match->needle, match->bytes + seg->key, seg->key_len, seg->key_case != 0);
    match->needle_of = seg;
    while (from <= to && !clam_match_is_late(match)) {
        size_t len;
        const uint8_t *text = clam_object_from(object, from, seg->key_len, &len);
        uint64_t n = len - seg->key_len + 1;

        if (n > to - from + 1)
            n = to - from + 1;
        const size_t found = match->find(&match->needle, text, (size_t)n);
        if (found < n)
            return from + found;
        from += n;
    }
    return MATCH_NOWHERE;
}

/* The first place in [from, to] where the segment lies. */
uint64_t match_seg_from(struct clam_match *match, const struct clam_seg *seg, uint64_t from,
                        uint64_t to)
{
    enum { DENSE = 16 }; /* places that are tried where a search led to the next one */
    unsigned dense = 0;

    if (!ends_here(match->object, seg->len, &to))
        return MATCH_NOWHERE;
    for (; from <= to && !clam_match_is_late(match); from++) {
        if (match_seg_at(match, seg, from))
            return from;
        if (dense > 0) {
            dense--;
        } else if (seg->key_len > 0 && to - from > 8) {
            const uint64_t key = key_from(match, seg, from + 1 + seg->key_at, to + seg->key_at);

            if (key == MATCH_NOWHERE)
                return MATCH_NOWHERE;
            dense = key - seg->key_at == from + 1 ? DENSE : 0;
            from = key - seg->key_at - 1;
        }
    }
    return MATCH_NOWHERE;
}

/* SPDX-License-Identifier: MIT */
/* Bodies. Groups follow one another at any distance, so the first group's earliest end is the best,
 * and so on: no backtracking. */
#include "clamav/match_internal.h"

bool clam_match_wanted(const struct clam_match *match, uint32_t number)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const enum clam_known known = clam_match_known(match, number);

    return known == CLAM_NOT_KNOWN || (known == CLAM_PRESENT && pattern->n_segs == 1 &&
                                       match->found[number] < pattern->count_max);
}

/* Of one segment: a place where it matches, each given once, is a match to be counted. */
static bool note_place(struct clam_match *match, uint32_t number)
{
    if (clam_match_known(match, number) != CLAM_PRESENT)
        match->found[number] = 0;
    match->found[number]++;
    return match_note(match, number, true);
}

/* Counts the places of a body that were tried in this object. */
static uint32_t count_try(struct clam_match *match, uint32_t number)
{
    struct clam_tries *tries = &match->tries[number];

    if (tries->epoch != match->epoch)
        *tries = (struct clam_tries){match->epoch, 0};
    return ++tries->n;
}

/* The segment with the rarest literal beside this one; there is another. */
static uint32_t rarest_other(const struct clam_pattern *pattern, const struct clam_seg *segs,
                             uint32_t seg)
{
    const uint32_t last = pattern->n_segs - 1;

    if (seg == 0)
        return clam_rarest_seg(segs, 1, last);
    const uint32_t before = clam_rarest_seg(segs, 0, seg - 1);
    if (seg == last)
        return before;
    const uint32_t behind = clam_rarest_seg(segs, seg + 1, last);
    return segs[before].key_bits > segs[behind].key_bits ? before : behind;
}

/* After so many places as take about the time of a pass over the object: whether another segment
 * lies nowhere in it, and so neither does the body. One search for each body and object. */
static bool lacks_segment(struct clam_match *match, const struct clam_pattern *pattern,
                          uint32_t seg, uint32_t n_tries)
{
    enum { BYTES_A_TRY = 4096 };

    const struct clam_seg *segs = match->segs + pattern->segs;
    const uint64_t len = match->object->len, searched = (uint64_t)n_tries * BYTES_A_TRY;

    if (searched < len || searched - BYTES_A_TRY >= len)
        return false;
    const struct clam_seg *other = &segs[rarest_other(pattern, segs, seg)];
    return other->key_len != 0 && match_seg_from(match, other, 0, len) == MATCH_NOWHERE;
}

bool clam_match_at(struct clam_match *match, uint32_t number, uint32_t seg, uint64_t at)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    const bool part = match->object->part;
    uint64_t from, to;
    uint32_t a = seg;

    if (!match_pattern_range(match, pattern, &from, &to)) {
        if (!part)
            return match_note(match, number, false);
        from = 1; /* nowhere in the part */
        to = 0;
    }
    if (!match_seg_at(match, &segs[seg], at))
        return false;
    while (a > 0 && segs[a].gap_max != CLAM_UNBOUNDED)
        a--;
    const uint32_t b = match_group_end(match, pattern, a);
    if (match->ahead == NULL && pattern->n_segs > 1) {
        const uint32_t n = count_try(match, number);

        if (b > a && match_is_long(match, segs, a, b, n))
            return clam_match_exists(match, number);
        if (lacks_segment(match, pattern, seg, n))
            return match_note(match, number, false);
    }
    if (a > 0) { /* it may begin anywhere behind the first group */
        from = 0;
        to = match->object->len;
    }
    const bool begins = match_backward(match, segs, seg, a, at, from, to);
    if ((!begins && (!part || match->now.n == 0)) ||
        match_forward(match, segs, seg, b, at) == MATCH_NOWHERE)
        return false;
    if (!begins) {
        match_note_offset(match, pattern, at);
        return false;
    }
    return pattern->groups == 1 ? note_place(match, number) : clam_match_exists(match, number);
}

void clam_match_reach(struct clam_match *match, uint32_t number, uint32_t seg, uint64_t at)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    struct clam_object *object = match->object;
    uint64_t back = 0, end = at + segs[seg].len_max;
    uint32_t a = seg, b = seg;

    if (!match_seg_at(match, &segs[seg], at))
        return;
    for (; a > 0 && segs[a].gap_max != CLAM_UNBOUNDED && back <= at; a--)
        back += (uint64_t)segs[a].gap_max + segs[a - 1].len_max;
    for (; b + 1 < pattern->n_segs && segs[b + 1].gap_max != CLAM_UNBOUNDED && end <= object->len;
         b++)
        end += (uint64_t)segs[b + 1].gap_max + segs[b + 1].len_max;
    match->work += b - a + 1;
    object->before |= a > 0 || back > at;
    object->behind |= b + 1 < pattern->n_segs || end > object->len;
    match_note_offset(match, pattern, at);
}

/* The earliest end of all groups before the last one; false: they do not follow one another. For
 * the last group [from, to] is where it may begin, and *a its first segment. */
static bool before_last(struct clam_match *match, const struct clam_pattern *pattern, uint32_t *a,
                        uint64_t *from, uint64_t *to)
{
    const struct clam_seg *segs = match->segs + pattern->segs;
    uint32_t b;

    *a = 0;
    if (!match_pattern_range(match, pattern, from, to))
        return false;
    while ((b = match_group_end(match, pattern, *a)) + 1 < pattern->n_segs) {
        const uint64_t end = match_group_find(match, segs, *a, b, *from, *to, false);

        if (end == MATCH_NOWHERE)
            return false;
        *a = b + 1;
        *from = end + segs[*a].gap_min;
        *to = match->object->len;
        if (*from > *to)
            return false;
    }
    return true;
}

bool clam_match_exists(struct clam_match *match, uint32_t number)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    const enum clam_known known = clam_match_known(match, number);
    uint64_t from, to;
    uint32_t a;

    if (known != CLAM_NOT_KNOWN)
        return known == CLAM_PRESENT;
    if (clam_match_defer(match, number))
        return true;
    return match_note(match, number,
                      before_last(match, pattern, &a, &from, &to) &&
                          match_group_find(match, segs, a, pattern->n_segs - 1, from, to, true) !=
                              MATCH_NOWHERE);
}

uint32_t clam_match_count(struct clam_match *match, uint32_t number, uint32_t max)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    const uint32_t last = pattern->n_segs - 1, part = pattern->last_part;
    uint64_t from, to;
    uint32_t a, n = 0;

    const enum clam_known known = clam_match_known(match, number);

    if (max <= 1 || known == CLAM_ABSENT || match->ahead != NULL || match->late)
        return max > 0 && clam_match_exists(match, number);
    if (known == CLAM_PRESENT && pattern->n_segs == 1 &&
        (match->known[number] % 4 == MATCH_COUNTED || match_is_searched(match, pattern)))
        return match->found[number] < max ? match->found[number] : max;
    if (!before_last(match, pattern, &a, &from, &to))
        return match_note(match, number, false);
    if (part > a) {
        n = match_group_count(match, segs, a, part, last, from, to, max);
    } else { /* the last part is not reached through the gaps of this group */
        for (; n < max && from <= to; from++) {
            from = match_seg_from(match, &segs[a], from, to);
            if (from == MATCH_NOWHERE)
                break;
            n += match_forward(match, segs, a, last, from) != MATCH_NOWHERE;
        }
    }
    (void)match_note(match, number, n > 0);
    return n;
}

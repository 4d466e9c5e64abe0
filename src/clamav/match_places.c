/* SPDX-License-Identifier: MIT */
/* The places that segments reach from one of them, forward and backward within their gaps, as sets.
 * So the cost is at most the sum of the gaps. */
#include <stdlib.h>

#include "clamav/match_internal.h"

/* ---- sets of places -------------------------------------------------------------------------- */

static bool add(struct clam_match *match, struct clam_positions *set, uint64_t at)
{
    if (set->n == set->cap) {
        const size_t cap = set->cap < 64 ? 64 : set->cap * 2;
        uint64_t *more = realloc(set->at, cap * sizeof *more);

        if (more == NULL) {
            match->no_memory = true;
            return false;
        }
        set->at = more;
        set->cap = cap;
    }
    set->at[set->n++] = at;
    match->work++;
    return true;
}

static int compare_positions(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static bool is_sorted(const struct clam_positions *set)
{
    for (size_t i = 1; i < set->n; i++)
        if (set->at[i - 1] > set->at[i])
            return false;
    return true;
}

static void sort_positions(struct clam_positions *set)
{
    size_t n = 0;

    if (!is_sorted(set))
        qsort(set->at, set->n, sizeof *set->at, compare_positions);
    for (size_t i = 0; i < set->n; i++)
        if (n == 0 || set->at[n - 1] != set->at[i])
            set->at[n++] = set->at[i];
    set->n = n;
}

static void swap_sets(struct clam_match *match)
{
    const struct clam_positions set = match->now;

    match->now = match->next;
    match->next = set;
    match->next.n = 0;
}

/* ---- steps from segment to segment ----------------------------------------------------------- */

/* Where the segment that lies at `at` ends, added to the next set. */
static void add_ends(struct clam_match *match, const struct clam_seg *seg, uint64_t at)
{
    const struct clam_elem *elem = match->elems + seg->elems;

    if (!match_is_variable(match, seg)) {
        (void)add(match, &match->next, at + seg->len);
        return;
    }
    for (uint32_t i = elem->bytes; i < elem->bytes + elem->n_alts; i++)
        if (match_alternate_at(match, &match->alts[i], at))
            (void)add(match, &match->next, at + match->alts[i].len);
}

uint64_t match_forward(struct clam_match *match, const struct clam_seg *segs, uint32_t k,
                       uint32_t b, uint64_t at)
{
    match->now.n = match->next.n = 0;
    add_ends(match, &segs[k], at);
    swap_sets(match);
    sort_positions(&match->now);
    for (uint32_t j = k + 1; j <= b; j++) {
        const struct clam_seg *seg = &segs[j];
        uint64_t tested = 0; /* places below have been */

        for (size_t i = 0; i < match->now.n; i++) {
            const uint64_t end = match->now.at[i];
            uint64_t from = end + seg->gap_min;
            const uint64_t to = end + seg->gap_max;

            if (from < tested)
                from = tested;
            while (from <= to && (from = match_seg_from(match, seg, from, to)) != MATCH_NOWHERE) {
                add_ends(match, seg, from);
                from++;
            }
            tested = to + 1;
        }
        swap_sets(match);
        sort_positions(&match->now);
    }
    return match->now.n > 0 ? match->now.at[0] : MATCH_NOWHERE;
}

/* Places from which segment `seg` reaches a place of the present set over the gap behind it, with
 * one length of it. */
static void step_back(struct clam_match *match, const struct clam_seg *seg,
                      const struct clam_seg *behind, const struct clam_alt *alt)
{
    const uint64_t len = alt != NULL ? alt->len : seg->len;
    uint64_t tested = 0;

    for (size_t i = 0; i < match->now.n; i++) {
        const uint64_t at = match->now.at[i];
        const uint64_t near = len + behind->gap_min, far = len + behind->gap_max;
        uint64_t from = at > far ? at - far : 0;

        match->object->before |= at < far;
        if (at < near)
            continue;
        if (from < tested)
            from = tested;
        if (alt != NULL) {
            for (; from <= at - near && !clam_match_is_late(match); from++)
                if (match_alternate_at(match, alt, from))
                    (void)add(match, &match->next, from);
        } else {
            while (from <= at - near &&
                   (from = match_seg_from(match, seg, from, at - near)) != MATCH_NOWHERE)
                (void)add(match, &match->next, from++);
        }
        tested = at - near + 1;
    }
}

/* From segment k at `at` back to segment a: whether that may begin in [from, to]. */
bool match_backward(struct clam_match *match, const struct clam_seg *segs, uint32_t k, uint32_t a,
                    uint64_t at, uint64_t from, uint64_t to)
{
    match->now.n = match->next.n = 0;
    if (!add(match, &match->now, at))
        return false;
    for (uint32_t j = k; j > a && match->now.n > 0; j--) {
        const struct clam_seg *seg = &segs[j - 1];
        const struct clam_elem *elem = match->elems + seg->elems;

        if (!match_is_variable(match, seg))
            step_back(match, seg, &segs[j], NULL);
        else
            for (uint32_t i = elem->bytes; i < elem->bytes + elem->n_alts; i++)
                step_back(match, seg, &segs[j], &match->alts[i]);
        swap_sets(match);
        sort_positions(&match->now);
    }
    for (size_t i = 0; i < match->now.n; i++)
        if (match->now.at[i] >= from && match->now.at[i] <= to)
            return true;
    return false;
}

/* SPDX-License-Identifier: MIT */
/* Groups of segments, verified around the rarest of them. */
#include "clamav/match_internal.h"

/* The last segment of the group that begins at segment a. */
uint32_t match_group_end(const struct clam_match *match, const struct clam_pattern *pattern,
                         uint32_t a)
{
    const struct clam_seg *segs = match->segs + pattern->segs;
    uint32_t b = a;

    while (b + 1 < pattern->n_segs && segs[b + 1].gap_max != CLAM_UNBOUNDED)
        b++;
    return b;
}

/* The least end of the group a..b that begins in [from, to], or some end where `any`. */
uint64_t match_group_find(struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                          uint32_t b, uint64_t from, uint64_t to, bool any)
{
    const uint32_t driver = clam_rarest_seg(segs, a, b);
    uint64_t near = 0, far = 0, tail = segs[driver].len, best = MATCH_NOWHERE, n = 0;

    for (uint32_t j = a; j < driver; j++) {
        near += (uint64_t)segs[j].len + segs[j + 1].gap_min;
        far += (uint64_t)segs[j].len_max + segs[j + 1].gap_max;
    }
    for (uint32_t j = driver + 1; j <= b; j++)
        tail += (uint64_t)segs[j].len + segs[j].gap_min;

    uint64_t last = to > MATCH_NOWHERE - 1 - far ? MATCH_NOWHERE - 1 : to + far;
    for (uint64_t at = from + near; at <= last; at++) {
        at = match_seg_from(match, &segs[driver], at, last);
        if (at == MATCH_NOWHERE)
            break;
        if (match_is_long(match, segs, a, b, ++n))
            return match_group_sweep(match, segs, a, b, from, to);
        if (!match_backward(match, segs, driver, a, at, from, to))
            continue;
        const uint64_t end = match_forward(match, segs, driver, b, at);
        if (end < best) {
            best = end;
            if (any)
                break;
            /* A match further on ends no earlier. */
            if (best - tail < last)
                last = best - tail;
        }
    }
    return best;
}

/* SPDX-License-Identifier: MIT */
/* The list of bodies that the next pass over the object searches for (match_ahead.c). */
#include "clamav/match.h"

bool clam_match_defer(struct clam_match *match, uint32_t number)
{
    const struct clam_pattern *pattern = &match->patterns[number];
    const struct clam_seg *segs = match->segs + pattern->segs;
    const uint32_t seg = clam_rarest_seg(segs, 0, pattern->n_segs - 1);
    struct clam_ahead *ahead = match->ahead;

    if (ahead == NULL)
        return false;
    if (pattern->offset_kind != CLAM_ANYWHERE || segs[seg].key_len == 0)
        return ahead->deferred > 0; /* it lies at few places, or cannot be found by a literal */
    ahead->deferred++;
    for (size_t i = 0; i < ahead->n; i++)
        if (ahead->sought[i].pattern == number)
            return true;
    if (ahead->n < FIND_FOURS_MAX) {
        struct clam_sought *sought = &ahead->sought[ahead->n++];

        *sought = (struct clam_sought){.pattern = number, .seg = seg, .back = segs[seg].key_at};
        clam_needle_init(&sought->needle, match->bytes + segs[seg].key, segs[seg].key_len,
                         segs[seg].key_case != 0);
    }
    return true;
}

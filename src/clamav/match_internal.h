/* SPDX-License-Identifier: MIT */
/* The parts of a body's evaluation: segments, groups of them, places where it may begin. */
#ifndef CLAMAV_MATCH_INTERNAL_H
#define CLAMAV_MATCH_INTERNAL_H

#include "clamav/match.h"

#define MATCH_NOWHERE UINT64_MAX

/* Beside enum clam_known: it is there, and `found` says how often, as far as it matters. */
enum { MATCH_COUNTED = CLAM_PRESENT + 1 };

/* Notes whether a body is there, and returns it. */
bool match_note(struct clam_match *match, uint32_t pattern, bool present);

/* Whether the matcher has reported all places of the body. */
bool match_is_searched(const struct clam_match *match, const struct clam_pattern *pattern);

/* As clam_match_range, of a body. */
bool match_pattern_range(const struct clam_match *match, const struct clam_pattern *pattern,
                         uint64_t *from, uint64_t *to);

/* A body that may begin before `at`, or there, does not lie at its offset. Sets the object's
 * `before` and `behind` where other bytes may bring it there. */
void match_note_offset(const struct clam_match *match, const struct clam_pattern *pattern,
                       uint64_t at);

/* Whether the only element of a segment has alternates of several lengths. */
bool match_is_variable(const struct clam_match *match, const struct clam_seg *seg);

/* Whether an alternate, or a segment, lies at `at`. */
bool match_alternate_at(struct clam_match *match, const struct clam_alt *alt, uint64_t at);
bool match_seg_at(struct clam_match *match, const struct clam_seg *seg, uint64_t at);

/* The first place in [from, to] where the segment lies, or MATCH_NOWHERE. */
uint64_t match_seg_from(struct clam_match *match, const struct clam_seg *seg, uint64_t from,
                        uint64_t to);

/* From segment k at `at` on to segment b of a group: the least end, or MATCH_NOWHERE. */
uint64_t match_forward(struct clam_match *match, const struct clam_seg *segs, uint32_t k,
                       uint32_t b, uint64_t at);

/* From segment k at `at` back to segment a: whether that may begin in [from, to]. */
bool match_backward(struct clam_match *match, const struct clam_seg *segs, uint32_t k, uint32_t a,
                    uint64_t at, uint64_t from, uint64_t to);

/* The last segment of the group that begins at segment a. */
uint32_t match_group_end(const struct clam_match *match, const struct clam_pattern *pattern,
                         uint32_t a);

/* Whether n places of the group a..b took as long, by its gaps, as passes over the object would. */
bool match_is_long(const struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                   uint32_t b, uint64_t n);

/* As match_group_find, in such passes. */
uint64_t match_group_sweep(struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                           uint32_t b, uint64_t from, uint64_t to);

/* The places of segment `part`, behind a, at which the group a..b goes on to its end, up to max of
 * them. */
uint32_t match_group_count(struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                           uint32_t part, uint32_t b, uint64_t from, uint64_t to, uint32_t max);

/* The least end of the group a..b that begins in [from, to], or some end where `any`. */
uint64_t match_group_find(struct clam_match *match, const struct clam_seg *segs, uint32_t a,
                          uint32_t b, uint64_t from, uint64_t to, bool any);

#endif

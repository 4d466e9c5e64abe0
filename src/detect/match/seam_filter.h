/* SPDX-License-Identifier: MIT */
/* Places between two segments of a stream that no literal lies across. One that does has at least a
 * byte on either side. The bytes next to the place are its own.
 *
 * A filter answers three times. The nearest byte on either side, then a look at four bytes, pass
 * some places in vain. Then literals are compared with all bytes. */
#ifndef DETECT_SEAM_FILTER_H
#define DETECT_SEAM_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sluice/mpm.h"

enum { SEAM_NEAR = 4 }; /* bytes on either side that a usual look reads */

/* How a literal lies across, by its bytes before the place and behind it. */
enum seam_way {
    SEAM_BOTH,       /* two or more of each */
    SEAM_ONE_BEFORE, /* one, and three or more */
    SEAM_ONE_BEHIND, /* three or more, and one */
    SEAM_FEW,        /* one of either, and at most two of the other */
    SEAM_WAYS
};

struct seam_filter;

/* For each way a set of four bytes, or of two where they are few. `any` is of two bytes in all
 * ways, without a hash: it is small enough for a core's nearest cache. */
struct seam_sets {
    uint64_t *any;
    uint64_t *set[SEAM_WAYS];
    uint32_t shift[SEAM_WAYS]; /* of 32 bits, to the number of a bit */
};

/* The bytes next to a place, folded: the nearest of `before` is highest, and of `behind` lowest. */
struct seam_near {
    uint32_t before, behind;
};

/* Letters differ from their capitals in one bit. Digits and spaces are as they are. */
static inline uint32_t seam_fold(uint32_t bytes)
{
    return bytes | (bytes >> 1 & 0x20202020);
}

/* Of SEAM_NEAR bytes that end at `before`, and those from `behind` on. */
static inline struct seam_near seam_near_at(const uint8_t *before, const uint8_t *behind)
{
    uint32_t left, right;

    memcpy(&left, before - SEAM_NEAR, sizeof left);
    memcpy(&right, behind, sizeof right);
    return (struct seam_near){seam_fold(left), seam_fold(right)};
}

static inline uint32_t seam_key(enum seam_way way, struct seam_near near)
{
    switch (way) {
    case SEAM_BOTH:
        return near.before >> 16 | near.behind << 16;
    case SEAM_ONE_BEFORE:
        return near.before >> 24 | near.behind << 8;
    case SEAM_ONE_BEHIND:
        return near.before >> 8 | near.behind << 24;
    default:
        return near.before >> 24 | (near.behind & 0xFF) << 8;
    }
}

static inline uint32_t seam_bit(const struct seam_sets *sets, enum seam_way way,
                                struct seam_near near)
{
    return seam_key(way, near) * UINT32_C(0x9E3779B1) >> sets->shift[way];
}

/* Whether there may be a way, by the nearest byte on either side. */
static inline uint32_t seam_sets_any(const struct seam_sets *sets, struct seam_near near)
{
    const uint32_t bit = seam_key(SEAM_FEW, near);

    return sets->any[bit / 64] >> bit % 64 & 1;
}

/* Fetches what a look reads. Inlined by force: gcc drops calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void seam_sets_fetch(const struct seam_sets *sets,
                                                                  struct seam_near near)
{
#pragma GCC unroll 4
    for (enum seam_way way = SEAM_BOTH; way < SEAM_FEW; way++)
        __builtin_prefetch(&sets->set[way][seam_bit(sets, way, near) / 64]);
}

/* The ways in which a literal may lie across: bits. 0: none does. */
static inline uint32_t seam_sets_look(const struct seam_sets *sets, struct seam_near near)
{
    uint32_t ways = 0;

#pragma GCC unroll 4
    for (enum seam_way way = SEAM_BOTH; way < SEAM_WAYS; way++) {
        const uint32_t bit = seam_bit(sets, way, near);

        ways |= (uint32_t)(sets->set[way][bit / 64] >> bit % 64 & 1) << way;
    }
    return ways;
}

/* Of these literals, whose bytes are lent to the filter. NULL: no memory. */
struct seam_filter *seam_filter_create(const struct sl_literal *literals, uint32_t n);
void seam_filter_free(struct seam_filter *filter);

/* Valid as long as the filter, which begins with them. */
static inline const struct seam_sets *seam_filter_sets(const struct seam_filter *filter)
{
    return (const struct seam_sets *)filter;
}

/* A look where fewer bytes may be at hand, at least one of either: `before` ends at the place. */
uint32_t seam_filter_look(const struct seam_filter *filter, const uint8_t *before,
                          uint32_t n_before, const uint8_t *behind, uint32_t n_behind);

/* Fetch what the comparison reads: first one, then, some time later, the other. */
void seam_filter_fetch(const struct seam_filter *filter, uint32_t ways, struct seam_near near);
void seam_filter_fetch_places(const struct seam_filter *filter, uint32_t ways,
                              struct seam_near near);

/* Whether a literal is written across the place, in one of the ways that a look found, but for the
 * bit in which letters differ from capitals. All bytes are at hand. True too where many literals
 * share a bucket. */
bool seam_filter_matches(const struct seam_filter *filter, uint32_t ways, const uint8_t *before,
                         uint32_t n_before, const uint8_t *behind, uint32_t n_behind);

#endif

/* SPDX-License-Identifier: MIT */
/* Places between two segments of a stream that no literal lies across. One that does has at least a
 * byte on either side: the bytes next to the place are its own, up to three of each.
 *
 * A filter answers three times. Two bytes on either side decide most places. Then a look at three
 * finds some in vain. The last one compares literals. */
#ifndef DETECT_SEAM_FILTER_H
#define DETECT_SEAM_FILTER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sluice/mpm.h"

enum { SEAM_BYTES = 3 };

struct seam_filter;

/* Sets of the two bytes on either side of a place. `both` has places with two bytes of a literal,
 * or more, on both sides. `one` has those with one alone before, or behind: three bytes count. */
struct seam_pairs {
    uint64_t *both, *one[2];
    uint32_t both_shift, one_shift; /* of 32 bits, to the number of a bit */
};

/* Letters differ from their capitals in one bit. Digits and spaces are as they are. */
static inline uint32_t seam_fold(uint32_t bytes)
{
    return bytes | (bytes >> 1 & 0x20202020);
}

static inline uint32_t seam_pairs_bit(uint32_t bytes, uint32_t shift)
{
    return bytes * UINT32_C(0x9E3779B1) >> shift;
}

static inline uint64_t seam_pairs_has(const uint64_t *set, uint32_t bytes, uint32_t shift)
{
    const uint32_t bit = seam_pairs_bit(bytes, shift);

    return set[bit / 64] >> bit % 64 & 1;
}

/* The two bytes at `before`, and the two at `behind` a place. */
static inline uint32_t seam_pair_at(const uint8_t *before, const uint8_t *behind)
{
    uint16_t left, right;

    memcpy(&left, before, sizeof left);
    memcpy(&right, behind, sizeof right);
    return seam_fold(left | (uint32_t)right << 16);
}

/* Fetches what decides on them. Inlined by force: gcc drops calls to functions that only prefetch.
 */
__attribute__((always_inline)) static inline void seam_pairs_fetch(const struct seam_pairs *pairs,
                                                                   uint32_t bytes)
{
    __builtin_prefetch(&pairs->both[seam_pairs_bit(bytes, pairs->both_shift) / 64]);
    __builtin_prefetch(&pairs->one[0][seam_pairs_bit(bytes >> 8, pairs->one_shift) / 64]);
    __builtin_prefetch(&pairs->one[1][seam_pairs_bit(bytes << 8, pairs->one_shift) / 64]);
}

/* Whether a literal may lie across a place with these bytes. */
static inline bool seam_pairs_pass(const struct seam_pairs *pairs, uint32_t bytes)
{
    return (seam_pairs_has(pairs->both, bytes, pairs->both_shift) |
            seam_pairs_has(pairs->one[0], bytes >> 8, pairs->one_shift) |
            seam_pairs_has(pairs->one[1], bytes << 8, pairs->one_shift)) != 0;
}

/* Of these literals, whose bytes are lent to the filter. NULL: no memory. */
struct seam_filter *seam_filter_create(const struct sl_literal *literals, uint32_t n);
void seam_filter_free(struct seam_filter *filter);

/* Valid as long as the filter, which begins with them. */
static inline const struct seam_pairs *seam_filter_pairs(const struct seam_filter *filter)
{
    return (const struct seam_pairs *)filter;
}

/* How a literal may lie across the place behind `before`, the last bytes before it, and before
 * `behind`, the first ones behind it: up to SEAM_BYTES of each, and at least one. Fewer than
 * SEAM_BYTES: there are no more. Bit SEAM_BYTES * i + j: with i + 1 bytes before, where SEAM_BYTES
 * stand for more too, and j + 1 behind. 0: none does. */
uint32_t seam_filter_look(const struct seam_filter *filter, const uint8_t *before,
                          uint32_t n_before, const uint8_t *behind, uint32_t n_behind);

/* Fetches what a look reads, and, where ways were found, what the comparison does. SEAM_BYTES of
 * either side are at hand: `before` ends at the place, and `behind` begins there. */
void seam_filter_fetch(const struct seam_filter *filter, const uint8_t *before,
                       const uint8_t *behind);
void seam_filter_fetch_places(const struct seam_filter *filter, uint32_t found,
                              const uint8_t *before, const uint8_t *behind);

/* Whether a literal is written across the place, whatever the case of its letters, as `found` has
 * it. All bytes are at hand, and those of the look at three among them. True too where many
 * literals are alike next to the place. */
bool seam_filter_matches(const struct seam_filter *filter, uint32_t found, const uint8_t *before,
                         uint32_t n_before, const uint8_t *behind, uint32_t n_behind);

#endif

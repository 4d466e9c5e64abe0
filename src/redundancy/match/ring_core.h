/* SPDX-License-Identifier: MIT */
/* The packet cache's ring as a warp reads it: words of eight bytes that begin anywhere, and how far
 * two texts in it agree. Indices are of bytes, below the ring's length, which is a multiple of 16
 * and not below that of any packet. Behind the ring's last word its first stands once more. */
#ifndef REDUNDANCY_RING_CORE_H
#define REDUNDANCY_RING_CORE_H

#include "redundancy_core.h"

enum { RING_STEP = 8 * WARP_LANES /* bytes that a warp compares at a time */ };

struct ring {
    const uint64_t *words;
    uint64_t len; /* bytes */
};

CORE uint64_t ring_ahead(const struct ring *ring, uint64_t at, uint32_t n)
{
    const uint64_t there = at + n;

    return there < ring->len ? there : there - ring->len;
}

CORE uint64_t ring_before(const struct ring *ring, uint64_t at, uint32_t n)
{
    return at >= n ? at - n : at + ring->len - n;
}

/* Where a text begins: its first byte's word, and bits before it there. */
struct ring_text {
    uint64_t word;
    uint32_t shift;
};

CORE struct ring_text ring_text_at(uint64_t at)
{
    struct ring_text text;

    text.word = at / 8;
    text.shift = 8 * (uint32_t)(at % 8);
    return text;
}

/* Eight bytes, the first lowest, from 8 i on; i is below the ring's words. */
CORE uint64_t ring_text_load(const struct ring *ring, const struct ring_text *text, uint64_t i)
{
    const uint64_t n = ring->len / 8, sum = text->word + i;
    const uint64_t *const word = ring->words + (sum < n ? sum : sum - n);

    return word[0] >> text->shift | word[1] << 1 << (63 - text->shift);
}

CORE uint64_t ring_load(const struct ring *ring, uint64_t at)
{
    const struct ring_text text = ring_text_at(at);

    return ring_text_load(ring, &text, 0);
}

/* Eight bytes that begin at a multiple of 8. */
CORE uint64_t ring_load_aligned(const struct ring *ring, uint64_t at)
{
    return ring->words[at / 8];
}

/* A warp compares the bytes from n on, 8 a lane. The first `agree` bytes of a lane are equal. Where
 * a lane has less than 8, returns the number of equal bytes in a row. */
#ifdef __CUDA_ARCH__
#define RING_FIRST_BELOW_8(agree, lane, n)                                    \
    do {                                                                      \
        const uint32_t ends_ = __ballot_sync(~0u, (agree) < 8);               \
                                                                              \
        if (ends_ != 0) {                                                     \
            const uint32_t first_ = (uint32_t)__ffs((int)ends_) - 1;          \
                                                                              \
            return (n) + 8 * first_ + __shfl_sync(~0u, (agree), (int)first_); \
        }                                                                     \
    } while (0)
#else
#define RING_FIRST_BELOW_8(agree, lane, n)     \
    do {                                       \
        if ((agree) < 8)                       \
            return (n) + 8 * (lane) + (agree); \
    } while (0)
#endif

/* At most 8, and at most the rest from `done` to `max`. */
CORE uint32_t ring_at_most(uint32_t n, uint32_t done, uint32_t max)
{
    return max - done < n ? max - done : n;
}

/* A warp: leading bytes from a and b on that are equal, at most max. */
CORE uint32_t ring_extent_ahead(const struct ring *ring, uint64_t a, uint64_t b, uint32_t max)
{
    const struct ring_text here = ring_text_at(a), there = ring_text_at(b);

    for (uint32_t n = 0;; n += RING_STEP)
        WARP_EACH_LANE (lane) {
            const uint32_t i = n + 8 * lane;
            uint32_t agree = 0;

            if (i < max) {
                const uint64_t differ =
                    ring_text_load(ring, &here, i / 8) ^ ring_text_load(ring, &there, i / 8);

                agree = ring_at_most(differ != 0 ? core_low_zeros(differ) : 8, i, max);
            }
            RING_FIRST_BELOW_8(agree, lane, n);
        }
}

/* A warp: bytes right before a and b that are equal, at most max. */
CORE uint32_t ring_extent_before(const struct ring *ring, uint64_t a, uint64_t b, uint32_t max)
{
    const struct ring_text here = ring_text_at(a), there = ring_text_at(b);
    const uint64_t back = ring->len / 8 - 1; /* a word back is so many ahead */

    for (uint32_t n = 0;; n += RING_STEP)
        WARP_EACH_LANE (lane) {
            const uint32_t i = n + 8 * lane;
            uint32_t agree = 0;

            if (i < max) {
                const uint64_t differ = ring_text_load(ring, &here, back - i / 8) ^
                                        ring_text_load(ring, &there, back - i / 8);

                agree = ring_at_most(differ != 0 ? core_high_zeros(differ) : 8, i, max);
            }
            RING_FIRST_BELOW_8(agree, lane, n);
        }
}

/* A warp: of the places 0, 8, 16, ... the first at which eight bytes from a and b on are equal and
 * end within len; len where there is none. */
CORE uint32_t ring_first_equal(const struct ring *ring, uint64_t a, uint64_t b, uint32_t len)
{
    const struct ring_text here = ring_text_at(a), there = ring_text_at(b);

    for (uint32_t n = 0; n + 8 <= len; n += RING_STEP)
        WARP_EACH_LANE (lane) {
            const uint32_t i = n + 8 * lane;
            const bool equal = i + 8 <= len && ring_text_load(ring, &here, i / 8) ==
                                                   ring_text_load(ring, &there, i / 8);
#ifdef __CUDA_ARCH__
            const uint32_t all = __ballot_sync(~0u, equal);

            if (all != 0)
                return n + 8 * ((uint32_t)__ffs((int)all) - 1);
#else
            if (equal)
                return i;
#endif
        }
    return len;
}

#endif

/* SPDX-License-Identifier: MIT */
/* The packet cache's ring as a warp reads it: words of eight bytes that begin anywhere, and how far
 * two texts in it agree. Indices are below the ring's length, which is a multiple of 16 and not
 * below that of any packet. */
#ifndef REDUNDANCY_RING_CORE_H
#define REDUNDANCY_RING_CORE_H

#include "redundancy_core.h"

enum { RING_STEP = 8 * WARP_LANES /* bytes that a warp looks at at a time */ };

struct ring {
    const uint64_t *words;
    uint64_t len; /* bytes */
};

REDUNDANCY_CORE uint64_t ring_ahead(const struct ring *ring, uint64_t at, uint32_t n)
{
    const uint64_t there = at + n;

    return there < ring->len ? there : there - ring->len;
}

REDUNDANCY_CORE uint64_t ring_before(const struct ring *ring, uint64_t at, uint32_t n)
{
    return at >= n ? at - n : at + ring->len - n;
}

/* Eight bytes, the first lowest. Around the end of the ring they go on at its beginning. */
REDUNDANCY_CORE uint64_t ring_load(const struct ring *ring, uint64_t at)
{
    const uint64_t word = at / 8;
    const uint32_t shift = 8 * (uint32_t)(at % 8);

    if (shift == 0)
        return ring->words[word];
    const uint64_t next = word + 1 < ring->len / 8 ? word + 1 : 0;
    return ring->words[word] >> shift | ring->words[next] << (64 - shift);
}

/* Bytes from a and b on that are equal, at most `most` and 8. */
REDUNDANCY_CORE uint32_t ring_agree_ahead(const struct ring *ring, uint64_t a, uint64_t b,
                                          uint32_t most)
{
    const uint64_t differ = ring_load(ring, a) ^ ring_load(ring, b);
    const uint32_t n = differ != 0 ? core_low_zeros(differ) : 8;

    return n < most ? n : most;
}

/* The same of bytes right before them. */
REDUNDANCY_CORE uint32_t ring_agree_before(const struct ring *ring, uint64_t a, uint64_t b,
                                           uint32_t most)
{
    const uint64_t differ =
        ring_load(ring, ring_before(ring, a, 8)) ^ ring_load(ring, ring_before(ring, b, 8));
    const uint32_t n = differ != 0 ? core_high_zeros(differ) : 8;

    return n < most ? n : most;
}

/* A warp: leading bytes from a and b on that are equal, at most max. */
REDUNDANCY_CORE uint32_t ring_extent_ahead(const struct ring *ring, uint64_t a, uint64_t b,
                                           uint32_t max)
{
    for (uint32_t n = 0;; n += RING_STEP) {
        WARP_EACH_LANE (lane) {
            const uint32_t i = n + 8 * lane;
            const uint32_t agree = i < max ? ring_agree_ahead(ring, ring_ahead(ring, a, i),
                                                              ring_ahead(ring, b, i), max - i)
                                           : 0;
#ifdef __CUDA_ARCH__
            const uint32_t ends = __ballot_sync(~0u, agree < 8);

            if (ends != 0) {
                const uint32_t first = (uint32_t)__ffs((int)ends) - 1;

                return n + 8 * first + __shfl_sync(~0u, agree, (int)first);
            }
#else
            if (agree < 8)
                return i + agree;
#endif
        }
    }
}

/* A warp: bytes right before a and b that are equal, at most max. */
REDUNDANCY_CORE uint32_t ring_extent_before(const struct ring *ring, uint64_t a, uint64_t b,
                                            uint32_t max)
{
    for (uint32_t n = 0;; n += RING_STEP) {
        WARP_EACH_LANE (lane) {
            const uint32_t i = n + 8 * lane;
            const uint32_t agree = i < max ? ring_agree_before(ring, ring_before(ring, a, i),
                                                               ring_before(ring, b, i), max - i)
                                           : 0;
#ifdef __CUDA_ARCH__
            const uint32_t ends = __ballot_sync(~0u, agree < 8);

            if (ends != 0) {
                const uint32_t first = (uint32_t)__ffs((int)ends) - 1;

                return n + 8 * first + __shfl_sync(~0u, agree, (int)first);
            }
#else
            if (agree < 8)
                return i + agree;
#endif
        }
    }
}

/* A warp: of the places 0, 8, 16, ... the first at which eight bytes from a and b on are equal and
 * end within len; len where there is none. */
REDUNDANCY_CORE uint32_t ring_first_equal(const struct ring *ring, uint64_t a, uint64_t b,
                                          uint32_t len)
{
    for (uint32_t n = 0; n + 8 <= len; n += RING_STEP)
        WARP_EACH_LANE (lane) {
            const uint32_t i = n + 8 * lane;
            const bool equal = i + 8 <= len && ring_load(ring, ring_ahead(ring, a, i)) ==
                                                   ring_load(ring, ring_ahead(ring, b, i));
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

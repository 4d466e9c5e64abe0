/* SPDX-License-Identifier: MIT */
/* The length over which two texts agree. */
#ifndef REDUNDANCY_MATCH_EXTENT_H
#define REDUNDANCY_MATCH_EXTENT_H

#include <stdint.h>
#include <string.h>

static inline uint64_t extent_load(const uint8_t *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

/* Leading bytes that are equal, at most max. */
static inline uint64_t extent_ahead(const uint8_t *a, const uint8_t *b, uint64_t max)
{
    uint64_t n = 0;

    for (; n + 8 <= max; n += 8) {
        const uint64_t differ = extent_load(a + n) ^ extent_load(b + n);

        if (differ != 0)
            return n + (unsigned)__builtin_ctzll(differ) / 8;
    }
    while (n < max && a[n] == b[n])
        n++;
    return n;
}

/* Bytes before a and b that are equal, at most max. */
static inline uint64_t extent_before(const uint8_t *a, const uint8_t *b, uint64_t max)
{
    uint64_t n = 0;

    for (; n + 8 <= max; n += 8) {
        const uint64_t differ = extent_load(a - n - 8) ^ extent_load(b - n - 8);

        if (differ != 0)
            return n + (unsigned)__builtin_clzll(differ) / 8;
    }
    while (n < max && a[-(int64_t)n - 1] == b[-(int64_t)n - 1])
        n++;
    return n;
}

#endif

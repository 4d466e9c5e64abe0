/* SPDX-License-Identifier: MIT */
/* A fingerprint of every window. Compiled by C and by nvcc.
 *
 * The window's bytes are the coefficients of a polynomial, highest first, at an odd number, modulo
 * 2^64. From one window to the next it takes one multiplication, whatever the window's length (R.
 * M. Karp, M. O. Rabin, 1987). The high half depends on all bytes, and low bits on low bits alone.
 * So the high half is added to the low one at the end. */
#ifndef EVERY_CORE_H
#define EVERY_CORE_H

#include <stdint.h>

#include "engines/sampling/sampling_hash.h"

#define EVERY_BASE UINT64_C(0x9E3779B97F4A7C15)

/* EVERY_BASE to the power of a window's length. */
CORE uint64_t every_power(uint32_t window)
{
    uint64_t power = 1;

    for (uint32_t i = 0; i < window; i++)
        power *= EVERY_BASE;
    return power;
}

CORE uint64_t every_begin(const uint8_t *at, uint32_t window)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < window; i++)
        sum = sum * EVERY_BASE + at[i];
    return sum;
}

/* From the window at `at` to the next. */
CORE uint64_t every_roll(uint64_t sum, const uint8_t *at, uint32_t window, uint64_t power)
{
    return sum * EVERY_BASE + (at[window] - at[0] * power);
}

CORE uint64_t every_fingerprint(uint64_t sum)
{
    return sum ^ sum >> 32;
}

/* Where a lane's strip of a tile of n positions begins; its end is the next lane's begin. */
CORE uint32_t every_strip(uint32_t n, uint32_t lane)
{
    const uint32_t begin = (n + 31) / 32 * lane;

    return begin < n ? begin : n;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Local maxima. Compiled by C and by nvcc.
 *
 * Positions at which a window fits compete. One is chosen when its value exceeds all values before
 * it within reach, and no value behind it within reach exceeds it. So the first of equal values
 * wins. Positions outside the item do not compete. Reach is half a period (N. Bjorner et al.,
 * "Content-dependent chunking for differential compression, the local maximum approach", 2010; MAXP
 * in Anand et al., SIGMETRICS 2009). */
#ifndef MAXP_CORE_H
#define MAXP_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/sampling/sampling_hash.h"

enum { MAXP_VALUE_LEN = 4 }; /* bytes that a value is made of */

/* The order of values: the lowest first bytes first, then the highest bytes behind them. Low bytes
 * are separators in text and zeros in binary data. A value is its bytes as a big-endian number,
 * less this. */
#define MAXP_TURN UINT32_C(0xFF000000)

CORE uint32_t maxp_push(uint32_t bytes, uint8_t byte)
{
    return bytes << 8 | byte;
}

CORE uint32_t maxp_value(const uint8_t *at)
{
#ifdef __CUDA_ARCH__
    uint32_t bytes = 0;

    for (int i = 0; i < MAXP_VALUE_LEN; i++)
        bytes = maxp_push(bytes, at[i]);
    return bytes ^ MAXP_TURN;
#else
    uint32_t bytes;

    memcpy(&bytes, at, sizeof bytes);
    return __builtin_bswap32(bytes) ^ MAXP_TURN;
#endif
}

/* Two chosen positions are more than `reach` apart, so each block of reach + 1 positions holds at
 * most one: the first of its highest. Whether there is one, for a block that begins before
 * n_positions. */
CORE bool maxp_block(const uint8_t *payload, uint64_t n_positions, uint32_t reach, uint64_t block,
                     uint32_t *chosen)
{
    const uint64_t begin = block * (reach + 1);
    const uint64_t end = begin + reach + 1 < n_positions ? begin + reach + 1 : n_positions;
    uint64_t best = begin;
    uint32_t best_value = maxp_value(payload + begin);
    uint32_t bytes = best_value ^ MAXP_TURN;

    for (uint64_t at = begin + 1; at < end; at++) {
        bytes = maxp_push(bytes, payload[at + (MAXP_VALUE_LEN - 1)]);
        if ((bytes ^ MAXP_TURN) > best_value) {
            best = at;
            best_value = bytes ^ MAXP_TURN;
        }
    }

    const uint64_t last = n_positions - best > reach ? best + reach : n_positions - 1;
    for (uint64_t at = end; at <= last; at++) {
        bytes = maxp_push(bytes, payload[at + (MAXP_VALUE_LEN - 1)]);
        if ((bytes ^ MAXP_TURN) > best_value)
            return false;
    }
    for (uint64_t at = best > reach ? best - reach : 0; at < begin; at++)
        if (maxp_value(payload + at) >= best_value)
            return false;
    *chosen = (uint32_t)best;
    return true;
}

/* Blocks of an item. */
CORE uint64_t maxp_blocks(uint64_t n_positions, uint32_t reach)
{
    return (n_positions + reach) / (reach + 1);
}

#endif

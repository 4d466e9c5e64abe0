/* SPDX-License-Identifier: MIT */
/* Sums (RFC 1071): 16-bit words in memory order, those at even offsets of the packet, added into 64
 * bits. A byte outside [begin, end) counts 0. A datagram has at most 2^15 words: no sum overflows.
 */
#ifndef HEADER_SUM_CORE_H
#define HEADER_SUM_CORE_H

#include <stdint.h>
#include <string.h>

#include "base/core.h"

enum { HEADER_TILE = 16 /* bytes of a tile: one load of a lane */ };

/* A word of any alignment in memory order. The GPU has no unaligned load; two aligned ones stay
 * inside the arena, which begins at a multiple of 16 and ends with slack. */
CORE uint32_t header_load32(const uint8_t *bytes)
{
#if defined(__CUDA_ARCH__)
    const uintptr_t address = (uintptr_t)bytes;
    const uint32_t *word = (const uint32_t *)(address & ~(uintptr_t)3);

    return __funnelshift_r(word[0], word[1], (unsigned)(address & 3) * 8);
#else
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
#endif
}

CORE uint32_t header_be32(const uint8_t *bytes)
{
    const uint32_t word = header_load32(bytes);

    return word << 24 | (word & 0xFF00) << 8 | (word >> 8 & 0xFF00) | word >> 24;
}

CORE uint32_t header_fold(uint64_t sum)
{
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16 & 0xFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint32_t)((sum & 0xFFFF) + (sum >> 16));
}

/* A 16-bit number as the word that holds it in network order. */
CORE uint32_t header_word(uint32_t number)
{
    return (number >> 8 & 0xFF) | (number & 0xFF) << 8;
}

CORE uint64_t header_halves(uint64_t word)
{
    return (word & 0xFFFFFFFF) + (word >> 32);
}

/* The bytes of a word at offset `at` that lie in [begin, end), the others 0. */
CORE uint64_t header_keep(uint64_t word, uint32_t at, uint32_t begin, uint32_t end)
{
    const uint32_t head = begin <= at ? 0 : begin - at;
    const uint32_t tail = end >= at + 8 ? 0 : at + 8 - end;

    if (head >= 8 || tail >= 8)
        return 0;
    return (word >> head * 8 << head * 8) << tail * 8 >> tail * 8;
}

/* The sum of one tile: HEADER_TILE bytes of the packet, at a multiple of HEADER_TILE. */
CORE uint64_t header_sum_tile(const uint8_t *bytes, uint32_t tile, uint32_t begin, uint32_t end)
{
    const uint32_t at = tile * HEADER_TILE;
    uint64_t word[2];

#if defined(__CUDA_ARCH__)
    const ulonglong2 both = *(const ulonglong2 *)(bytes + at);

    word[0] = both.x;
    word[1] = both.y;
#else
    memcpy(word, bytes + at, sizeof word);
#endif
    if (at < begin || at + HEADER_TILE > end) {
        word[0] = header_keep(word[0], at, begin, end);
        word[1] = header_keep(word[1], at + 8, begin, end);
    }
    return header_halves(word[0]) + header_halves(word[1]);
}

/* The share of one of n_lanes lanes: every n_lanes-th tile, so that lanes side by side load bytes
 * side by side. The sums of all lanes add up to the sum of [begin, end). */
CORE uint64_t header_sum_lane(const uint8_t *bytes, uint32_t begin, uint32_t end, uint32_t lane,
                              uint32_t n_lanes)
{
    uint64_t sum = 0;

    for (uint32_t tile = begin / HEADER_TILE + lane; tile * HEADER_TILE < end; tile += n_lanes)
        sum += header_sum_tile(bytes, tile, begin, end);
    return sum;
}

#endif

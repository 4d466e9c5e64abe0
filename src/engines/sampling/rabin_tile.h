/* SPDX-License-Identifier: MIT */
/* Rabin's fingerprints over an arena in tiles, as GPUs do it. The arena is split evenly over lanes,
 * whatever items lie in it: a lane has the windows that end in its range. It takes 32 bytes at a
 * time, and takes out the 32 that are a window behind them; which windows are chosen is one bit a
 * byte. Whether a chosen window lies in an item, and its fingerprint, are asked for apart, as few
 * are. Compiled by C and by nvcc.
 *
 * The state is (fingerprint + magic) x^(64-d) in two words: its highest byte is the one that looks
 * up what to reduce by, and a window is chosen where the bits above the lowest 64 - d, as many as
 * are compared, are zero. */
#ifndef RABIN_TILE_H
#define RABIN_TILE_H

#include <string.h>

#include "rabin_core.h"
#include "sluice/batch.h"

enum {
    RABIN_STEP = 32, /* bytes that a lane takes at a time */
    RABIN_STEP_WORDS = RABIN_STEP / 4,
    RABIN_WARP = 32,       /* lanes */
    RABIN_RANGE_MIN = 128, /* bytes of a lane's range, a multiple of a step; shorter ones are lost
                              on the windows that begin before them, */
    RABIN_RANGE_MAX = 512  /* longer ones on memory pages */
};

#ifdef __CUDA_ARCH__
#define RABIN_UNROLL _Pragma("unroll")
#else
#define RABIN_UNROLL
#endif

/* ---- the arena ------------------------------------------------------------------------------- */

/* A batch's arena. Payloads do not overlap, and ascend. */
struct rabin_arena {
    const uint8_t *bytes;
    const struct sl_span *payload;
    const uint16_t *overlap; /* NULL where no item has any */
    uint32_t n_items;
    uint32_t len; /* bytes, a multiple of 16 */
};

/* How an arena is split: warp w has the tiles w n_tiles, ..., each a range for each of its lanes.
 */
struct rabin_split {
    uint32_t range_len; /* bytes */
    uint32_t n_tiles;   /* a warp */
    uint32_t n_warps;   /* that have any */
};

/* Over at most max_warps warps: as evenly as whole steps go. */
RABIN_CORE struct rabin_split rabin_split(uint32_t len, uint32_t max_warps)
{
    const uint64_t lanes = (uint64_t)max_warps * RABIN_WARP;
    struct rabin_split split;

    split.n_tiles = (uint32_t)(len / (lanes * RABIN_RANGE_MAX)) + 1;

    const uint64_t ranges = lanes * split.n_tiles;
    split.range_len = (uint32_t)((len + ranges - 1) / ranges + RABIN_STEP - 1) & ~(RABIN_STEP - 1u);
    if (split.range_len < RABIN_RANGE_MIN)
        split.range_len = RABIN_RANGE_MIN;

    const uint64_t warp_len = (uint64_t)split.range_len * RABIN_WARP * split.n_tiles;
    split.n_warps = (uint32_t)((len + warp_len - 1) / warp_len);
    return split;
}

/* The last of the items low to high whose payload begins at or before `at`, or low. */
RABIN_CORE uint32_t rabin_find_item(const struct rabin_arena *arena, uint32_t low, uint32_t high,
                                    uint64_t at)
{
    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;

        if (arena->payload[middle].offset <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Whether the window that ends with byte `last` is to be reported: then its item, one of low to
 * high, and where it begins in the item's payload. */
RABIN_CORE bool rabin_locate(const struct rabin_arena *arena, uint32_t window, uint32_t low,
                             uint32_t high, uint32_t last, uint32_t *item, uint32_t *offset)
{
    if (last + UINT64_C(1) < window)
        return false;

    const uint32_t begin = last + 1 - window;
    *item = rabin_find_item(arena, low, high, begin);

    const struct sl_span span = arena->payload[*item];
    const uint32_t overlap = arena->overlap != NULL ? arena->overlap[*item] : 0;
    if (begin < span.offset || last >= span.offset + (uint64_t)span.len)
        return false;
    *offset = begin - span.offset;
    return *offset + window > overlap;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Where a lane looks up push_high and left_high. On a GPU these are addresses in shared memory:
 * either of one copy, or of the lane's column of a table with a column for each lane of a warp, in
 * rows of 256 bytes. No two lanes then want the same bank. Such a table begins at a multiple of 64
 * KiB, so that one permutation of bytes makes an address. */
struct rabin_columns {
#ifdef __CUDACC__
    uint32_t push, left;
    bool by_lane;
#else
    const uint64_t *push, *left;
#endif
};

#ifdef __CUDACC__
static __device__ inline uint64_t rabin_load_shared(uint32_t address)
{
    uint64_t value;

    asm("ld.shared.u64 %0, [%1];" : "=l"(value) : "r"(address));
    return value;
}
#define RABIN_LANE static __device__ inline
#else
#define RABIN_LANE static inline
#endif

RABIN_LANE uint64_t rabin_pushed(const struct rabin_columns *columns, uint32_t high)
{
#ifdef __CUDACC__
    return rabin_load_shared(columns->by_lane ? __byte_perm(high, columns->push, 0x7634)
                                              : columns->push + (high >> 24) * 8);
#else
    return columns->push[high >> 24];
#endif
}

/* For byte k of a word. */
RABIN_LANE uint64_t rabin_left(const struct rabin_columns *columns, uint32_t word, int k)
{
#ifdef __CUDACC__
    return rabin_load_shared(columns->by_lane
                                 ? __byte_perm(word, columns->left, 0x7604 | k << 4)
                                 : columns->left + __byte_perm(word, 0, 0x4440 | k) * 8);
#else
    return columns->left[word >> 8 * k & 0xFF];
#endif
}

/* ---- a lane ---------------------------------------------------------------------------------- */

/* What the state is multiplied with: shifts, as multiplications, which GPUs have units of their own
 * for. They are variables, so that a compiler does not turn them into shifts again. */
struct rabin_factors {
    uint32_t byte; /* 2^8: makes room for a byte */
    uint32_t in;   /* 2^(64-d): adds one there */
    uint32_t test; /* shifts out of a word all bits of the state above those that are compared */
    uint32_t bit;  /* 2 */
};

struct rabin_lane {
    struct rabin_columns columns;
    uint32_t low, high; /* the state */
};

RABIN_CORE struct rabin_factors rabin_factors(const struct rabin_table *table)
{
    struct rabin_factors factors;
    uint32_t n_compared = 0;

    while ((table->mask >> n_compared & 1) != 0)
        n_compared++;
    factors.byte = 1u << 8;
    factors.in = 1u << (64 - table->degree);
    factors.test = 1u << (32 - (64 - table->degree) - n_compared);
    factors.bit = 2;
    return factors;
}

RABIN_LANE uint32_t rabin_byte(uint32_t word, int k)
{
#ifdef __CUDACC__
    return __byte_perm(word, 0, 0x4440 | k);
#else
    return word >> 8 * k & 0xFF;
#endif
}

/* What a look-up gives is added to a state that has been shifted up by a byte, with the byte in. */
RABIN_LANE void rabin_step(struct rabin_lane *lane, const struct rabin_factors *factors,
                           uint32_t byte, uint64_t pushed, uint64_t left)
{
#ifdef __CUDACC__
    const uint32_t high = __byte_perm(lane->low, lane->high, 0x6543);
#else
    const uint32_t high = lane->high << 8 | lane->low >> 24;
#endif
    const uint32_t low = lane->low * factors->byte + byte * factors->in;

    lane->high = high ^ (uint32_t)(pushed >> 32) ^ (uint32_t)(left >> 32);
    lane->low = low ^ (uint32_t)pushed ^ (uint32_t)left;
}

/* Begins with no byte. */
RABIN_LANE void rabin_clear(struct rabin_lane *lane)
{
    lane->low = 0;
    lane->high = 0;
}

/* Takes the bytes of a step from byte `skipped` on, and none out. */
RABIN_LANE void rabin_enter(struct rabin_lane *lane, const struct rabin_factors *factors,
                            const uint32_t in[RABIN_STEP_WORDS], uint32_t skipped)
{
    RABIN_UNROLL
    for (int i = 0; i < RABIN_STEP_WORDS; i++) {
        RABIN_UNROLL
        for (int k = 0; k < 4; k++) {
            const uint32_t byte = (uint32_t)(4 * i + k) >= skipped ? rabin_byte(in[i], k) : 0;

            rabin_step(lane, factors, byte, rabin_pushed(&lane->columns, lane->high), 0);
        }
    }
}

/* The first window is in: from now on the state also holds the magic. */
RABIN_LANE void rabin_add_magic(struct rabin_lane *lane, const struct rabin_factors *factors,
                                uint32_t magic)
{
    lane->low ^= magic * factors->in;
}

/* Takes a step in, and a step out. Bit 31 - i: the window that ends with byte i is not chosen. */
RABIN_LANE uint32_t rabin_take(struct rabin_lane *lane, const struct rabin_factors *factors,
                               const uint32_t in[RABIN_STEP_WORDS],
                               const uint32_t out[RABIN_STEP_WORDS])
{
    uint32_t passed_over = 0;

    RABIN_UNROLL
    for (int i = 0; i < RABIN_STEP_WORDS; i++) {
        RABIN_UNROLL
        for (int k = 0; k < 4; k++) {
            rabin_step(lane, factors, rabin_byte(in[i], k),
                       rabin_pushed(&lane->columns, lane->high),
                       rabin_left(&lane->columns, out[i], k));

            const uint32_t compared = lane->low * factors->test;
#ifdef __CUDACC__
            /* The carry is taken up by a multiplication: the units of logic are what is short. */
            asm("{ .reg .u32 sum; add.cc.u32 sum, %1, 0xFFFFFFFF; madc.lo.u32 %0, %0, %2, 0; }"
                : "+r"(passed_over)
                : "r"(compared), "r"(factors->bit));
#else
            passed_over = passed_over * factors->bit + (compared != 0);
#endif
        }
    }
    return passed_over;
}

/* 32 bytes from byte `from` (0 to 31) of two steps that lie one behind another. */
RABIN_LANE void rabin_from_between(uint32_t out[RABIN_STEP_WORDS],
                                   const uint32_t first[RABIN_STEP_WORDS],
                                   const uint32_t second[RABIN_STEP_WORDS], uint32_t from)
{
    uint32_t words[2 * RABIN_STEP_WORDS];

    RABIN_UNROLL
    for (int i = 0; i < RABIN_STEP_WORDS; i++) {
        words[i] = first[i];
        words[RABIN_STEP_WORDS + i] = second[i];
    }
    RABIN_UNROLL
    for (int i = 0; i < RABIN_STEP_WORDS + 4; i++)
        words[i] = (from & 16) != 0 ? words[i + 4] : words[i];
    RABIN_UNROLL
    for (int i = 0; i < RABIN_STEP_WORDS + 2; i++)
        words[i] = (from & 8) != 0 ? words[i + 2] : words[i];
    RABIN_UNROLL
    for (int i = 0; i < RABIN_STEP_WORDS + 1; i++)
        words[i] = (from & 4) != 0 ? words[i + 1] : words[i];
    RABIN_UNROLL
    for (int i = 0; i < RABIN_STEP_WORDS; i++) {
#ifdef __CUDACC__
        out[i] = __funnelshift_r(words[i], words[i + 1], 8 * (from & 3));
#else
        out[i] = (uint32_t)(((uint64_t)words[i + 1] << 32 | words[i]) >> 8 * (from & 3));
#endif
    }
}

/* 16 bytes of the arena at a multiple of 16, or zeros from outside. */
RABIN_LANE void rabin_load(const struct rabin_arena *arena, uint32_t at, uint32_t words[4])
{
    if (at >= arena->len) {
        for (int i = 0; i < 4; i++)
            words[i] = 0;
        return;
    }
#ifdef __CUDACC__
    const uint4 bytes = *(const uint4 *)(arena->bytes + at);

    words[0] = bytes.x;
    words[1] = bytes.y;
    words[2] = bytes.z;
    words[3] = bytes.w;
#else
    memcpy(words, arena->bytes + at, 16);
#endif
}

/* The fingerprint of the window that ends with byte `last`. */
RABIN_LANE uint64_t rabin_fingerprint_of(const struct rabin_columns *columns,
                                         const struct rabin_factors *factors, uint32_t degree,
                                         const struct rabin_arena *arena, uint32_t window,
                                         uint32_t last)
{
    struct rabin_lane lane;

    lane.columns = *columns;
    rabin_clear(&lane);
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (uint32_t left = window; left != 0;) {
        const uint32_t rest = left % RABIN_STEP != 0 ? left % RABIN_STEP : RABIN_STEP;
        const uint32_t from = last + 1 - left + rest - RABIN_STEP;
        uint32_t first[RABIN_STEP_WORDS], second[RABIN_STEP_WORDS] = {0}, step[RABIN_STEP_WORDS];

        rabin_load(arena, from & ~15u, first);
        rabin_load(arena, (from & ~15u) + 16, first + 4);
        rabin_load(arena, (from & ~15u) + 32, second);
        rabin_from_between(step, first, second, from & 15);
        rabin_enter(&lane, factors, step, RABIN_STEP - rest);
        left -= rest;
    }
    return ((uint64_t)lane.high << 32 | lane.low) >> (64 - degree);
}

#endif

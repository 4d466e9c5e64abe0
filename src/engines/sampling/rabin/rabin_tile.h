/* SPDX-License-Identifier: MIT */
/* Rabin's fingerprints over an arena in tiles, as GPUs compute them. Compiled by C and by nvcc.
 *
 * The arena is split over lanes, whatever items lie in it: a lane has the windows that end in its
 * range. It appends 32 bytes at a time, and removes the 32 bytes that lie a window behind them. One
 * bit a byte marks the chosen windows. Few windows are chosen, so their items and fingerprints are
 * computed apart.
 *
 * The state is the fingerprint plus the magic, in two words that overlap: its 32 highest bits and
 * its 32 lowest. The highest byte of one word looks up the reduction, and bytes come in at the end
 * of the other word. A window is chosen where the compared bits are zero. The magic has at most 12
 * bits, and none of them lies in the high word, as the degree is 53 or more. */
#ifndef RABIN_TILE_H
#define RABIN_TILE_H

#include <string.h>

#include "rabin_core.h"

enum {
    RABIN_STEP = 32, /* bytes that a lane takes at a time */
    RABIN_STEP_WORDS = RABIN_STEP / 4,
    RABIN_WARP = 32,       /* lanes */
    RABIN_RANGE_MIN = 128, /* bytes of a lane's range, a multiple of a step; shorter ones are lost
                              on the windows that begin before them, */
    RABIN_RANGE_MAX = 256  /* longer ones on warps that are still at their last tile */
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

/* The split of an arena into tiles, a range for each lane of a warp. A warp takes the tile of its
 * number first, and then any tile that is left. Hits lie close together in some places, and the
 * warps there take longer. */
struct rabin_split {
    uint32_t range_len; /* bytes */
    uint32_t n_tiles;
};

/* Splits over n_warps, as evenly as whole steps allow. */
CORE struct rabin_split rabin_split(uint32_t len, uint32_t n_warps)
{
    const uint64_t lanes = (uint64_t)n_warps * RABIN_WARP;
    const uint64_t ranges = lanes * (len / (lanes * RABIN_RANGE_MAX) + 1);
    struct rabin_split split;

    split.range_len = (uint32_t)((len + ranges - 1) / ranges + RABIN_STEP - 1) & ~(RABIN_STEP - 1u);
    if (split.range_len < RABIN_RANGE_MIN)
        split.range_len = RABIN_RANGE_MIN;

    const uint64_t tile_len = (uint64_t)split.range_len * RABIN_WARP;
    split.n_tiles = (uint32_t)((len + tile_len - 1) / tile_len);
    return split;
}

/* Whether the window that ends with byte `last` is to be reported: then its item, and where it
 * begins in the item's payload. */
CORE bool rabin_locate(const struct rabin_arena *arena, uint32_t window, uint32_t last,
                       uint32_t *item, uint32_t *offset)
{
    if (last + UINT64_C(1) < window)
        return false;

    const uint32_t begin = last + 1 - window;
    *item = rabin_find_item(arena->payload, arena->n_items, begin);

    const struct sl_span span = arena->payload[*item];
    const uint32_t overlap = arena->overlap != NULL ? arena->overlap[*item] : 0;
    if (begin < span.offset || last >= span.offset + (uint64_t)span.len)
        return false;
    *offset = begin - span.offset;
    return *offset + window > overlap;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Where a lane looks up push_words and left_words. On a GPU these are addresses in shared memory,
 * of one copy or of the lane's column. A table of columns has a column for each lane of a warp, in
 * rows of 256 bytes, so no two lanes use the same bank. It begins at a multiple of 64 KiB, so that
 * one permutation of bytes makes an address. */
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

/* The configuration that lanes need. Units of logic are scarce, so products replace shifts: GPUs
 * have units of their own for them. */
struct rabin_form {
    uint32_t degree;
    uint32_t up;    /* 2^(64-d): moves the bits of the low word below the high word's to its end */
    uint32_t mask;  /* of the bits that are compared */
    uint32_t magic; /* no others than these */
    uint32_t one;   /* 1; a compiler that sees the constant makes logic of it again */
};

struct rabin_lane {
    struct rabin_columns columns;
    uint32_t low, high; /* the state */
};

CORE struct rabin_form rabin_form(const struct rabin_table *table)
{
    struct rabin_form form;

    form.degree = table->degree;
    form.up = 1u << (64 - table->degree);
    form.mask = (uint32_t)table->mask;
    form.magic = (uint32_t)table->magic;
    form.one = 1;
    return form;
}

/* Shifts the state by a byte, takes in byte k of a word, and adds the looked-up words. */
RABIN_LANE void rabin_step(struct rabin_lane *lane, const struct rabin_form *form, uint32_t word,
                           int k, uint64_t pushed, uint64_t left)
{
    const uint32_t up = lane->low * form->up;
#ifdef __CUDACC__
    const uint32_t high = __byte_perm(up, lane->high, 0x6543);
    const uint32_t low = __byte_perm(lane->low, word, 0x2104 | k);
#else
    const uint32_t high = lane->high << 8 | up >> 24;
    const uint32_t low = lane->low << 8 | (word >> 8 * k & 0xFF);
#endif

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
RABIN_LANE void rabin_enter(struct rabin_lane *lane, const struct rabin_form *form,
                            const uint32_t in[RABIN_STEP_WORDS], uint32_t skipped)
{
    RABIN_UNROLL
    for (uint32_t i = 0; i < RABIN_STEP_WORDS; i++) {
        const uint32_t word = skipped <= 4 * i       ? in[i]
                              : skipped >= 4 * i + 4 ? 0
                                                     : in[i] & ~0u << 8 * (skipped - 4 * i);

        RABIN_UNROLL
        for (int k = 0; k < 4; k++)
            rabin_step(lane, form, word, k, rabin_pushed(&lane->columns, lane->high), 0);
    }
}

/* The first window is in: from now on the state also holds the magic. */
RABIN_LANE void rabin_add_magic(struct rabin_lane *lane, const struct rabin_form *form)
{
    lane->low ^= form->magic;
}

/* Bit 31 - i: the window that ends with byte i of a step is chosen. */
#ifdef __CUDACC__
#define RABIN_NOTE(chosen, low, form, i)                                     \
    asm("{ .reg .pred zero; .reg .u32 compared; and.b32 compared, %1, %2;"   \
        " setp.eq.u32 zero, compared, 0; @zero mad.lo.u32 %0, %3, %4, %0; }" \
        : "+r"(chosen)                                                       \
        : "r"(low), "r"((form)->mask), "r"((form)->one), "r"(0x80000000u >> (i)))
#else
#define RABIN_NOTE(chosen, low, form, i) \
    ((chosen) |= ((low) & (form)->mask) == 0 ? 0x80000000u >> (i) : 0)
#endif

/* Takes a step in, and a step out. Returns which windows are chosen. */
RABIN_LANE uint32_t rabin_take(struct rabin_lane *lane, const struct rabin_form *form,
                               const uint32_t in[RABIN_STEP_WORDS],
                               const uint32_t out[RABIN_STEP_WORDS])
{
    uint32_t chosen = 0;

    RABIN_UNROLL
    for (int i = 0; i < RABIN_STEP_WORDS; i++) {
        RABIN_UNROLL
        for (int k = 0; k < 4; k++) {
            rabin_step(lane, form, in[i], k, rabin_pushed(&lane->columns, lane->high),
                       rabin_left(&lane->columns, out[i], k));
            RABIN_NOTE(chosen, lane->low, form, 4 * i + k);
        }
    }
    return chosen;
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
                                         const struct rabin_form *form,
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
        rabin_enter(&lane, form, step, RABIN_STEP - rest);
        left -= rest;
    }
    return (uint64_t)lane.high << (form->degree - 32) | lane.low;
}

#endif

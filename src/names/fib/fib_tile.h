/* SPDX-License-Identifier: MIT */
/* How GPUs take names: 32 at a time, one a thread of a warp. A warp reads names that lie one after
 * another together into shared memory, so that whole lines cross. Each thread reads its own name
 * there. This is the transposition of section 4, done on the device. Compiled by C and by nvcc. */
#ifndef FIB_TILE_H
#define FIB_TILE_H

#include "fib_view.h"
#include "sluice/batch.h"

enum {
    FIB_TILE_NAMES = 32,
    FIB_TILE_LINE = 128, /* bytes that a window begins at a multiple of: the unit of memory reads */
    FIB_TILE_LEN = 2816, /* bytes of 32 names that are staged; the rest is read directly */
    FIB_TILE_SLACK = 32, /* bytes behind them: readers read up to 20 more */
    FIB_TILE_WARPS = 2   /* a block: small ones end, and make room, one by one */
};

/* Names, and where their answers go. */
struct fib_items {
    const uint8_t *bytes;
    const struct sl_span *payload;
    uint32_t *next_hop;
    uint32_t *prefix_len; /* NULL: unwanted */
    uint32_t n;
};

/* The arena's offset that a tile's window begins at: offsets ascend. */
FIB_CORE uint32_t fib_tile_begin(uint32_t first_offset)
{
    return first_offset & ~(uint32_t)(FIB_TILE_LINE - 1);
}

/* Whether all that a reader of this span may read was staged. */
FIB_CORE bool fib_tile_holds(uint32_t begin, struct sl_span span)
{
    return span.offset >= begin && span.offset - begin <= FIB_TILE_LEN &&
           span.len <= FIB_TILE_LEN - (span.offset - begin);
}

#ifndef __CUDACC__
#include "fib_internal.h"

/* Defines a plane's backends "tiled" and "tiled-interwoven": the tiling on the CPU, so that a
 * machine without a GPU finds wrong edges. */
#define FIB_TILED_BACKENDS(plane, lookup)                                                      \
    static void plane##_tile(const struct fib_view *view, const struct sl_batch *batch,        \
                             uint32_t first, struct fib_answer answers[FIB_TILE_NAMES])        \
    {                                                                                          \
        static _Thread_local _Alignas(16) uint8_t staged[FIB_TILE_LEN + FIB_TILE_SLACK];       \
        const uint32_t left = batch->n_items - first;                                          \
        const uint32_t begin = fib_tile_begin(batch->payload[first].offset);                   \
        const uint32_t behind = batch->bytes_len - begin;                                      \
                                                                                               \
        memcpy(staged, batch->bytes + begin, behind < FIB_TILE_LEN ? behind : FIB_TILE_LEN);   \
        for (uint32_t i = 0; i < FIB_TILE_NAMES && i < left; i++) {                            \
            const struct sl_span span = batch->payload[first + i];                             \
            struct fib_reader name = fib_item(batch, first + i, 1);                            \
                                                                                               \
            if (fib_tile_holds(begin, span))                                                   \
                name.words = (const uint32_t *)(const void *)(staged + (span.offset - begin)); \
            answers[i] = lookup(view, &name);                                                  \
        }                                                                                      \
    }                                                                                          \
    static void plane##_tiled(const struct fib_view *view, const struct sl_batch *batch,       \
                              uint32_t *next_hop, uint32_t *prefix_len)                        \
    {                                                                                          \
        struct fib_answer answers[FIB_TILE_NAMES];                                             \
                                                                                               \
        for (uint32_t i = 0; i < batch->n_items; i++) {                                        \
            if (i % FIB_TILE_NAMES == 0)                                                       \
                plane##_tile(view, batch, i, answers);                                         \
            next_hop[i] = answers[i % FIB_TILE_NAMES].next_hop;                                \
            if (prefix_len != NULL)                                                            \
                prefix_len[i] = answers[i % FIB_TILE_NAMES].len;                               \
        }                                                                                      \
    }                                                                                          \
    static void plane##_tiled_interwoven(const struct fib_view *view,                          \
                                         const struct sl_batch *batch, uint32_t *next_hop,     \
                                         uint32_t *prefix_len)                                 \
    {                                                                                          \
        for (uint32_t i = 0; i < batch->n_items; i++) {                                        \
            const struct fib_reader name = fib_item(batch, i, FIB_INTERWOVEN);                 \
            const struct fib_answer answer = lookup(view, &name);                              \
                                                                                               \
            next_hop[i] = answer.next_hop;                                                     \
            if (prefix_len != NULL)                                                            \
                prefix_len[i] = answer.len;                                                    \
        }                                                                                      \
    }                                                                                          \
    FIB_CPU_BACKEND(fib_##plane##_tiled, "tiled", fib_cpu_usable, plane##_tiled);              \
    FIB_CPU_BACKEND(fib_##plane##_tiled_interwoven, "tiled-interwoven", fib_cpu_usable,        \
                    plane##_tiled_interwoven)
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* The mapping in which a warp has an item, and several share one where items are few. For .cu
 * files. */
#ifndef SAMPLING_WARPS_H
#define SAMPLING_WARPS_H

#include "device/cuda_internal.h"
#include "sampling_internal.h"

enum { SAMPLING_WARPS = 4 }; /* warps of a block */

/* The part of a batch that kernels read; overlap is NULL where no item has any. */
struct sampling_items {
    const uint8_t *bytes;
    const struct sl_span *payload;
    const uint16_t *overlap;
    uint32_t n;
    uint32_t window;
};

static inline struct sampling_items sampling_items(const struct sl_batch *batch,
                                                   const struct sl_sampling_table *table)
{
    const struct sampling_items items = {batch->bytes, batch->payload,
                                         batch->has_overlap ? batch->overlap : NULL, batch->n_items,
                                         table->window};

    return items;
}

/* x: blocks side by side on different items; y: warps that share an item, at most `share`. */
static inline dim3 sampling_grid(const struct cuda_context *cuda, uint32_t n_items, uint32_t share)
{
    const uint32_t room = cuda->n_multiprocessors * (2048 / (32 * SAMPLING_WARPS));
    const uint32_t wanted = (n_items + (SAMPLING_WARPS - 1)) / SAMPLING_WARPS;
    const uint32_t x = wanted < room ? wanted : room;
    const uint32_t y = room / x;

    return dim3(x, y < share ? y : share);
}

static inline enum sl_status sampling_open(void **context, const void *table,
                                           const struct sl_limits *limits, struct sl_diag *diag)
{
    return cuda_context_open(context, table, ((const struct sl_sampling_table *)table)->len, limits,
                             diag);
}

#ifdef __CUDACC__
/* A warp's first item, and the distance to its next. */
static __device__ inline uint32_t sampling_first_item(void)
{
    return blockIdx.x * SAMPLING_WARPS + threadIdx.x / 32;
}

static __device__ inline uint32_t sampling_item_stride(void)
{
    return gridDim.x * SAMPLING_WARPS;
}

/* Windows that begin before this offset are the piece before's. */
static __device__ inline uint32_t sampling_first_offset(const struct sampling_items *items,
                                                        uint32_t item)
{
    const uint32_t overlap = items->overlap != NULL ? items->overlap[item] : 0;

    return overlap >= items->window ? overlap - items->window + 1 : 0;
}
#endif

#endif

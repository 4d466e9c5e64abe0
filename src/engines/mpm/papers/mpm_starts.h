/* SPDX-License-Identifier: MIT */
/* The mapping in which every start position of every item has a thread (block-level parallelism,
 * thesis, section 4.1.2). Each item has a block, whose threads stride over its starts. Where items
 * are fewer than the device has room for blocks, several blocks share each. */
#ifndef MPM_STARTS_H
#define MPM_STARTS_H

#include "engines/mpm/mpm_table.h"
#include "sluice/batch.h"

enum { MPM_STARTS_BLOCK = 128 }; /* threads of a block */

#ifdef __CUDACC__
#include "device/cuda_internal.h"

/* The part of a batch that kernels read; overlap is NULL where no item has any. */
struct mpm_items {
    const uint8_t *bytes;
    const struct sl_span *payload;
    const uint16_t *overlap;
    uint32_t n;
};

static inline struct mpm_items mpm_items(const struct sl_batch *batch)
{
    const struct mpm_items items = {batch->bytes, batch->payload,
                                    batch->has_overlap ? batch->overlap : NULL, batch->n_items};

    return items;
}

/* x: blocks side by side on different items, at most one an item; y: blocks that share an item.
 * For one item or more. */
static inline dim3 mpm_starts_grid(const struct cuda_context *cuda, uint32_t n_items)
{
    const uint32_t room = cuda->n_multiprocessors * (2048 / MPM_STARTS_BLOCK);
    const uint32_t x = n_items < room ? n_items : room;

    return dim3(x, room / x);
}

/* A thread's first start in its items, and the distance to its next. */
static __device__ inline uint64_t mpm_starts_first(void)
{
    return (uint64_t)blockIdx.y * MPM_STARTS_BLOCK + threadIdx.x;
}

static __device__ inline uint64_t mpm_starts_stride(void)
{
    return (uint64_t)gridDim.y * MPM_STARTS_BLOCK;
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* The look-up of a warp's names, for all kernels that do it. */
#ifndef FIB_CUDA_LOOKUP_H
#define FIB_CUDA_LOOKUP_H

#include <cuda_pipeline_primitives.h>

#include "fib_tile.h"
#include "names/fib/hash/fib_hash_core.h"
#include "names/fib/mata/fib_mata_core.h"
#include "names/fib/papers/fib_ata_core.h"

struct lookup_hash {
    static __device__ __forceinline__ struct fib_answer lookup(const struct fib_view *view,
                                                               const struct fib_reader *name)
    {
        return hash_lookup(view, name);
    }
};

struct lookup_mata {
    static __device__ __forceinline__ struct fib_answer lookup(const struct fib_view *view,
                                                               const struct fib_reader *name)
    {
        return mata_lookup(view, name);
    }
};

struct lookup_ata {
    static __device__ __forceinline__ struct fib_answer lookup(const struct fib_view *view,
                                                               const struct fib_reader *name)
    {
        return ata_lookup(view, name);
    }
};

static __device__ __forceinline__ void put_answer(const struct fib_items &items, uint32_t item,
                                                  struct fib_answer answer)
{
    items.next_hop[item] = answer.next_hop;
    if (items.prefix_len != NULL)
        items.prefix_len[item] = answer.len;
}

static __device__ __forceinline__ uint32_t warp_max(uint32_t value)
{
    for (int step = 16; step > 0; step /= 2) {
        const uint32_t other = __shfl_xor_sync(0xFFFFFFFFu, value, step);

        value = other > value ? other : value;
    }
    return value;
}

/* Whole lines of a warp's names into shared memory, all on their way at once; returns where its
 * window begins. */
static __device__ __forceinline__ uint32_t stage_names(uint8_t *staged, const uint8_t *bytes,
                                                       struct sl_span span)
{
    const uint32_t lane = threadIdx.x % FIB_TILE_NAMES;
    const uint32_t begin = fib_tile_begin(__shfl_sync(0xFFFFFFFFu, span.offset, 0));
    const uint32_t behind = warp_max(span.offset + span.len) - begin;
    const uint32_t len = behind < FIB_TILE_LEN ? behind : FIB_TILE_LEN;

    for (uint32_t at = lane * 16; at < len; at += FIB_TILE_NAMES * 16)
        __pipeline_memcpy_async(staged + at, bytes + begin + at, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    return begin;
}

/* Two calls, so that the compiler knows which memory each reads. */
template <class Lookup>
static __device__ __forceinline__ struct fib_answer
lookup_staged(const struct fib_view *view, const struct fib_items &items, const uint8_t *staged,
              uint32_t begin, struct sl_span span)
{
    if (fib_tile_holds(begin, span)) {
        const struct fib_reader name = {(const uint32_t *)(staged + (span.offset - begin)), 1,
                                        span.len};

        return Lookup::lookup(view, &name);
    }
    const struct fib_reader name = {(const uint32_t *)(items.bytes + span.offset), 1, span.len};

    return Lookup::lookup(view, &name);
}

/* A tile: 32 names of which this thread has `item`, if there are so many. */
template <class Lookup>
static __device__ __forceinline__ void lookup_tile(const struct fib_view *view,
                                                   const struct fib_items &items, uint32_t item,
                                                   uint8_t *staged)
{
    struct sl_span span = {0, 0};

    if (item < items.n)
        span = items.payload[item];
    const uint32_t begin = stage_names(staged, items.bytes, span);
    if (item < items.n)
        put_answer(items, item, lookup_staged<Lookup>(view, items, staged, begin, span));
}

#endif

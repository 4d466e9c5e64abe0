/* SPDX-License-Identifier: MIT */
/* Every position on GPUs: a warp has a tile of an item, and a lane a strip of the tile. The number
 * of hits of a tile is known before, so one atomic reserves room for all of them. */
#include "engines/sampling/sampling_warps.h"
#include "every.h"

enum { THREADS = 32 * SAMPLING_WARPS, SHARE_MAX = 4096 };

static __device__ void put(struct cuda_hits_device hits, unsigned long long slot, uint32_t item,
                           uint64_t offset, uint64_t sum)
{
    if (slot < hits.cap) {
        const struct sl_hit hit = {item, (uint32_t)offset, every_fingerprint(sum)};

        hits.hit[slot] = hit;
    }
}

/* The n positions from `tile` on. */
static __device__ void scan_tile(const uint8_t *payload, uint64_t tile, uint32_t n, uint32_t window,
                                 uint64_t power, uint32_t item, struct cuda_hits_device hits)
{
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t begin = every_strip(n, lane);
    const uint32_t end = every_strip(n, lane + 1);
    unsigned long long slot = 0;
    uint64_t sum;

    if (lane == 0)
        slot = atomicAdd(hits.count, (unsigned long long)n);
    slot = __shfl_sync(~0u, slot, 0);
    if (begin >= end)
        return;
    sum = every_begin(payload + tile + begin, window);
    for (uint32_t at = begin; at + 1 < end; at++) {
        put(hits, slot + at, item, tile + at, sum);
        sum = every_roll(sum, payload + tile + at, window, power);
    }
    put(hits, slot + end - 1, item, tile + end - 1, sum);
}

static __global__ void __launch_bounds__(THREADS)
    every_kernel(uint64_t power, struct sampling_items items, struct cuda_hits_device hits)
{
    for (uint32_t item = sampling_first_item(); item < items.n; item += sampling_item_stride()) {
        const struct sl_span span = items.payload[item];
        const uint64_t end = span.len >= items.window ? (uint64_t)span.len - items.window + 1 : 0;

        for (uint64_t tile =
                 sampling_first_offset(&items, item) + (uint64_t)blockIdx.y * EVERY_TILE;
             tile < end; tile += (uint64_t)gridDim.y * EVERY_TILE) {
            const uint32_t n = end - tile < EVERY_TILE ? (uint32_t)(end - tile) : EVERY_TILE;

            scan_tile(items.bytes + span.offset, tile, n, items.window, power, item, hits);
            __syncwarp();
        }
    }
}

static enum sl_status every_submit(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const struct every_table *table = (const struct every_table *)cuda->table;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0)
        every_kernel<<<sampling_grid(cuda, batch->n_items, SHARE_MAX), THREADS, 0,
                       (cudaStream_t)batch->stream>>>(
            table->power, sampling_items(batch, &table->head), cuda_hits_device(cuda));
    return cuda_submit_end(cuda);
}

extern "C" {
extern const struct sl_backend every_cuda;

const struct sl_backend every_cuda = {
    "cuda",       SL_DEVICE_CUDA,    device_cuda_usable, sampling_open,
    every_submit, cuda_context_wait, cuda_context_close};
}

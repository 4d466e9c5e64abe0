/* SPDX-License-Identifier: MIT */
/* Local maxima on GPUs: a thread has a block of reach + 1 positions, which holds one maximum at
 * most. The threads of a warp, or of several warps, take the blocks of an item in turn. */
#include "engines/sampling/sampling_warps.h"
#include "maxp.h"

enum { THREADS = 32 * SAMPLING_WARPS, SHARE_MAX = 1024 };

static __global__ void __launch_bounds__(THREADS)
    maxp_kernel(uint32_t reach, struct sampling_items items, struct cuda_hits_device hits)
{
    const uint64_t thread = blockIdx.y * 32 + threadIdx.x % 32;
    const uint64_t n_threads = (uint64_t)gridDim.y * 32;

    for (uint32_t item = sampling_first_item(); item < items.n; item += sampling_item_stride()) {
        const struct sl_span span = items.payload[item];
        const uint8_t *payload = items.bytes + span.offset;
        const uint32_t first = sampling_first_offset(&items, item);

        if (span.len < items.window)
            continue;
        const uint64_t n_positions = (uint64_t)span.len - items.window + 1;
        const uint64_t n_blocks = maxp_blocks(n_positions, reach);
        for (uint64_t block = thread; block < n_blocks; block += n_threads) {
            uint32_t at;

            if (maxp_block(payload, n_positions, reach, block, &at) && at >= first)
                cuda_hits_append(hits, item, at, sampling_fingerprint(payload + at, items.window));
        }
    }
}

static enum sl_status maxp_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const struct maxp_table *table = (const struct maxp_table *)cuda->table;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0)
        maxp_kernel<<<sampling_grid(cuda, batch->n_items, SHARE_MAX), THREADS, 0,
                      (cudaStream_t)batch->stream>>>(
            table->reach, sampling_items(batch, &table->head), cuda_hits_device(cuda));
    return cuda_submit_end(cuda);
}

extern "C" {
extern const struct sl_backend maxp_cuda;

const struct sl_backend maxp_cuda = {
    "cuda",      SL_DEVICE_CUDA,    device_cuda_usable, sampling_open,
    maxp_submit, cuda_context_wait, cuda_context_close};
}

/* SPDX-License-Identifier: MIT */
/* Marker bytes on GPUs as a CPU searches for them: a thread an item, byte after byte. */
#include "engines/sampling/samplebyte/samplebyte.h"
#include "engines/sampling/samplebyte/samplebyte_cuda_markers.h"
#include "engines/sampling/sampling_warps.h"

enum { THREADS = 128 };

static __global__ void __launch_bounds__(THREADS)
    samplebyte_thread_kernel(const __grid_constant__ struct sl_dynabyte_state state,
                             struct sampling_items items, struct cuda_hits_device hits)
{
    __shared__ uint32_t marker[8];

    share_markers(marker, &state);
    for (uint32_t item = blockIdx.x * THREADS + threadIdx.x; item < items.n;
         item += gridDim.x * THREADS) {
        const struct sl_span span = items.payload[item];
        const uint8_t *payload = items.bytes + span.offset;
        const uint32_t first = sampling_first_offset(&items, item);

        for (uint64_t at = 0; at + items.window <= span.len;) {
            if (!samplebyte_is_marker(marker, payload[at])) {
                at++;
                continue;
            }
            if (at >= first)
                cuda_hits_append(hits, item, (uint32_t)at,
                                 sampling_fingerprint(payload + at, items.window));
            at += samplebyte_step(state.skip, payload + at);
        }
    }
}

static enum sl_status thread_submit(void *context, const struct sl_batch *batch,
                                    struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const struct samplebyte_table *table = (const struct samplebyte_table *)cuda->table;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0)
        samplebyte_thread_kernel<<<(batch->n_items - 1) / THREADS + 1, THREADS, 0,
                                   (cudaStream_t)batch->stream>>>(
            table->marks.state, sampling_items(batch, &table->head), cuda_hits_device(cuda));
    return cuda_submit_end(cuda);
}

extern "C" {
extern const struct sl_backend samplebyte_cuda_thread;

const struct sl_backend samplebyte_cuda_thread = {
    "cuda-thread", SL_DEVICE_CUDA,    device_cuda_usable, sampling_open,
    thread_submit, cuda_context_wait, cuda_context_close};
}

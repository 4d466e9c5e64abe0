/* SPDX-License-Identifier: MIT */
/* Wu-Manber on GPUs: a thread a position, which tests its own window and moves it nowhere (thesis,
 * section 4.3.3). */
#include "engines/mpm/papers/mpm_starts.h"
#include "wm_core.h"

static __device__ void report(const struct wm_view *view, struct wm_chain *chain, uint32_t start,
                              uint32_t group, uint32_t item, struct cuda_hits_device hits)
{
    uint32_t id;

    wm_begin(chain, start, group);
    while (wm_next(view, chain, &id))
        cuda_hits_append(hits, item, chain->end, id);
}

static __global__ void __launch_bounds__(MPM_STARTS_BLOCK)
    wm_kernel(const struct sl_mpm_table *table, struct mpm_items items,
              struct cuda_hits_device hits)
{
    const struct wm_view view = wm_view(table);

    for (uint32_t item = blockIdx.x; item < items.n; item += gridDim.x) {
        const struct sl_span span = items.payload[item];
        struct wm_chain chain;

        chain.text = items.bytes + span.offset;
        chain.overlap = items.overlap != NULL ? items.overlap[item] : 0;
        for (uint64_t at = mpm_starts_first(); at < span.len; at += mpm_starts_stride()) {
            const uint32_t start = (uint32_t)at;
            const uint8_t *text = chain.text + start;

            report(&view, &chain, start, wm_test(&view, text, span.len - start), item, hits);
            if (view.n_short != 0)
                report(&view, &chain, start, wm_find_short(&view, text, span.len - start), item,
                       hits);
        }
    }
}

static enum sl_status wm_open(void **context, const void *table, const struct sl_limits *limits,
                              struct sl_diag *diag)
{
    const size_t table_len = ((const struct sl_mpm_table *)table)->head.len;

    return cuda_context_open(context, table, table_len, limits, diag);
}

static enum sl_status wm_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0)
        wm_kernel<<<mpm_starts_grid(cuda, batch->n_items), MPM_STARTS_BLOCK, 0,
                    (cudaStream_t)batch->stream>>>((const struct sl_mpm_table *)cuda->d_table,
                                                   mpm_items(batch), cuda_hits_device(cuda));
    return cuda_submit_end(cuda);
}

extern "C" {
extern const struct sl_backend mpm_wm_cuda;

const struct sl_backend mpm_wm_cuda = {"cuda",    SL_DEVICE_CUDA,    device_cuda_usable, wm_open,
                                       wm_submit, cuda_context_wait, cuda_context_close};
}

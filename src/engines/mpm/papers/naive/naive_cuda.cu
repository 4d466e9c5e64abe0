/* SPDX-License-Identifier: MIT */
/* The naive algorithm on GPUs: a thread a position. The threads of a warp try the same literal at
 * the same time, so its bytes are read once for all of them. */
#include "engines/mpm/papers/mpm_starts.h"
#include "naive_core.h"

static __global__ void __launch_bounds__(MPM_STARTS_BLOCK)
    naive_kernel(const struct sl_mpm_table *table, struct mpm_items items,
                 struct cuda_hits_device hits)
{
    const struct naive_view view = naive_view(table);

    for (uint32_t item = blockIdx.x; item < items.n; item += gridDim.x) {
        const struct sl_span span = items.payload[item];
        const uint32_t overlap = items.overlap != NULL ? items.overlap[item] : 0;

        for (uint64_t pos = mpm_starts_first(); pos < span.len; pos += mpm_starts_stride()) {
            const struct naive_start start =
                naive_start(items.bytes + span.offset, span.len, overlap, (uint32_t)pos);

            for (uint32_t i = 0; i < view.n_literals; i++)
                if (naive_matches(&view, &view.literals[i], &start))
                    cuda_hits_append(hits, item, start.pos + view.literals[i].len,
                                     view.literals[i].id);
        }
    }
}

static enum sl_status naive_open(void **context, const void *table, const struct sl_limits *limits,
                                 struct sl_diag *diag)
{
    const size_t table_len = ((const struct sl_mpm_table *)table)->head.len;

    return cuda_context_open(context, table, table_len, limits, diag);
}

static enum sl_status naive_submit(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0)
        naive_kernel<<<mpm_starts_grid(cuda, batch->n_items), MPM_STARTS_BLOCK, 0,
                       (cudaStream_t)batch->stream>>>((const struct sl_mpm_table *)cuda->d_table,
                                                      mpm_items(batch), cuda_hits_device(cuda));
    return cuda_submit_end(cuda);
}

extern "C" {
extern const struct sl_backend mpm_naive_cuda;

const struct sl_backend mpm_naive_cuda = {
    "cuda",       SL_DEVICE_CUDA,    device_cuda_usable, naive_open,
    naive_submit, cuda_context_wait, cuda_context_close};
}

/* SPDX-License-Identifier: MIT */
/* Rabin-Karp on GPUs. "cuda" has a thread a position, and hash sets. The thesis' own version
 * compares with one literal after another, in its two mappings (section 4.3). One has a block a
 * packet, whose threads stride over its positions, the other a thread a packet. */
#include "engines/mpm/papers/mpm_starts.h"
#include "rk_core.h"

static __device__ struct rk_position item_position(const struct mpm_items *items, uint32_t item)
{
    const struct sl_span span = items->payload[item];
    struct rk_position position;

    position.payload = items->bytes + span.offset;
    position.len = span.len;
    position.overlap = items->overlap != NULL ? items->overlap[item] : 0;
    return position;
}

enum method { BY_WINDOWS, BY_WHOLES };

/* The work of one thread on an item: the positions first, first + stride, ..., by hash sets or by
 * comparing with one literal after another. */
template <enum method method>
static __device__ void scan(const struct rk_view *view, const struct mpm_items *items,
                            uint32_t item, uint64_t first, uint64_t stride,
                            struct cuda_hits_device hits)
{
    struct rk_position position = item_position(items, item);
    struct mpm_walk walk;
    uint32_t id;

    for (uint64_t start = first; start < position.len; start += stride) {
        rk_begin(&position, (uint32_t)start);
        while (method == BY_WINDOWS ? rk_next_window(view, &position, &walk)
                                    : rk_next_whole(view, &position, &walk))
            while (mpm_walk_next(&view->order, &walk, &id))
                cuda_hits_append(hits, item, position.start + walk.depth, id);
    }
}

static __global__ void __launch_bounds__(MPM_STARTS_BLOCK)
    rk_kernel(const __grid_constant__ struct rk_view view, struct mpm_items items,
              struct cuda_hits_device hits)
{
    for (uint32_t item = blockIdx.x; item < items.n; item += gridDim.x)
        scan<BY_WINDOWS>(&view, &items, item, mpm_starts_first(), mpm_starts_stride(), hits);
}

static __global__ void __launch_bounds__(MPM_STARTS_BLOCK)
    rk_block_kernel(const __grid_constant__ struct rk_view view, struct mpm_items items,
                    struct cuda_hits_device hits)
{
    for (uint32_t item = blockIdx.x; item < items.n; item += gridDim.x)
        scan<BY_WHOLES>(&view, &items, item, threadIdx.x, MPM_STARTS_BLOCK, hits);
}

static __global__ void __launch_bounds__(MPM_STARTS_BLOCK)
    rk_thread_kernel(const __grid_constant__ struct rk_view view, struct mpm_items items,
                     struct cuda_hits_device hits)
{
    for (uint32_t item = blockIdx.x * MPM_STARTS_BLOCK + threadIdx.x; item < items.n;
         item += gridDim.x * MPM_STARTS_BLOCK)
        scan<BY_WHOLES>(&view, &items, item, 0, 1, hits);
}

static enum sl_status rk_cuda_open(void **context, const void *table,
                                   const struct sl_limits *limits, struct sl_diag *diag)
{
    const size_t table_len = ((const struct sl_mpm_table *)table)->head.len;

    return cuda_context_open(context, table, table_len, limits, diag);
}

enum mapping { THREAD_A_POSITION, BLOCK_AN_ITEM, THREAD_AN_ITEM };

/* For one item or more. */
static void launch(const struct cuda_context *cuda, const struct sl_batch *batch,
                   enum mapping mapping)
{
    const struct rk_view view = rk_view((const struct sl_mpm_table *)cuda->table,
                                        (const struct sl_mpm_table *)cuda->d_table);
    const struct mpm_items items = mpm_items(batch);
    const struct cuda_hits_device hits = cuda_hits_device(cuda);
    const cudaStream_t stream = (cudaStream_t)batch->stream;
    const dim3 grid = mpm_starts_grid(cuda, items.n);
    const uint32_t n_blocks = (items.n - 1) / MPM_STARTS_BLOCK + 1;

    switch (mapping) {
    case THREAD_A_POSITION:
        rk_kernel<<<grid, MPM_STARTS_BLOCK, 0, stream>>>(view, items, hits);
        break;
    case BLOCK_AN_ITEM:
        rk_block_kernel<<<grid.x, MPM_STARTS_BLOCK, 0, stream>>>(view, items, hits);
        break;
    case THREAD_AN_ITEM:
        rk_thread_kernel<<<mpm_starts_grid(cuda, n_blocks).x, MPM_STARTS_BLOCK, 0, stream>>>(
            view, items, hits);
        break;
    }
}

static enum sl_status submit(void *context, const struct sl_batch *batch, struct sl_hits *hits,
                             enum mapping mapping)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0)
        launch(cuda, batch, mapping);
    return cuda_submit_end(cuda);
}

static enum sl_status submit_positions(void *context, const struct sl_batch *batch,
                                       struct sl_hits *hits)
{
    return submit(context, batch, hits, THREAD_A_POSITION);
}

static enum sl_status submit_block(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    return submit(context, batch, hits, BLOCK_AN_ITEM);
}

static enum sl_status submit_thread(void *context, const struct sl_batch *batch,
                                    struct sl_hits *hits)
{
    return submit(context, batch, hits, THREAD_AN_ITEM);
}

extern "C" {
extern const struct sl_backend mpm_rk_cuda;
extern const struct sl_backend mpm_rk_cuda_block;
extern const struct sl_backend mpm_rk_cuda_thread;

const struct sl_backend mpm_rk_cuda = {
    "cuda",           SL_DEVICE_CUDA,    device_cuda_usable, rk_cuda_open,
    submit_positions, cuda_context_wait, cuda_context_close};

const struct sl_backend mpm_rk_cuda_block = {"cuda-block",      SL_DEVICE_CUDA, device_cuda_usable,
                                             rk_cuda_open,      submit_block,   cuda_context_wait,
                                             cuda_context_close};

const struct sl_backend mpm_rk_cuda_thread = {"cuda-thread",     SL_DEVICE_CUDA, device_cuda_usable,
                                              rk_cuda_open,      submit_thread,  cuda_context_wait,
                                              cuda_context_close};
}

/* SPDX-License-Identifier: MIT */
/* The failure-less walk on GPUs, in the thesis' two mappings (section 4.3). One has a block a
 * packet, whose threads stride over its start positions, the other a thread a packet. */
#include <stdlib.h>

#include "base/diag.h"
#include "device/cuda_internal.h"
#include "pfac_core.h"

enum { BLOCKS_PER_SM = 2048 / PFAC_BLOCK }; /* as many as an SM holds threads for */

/* The part of a batch that kernels read; overlap is NULL where no item has any. */
struct pfac_items {
    const uint8_t *bytes;
    const struct sl_span *payload;
    const uint16_t *overlap;
    uint32_t n;
};

/* The first row is read once a byte, the others seldom: it alone lies in shared memory. */
static __device__ void load_root(uint32_t root[256], const struct sl_mpm_table *table)
{
    for (uint32_t byte = threadIdx.x; byte < 256; byte += PFAC_BLOCK)
        root[byte] = pfac_body(table)->root[byte];
    __syncthreads();
}

/* The work of one thread on an item: the starts first, first + stride, ... */
static __device__ void scan_starts(const struct pfac_view *view, const uint32_t *root,
                                   const struct pfac_items *items, uint32_t item, uint32_t first,
                                   uint32_t stride, struct cuda_hits_device hits)
{
    const struct sl_span span = items->payload[item];
    struct pfac_walk walk;

    walk.text = items->bytes + span.offset;
    walk.len = span.len;
    walk.overlap = items->overlap != NULL ? items->overlap[item] : 0;
    for (uint64_t start = first; start < span.len; start += stride) {
        const uint32_t state = root[walk.text[start]];
        uint32_t id;

        if (state == MPM_NONE)
            continue;
        pfac_start(view, &walk, (uint32_t)start, state);
        while (pfac_next(view, &walk, &id))
            cuda_hits_append(hits, item, walk.pos, id);
    }
}

static __global__ void __launch_bounds__(PFAC_BLOCK)
    pfac_block_kernel(const struct sl_mpm_table *table, struct pfac_items items,
                      struct cuda_hits_device hits)
{
    __shared__ uint32_t root[256];
    const struct pfac_view view = pfac_view(table);

    load_root(root, table);
    for (uint32_t item = blockIdx.x; item < items.n; item += gridDim.x)
        scan_starts(&view, root, &items, item, threadIdx.x, PFAC_BLOCK, hits);
}

static __global__ void __launch_bounds__(PFAC_BLOCK)
    pfac_thread_kernel(const struct sl_mpm_table *table, struct pfac_items items,
                       struct cuda_hits_device hits)
{
    __shared__ uint32_t root[256];
    const struct pfac_view view = pfac_view(table);

    load_root(root, table);
    for (uint32_t item = blockIdx.x * PFAC_BLOCK + threadIdx.x; item < items.n;
         item += gridDim.x * PFAC_BLOCK)
        scan_starts(&view, root, &items, item, 0, 1, hits);
}

static enum sl_status pfac_cuda_open(void **context, const void *table,
                                     const struct sl_limits *limits, struct sl_diag *diag)
{
    const size_t table_len = ((const struct sl_mpm_table *)table)->head.len;

    return cuda_context_open(context, table, table_len, limits, diag);
}

static enum sl_status submit(void *context, const struct sl_batch *batch, struct sl_hits *hits,
                             bool block_an_item)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0) {
        const struct sl_mpm_table *d_table = (const struct sl_mpm_table *)cuda->d_table;
        const struct pfac_items items = {batch->bytes, batch->payload,
                                         batch->has_overlap ? batch->overlap : NULL,
                                         batch->n_items};
        const uint32_t wanted = block_an_item ? items.n : (items.n + (PFAC_BLOCK - 1)) / PFAC_BLOCK;
        const uint32_t max_blocks = cuda->n_multiprocessors * BLOCKS_PER_SM;
        const uint32_t n_blocks = wanted < max_blocks ? wanted : max_blocks;
        const cudaStream_t stream = (cudaStream_t)batch->stream;

        if (block_an_item)
            pfac_block_kernel<<<n_blocks, PFAC_BLOCK, 0, stream>>>(d_table, items,
                                                                   cuda_hits_device(cuda));
        else
            pfac_thread_kernel<<<n_blocks, PFAC_BLOCK, 0, stream>>>(d_table, items,
                                                                    cuda_hits_device(cuda));
    }
    return cuda_submit_end(cuda);
}

static enum sl_status submit_block(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    return submit(context, batch, hits, true);
}

static enum sl_status submit_thread(void *context, const struct sl_batch *batch,
                                    struct sl_hits *hits)
{
    return submit(context, batch, hits, false);
}

extern "C" {
extern const struct sl_backend mpm_pfac_cuda_block;
extern const struct sl_backend mpm_pfac_cuda_thread;

const struct sl_backend mpm_pfac_cuda_block = {
    "cuda-block", SL_DEVICE_CUDA,    device_cuda_usable, pfac_cuda_open,
    submit_block, cuda_context_wait, cuda_context_close};

const struct sl_backend mpm_pfac_cuda_thread = {
    "cuda-thread", SL_DEVICE_CUDA,    device_cuda_usable, pfac_cuda_open,
    submit_thread, cuda_context_wait, cuda_context_close};
}

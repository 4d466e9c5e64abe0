/* SPDX-License-Identifier: MIT */
/* A lane decides a place. Lines that it waits for are hidden by those of others. */
#include "device/cuda_internal.h"
#include "engines/seam/seam_table.h"

enum { BLOCK = 256 };

static __device__ void find_at(const struct seam_table *table, const struct sl_batch *batch,
                               uint32_t item, struct cuda_hits_device hits)
{
    const struct seam_set set =
        seam_set_of(table, (batch->before[item] & SL_BEFORE_TO_SERVER) != 0);
    const uint32_t ways = seam_ways_at(&set, batch, item);
    uint8_t room[SEAM_BEFORE_MAX];

    if (ways == 0)
        return;
    const struct seam_sides sides = seam_sides_of(batch, item, set.n_before, room);
    struct seam_walk walk = seam_walk_of(&set, &sides, ways);
    const struct seam_cut *cut;

    while ((cut = seam_walk_next(&walk)) != NULL)
        cuda_hits_append(hits, item, set.base + cut->n_behind, set.literal[cut->literal].id);
}

__global__ void seam_kernel(const struct seam_table *table, struct sl_batch batch,
                            struct cuda_hits_device hits, struct cuda_delivery delivery)
{
    const uint32_t item = blockIdx.x * BLOCK + threadIdx.x;

    if (item < batch.n_items && batch.before[item] != 0 && batch.payload[item].len != 0)
        find_at(table, &batch, item, hits);
    cuda_deliver(delivery);
}

static enum sl_status open_context(void **context, const void *table,
                                   const struct sl_limits *limits, struct sl_diag *diag)
{
    return cuda_context_open(context, table, ((const struct seam_table *)table)->len, limits, diag);
}

static enum sl_status submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;
    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);

    if (status != SL_OK)
        return status;
    if (batch->n_items != 0 && batch->has_before)
        seam_kernel<<<(batch->n_items - 1) / BLOCK + 1, BLOCK, 0, (cudaStream_t)batch->stream>>>(
            (const struct seam_table *)cuda->d_table, *batch, cuda_hits_device(cuda),
            cuda_delivery(cuda));
    return cuda_submit_end(cuda);
}

const struct sl_backend seam_cuda = {
    "cuda", SL_DEVICE_CUDA,    device_cuda_usable, open_context,
    submit, cuda_context_wait, cuda_context_close,
};

/* SPDX-License-Identifier: MIT */
/* A lane decides a place. Lines that it waits for are hidden by those of others. */
#include "device/cuda_internal.h"
#include "engines/seam/seam_table.h"

enum { BLOCK = 256 };

static __device__ void compare(const struct seam_set *set, const struct sl_batch *batch,
                               uint32_t item, uint32_t ways, const struct seam_sides *sides,
                               struct cuda_hits_device hits)
{
    const uint64_t before = seam_last_8(sides->before, sides->n_before);
    const uint64_t behind = seam_first_8(sides->behind, sides->n_behind);
    const struct seam_near near = seam_near_of(before, behind);

    for (; ways != 0; ways &= ways - 1) {
        const enum seam_way way = (enum seam_way)(__ffs((int)ways) - 1);
        const struct seam_slot *const slot = &set->slot[seam_slot_of(set, way, near)];

        for (uint32_t c = slot->first; c < slot[1].first; c++)
            if (seam_is_written(set, &set->cut[c], before, behind, sides))
                cuda_hits_append(hits, item, set->base + set->cut[c].n_behind,
                                 set->literal[set->cut[c].literal].id);
    }
}

static __device__ void find_at(const struct seam_table *table, const struct sl_batch *batch,
                               uint32_t item, struct cuda_hits_device hits)
{
    const struct seam_set set =
        seam_set_of(table, (batch->before[item] & SL_BEFORE_TO_SERVER) != 0);
    uint8_t room[SEAM_BEFORE_MAX];
    const struct seam_sides sides = seam_sides_of(batch, item, room);
    const uint32_t ways = seam_ways_of(&set, &sides);

    if (ways != 0)
        compare(&set, batch, item, ways, &sides, hits);
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
    return cuda_context_open(context, table, seam_table_len((const struct seam_table *)table),
                             limits, diag);
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

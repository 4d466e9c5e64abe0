/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/diag.h"
#include "device/cuda_internal.h"
#include "header_backend.h"
#include "header_core.h"

/* Eight lanes sum 128 bytes of a packet at once. A whole warp would idle on most packets. A lane
 * alone would touch 32 lines of memory with each load of a warp. */
enum { GROUP = 8, BLOCK = 256 };

/* A packet has a group of lanes, and each of them inspects the headers. Lanes of a warp that load
 * the same bytes and decide the same cost no more than one. So no lane hands results to another. */
static __device__ void check_packet(const struct sl_header_table *table, const uint8_t *arena,
                                    const struct sl_packet *packets, uint32_t item,
                                    struct cuda_hits_device hits)
{
    const uint32_t lane = threadIdx.x % GROUP;
    const struct sl_packet packet = packets[item];
    const uint8_t *bytes = arena + packet.offset;
    const struct header_view view = header_inspect(table, &packet, bytes);
    uint64_t tripped = view.tripped;

    if (view.checksum != 0) {
        const unsigned group = ((1u << GROUP) - 1) << threadIdx.x % 32 / GROUP * GROUP;
        uint32_t sum = header_fold(header_sum_lane(bytes, view.begin, view.end, lane, GROUP));

        for (int step = GROUP / 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(group, sum, step);
        tripped = header_finish(&view, sum);
    }
    if (lane != 0)
        return;
    for (; tripped != 0; tripped &= tripped - 1) {
        const enum sl_header_check check = (enum sl_header_check)(__ffsll((long long)tripped) - 1);

        cuda_hits_append(hits, item, header_offset(table, &packets[item], bytes, check), check);
    }
}

__global__ void header_check_kernel(const struct sl_header_table *table, const uint8_t *arena,
                                    const struct sl_packet *packets, uint32_t n_items,
                                    struct cuda_hits_device hits, struct cuda_delivery delivery)
{
    const uint32_t item = blockIdx.x * (BLOCK / GROUP) + threadIdx.x / GROUP;

    if (item < n_items)
        check_packet(table, arena, packets, item, hits);
    cuda_deliver(delivery);
}

static enum sl_status open_context(void **context, const void *table,
                                   const struct sl_limits *limits, struct sl_diag *diag)
{
    return cuda_context_open(context, table, sizeof(struct sl_header_table), limits, diag);
}

static enum sl_status submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    struct cuda_context *cuda = (struct cuda_context *)context;

    if (batch->packet == NULL)
        return SL_EINVAL;

    const enum sl_status status = cuda_submit_begin(cuda, batch, hits);
    if (status != SL_OK)
        return status;
    if (batch->n_items != 0) {
        const uint32_t n_blocks = (batch->n_items - 1) / (BLOCK / GROUP) + 1;

        header_check_kernel<<<n_blocks, BLOCK, 0, (cudaStream_t)batch->stream>>>(
            (const struct sl_header_table *)cuda->d_table, batch->bytes, batch->packet,
            batch->n_items, cuda_hits_device(cuda), cuda_delivery(cuda));
    }
    return cuda_submit_end(cuda);
}

const struct sl_backend header_cuda = {
    "cuda", SL_DEVICE_CUDA,    device_cuda_usable, open_context,
    submit, cuda_context_wait, cuda_context_close,
};

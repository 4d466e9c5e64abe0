/* SPDX-License-Identifier: MIT */
/* The stage: device memory for one batch, and the one crossing that all engines share. */
#include <stdlib.h>

#include "base/diag.h"
#include "device/columns.h"
#include "device/cuda_internal.h"

struct sl_stage {
    struct sl_limits limits;
    cudaStream_t stream;
    uint8_t *d_block; /* arena, and the columns behind it */
};

static enum sl_status take_memory(struct sl_stage *stage, struct sl_diag *diag)
{
    const size_t len = columns_room(stage->limits.max_bytes, stage->limits.max_items);

    enum sl_status status = cuda_choose(stage->limits.device, diag);
    if (status == SL_OK)
        status = cuda_status(cudaStreamCreateWithFlags(&stage->stream, cudaStreamNonBlocking),
                             "making a stream", diag);
    if (status == SL_OK)
        status = cuda_take((void **)&stage->d_block, len, "a batch", diag);
    if (status != SL_OK)
        return status;
    /* Slack is read, not trusted: let it at least be defined. On this stream, so that it comes
     * before the first upload: the stream waits for no other. */
    return cuda_status(cudaMemsetAsync(stage->d_block, 0, len, stage->stream),
                       "clearing GPU memory", diag);
}

enum sl_status sl_stage_open(struct sl_stage **stage, const struct sl_limits *limits,
                             struct sl_diag *diag)
{
    struct sl_stage *made = (struct sl_stage *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a stage");
    made->limits = *limits;

    const enum sl_status status = take_memory(made, diag);
    if (status != SL_OK) {
        sl_stage_close(made);
        return status;
    }
    *stage = made;
    return SL_OK;
}

static cudaError_t copy_in(struct sl_stage *stage, size_t at, const void *from, size_t len)
{
    return len == 0 ? cudaSuccess
                    : cudaMemcpyAsync(stage->d_block + at, from, len, cudaMemcpyHostToDevice,
                                      stage->stream);
}

/* One copy for items and short columns, where they can be laid behind the items: each costs as much
 * as 140 KB, beside what it carries. */
static cudaError_t copy_batch(struct sl_stage *stage, const struct sl_batch *batch,
                              const struct columns *at)
{
    struct column column[COLUMNS_MAX];
    const unsigned n = columns_of(column, batch, at);
    const unsigned n_packed = columns_pack(batch, column, n);

    cudaError_t error =
        copy_in(stage, 0, batch->bytes, columns_packed_len(batch, column, n_packed));
    for (unsigned i = n_packed; i < n && error == cudaSuccess; i++)
        error = copy_in(stage, column[i].at, column[i].from, column[i].len);
    return error;
}

enum sl_status sl_stage_upload(struct sl_stage *stage, const struct sl_batch *batch,
                               struct sl_batch *view)
{
    const struct columns at =
        columns_behind(batch->bytes_len, batch->n_items, batch->has_overlap, batch->packet != NULL);

    if (batch->memory == SL_MEMORY_DEVICE || batch->n_items > stage->limits.max_items ||
        batch->bytes_len > stage->limits.max_bytes)
        return SL_EINVAL;

    enum sl_status status = cuda_choose(stage->limits.device, NULL);
    if (status == SL_OK)
        status = cuda_status(copy_batch(stage, batch, &at), "copying a batch to the GPU", NULL);
    if (status != SL_OK)
        return status;

    uint8_t *d_block = stage->d_block;
    *view = *batch;
    view->memory = SL_MEMORY_DEVICE;
    view->bytes = d_block;
    view->payload = (struct sl_span *)(d_block + at.payload);
    view->overlap = batch->has_overlap ? (uint16_t *)(d_block + at.overlap) : NULL;
    view->packet = batch->packet != NULL ? (struct sl_packet *)(d_block + at.packet) : NULL;
    view->room = NULL;
    view->room_len = 0;
    view->device = stage->limits.device;
    view->stream = stage->stream;
    view->host_bytes = batch->bytes;
    view->host_payload = batch->payload;
    view->host_overlap = batch->overlap;
    view->host_packet = batch->packet;
    return SL_OK;
}

enum sl_status sl_stage_wait(struct sl_stage *stage)
{
    return cuda_wait_for_stream(stage->stream, &stage->limits);
}

void sl_stage_close(struct sl_stage *stage)
{
    if (stage == NULL)
        return;
    if (stage->stream != NULL) { /* a run that failed may have left it working */
        (void)cuda_wait_for_stream(stage->stream, &stage->limits);
        (void)cudaStreamDestroy(stage->stream);
    }
    cuda_free(stage->d_block, stage->limits.device);
    free(stage);
}

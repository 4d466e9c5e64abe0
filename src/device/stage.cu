/* SPDX-License-Identifier: MIT */
/* The stage: device memory for one batch, and the one crossing that all engines share. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "device/cuda_internal.h"

struct sl_stage {
    struct sl_limits limits;
    cudaStream_t stream;
    uint8_t *d_bytes;
    struct sl_span *d_payload;
    uint16_t *d_overlap;
    struct sl_packet *d_packet;
};

static cudaError_t take_memory(struct sl_stage *stage)
{
    const size_t arena_len = (size_t)stage->limits.max_bytes + SL_BATCH_SLACK;
    const size_t n = stage->limits.max_items;

    cudaError_t error = cudaSetDevice(stage->limits.device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&stage->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&stage->d_bytes, arena_len);
    if (error == cudaSuccess) /* slack is read, not trusted: let it at least be defined */
        error = cudaMemset(stage->d_bytes, 0, arena_len);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&stage->d_payload, n * sizeof *stage->d_payload);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&stage->d_overlap, n * sizeof *stage->d_overlap);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&stage->d_packet, n * sizeof *stage->d_packet);
    return error;
}

enum sl_status sl_stage_open(struct sl_stage **stage, const struct sl_limits *limits,
                             struct sl_diag *diag)
{
    struct sl_stage *made = (struct sl_stage *)calloc(1, sizeof *made);

    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a stage");
    made->limits = *limits;

    const cudaError_t error = take_memory(made);
    if (error != cudaSuccess) {
        sl_stage_close(made);
        return cuda_status(error, "taking GPU memory for batches", diag);
    }
    *stage = made;
    return SL_OK;
}

static cudaError_t copy_in(void *d_to, const void *from, size_t len, cudaStream_t stream)
{
    return len == 0 ? cudaSuccess
                    : cudaMemcpyAsync(d_to, from, len, cudaMemcpyHostToDevice, stream);
}

enum sl_status sl_stage_upload(struct sl_stage *stage, const struct sl_batch *batch,
                               struct sl_batch *view)
{
    const size_t n = batch->n_items;

    if (batch->memory == SL_MEMORY_DEVICE || n > stage->limits.max_items ||
        batch->bytes_len > stage->limits.max_bytes)
        return SL_EINVAL;

    cudaError_t error = cudaSetDevice(stage->limits.device);
    if (error == cudaSuccess)
        error = copy_in(stage->d_bytes, batch->bytes, batch->bytes_len, stage->stream);
    if (error == cudaSuccess)
        error =
            copy_in(stage->d_payload, batch->payload, n * sizeof *batch->payload, stage->stream);
    if (error == cudaSuccess && batch->has_overlap)
        error =
            copy_in(stage->d_overlap, batch->overlap, n * sizeof *batch->overlap, stage->stream);
    if (error == cudaSuccess && batch->packet != NULL)
        error = copy_in(stage->d_packet, batch->packet, n * sizeof *batch->packet, stage->stream);
    if (error != cudaSuccess)
        return cuda_status(error, "copying a batch to the GPU", NULL);

    *view = *batch;
    view->memory = SL_MEMORY_DEVICE;
    view->bytes = stage->d_bytes;
    view->payload = stage->d_payload;
    view->overlap = batch->has_overlap ? stage->d_overlap : NULL;
    view->packet = batch->packet != NULL ? stage->d_packet : NULL;
    view->device = stage->limits.device;
    view->stream = stage->stream;
    view->host_bytes = batch->bytes;
    view->host_payload = batch->payload;
    view->host_overlap = batch->overlap;
    return SL_OK;
}

enum sl_status sl_stage_wait(struct sl_stage *stage)
{
    return cuda_status(cudaStreamSynchronize(stage->stream), "waiting for the GPU", NULL);
}

void sl_stage_close(struct sl_stage *stage)
{
    if (stage == NULL)
        return;
    (void)cudaFree(stage->d_bytes);
    (void)cudaFree(stage->d_payload);
    (void)cudaFree(stage->d_overlap);
    (void)cudaFree(stage->d_packet);
    if (stage->stream != NULL)
        (void)cudaStreamDestroy(stage->stream);
    free(stage);
}

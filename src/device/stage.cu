/* SPDX-License-Identifier: MIT */
/* The stage: device memory for one batch, and the one crossing that all engines share. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "device/columns.h"
#include "device/cuda_internal.h"

struct sl_stage {
    struct sl_limits limits;
    cudaStream_t stream;
    uint8_t *d_block;                        /* arena, and the columns behind it */
    struct sl_batch view;                    /* of the last upload */
    cudaStream_t others[SL_STAGE_VIEWS_MAX]; /* of further views, or NULL */
    cudaEvent_t mark;                        /* on a stream, for another to wait for */
};

static enum sl_status take_memory(struct sl_stage *stage, struct sl_diag *diag)
{
    const size_t len = columns_room(stage->limits.max_bytes, stage->limits.max_items);

    enum sl_status status = cuda_choose(stage->limits.device, diag);
    if (status == SL_OK)
        status = cuda_status(cudaStreamCreateWithFlags(&stage->stream, cudaStreamNonBlocking),
                             "making a stream", diag);
    if (status == SL_OK)
        status = cuda_status(cudaEventCreateWithFlags(&stage->mark, cudaEventDisableTiming),
                             "making an event", diag);
    if (status == SL_OK)
        status = cuda_take((void **)&stage->d_block, len, "a batch", diag);
    if (status != SL_OK)
        return status;
    /* Engines read the slack and never trust it; it is defined all the same. The stream waits for
     * no other, so the clearing is on this stream, before the first upload. */
    return cuda_status(cudaMemsetAsync(stage->d_block, 0, len, stage->stream),
                       "clearing GPU memory", diag);
}

enum sl_status sl_stage_open(struct sl_stage **stage, const struct sl_limits *limits,
                             struct sl_diag *diag)
{
    enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    struct sl_stage *made = (struct sl_stage *)calloc(1, sizeof *made);
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a stage");
    made->limits = *limits;
    status = take_memory(made, diag);
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

static cudaError_t wait_for(struct sl_stage *stage, cudaStream_t waits, cudaStream_t other)
{
    const cudaError_t error = cudaEventRecord(stage->mark, other);

    return error == cudaSuccess ? cudaStreamWaitEvent(waits, stage->mark, 0) : error;
}

/* Work on further views comes before all work that is queued from now on. */
static cudaError_t join_views(struct sl_stage *stage)
{
    cudaError_t error = cudaSuccess;

    for (int i = 0; i < SL_STAGE_VIEWS_MAX && error == cudaSuccess; i++)
        if (stage->others[i] != NULL && cudaStreamQuery(stage->others[i]) != cudaSuccess) {
            (void)cudaGetLastError(); /* that it goes on is no error */
            error = wait_for(stage, stage->stream, stage->others[i]);
        }
    return error;
}

/* One copy carries the items and the columns that can be laid behind them. Each copy costs as much
 * as 140 KB on the link, beside its bytes. */
static cudaError_t copy_batch(struct sl_stage *stage, const struct sl_batch *batch,
                              const struct columns *at)
{
    struct column column[COLUMNS_MAX];
    const unsigned n = columns_of(column, batch, at);
    const unsigned n_packed = columns_pack(batch, column, n);

    cudaError_t error = join_views(stage);
    if (error == cudaSuccess)
        error = copy_in(stage, 0, batch->bytes, columns_packed_len(batch, column, n_packed));
    for (unsigned i = n_packed; i < n && error == cudaSuccess; i++) {
        device_pin(column[i].from);
        error = copy_in(stage, column[i].at, column[i].from, column[i].len);
    }
    return error == cudaSuccess ? cudaEventRecord(stage->mark, stage->stream) : error;
}

enum sl_status sl_stage_upload(struct sl_stage *stage, const struct sl_batch *batch,
                               struct sl_batch *view)
{
    const struct columns at = columns_of_batch(batch);

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
    view->kind = batch->has_kind ? d_block + at.kind : NULL;
    view->before = batch->has_before ? (uint32_t *)(d_block + at.before) : NULL;
    view->room = NULL;
    view->room_len = 0;
    view->device = stage->limits.device;
    view->stream = stage->stream;
    view->host_bytes = batch->bytes;
    view->host_payload = batch->payload;
    view->host_overlap = batch->overlap;
    view->host_packet = batch->packet;
    stage->view = *view;
    return SL_OK;
}

/* The mark is still that of the upload. */
static cudaError_t begin_view(struct sl_stage *stage, cudaStream_t *stream)
{
    cudaError_t error = cudaSuccess;

    if (*stream == NULL)
        error = cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
    return error == cudaSuccess ? cudaStreamWaitEvent(*stream, stage->mark, 0) : error;
}

enum sl_status sl_stage_view(struct sl_stage *stage, uint32_t number, struct sl_batch *view)
{
    if (stage->view.bytes == NULL || number >= SL_STAGE_VIEWS_MAX)
        return SL_EINVAL;
    *view = stage->view;
    if (number == 0)
        return SL_OK;

    enum sl_status status = cuda_choose(stage->limits.device, NULL);
    if (status == SL_OK)
        status = cuda_status(begin_view(stage, &stage->others[number]), "viewing a batch", NULL);
    view->stream = stage->others[number];
    return status;
}

enum sl_status sl_stage_wait(struct sl_stage *stage)
{
    enum sl_status status = cuda_wait_for_stream(stage->stream, &stage->limits);

    for (int i = 0; i < SL_STAGE_VIEWS_MAX && status == SL_OK; i++)
        if (stage->others[i] != NULL)
            status = cuda_wait_for_stream(stage->others[i], &stage->limits);
    return status;
}

static void close_stream(struct sl_stage *stage, cudaStream_t stream)
{
    if (stream == NULL)
        return;
    (void)cuda_wait_for_stream(stream, &stage->limits); /* a run that failed may have left work */
    (void)cudaStreamDestroy(stream);
}

void sl_stage_close(struct sl_stage *stage)
{
    if (stage == NULL)
        return;
    close_stream(stage, stage->stream);
    for (cudaStream_t stream : stage->others)
        close_stream(stage, stream);
    if (stage->mark != NULL)
        (void)cudaEventDestroy(stage->mark);
    cuda_free(stage->d_block, stage->limits.device);
    free(stage);
}

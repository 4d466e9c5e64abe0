/* SPDX-License-Identifier: MIT */
/* The steps on a GPU: a thread a hit or sample, a warp a packet, a block a scan. All of a batch is
 * queued on its own stream and waits for the batch before only where log and index are concerned;
 * sampling, and writing frames, run beside it. */
#include <stdlib.h>

#include "base/diag.h"
#include "batch_encode.h"
#include "device/cuda_internal.h"

enum {
    BLOCK_THREADS = 128,
    BLOCK_WARPS = BLOCK_THREADS / WARP_LANES,
    BLOCKS_EACH = 16 /* of a multiprocessor, that share the samples */
};

struct slot {
    uint8_t *d_block;
    uint8_t *h_out; /* pinned: what crosses back */
    struct encode_totals *h_totals;
    cudaEvent_t matched; /* the next batch may change log and index */
    cudaEvent_t written;
};

struct cuda_encoder {
    struct encode_sizes sizes;
    struct encode_layout layout;
    uint8_t *d_ring;
    uint64_t *d_index;
    struct packet_log *d_log;
    struct slot slots[SL_BATCH_ENCODER_IN_FLIGHT];
    cudaEvent_t last;  /* `matched` of the batch submitted last, or NULL */
    cudaStream_t back; /* results cross on it */
    uint32_t n_blocks;
};

/* ---- kernels --------------------------------------------------------------------------------- */

template <enum encode_step STEP>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    sample_kernel(const __grid_constant__ struct encode_job job)
{
    if (job.totals->refused != 0)
        return;
    const uint32_t n = STEP == ENCODE_REMEMBER ? job.totals->n_samples : encode_n_found(&job);

    for (uint32_t i = blockIdx.x * BLOCK_THREADS + threadIdx.x; i < n;
         i += gridDim.x * BLOCK_THREADS) {
        if (STEP == ENCODE_MARK)
            encode_mark(&job, i);
        else if (STEP == ENCODE_LOOK_UP)
            encode_look_up(&job, i);
        else
            encode_remember(&job, i);
    }
}

template <enum encode_step STEP>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    packet_kernel(const __grid_constant__ struct encode_job job)
{
    const uint32_t item = blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;

    if (job.totals->refused != 0 || item >= job.n_items)
        return;
    if (STEP == ENCODE_COPY)
        encode_copy(&job, item);
    else if (STEP == ENCODE_MATCH)
        encode_match(&job, item);
    else
        encode_write(&job, item);
}

/* All threads: the sum of the values of those before, and of all. */
static __device__ uint64_t sum_before(uint64_t value, uint64_t *total)
{
    __shared__ uint64_t warps[ENCODE_SCAN_PARTS / WARP_LANES];
    const uint32_t lane = threadIdx.x % WARP_LANES, warp = threadIdx.x / WARP_LANES;
    uint64_t up_to = value, before = 0;

    for (uint32_t far = 1; far < WARP_LANES; far *= 2) {
        const uint64_t other = __shfl_up_sync(~0u, up_to, far);

        up_to += lane >= far ? other : 0;
    }
    if (lane == WARP_LANES - 1)
        warps[warp] = up_to;
    __syncthreads();
    *total = 0;
    for (uint32_t i = 0; i < ENCODE_SCAN_PARTS / WARP_LANES; i++) {
        before += i < warp ? warps[i] : 0;
        *total += warps[i];
    }
    return before + up_to - value;
}

template <enum encode_step STEP>
static __global__ void __launch_bounds__(ENCODE_SCAN_PARTS)
    scan_kernel(const __grid_constant__ struct encode_job job)
{
    uint64_t total;

    if (STEP != ENCODE_PLACE && job.totals->refused != 0)
        return;
    const uint64_t before = sum_before(encode_scan_sum(&job, STEP, threadIdx.x), &total);

    if (threadIdx.x == 0)
        encode_scan_total(&job, STEP, total);
    encode_scan_spread(&job, STEP, threadIdx.x, before);
}

template <enum encode_step STEP>
static void launch_packets(const struct encode_job *job, cudaStream_t stream)
{
    if (job->n_items != 0)
        packet_kernel<STEP>
            <<<(job->n_items + BLOCK_WARPS - 1) / BLOCK_WARPS, BLOCK_THREADS, 0, stream>>>(*job);
}

static void launch(const struct cuda_encoder *encoder, const struct encode_job *job,
                   enum encode_step step, cudaStream_t stream)
{
    const uint32_t n = encoder->n_blocks;

    switch (step) {
    case ENCODE_PLACE:
        scan_kernel<ENCODE_PLACE><<<1, ENCODE_SCAN_PARTS, 0, stream>>>(*job);
        break;
    case ENCODE_COPY:
        launch_packets<ENCODE_COPY>(job, stream);
        break;
    case ENCODE_MARK:
        sample_kernel<ENCODE_MARK><<<n, BLOCK_THREADS, 0, stream>>>(*job);
        break;
    case ENCODE_RANK:
        scan_kernel<ENCODE_RANK><<<1, ENCODE_SCAN_PARTS, 0, stream>>>(*job);
        break;
    case ENCODE_LOOK_UP:
        sample_kernel<ENCODE_LOOK_UP><<<n, BLOCK_THREADS, 0, stream>>>(*job);
        break;
    case ENCODE_REMEMBER:
        sample_kernel<ENCODE_REMEMBER><<<n, BLOCK_THREADS, 0, stream>>>(*job);
        break;
    case ENCODE_MATCH:
        launch_packets<ENCODE_MATCH>(job, stream);
        break;
    case ENCODE_LAY:
        scan_kernel<ENCODE_LAY><<<1, ENCODE_SCAN_PARTS, 0, stream>>>(*job);
        break;
    case ENCODE_WRITE:
        launch_packets<ENCODE_WRITE>(job, stream);
        break;
    case ENCODE_STEPS:
        break;
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static void close_slot(struct slot *slot)
{
    (void)cudaFree(slot->d_block);
    (void)cudaFreeHost(slot->h_out);
    (void)cudaFreeHost(slot->h_totals);
    if (slot->matched != NULL)
        (void)cudaEventDestroy(slot->matched);
    if (slot->written != NULL)
        (void)cudaEventDestroy(slot->written);
}

static void cuda_close(void *machine)
{
    struct cuda_encoder *encoder = (struct cuda_encoder *)machine;

    if (encoder == NULL)
        return;
    (void)cudaSetDevice(encoder->sizes.device);
    (void)cudaDeviceSynchronize(); /* a run that failed may have left it working */
    for (uint32_t i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT; i++)
        close_slot(&encoder->slots[i]);
    if (encoder->back != NULL)
        (void)cudaStreamDestroy(encoder->back);
    (void)cudaFree(encoder->d_ring);
    (void)cudaFree(encoder->d_index);
    (void)cudaFree(encoder->d_log);
    free(encoder);
}

static enum sl_status take_zeroed(void **d_memory, size_t len, const char *what,
                                  struct sl_diag *diag)
{
    const enum sl_status status = cuda_take(d_memory, len, what, diag);

    return status != SL_OK
               ? status
               : cuda_status(cudaMemset(*d_memory, 0, len), "clearing GPU memory", diag);
}

static enum sl_status open_log(struct cuda_encoder *encoder, struct sl_diag *diag)
{
    const struct encode_sizes *sizes = &encoder->sizes;
    struct packet_log log = {};

    enum sl_status status =
        take_zeroed((void **)&encoder->d_ring, sizes->ring_len, "a packet cache", diag);
    if (status == SL_OK)
        status = take_zeroed((void **)&encoder->d_index, sizes->n_index * sizeof(uint64_t),
                             "an index", diag);
    if (status == SL_OK)
        status = cuda_take((void **)&encoder->d_log, sizeof log, "a log", diag);
    if (status != SL_OK)
        return status;
    log.bytes = encoder->d_ring;
    log.len = sizes->ring_len;
    return cuda_status(cudaMemcpy(encoder->d_log, &log, sizeof log, cudaMemcpyHostToDevice),
                       "beginning a log", diag);
}

static enum sl_status open_slot(struct cuda_encoder *encoder, struct slot *slot,
                                struct encode_job *job, struct sl_diag *diag)
{
    const struct encode_sizes *sizes = &encoder->sizes;
    const struct encode_layout layout = encode_lay_out(job, sizes, NULL);
    const enum sl_status status =
        take_zeroed((void **)&slot->d_block, layout.len, "a batch under way", diag);

    if (status != SL_OK)
        return status;
    encode_lay_out(job, sizes, slot->d_block);
    job->log = encoder->d_log;
    job->index = encoder->d_index;
    job->n_index = sizes->n_index;
    encoder->layout = layout;

    cudaError_t error =
        cudaHostAlloc((void **)&slot->h_totals, sizeof *slot->h_totals, cudaHostAllocPortable);
    if (error == cudaSuccess && !sizes->frames_stay)
        error =
            cudaHostAlloc((void **)&slot->h_out, layout.len - layout.out, cudaHostAllocPortable);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&slot->matched, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&slot->written, cudaEventDisableTiming);
    return cuda_status(error, "preparing for frames", diag);
}

static enum sl_status open_all(struct cuda_encoder *encoder, struct encode_job *jobs,
                               struct sl_diag *diag)
{
    int n_multiprocessors = 0;
    cudaError_t error = cudaSetDevice(encoder->sizes.device);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount,
                                       encoder->sizes.device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&encoder->back, cudaStreamNonBlocking);
    encoder->n_blocks = (uint32_t)n_multiprocessors * BLOCKS_EACH;

    enum sl_status status = cuda_status(error, "choosing the GPU", diag);
    if (status == SL_OK)
        status = open_log(encoder, diag);
    for (uint32_t i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT && status == SL_OK; i++)
        status = open_slot(encoder, &encoder->slots[i], &jobs[i], diag);
    /* The batches' streams do not wait for the one that memory was cleared on. */
    return status != SL_OK
               ? status
               : cuda_status(cudaStreamSynchronize(cudaStreamLegacy), "clearing memory", diag);
}

static enum sl_status cuda_open(void **machine, const struct encode_sizes *sizes,
                                struct encode_job jobs[SL_BATCH_ENCODER_IN_FLIGHT],
                                struct sl_diag *diag)
{
    struct cuda_encoder *encoder = (struct cuda_encoder *)calloc(1, sizeof *encoder);

    if (encoder == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an encoder");
    encoder->sizes = *sizes;
    const enum sl_status status = open_all(encoder, jobs, diag);
    if (status != SL_OK) {
        cuda_close(encoder);
        return status;
    }
    *machine = encoder;
    return SL_OK;
}

/* ---- batches --------------------------------------------------------------------------------- */

static cudaError_t begin_anew(const struct cuda_encoder *encoder, cudaStream_t stream)
{
    const cudaError_t error =
        cudaMemsetAsync(&encoder->d_log->end, 0, sizeof encoder->d_log->end, stream);

    return error != cudaSuccess
               ? error
               : cudaMemsetAsync(encoder->d_index, 0, encoder->sizes.n_index * sizeof(uint64_t),
                                 stream);
}

static enum sl_status cuda_submit(void *machine, uint32_t number, const struct encode_job *job,
                                  bool restart, void *stream_of_batch)
{
    struct cuda_encoder *encoder = (struct cuda_encoder *)machine;
    struct slot *slot = &encoder->slots[number];
    const cudaStream_t stream = (cudaStream_t)stream_of_batch;

    cudaError_t error = cudaMemsetAsync(slot->d_block, 0, encoder->layout.zero_len, stream);
    if (error == cudaSuccess && encoder->last != NULL)
        error = cudaStreamWaitEvent(stream, encoder->last, 0);
    if (error == cudaSuccess && restart)
        error = begin_anew(encoder, stream);
    for (int step = 0; step < ENCODE_STEPS && error == cudaSuccess; step++) {
        launch(encoder, job, (enum encode_step)step, stream);
        error = cudaGetLastError();
        if (step == ENCODE_MATCH && error == cudaSuccess)
            error = cudaEventRecord(slot->matched, stream);
    }
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(slot->h_totals, job->totals, sizeof *slot->h_totals,
                                cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(slot->written, stream);
    encoder->last = slot->matched;
    return cuda_status(error, "encoding", NULL);
}

static enum sl_status cuda_wait(void *machine, uint32_t number, const struct encode_job *job,
                                struct encode_totals *totals, struct sl_frames *frames)
{
    struct cuda_encoder *encoder = (struct cuda_encoder *)machine;
    const struct slot *slot = &encoder->slots[number];
    const size_t begins_len = encode_begins_len(job->n_items);

    cudaError_t error = cudaEventSynchronize(slot->written);
    if (error != cudaSuccess)
        return cuda_status(error, "waiting for the GPU", NULL);
    *totals = *slot->h_totals;
    frames->begin = job->frame_begin;
    frames->bytes = job->frames;
    if (totals->refused != 0 || encoder->sizes.frames_stay)
        return SL_OK;

    error = cudaMemcpyAsync(slot->h_out, job->frame_begin, begins_len + totals->frames_len,
                            cudaMemcpyDeviceToHost, encoder->back);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(encoder->back);
    frames->begin = (const uint32_t *)slot->h_out;
    frames->bytes = slot->h_out + begins_len;
    return cuda_status(error, "copying frames back", NULL);
}

extern "C" {
const struct encode_backend batch_encode_cuda = {cuda_open, cuda_submit, cuda_wait, cuda_close};
}

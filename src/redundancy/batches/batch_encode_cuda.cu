/* SPDX-License-Identifier: MIT */
/* The steps on a GPU: a thread a hit or sample, a warp a packet, a block a scan. A batch is queued
 * on its own stream. Only its steps on log and index wait for the batch before. Sampling and the
 * writing of frames run beside those. */
#include <stdlib.h>

#include "base/diag.h"
#include "batch_encode.h"
#include "batch_frame_core.h"
#include "batch_match_core.h"
#include "batch_sample_core.h"
#include "batch_scan_core.h"
#include "device/cuda_internal.h"

enum {
    BLOCK_THREADS = 128,
    BLOCK_WARPS = BLOCK_THREADS / WARP_LANES,
    BLOCKS_EACH = 16 /* of a multiprocessor, that share the samples */
};

struct slot {
    uint8_t *d_block;
    uint8_t *h_out; /* pinned: the bytes that cross back */
    struct encode_totals *h_totals;
    cudaEvent_t matched; /* the next batch may change log and index */
    cudaEvent_t written;
};

struct cuda_encoder {
    struct encode_sizes sizes;
    struct sl_limits limits; /* of waiting */
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

/* A thread a hit, or a sample. */
template <enum encode_step STEP>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    sample_kernel(const __grid_constant__ struct encode_job job)
{
    if (job.totals->refused != 0)
        return;
    const bool of_hits = STEP == ENCODE_MARK || STEP == ENCODE_ORDER;
    const uint32_t n = of_hits ? encode_n_found(&job) : job.totals->n_samples;

    for (uint32_t i = blockIdx.x * BLOCK_THREADS + threadIdx.x; i < n;
         i += gridDim.x * BLOCK_THREADS) {
        if (STEP == ENCODE_MARK)
            encode_mark(&job, i);
        else if (STEP == ENCODE_ORDER)
            encode_order(&job, i);
        else if (STEP == ENCODE_REPEAT)
            encode_repeat(&job, i);
        else if (STEP == ENCODE_LOOK_UP)
            encode_lookup(&job, i);
        else
            encode_remember(&job, i);
    }
}

/* A warp a packet. */
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

/* A block, a warp a part. */
template <enum encode_step STEP>
static __global__ void __launch_bounds__(ENCODE_SCAN_PARTS *WARP_LANES)
    scan_kernel(const __grid_constant__ struct encode_job job)
{
    __shared__ uint64_t sums[ENCODE_SCAN_PARTS];
    const uint32_t part = threadIdx.x / WARP_LANES;
    uint64_t before = 0, total = 0;

    if (STEP != ENCODE_PLACE && job.totals->refused != 0)
        return;
    const uint64_t sum = encode_scan_sum(&job, STEP, part);
    if (threadIdx.x % WARP_LANES == 0)
        sums[part] = sum;
    __syncthreads();
    for (uint32_t i = 0; i < ENCODE_SCAN_PARTS; i++) {
        before += i < part ? sums[i] : 0;
        total += sums[i];
    }
    if (threadIdx.x == 0)
        encode_scan_total(&job, STEP, total);
    encode_scan_spread(&job, STEP, part, (uint32_t)before);
}

static __global__ void begin_kernel(const __grid_constant__ struct encode_job job)
{
    if (job.totals->refused == 0)
        encode_begin(&job);
}

struct launch {
    const struct encode_job *job;
    uint32_t n_blocks; /* of kernels over samples, whose number is not known here */
    cudaStream_t stream;
};

template <enum encode_step STEP> static void launch_samples(const struct launch *launch)
{
    sample_kernel<STEP><<<launch->n_blocks, BLOCK_THREADS, 0, launch->stream>>>(*launch->job);
}

template <enum encode_step STEP> static void launch_packets(const struct launch *launch)
{
    const uint32_t n_blocks = (launch->job->n_items + BLOCK_WARPS - 1) / BLOCK_WARPS;

    if (n_blocks != 0)
        packet_kernel<STEP><<<n_blocks, BLOCK_THREADS, 0, launch->stream>>>(*launch->job);
}

template <enum encode_step STEP> static void launch_scan(const struct launch *launch)
{
    scan_kernel<STEP><<<1, ENCODE_SCAN_PARTS * WARP_LANES, 0, launch->stream>>>(*launch->job);
}

static void launch_begin(const struct launch *launch)
{
    begin_kernel<<<1, 1, 0, launch->stream>>>(*launch->job);
}

/* By step. */
static void (*const launches[ENCODE_STEPS])(const struct launch *launch) = {
    launch_scan<ENCODE_PLACE>,    launch_samples<ENCODE_MARK>,    launch_scan<ENCODE_RANK>,
    launch_samples<ENCODE_ORDER>, launch_samples<ENCODE_REPEAT>,  launch_begin,
    launch_packets<ENCODE_COPY>,  launch_samples<ENCODE_LOOK_UP>, launch_samples<ENCODE_REMEMBER>,
    launch_packets<ENCODE_MATCH>, launch_scan<ENCODE_LAY>,        launch_packets<ENCODE_WRITE>};

/* ---- opening --------------------------------------------------------------------------------- */

/* A run that failed may have left it working. */
static void close_slot(const struct cuda_encoder *encoder, struct slot *slot)
{
    if (slot->written != NULL) {
        (void)cuda_wait_for_event(slot->written, &encoder->limits);
        (void)cudaEventDestroy(slot->written);
    }
    if (slot->matched != NULL)
        (void)cudaEventDestroy(slot->matched);
    cuda_free(slot->d_block, encoder->limits.device);
    cuda_free_host(slot->h_out);
    cuda_free_host(slot->h_totals);
}

static void cuda_close(void *machine)
{
    struct cuda_encoder *encoder = (struct cuda_encoder *)machine;

    if (encoder == NULL)
        return;
    if (encoder->back != NULL) {
        (void)cuda_wait_for_stream(encoder->back, &encoder->limits);
        (void)cudaStreamDestroy(encoder->back);
    }
    for (uint32_t i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT; i++)
        close_slot(encoder, &encoder->slots[i]);
    cuda_free(encoder->d_ring, encoder->limits.device);
    cuda_free(encoder->d_index, encoder->limits.device);
    cuda_free(encoder->d_log, encoder->limits.device);
    free(encoder);
}

static enum sl_status take_zeroed(void **d_memory, size_t len, const char *what,
                                  struct sl_diag *diag)
{
    const enum sl_status status = cuda_take(d_memory, len, what, diag);

    return status != SL_OK ? status
                           : cuda_status(cuda_clear(*d_memory, len), "clearing GPU memory", diag);
}

static enum sl_status open_log(struct cuda_encoder *encoder, struct sl_diag *diag)
{
    const struct encode_sizes *sizes = &encoder->sizes;
    struct packet_log log = {};

    enum sl_status status =
        take_zeroed((void **)&encoder->d_ring, encode_ring_memory(sizes), "a packet cache", diag);
    if (status == SL_OK)
        status = take_zeroed((void **)&encoder->d_index, sizes->n_index * sizeof(uint64_t),
                             "an index", diag);
    if (status == SL_OK)
        status = cuda_take((void **)&encoder->d_log, sizeof log, "a log", diag);
    if (status != SL_OK)
        return status;
    log.bytes = encoder->d_ring;
    log.len = sizes->ring_len;
    /* Batches are on streams that do not wait for this copy; clearing the slots, which comes next,
     * does. */
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
    enum sl_status status = cuda_choose(encoder->limits.device, diag);

    if (status != SL_OK)
        return status;
    cudaError_t error = cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount,
                                               encoder->limits.device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&encoder->back, cudaStreamNonBlocking);
    encoder->n_blocks = (uint32_t)n_multiprocessors * BLOCKS_EACH;

    status = cuda_status(error, "making a stream", diag);
    if (status == SL_OK)
        status = open_log(encoder, diag);
    for (uint32_t i = 0; i < SL_BATCH_ENCODER_IN_FLIGHT && status == SL_OK; i++)
        status = open_slot(encoder, &encoder->slots[i], &jobs[i], diag);
    return status;
}

static enum sl_status cuda_open(void **machine, const struct encode_sizes *sizes,
                                struct encode_job jobs[SL_BATCH_ENCODER_IN_FLIGHT],
                                struct sl_diag *diag)
{
    struct cuda_encoder *encoder = (struct cuda_encoder *)calloc(1, sizeof *encoder);

    if (encoder == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an encoder");
    encoder->sizes = *sizes;
    encoder->limits.device = sizes->device;
    encoder->limits.max_wait_ms = sizes->max_wait_ms;
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

static cudaError_t run_steps(const struct launch *launch, int first, int end)
{
    cudaError_t error = cudaSuccess;

    for (int step = first; step < end && error == cudaSuccess; step++) {
        launches[step](launch);
        error = cudaGetLastError();
    }
    return error;
}

static enum sl_status cuda_submit(void *machine, uint32_t number, const struct encode_job *job,
                                  bool restart, void *stream)
{
    struct cuda_encoder *encoder = (struct cuda_encoder *)machine;
    struct slot *slot = &encoder->slots[number];
    const struct launch launch = {job, encoder->n_blocks, (cudaStream_t)stream};

    cudaError_t error = cudaMemsetAsync(slot->d_block, 0, encoder->layout.zero_len, launch.stream);
    if (error == cudaSuccess)
        error = run_steps(&launch, 0, ENCODE_BEGIN);
    if (error == cudaSuccess && encoder->last != NULL)
        error = cudaStreamWaitEvent(launch.stream, encoder->last, 0);
    if (error == cudaSuccess && restart)
        error = begin_anew(encoder, launch.stream);
    if (error == cudaSuccess)
        error = run_steps(&launch, ENCODE_BEGIN, ENCODE_LAY);
    if (error == cudaSuccess)
        error = cudaEventRecord(slot->matched, launch.stream);
    encoder->last = slot->matched;
    if (error == cudaSuccess)
        error = run_steps(&launch, ENCODE_LAY, ENCODE_STEPS);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(slot->h_totals, job->totals, sizeof *slot->h_totals,
                                cudaMemcpyDeviceToHost, launch.stream);
    const cudaError_t recorded =
        cudaEventRecord(slot->written, launch.stream); /* as far as it is */
    return cuda_status(error == cudaSuccess ? recorded : error, "encoding", NULL);
}

static enum sl_status cuda_wait(void *machine, uint32_t number, const struct encode_job *job,
                                struct encode_totals *totals, struct sl_frames *frames)
{
    struct cuda_encoder *encoder = (struct cuda_encoder *)machine;
    const struct slot *slot = &encoder->slots[number];
    const size_t begins_len = encode_begins_len(job->n_items);

    const enum sl_status status = cuda_wait_for_event(slot->written, &encoder->limits);
    if (status != SL_OK)
        return status;
    *totals = *slot->h_totals;
    frames->begin = job->frame_begin;
    frames->bytes = job->frames;
    if (totals->refused != 0 || encoder->sizes.frames_stay)
        return SL_OK;

    frames->begin = (const uint32_t *)slot->h_out;
    frames->bytes = slot->h_out + begins_len;
    return cuda_fetch(slot->h_out, job->frame_begin, begins_len + totals->frames_len, encoder->back,
                      &encoder->limits);
}

extern "C" {
const struct encode_backend batch_encode_cuda = {cuda_open, cuda_submit, cuda_wait, cuda_close};
}

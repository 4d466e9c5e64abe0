/* SPDX-License-Identifier: MIT */
/* The rates of a GPU's link and memory: the ceilings beside which a bench shows its rates. */
#include "device/cuda_internal.h"

#include <stdlib.h>

enum {
    THREADS = 512,              /* of a block */
    BLOCKS_A_MULTIPROCESSOR = 4 /* all that are resident, of so many threads */
};

/* Sizes of the memory that is read; memory far beyond the caches. */
static const size_t host_len = (size_t)128 << 20;
static const size_t area_len = (size_t)1 << 30;

struct device_ceilings {
    int device;
    unsigned n_blocks;  /* that fill the device */
    uint8_t *to, *from; /* pinned, host_len each: bytes that cross to the device, and back */
    uint8_t *d_area;
    uint32_t *d_sum; /* so that nothing read is left out */
    cudaStream_t stream, other;
    cudaEvent_t begin, end, joined;
};

/* ---- memory ---------------------------------------------------------------------------------- */

__global__ static void read_kernel(const uint4 *area, size_t n, uint32_t *sum)
{
    uint32_t all = 0;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        const uint4 value = area[i];

        all += value.x ^ value.y ^ value.z ^ value.w;
    }
    if (all == 1)
        atomicAdd(sum, all);
}

__global__ static void copy_kernel(uint4 *to, const uint4 *from, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

enum { STEPS = 256 /* random reads of a thread, none of which waits for another */ };

/* n is a power of two. */
__global__ static void random_kernel(const uint4 *area, size_t n, uint32_t *sum)
{
    uint64_t state = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x) * 0x9E3779B97F4A7C15u + 1;
    uint32_t all = 0;

#pragma unroll 8
    for (int i = 0; i < STEPS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint4 value = area[(state >> 24) & (n - 1)];

        all += value.x ^ value.w;
    }
    if (all == 1)
        atomicAdd(sum, all);
}

/* Returns the units it does. */
static double start_memory(struct device_ceilings *at, enum device_ceiling what)
{
    const size_t n = area_len / sizeof(uint4);
    const uint4 *area = (const uint4 *)at->d_area;

    switch (what) {
    case DEVICE_MEMORY_READ:
        read_kernel<<<at->n_blocks, THREADS, 0, at->stream>>>(area, n, at->d_sum);
        return (double)area_len;
    case DEVICE_MEMORY_COPY:
        copy_kernel<<<at->n_blocks, THREADS, 0, at->stream>>>((uint4 *)at->d_area, area + n / 2,
                                                              n / 2);
        return (double)area_len / 2;
    default:
        random_kernel<<<at->n_blocks, THREADS, 0, at->stream>>>(area, n, at->d_sum);
        return (double)at->n_blocks * THREADS * STEPS;
    }
}

/* ---- the link -------------------------------------------------------------------------------- */

/* Of each block `len` bytes. */
static void start_copies(struct device_ceilings *at, bool back, size_t block_len, size_t len,
                         cudaStream_t stream)
{
    uint8_t *d_half = at->d_area + (back ? area_len / 2 : 0);

    for (size_t done = 0; done + block_len <= host_len && len != 0; done += block_len) {
        if (back)
            (void)cudaMemcpyAsync(at->from + done, d_half + done, len, cudaMemcpyDeviceToHost,
                                  stream);
        else
            (void)cudaMemcpyAsync(d_half + done, at->to + done, len, cudaMemcpyHostToDevice,
                                  stream);
    }
}

/* Of each block to_len bytes go to the device while back_len come back. */
static double start_link(struct device_ceilings *at, size_t block_len, size_t to_len,
                         size_t back_len)
{
    const bool both = to_len != 0 && back_len != 0;
    const cudaStream_t other = both ? at->other : at->stream;

    if (both)
        (void)cudaStreamWaitEvent(other, at->begin, 0);
    start_copies(at, true, block_len, back_len, other);
    if (both)
        (void)cudaEventRecord(at->joined, other);
    start_copies(at, false, block_len, to_len, at->stream);
    if (both)
        (void)cudaStreamWaitEvent(at->stream, at->joined, 0);
    return (double)(host_len / block_len * block_len);
}

/* ---- one run --------------------------------------------------------------------------------- */

static bool open_all(struct device_ceilings *at)
{
    int n = 0;

    if (cudaSetDevice(at->device) != cudaSuccess ||
        cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, at->device) != cudaSuccess)
        return false;
    at->n_blocks = (unsigned)n * BLOCKS_A_MULTIPROCESSOR;
    return (at->to = (uint8_t *)device_pinned_alloc(host_len)) != NULL &&
           (at->from = (uint8_t *)device_pinned_alloc(host_len)) != NULL &&
           cudaMalloc((void **)&at->d_area, area_len) == cudaSuccess &&
           cudaMalloc((void **)&at->d_sum, sizeof *at->d_sum) == cudaSuccess &&
           cudaMemset(at->d_area, 7, area_len) == cudaSuccess &&
           cudaMemset(at->d_sum, 0, sizeof *at->d_sum) == cudaSuccess &&
           cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess &&
           cudaStreamCreateWithFlags(&at->stream, cudaStreamNonBlocking) == cudaSuccess &&
           cudaStreamCreateWithFlags(&at->other, cudaStreamNonBlocking) == cudaSuccess &&
           cudaEventCreate(&at->begin) == cudaSuccess && cudaEventCreate(&at->end) == cudaSuccess &&
           cudaEventCreateWithFlags(&at->joined, cudaEventDisableTiming) == cudaSuccess;
}

struct device_ceilings *device_ceilings_open(int device)
{
    struct device_ceilings *at = (struct device_ceilings *)calloc(1, sizeof *at);

    if (at == NULL)
        return NULL;
    at->device = device;
    if (open_all(at))
        return at;
    (void)cudaGetLastError();
    device_ceilings_close(at);
    return NULL;
}

static void begin_run(struct device_ceilings *at)
{
    (void)cudaSetDevice(at->device);
    (void)cudaEventRecord(at->begin, at->stream);
}

/* The rate of the work since the start. */
static double end_run(struct device_ceilings *at, double units)
{
    float ms = 0;

    (void)cudaEventRecord(at->end, at->stream);
    if (cudaGetLastError() != cudaSuccess || cudaEventSynchronize(at->end) != cudaSuccess ||
        cudaEventElapsedTime(&ms, at->begin, at->end) != cudaSuccess)
        ms = 0;
    (void)cudaGetLastError();
    return ms > 0 ? units / ms * 1e3 : 0;
}

double device_ceiling(struct device_ceilings *at, enum device_ceiling what, size_t block_len)
{
    begin_run(at);
    switch (what) {
    case DEVICE_LINK_TO:
        return end_run(at, start_link(at, block_len, block_len, 0));
    case DEVICE_LINK_BACK:
        return end_run(at, start_link(at, block_len, 0, block_len));
    case DEVICE_LINK_BOTH:
        return end_run(at, start_link(at, block_len, block_len, block_len));
    default:
        return end_run(at, start_memory(at, what));
    }
}

void device_ceilings_close(struct device_ceilings *at)
{
    if (at == NULL)
        return;
    for (cudaEvent_t event : {at->begin, at->end, at->joined})
        if (event != NULL)
            (void)cudaEventDestroy(event);
    for (cudaStream_t stream : {at->stream, at->other})
        if (stream != NULL)
            (void)cudaStreamDestroy(stream);
    (void)cudaFree(at->d_sum);
    (void)cudaFree(at->d_area);
    device_pinned_free(at->from);
    device_pinned_free(at->to);
    free(at);
}

double device_link_rate_beside(int device, size_t block_len, size_t back_len)
{
    enum { RUNS = 5 };
    struct device_ceilings *at = device_ceilings_open(device);
    double best = 0;

    for (int i = 0; at != NULL && i < RUNS; i++) {
        begin_run(at);
        const double rate = end_run(at, start_link(at, block_len, block_len, back_len));

        best = rate > best ? rate : best;
    }
    device_ceilings_close(at);
    return best;
}

double device_link_rate(int device, size_t block_len)
{
    return device_link_rate_beside(device, block_len, 0);
}

/* SPDX-License-Identifier: MIT */
/* What the link to a GPU carries: the ceiling that end-to-end rates are shown beside. */
#include "device/cuda_internal.h"

#include <stdlib.h>

static float copy_ms(void *d_to, const void *from, size_t len, cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;

    (void)cudaEventRecord(begin, 0);
    (void)cudaMemcpyAsync(d_to, from, len, cudaMemcpyHostToDevice, 0);
    (void)cudaEventRecord(end, 0);
    (void)cudaEventSynchronize(end);
    (void)cudaEventElapsedTime(&ms, begin, end);
    return ms;
}

double device_link_rate(int device, size_t block_len)
{
    enum { RUNS = 20 };
    void *from = NULL, *d_to = NULL;
    cudaEvent_t begin = NULL, end = NULL;
    double best = 0;

    if (cudaSetDevice(device) == cudaSuccess && (from = device_pinned_alloc(block_len)) != NULL &&
        cudaMalloc(&d_to, block_len) == cudaSuccess && cudaEventCreate(&begin) == cudaSuccess &&
        cudaEventCreate(&end) == cudaSuccess) {
        for (int i = 0; i < RUNS; i++) {
            const float ms = copy_ms(d_to, from, block_len, begin, end);
            const double rate = ms > 0 ? (double)block_len / ms * 1e3 : 0;

            best = rate > best ? rate : best;
        }
    }
    if (begin != NULL)
        (void)cudaEventDestroy(begin);
    if (end != NULL)
        (void)cudaEventDestroy(end);
    (void)cudaFree(d_to);
    device_pinned_free(from, block_len);
    (void)cudaGetLastError();
    return best;
}

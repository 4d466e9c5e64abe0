/* SPDX-License-Identifier: MIT */
/* The time of a stream's work, by the GPU's clock. */
#include <stdlib.h>

#include "device/cuda_internal.h"

struct device_timer {
    cudaEvent_t begin, end;
};

struct device_timer *device_timer_open(int device)
{
    struct device_timer *timer = (struct device_timer *)calloc(1, sizeof *timer);

    if (timer != NULL && cudaSetDevice(device) == cudaSuccess &&
        cudaEventCreate(&timer->begin) == cudaSuccess &&
        cudaEventCreate(&timer->end) == cudaSuccess)
        return timer;
    (void)cudaGetLastError();
    device_timer_close(timer);
    return NULL;
}

void device_timer_begin(struct device_timer *timer, void *stream)
{
    (void)cudaEventRecord(timer->begin, (cudaStream_t)stream);
}

void device_timer_end(struct device_timer *timer, void *stream)
{
    (void)cudaEventRecord(timer->end, (cudaStream_t)stream);
}

double device_timer_seconds(struct device_timer *timer)
{
    float ms = 0;

    if (cudaEventSynchronize(timer->end) == cudaSuccess)
        (void)cudaEventElapsedTime(&ms, timer->begin, timer->end);
    (void)cudaGetLastError();
    return ms / 1e3;
}

void device_timer_close(struct device_timer *timer)
{
    if (timer == NULL)
        return;
    if (timer->begin != NULL)
        (void)cudaEventDestroy(timer->begin);
    if (timer->end != NULL)
        (void)cudaEventDestroy(timer->end);
    free(timer);
}

/* SPDX-License-Identifier: MIT */
#include "run_pinning.h"

#include "base/least.h"
#include "device/device.h"
#include "pipeline/lane.h"

enum {
    TOGETHER = 8,           /* batches whose memory is pinned at a time */
    IN_FLIGHT = 2,          /* for each that is worked on: the others wait for those before them */
    BESIDE_ARENA = 4 << 20, /* bytes, of a batch: made items, columns and hits */
    PINNED_MAX = 1 << 30    /* bytes */
};

static void *pin(void *argument)
{
    struct run_pinning *const pinning = argument;

    device_use((int)pinning->device);
    for (uint32_t left = atomic_load(&pinning->n_pieces); left != 0;)
        if (atomic_compare_exchange_weak(&pinning->n_pieces, &left, left - 1) &&
            !device_pinned_prepare(pinning->piece_len))
            break;
    return NULL;
}

void run_pinning_begin(struct run_pinning *pinning, const struct sl_pipeline_config *pipeline,
                       uint64_t len)
{
    const uint64_t n_batches =
        least(len / pipeline->batch_len + 1, (uint64_t)IN_FLIGHT * lanes_n_active(pipeline));
    uint32_t d = 0;

    while (d < pipeline->n_devices && pipeline->devices[d].kind != SL_DEVICE_CUDA)
        d++;
    if (d == pipeline->n_devices)
        return;
    pinning->device = pipeline->devices[d].index;
    pinning->piece_len = least(n_batches, TOGETHER) * ((size_t)pipeline->batch_len + BESIDE_ARENA);

    const uint64_t n =
        least((n_batches + TOGETHER - 1) / TOGETHER, PINNED_MAX / pinning->piece_len);

    atomic_store(&pinning->n_pieces, (uint32_t)n);
    while (pinning->n_threads < least(n, RUN_PINNING_THREADS_MAX) &&
           pthread_create(&pinning->thread[pinning->n_threads], NULL, pin, pinning) == 0)
        pinning->n_threads++;
}

void run_pinning_stop(struct run_pinning *pinning)
{
    atomic_store(&pinning->n_pieces, 0);
}

void run_pinning_end(struct run_pinning *pinning)
{
    run_pinning_stop(pinning);
    for (unsigned i = 0; i < pinning->n_threads; i++)
        pthread_join(pinning->thread[i], NULL);
    if (pinning->n_threads != 0)
        device_pinned_trim();
    pinning->n_threads = 0;
}

/* SPDX-License-Identifier: MIT */
/* What CUDA backends share: errors, tables on the device, and the collector of hits. For .cu files.
 *
 * A backend's context holds a table reference and a hit collector:
 *   open:   cuda_table_acquire, cuda_hits_open
 *   submit: cuda_hits_begin, kernel<<<..., batch->stream>>>(..., cuda_hits_device(&hits)),
 * cuda_hits_end wait:   cuda_hits_wait close:  cuda_hits_close, cuda_table_release */
#ifndef DEVICE_CUDA_INTERNAL_H
#define DEVICE_CUDA_INTERNAL_H

#include <cuda_runtime.h>

#include "device/device.h"
#include "sluice/batch.h"
#include "sluice/engine.h"

/* SL_OK, SL_ENOMEM or SL_EDEVICE; the diagnostic (may be NULL) says what failed and CUDA's words.
 */
enum sl_status cuda_status(cudaError_t error, const char *what, struct sl_diag *diag);

/* Whether a batch can be worked on by a context made for these limits. */
bool cuda_batch_fits(const struct sl_batch *batch, const struct sl_limits *limits);

/* The device's copy of a flat table, one for all contexts of a process: made at the first acquire,
 * gone at the last release. Any thread. */
enum sl_status cuda_table_acquire(void **d_table, const void *table, size_t table_len, int device,
                                  struct sl_diag *diag);
void cuda_table_release(const void *table, int device); /* a table never acquired is ignored */

/* Hits in device memory. The count is exact beyond the capacity. */
struct cuda_hits {
    struct sl_hit *d_hit;
    unsigned long long *d_count;
    unsigned long long *h_count; /* pinned */
    uint32_t cap;
    cudaEvent_t done;
    cudaStream_t stream;
    struct sl_hits *out; /* the caller's, between begin and wait */
};

enum sl_status cuda_hits_open(struct cuda_hits *hits, const struct sl_limits *limits,
                              struct sl_diag *diag);
enum sl_status cuda_hits_begin(struct cuda_hits *hits, const struct sl_batch *batch,
                               struct sl_hits *out);
enum sl_status cuda_hits_end(struct cuda_hits *hits); /* also reports a failed launch */
enum sl_status cuda_hits_wait(struct cuda_hits *hits);
void cuda_hits_close(struct cuda_hits *hits); /* zeroed or opened */

/* What kernels are given. */
struct cuda_hits_device {
    struct sl_hit *hit;
    unsigned long long *count;
    uint32_t cap;
};

static inline struct cuda_hits_device cuda_hits_device(const struct cuda_hits *hits)
{
    struct cuda_hits_device device = {hits->d_hit, hits->d_count, hits->cap};

    return device;
}

#ifdef __CUDACC__
/* Appends a hit. One atomic for all threads of a warp that append at once: without that, a batch in
 * which every byte hits is bound by a single counter. */
static __device__ inline void cuda_hits_append(struct cuda_hits_device hits, uint32_t item,
                                               uint32_t offset, uint32_t id)
{
    const unsigned active = __activemask();
    const unsigned lane = threadIdx.x % 32;
    const int leader = __ffs((int)active) - 1;
    unsigned long long first = 0;

    if ((int)lane == leader)
        first = atomicAdd(hits.count, (unsigned long long)__popc(active));
    first = __shfl_sync(active, first, leader);

    const unsigned long long slot = first + (unsigned)__popc(active & ((1u << lane) - 1));
    if (slot < hits.cap) {
        struct sl_hit hit = {item, offset, id};
        hits.hit[slot] = hit;
    }
}
#endif

#endif

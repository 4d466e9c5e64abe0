/* SPDX-License-Identifier: MIT */
/* The parts that all CUDA backends share: errors, the context, the collector of hits. For .cu
 * files.
 *
 * A backend's `open` is cuda_context_open with its table's length. Its `submit` is
 * cuda_submit_begin, kernels on the batch's stream, and cuda_submit_end. Its `wait` and `close` are
 * cuda_context_wait and cuda_context_close. */
#ifndef DEVICE_CUDA_INTERNAL_H
#define DEVICE_CUDA_INTERNAL_H

#include <cuda_runtime.h>

#include "device/cuda_order.h"
#include "device/device.h"
#include "sluice/batch.h"
#include "sluice/engine.h"

/* SL_OK, SL_ENOMEM or SL_EDEVICE. The diagnostic (may be NULL) has `what` and CUDA's words. */
enum sl_status cuda_status(cudaError_t error, const char *what, struct sl_diag *diag);

/* Allocates device memory. SL_ENOMEM: the diagnostic names `what`, the bytes that are needed and
 * those that are free. */
enum sl_status cuda_take(void **d_memory, size_t len, const char *what, struct sl_diag *diag);

/* Sets device memory to 0 and waits for it, because the batches' streams do not wait for the
 * default stream. */
cudaError_t cuda_clear(void *d_memory, size_t len);

/* Frees device memory, unless the device hangs. Accepts NULL. */
void cuda_free(void *d_memory, int device);

/* Frees what cudaHostAlloc gave, unless some device hangs: it may write there. Accepts NULL. */
void cuda_free_host(void *h_memory);

/* Makes the device the current one of this thread. SL_EDEVICE, also where it hangs. */
enum sl_status cuda_choose(int device, struct sl_diag *diag);

/* Wait for an event or a stream within the limits: src/device/wait.h. */
enum sl_status cuda_wait_for_event(cudaEvent_t event, const struct sl_limits *limits);
enum sl_status cuda_wait_for_stream(cudaStream_t stream, const struct sl_limits *limits);

/* Waits without rests, for work of microseconds. */
enum sl_status cuda_spin_for_event(cudaEvent_t event, const struct sl_limits *limits);

/* Waits for the stream, copies device memory to the host, and waits for the copy. Both waits obey
 * the limits. */
enum sl_status cuda_fetch(void *to, const void *d_from, size_t len, cudaStream_t stream,
                          const struct sl_limits *limits);

/* Hits as they cross back, with their count. */
struct cuda_found {
    unsigned long long n; /* exact, also beyond the room */
    struct sl_hit hit[1]; /* as many as there is room for */
};

/* The same in pinned memory. */
struct cuda_brought {
    unsigned long long n;
    uint64_t in_order; /* not 0: in the order of sl_hits_sort */
    struct sl_hit hit[1];
};

/* The collector of hits. cuda.cu explains how many hits cross with which copy. */
struct cuda_hits {
    struct cuda_found *d_found;
    bool stay;                    /* d_found is the caller's, and hits stay there */
    struct cuda_brought *h_found; /* pinned */
    uint32_t cap;                 /* hits that d_found has room for */
    uint32_t h_cap;               /* hits that h_found has room for */
    uint32_t expected;            /* hits that the next batch may have */
    uint32_t n_before;            /* hits that the batch before had */
    uint32_t n_along;             /* hits that cross with the count of this batch, */
    bool cross_to_out;            /* and whether right into the caller's array */
    bool is_clear;                /* d_found->n is 0 after the pending work */
    bool is_delivered;            /* by the backend's own kernel */
    uint32_t *d_ticket;           /* of that kernel's blocks: 0 between launches */
    struct cuda_order order;      /* zeroed unless the limits ask for order */
    uint32_t n_items;             /* of this batch */
    cudaEvent_t done;
    cudaStream_t stream;
    struct sl_hits *out; /* the caller's, between submit and wait */
};

/* A backend's context. */
struct cuda_context {
    const void *table;    /* the key of the device's copy, which all contexts of a process share */
    const void *d_table;  /* the device's copy */
    const void *d_wanted; /* of the limits; NULL: all hits are */
    const uint8_t *kind;  /* of this batch's items; NULL: they have none */
    struct sl_limits limits;
    uint32_t n_multiprocessors;
    struct cuda_hits hits;
};

enum sl_status cuda_context_open(void **context, const void *table, size_t table_len,
                                 const struct sl_limits *limits, struct sl_diag *diag);
enum sl_status cuda_context_wait(void *context); /* a backend's wait */
void cuda_context_close(void *context);          /* a backend's close */

/* Closes a context that has further device memory, n blocks. Accepts NULLs. */
void cuda_context_close_with(void *context, void *const *d_memory, size_t n);

/* SL_EINVAL: the batch is not in this device's memory, or above the limits. */
enum sl_status cuda_submit_begin(struct cuda_context *context, const struct sl_batch *batch,
                                 struct sl_hits *out);
enum sl_status cuda_submit_end(struct cuda_context *context); /* also reports a failed launch */

/* The arguments of kernels. */
struct cuda_hits_device {
    struct sl_hit *hit;
    unsigned long long *count;
    uint32_t cap;
    const uint8_t *wanted; /* NULL: all are */
    const uint8_t *kind;   /* NULL: items have none */
    uint8_t run_ends;      /* of the limits */
};

/* Between submit_begin and _end. */
static inline struct cuda_hits_device cuda_hits_device(const struct cuda_context *context)
{
    const struct cuda_hits *hits = &context->hits;
    struct cuda_hits_device device = {hits->d_found->hit, &hits->d_found->n,
                                      hits->cap,          (const uint8_t *)context->d_wanted,
                                      context->kind,      context->limits.run_ends};

    return device;
}

/* How the hits of a batch cross back. */
struct cuda_delivery {
    struct cuda_found *found;
    struct cuda_brought *to; /* pinned; NULL: a kernel behind this one delivers */
    uint32_t *ticket;
    const uint32_t *is_full; /* NULL: hits are in no order; else 0 where they are in order */
    uint32_t n_along;
    bool stay;
};

/* Between submit_begin and _end, for the last kernel that finds hits: its blocks end with
 * cuda_deliver, which saves a launch. */
struct cuda_delivery cuda_delivery(struct cuda_context *context);

#ifdef __CUDACC__
/* All threads of all blocks call this. True for the block that comes last. It reads the other
 * blocks' writes past the first cache. The ticket is 0 before. */
static __device__ inline bool cuda_is_last_block(uint32_t *ticket)
{
    __threadfence();
    __syncthreads();
    const bool is_last = __syncthreads_or(
        threadIdx.x == 0 && atomicAdd(ticket, 1u) == gridDim.x - 1); /* without shared memory */
    if (is_last)
        __threadfence();
    return is_last;
}

/* All threads of one block call this. The count and the first hits cross. Where hits do not stay,
 * the next batch is counted from 0. Other blocks' hits are read past the first cache. */
static __device__ inline void cuda_deliver_all(const struct cuda_delivery &delivery)
{
    const unsigned long long n = __ldcg(&delivery.found->n);
    const uint32_t n_hits = n < delivery.n_along ? (uint32_t)n : delivery.n_along;
    const unsigned long long *const from = (const unsigned long long *)delivery.found->hit;
    unsigned long long *const to = (unsigned long long *)delivery.to->hit;

    for (uint32_t i = threadIdx.x; i < n_hits * (sizeof(struct sl_hit) / sizeof *to);
         i += blockDim.x)
        to[i] = __ldcg(&from[i]);
    __syncthreads(); /* all have read the count */
    if (threadIdx.x == 0) {
        delivery.to->n = n;
        delivery.to->in_order =
            n >= CUDA_ORDER_MIN && delivery.is_full != NULL && __ldcg(delivery.is_full) == 0;
        delivery.found->n = delivery.stay ? n : 0;
    }
}

/* All threads of all blocks, at the end: the last block delivers. */
static __device__ inline void cuda_deliver(const struct cuda_delivery &delivery)
{
    if (delivery.to == NULL || !cuda_is_last_block(delivery.ticket))
        return;
    cuda_deliver_all(delivery);
    if (threadIdx.x == 0)
        *delivery.ticket = 0;
}

/* Whether a hit of the literal is wanted in the item. */
static __device__ inline bool cuda_hits_want(const struct cuda_hits_device &hits, uint32_t item,
                                             uint32_t literal)
{
    return hits.kind == NULL || hits.wanted == NULL ||
           (hits.wanted[literal] >> hits.kind[item] & 1) != 0;
}

/* Whether hits inside runs are left out in the item. */
static __device__ inline bool cuda_hits_are_sparse(const struct cuda_hits_device &hits,
                                                   uint32_t item)
{
    return (hits.run_ends >> (hits.kind != NULL ? hits.kind[item] : 0) & 1) != 0;
}

/* Appends a hit, with one atomic for all threads of a warp that append at once. Otherwise a single
 * counter would bound a batch in which every byte hits. */
static __device__ inline void cuda_hits_append(struct cuda_hits_device hits, uint32_t item,
                                               uint32_t offset, uint64_t id)
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

/* SPDX-License-Identifier: MIT */
/* A counting sort by items. The few hits of each item are then ranked by comparing them all. */
#include "device/cuda_order.h"

#include "device/cuda_internal.h"

enum { COUNT_THREADS = 1024, MOVE_THREADS = 256, SCAN_EACH = 4, WARP = 32 };

static __device__ uint32_t hits_to_order(struct cuda_hits_device hits)
{
    const unsigned long long n = *hits.count < hits.cap ? *hits.count : hits.cap;

    return n < CUDA_ORDER_MIN ? 0 : (uint32_t)n;
}

/* The sum of the values of all threads before this one; *all: of all. Called by all of a block. */
static __device__ uint32_t sum_before(uint32_t value, uint32_t *all)
{
    __shared__ uint32_t sums[COUNT_THREADS / WARP];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t upto = value;

    for (int step = 1; step < WARP; step *= 2) {
        const uint32_t below = __shfl_up_sync(~0u, upto, step);
        upto += (int)lane >= step ? below : 0;
    }
    if (lane == WARP - 1)
        sums[warp] = upto;
    __syncthreads();
    uint32_t of_warps = lane < COUNT_THREADS / WARP ? sums[lane] : 0;
    for (int step = 1; step < WARP; step *= 2) {
        const uint32_t below = __shfl_up_sync(~0u, of_warps, step);
        of_warps += (int)lane >= step ? below : 0;
    }
    *all = __shfl_sync(~0u, of_warps, WARP - 1);
    const uint32_t before = __shfl_sync(~0u, of_warps, (int)(warp + WARP - 1) % WARP);
    __syncthreads();
    return upto - value + (warp == 0 ? 0 : before);
}

/* Counts become where the hits of each item begin, and at `n` where the last one's end. */
static __device__ void counts_to_places(uint32_t *count, uint32_t n)
{
    uint32_t begin = 0, all;

    for (uint32_t base = 0; base <= n; base += COUNT_THREADS * SCAN_EACH) {
        const uint32_t first = base + threadIdx.x * SCAN_EACH;
        uint32_t counts[SCAN_EACH], sum = 0;

        for (uint32_t i = 0; i < SCAN_EACH; i++) {
            counts[i] = first + i < n ? __ldcg(&count[first + i]) : 0;
            sum += counts[i];
        }
        uint32_t place = begin + sum_before(sum, &all);
        for (uint32_t i = 0; i < SCAN_EACH && first + i <= n; i++) {
            count[first + i] = place;
            place += counts[i];
        }
        begin += all;
    }
}

/* The data of one batch's kernels. */
struct order_work {
    struct cuda_hits_device hits;
    struct cuda_places *places;
    uint32_t *ranks;
    struct sl_hit *moved;
};

/* Ranks hits among those of their items, in no order yet; the last block finds the items' places.
 */
static __global__ void __launch_bounds__(COUNT_THREADS)
    order_count_kernel(struct order_work work, uint32_t n_items)
{
    const uint32_t n = hits_to_order(work.hits);
    uint32_t *const count = work.places->begin;

    for (uint32_t i = blockIdx.x * COUNT_THREADS + threadIdx.x; i < n;
         i += gridDim.x * COUNT_THREADS)
        work.ranks[i] = atomicAdd(&count[work.hits.hit[i].item], 1);
    if (n > 0 && cuda_is_last_block(&work.places->ticket))
        counts_to_places(count, n_items);
}

/* Also clears the other places, n words. */
static __global__ void __launch_bounds__(MOVE_THREADS)
    order_move_kernel(struct order_work work, uint32_t *other, uint32_t n_other)
{
    const uint32_t n = hits_to_order(work.hits), step = gridDim.x * MOVE_THREADS;
    const uint32_t first = blockIdx.x * MOVE_THREADS + threadIdx.x;

    for (uint32_t i = first; i < n_other; i += step)
        other[i] = 0;
    for (uint32_t i = first; i < n; i += step) {
        const struct sl_hit hit = work.hits.hit[i];

        work.moved[work.places->begin[hit.item] + work.ranks[i]] = hit;
    }
}

/* How many of an item's hits, from `begin` to `end`, come before hit i of all. */
static __device__ uint32_t rank_of(const struct sl_hit *moved, uint32_t i, uint32_t begin,
                                   uint32_t end)
{
    const struct sl_hit hit = moved[i];
    uint32_t rank = 0;

    for (uint32_t j = begin; j < end; j++) {
        const struct sl_hit other = moved[j];
        rank += other.offset < hit.offset || (other.offset == hit.offset &&
                                              (other.id < hit.id || (other.id == hit.id && j < i)));
    }
    return rank;
}

/* Back to where they were found, each behind those of its item that come before it. */
static __global__ void __launch_bounds__(MOVE_THREADS)
    order_settle_kernel(struct order_work work, struct cuda_delivery delivery)
{
    const uint32_t n = hits_to_order(work.hits);

    for (uint32_t i = blockIdx.x * MOVE_THREADS + threadIdx.x; i < n;
         i += gridDim.x * MOVE_THREADS) {
        const struct sl_hit hit = work.moved[i];
        const uint32_t *const at = &work.places->begin[hit.item];
        const bool full = at[1] - at[0] > CUDA_ORDER_ITEM_MAX;

        if (full)
            work.places->is_full = 1;
        work.hits.hit[full ? i : at[0] + rank_of(work.moved, i, at[0], at[1])] = hit;
    }
    delivery.is_full = &work.places->is_full;
    cuda_deliver(delivery);
}

static size_t words_of(uint32_t n_items)
{
    return sizeof(struct cuda_places) / sizeof(uint32_t) + n_items;
}

cudaError_t cuda_order_launch(struct cuda_order *order, const struct cuda_delivery *delivery,
                              const struct sl_limits *limits, uint32_t n_items,
                              uint32_t n_multiprocessors, cudaStream_t stream)
{
    struct cuda_found *const found = delivery->found;
    const uint32_t other = order->which, which = 1 - other;
    const struct order_work work = {{found->hit, &found->n, limits->max_hits, NULL, NULL, 0},
                                    order->d_places[which],
                                    order->d_ranks,
                                    order->d_moved};

    order_count_kernel<<<n_multiprocessors, COUNT_THREADS, 0, stream>>>(work, n_items);
    order_move_kernel<<<4 * n_multiprocessors, MOVE_THREADS, 0, stream>>>(
        work, (uint32_t *)order->d_places[other], (uint32_t)words_of(order->n_items[other]));
    order_settle_kernel<<<4 * n_multiprocessors, MOVE_THREADS, 0, stream>>>(work, *delivery);
    order->n_items[which] = n_items;
    order->which = which;
    return cudaGetLastError();
}

static enum sl_status open_places(struct cuda_order *order, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    const size_t len = words_of(limits->max_items) * sizeof(uint32_t);
    enum sl_status status = SL_OK;

    for (int i = 0; i < 2 && status == SL_OK; i++) {
        status = cuda_take((void **)&order->d_places[i], len, "the order of hits", diag);
        if (status == SL_OK)
            status = cuda_status(cuda_clear(order->d_places[i], len), "clearing GPU memory", diag);
    }
    return status;
}

enum sl_status cuda_order_open(struct cuda_order *order, const struct sl_limits *limits,
                               struct sl_diag *diag)
{
    const size_t n = limits->max_hits;
    enum sl_status status = open_places(order, limits, diag);

    if (status == SL_OK)
        status = cuda_take((void **)&order->d_ranks, n * sizeof *order->d_ranks,
                           "the order of hits", diag);
    if (status == SL_OK)
        status = cuda_take((void **)&order->d_moved, n * sizeof *order->d_moved,
                           "the order of hits", diag);
    return status;
}

void cuda_order_close(struct cuda_order *order, const struct sl_limits *limits)
{
    for (struct cuda_places *d_places : order->d_places)
        cuda_free(d_places, limits->device);
    cuda_free(order->d_ranks, limits->device);
    cuda_free(order->d_moved, limits->device);
}

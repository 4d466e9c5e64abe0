/* SPDX-License-Identifier: MIT */
/* A counting sort by items, whose hits, few each, are then ranked by comparing them all. */
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

/* Ranks hits among those of their items, in no order yet; the last block finds the items' places.
 */
__global__ void __launch_bounds__(COUNT_THREADS)
    order_count_kernel(struct cuda_hits_device hits, cuda_order order, uint32_t n_items)
{
    const uint32_t n = hits_to_order(hits);
    uint32_t *const count = order.d_places + 1;

    for (uint32_t i = blockIdx.x * COUNT_THREADS + threadIdx.x; i < n;
         i += gridDim.x * COUNT_THREADS)
        order.d_ranks[i] = atomicAdd(&count[hits.hit[i].item], 1);
    if (n > 0 && cuda_is_last_block(order.d_places))
        counts_to_places(count, n_items);
}

__global__ void __launch_bounds__(MOVE_THREADS)
    order_move_kernel(struct cuda_hits_device hits, cuda_order order)
{
    const uint32_t n = hits_to_order(hits);

    for (uint32_t i = blockIdx.x * MOVE_THREADS + threadIdx.x; i < n;
         i += gridDim.x * MOVE_THREADS) {
        const struct sl_hit hit = hits.hit[i];

        order.d_moved[order.d_places[1 + hit.item] + order.d_ranks[i]] = hit;
    }
}

/* Back to where they were found, each behind those of its item that come before it. */
__global__ void __launch_bounds__(MOVE_THREADS)
    order_settle_kernel(struct cuda_hits_device hits, cuda_order order)
{
    const uint32_t n = hits_to_order(hits);
    const struct sl_hit *const moved = order.d_moved;

    for (uint32_t i = blockIdx.x * MOVE_THREADS + threadIdx.x; i < n;
         i += gridDim.x * MOVE_THREADS) {
        const struct sl_hit hit = moved[i];
        const uint32_t begin = order.d_places[1 + hit.item], end = order.d_places[2 + hit.item];
        uint32_t place = i;

        if (end - begin <= CUDA_ORDER_ITEM_MAX) {
            place = begin;
            for (uint32_t j = begin; j < end; j++) {
                const struct sl_hit other = moved[j];
                place += other.offset < hit.offset ||
                         (other.offset == hit.offset &&
                          (other.id < hit.id || (other.id == hit.id && j < i)));
            }
        }
        hits.hit[place] = hit;
    }
}

cudaError_t cuda_order_launch(const struct cuda_order *order, struct cuda_found *d_found,
                              const struct sl_limits *limits, uint32_t n_items,
                              uint32_t n_multiprocessors, cudaStream_t stream)
{
    const struct cuda_hits_device hits = {d_found->hit, &d_found->n, limits->max_hits};
    const cudaError_t error =
        cudaMemsetAsync(order->d_places, 0, (n_items + 2) * sizeof *order->d_places, stream);

    if (error != cudaSuccess)
        return error;
    order_count_kernel<<<n_multiprocessors, COUNT_THREADS, 0, stream>>>(hits, *order, n_items);
    order_move_kernel<<<4 * n_multiprocessors, MOVE_THREADS, 0, stream>>>(hits, *order);
    order_settle_kernel<<<4 * n_multiprocessors, MOVE_THREADS, 0, stream>>>(hits, *order);
    return cudaGetLastError();
}

enum sl_status cuda_order_open(struct cuda_order *order, const struct sl_limits *limits,
                               struct sl_diag *diag)
{
    const size_t n = limits->max_hits;
    enum sl_status status = cuda_take((void **)&order->d_places,
                                      ((size_t)limits->max_items + 2) * sizeof *order->d_places,
                                      "the order of hits", diag);

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
    cuda_free(order->d_places, limits->device);
    cuda_free(order->d_ranks, limits->device);
    cuda_free(order->d_moved, limits->device);
}

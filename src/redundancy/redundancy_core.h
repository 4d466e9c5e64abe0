/* SPDX-License-Identifier: MIT */
/* What cores of this folder are written in, for C and nvcc: functions of both sides, atomics, and a
 * warp. On a GPU a warp's 32 lanes run a core function together, all with the same arguments, and
 * get the same result; on a CPU one call is the whole warp, lane after lane. */
#ifndef REDUNDANCY_CORE_H
#define REDUNDANCY_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WARP_LANES = 32 };

#ifdef __CUDACC__
#define REDUNDANCY_CORE static __host__ __device__ inline
#else
#define REDUNDANCY_CORE static inline
#endif

/* The loop over the lanes of a warp: on a GPU each lane goes through it once, as itself. */
#ifdef __CUDA_ARCH__
#define WARP_EACH_LANE(lane)                                                          \
    for (uint32_t lane = threadIdx.x % WARP_LANES, lane##_once = 1; lane##_once != 0; \
         lane##_once = 0)
#else
#define WARP_EACH_LANE(lane) for (uint32_t lane = 0; (lane) < WARP_LANES; (lane)++)
#endif

/* ---- memory that many threads write ---------------------------------------------------------- */

REDUNDANCY_CORE void core_or(uint32_t *at, uint32_t bits)
{
#ifdef __CUDA_ARCH__
    atomicOr(at, bits);
#else
    *at |= bits;
#endif
}

REDUNDANCY_CORE void core_add(uint32_t *at, uint32_t value)
{
#ifdef __CUDA_ARCH__
    atomicAdd(at, value);
#else
    *at += value;
#endif
}

REDUNDANCY_CORE void core_add_64(uint64_t *at, uint64_t value)
{
#ifdef __CUDA_ARCH__
    atomicAdd((unsigned long long *)at, (unsigned long long)value);
#else
    *at += value;
#endif
}

REDUNDANCY_CORE void core_max(uint32_t *at, uint32_t value)
{
#ifdef __CUDA_ARCH__
    atomicMax(at, value);
#else
    *at = *at > value ? *at : value;
#endif
}

REDUNDANCY_CORE void core_max_64(uint64_t *at, uint64_t value)
{
#ifdef __CUDA_ARCH__
    atomicMax((unsigned long long *)at, (unsigned long long)value);
#else
    *at = *at > value ? *at : value;
#endif
}

/* ---- sums of a warp -------------------------------------------------------------------------- */

/* What all lanes have together; on a CPU one variable has it already. */
REDUNDANCY_CORE uint64_t core_warp_sum(uint64_t value)
{
#ifdef __CUDA_ARCH__
    for (int far = 1; far < WARP_LANES; far *= 2)
        value += __shfl_xor_sync(~0u, value, far);
#endif
    return value;
}

/* In a loop over the lanes: what those before have; and of all in *all, which is 0 before. */
REDUNDANCY_CORE uint32_t core_warp_sum_before(uint32_t value, uint32_t *all)
{
#ifdef __CUDA_ARCH__
    uint32_t up_to = value;

    for (uint32_t far = 1; far < WARP_LANES; far *= 2) {
        const uint32_t before = __shfl_up_sync(~0u, up_to, far);

        up_to += threadIdx.x % WARP_LANES >= far ? before : 0;
    }
    *all = __shfl_sync(~0u, up_to, WARP_LANES - 1);
    return up_to - value;
#else
    const uint32_t before = *all;

    *all += value;
    return before;
#endif
}

/* ---- bits ------------------------------------------------------------------------------------ */

REDUNDANCY_CORE uint32_t core_count_bits(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__popc(bits);
#else
    return (uint32_t)__builtin_popcount(bits);
#endif
}

/* Bits of a number that is not 0, the highest being set. */
REDUNDANCY_CORE uint32_t core_bits(uint64_t number)
{
#ifdef __CUDA_ARCH__
    return 64 - (uint32_t)__clzll((long long)number);
#else
    return 64 - (uint32_t)__builtin_clzll(number);
#endif
}

/* Zero bytes at the low end of a word that is not 0, and at its high end. */
REDUNDANCY_CORE uint32_t core_low_zeros(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)(__ffsll((long long)word) - 1) / 8;
#else
    return (uint32_t)__builtin_ctzll(word) / 8;
#endif
}

REDUNDANCY_CORE uint32_t core_high_zeros(uint64_t word)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__clzll((long long)word) / 8;
#else
    return (uint32_t)__builtin_clzll(word) / 8;
#endif
}

/* Both halves of the product, added without carry. */
REDUNDANCY_CORE uint64_t core_fold(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
    return a * b ^ __umul64hi(a, b);
#else
    const unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
#endif
}

#endif

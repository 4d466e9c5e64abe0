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

/* ---- bits ------------------------------------------------------------------------------------ */

REDUNDANCY_CORE uint32_t core_count_bits(uint32_t bits)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__popc(bits);
#else
    return (uint32_t)__builtin_popcount(bits);
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

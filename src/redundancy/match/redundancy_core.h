/* SPDX-License-Identifier: MIT */
/* The words of this folder's cores beside base/core.h: atomics, and a warp. On a GPU a warp's 32
 * lanes run a core function together, all with the same arguments, and get the same result. On a
 * CPU one call is the whole warp, lane after lane. */
#ifndef REDUNDANCY_CORE_H
#define REDUNDANCY_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core.h"

enum { WARP_LANES = 32 };

/* The loop over the lanes of a warp: on a GPU each lane goes through it once, as itself. */
#ifdef __CUDA_ARCH__
#define WARP_EACH_LANE(lane)                                                          \
    for (uint32_t lane = threadIdx.x % WARP_LANES, lane##_once = 1; lane##_once != 0; \
         lane##_once = 0)
#else
#define WARP_EACH_LANE(lane) for (uint32_t lane = 0; (lane) < WARP_LANES; (lane)++)
#endif

/* ---- memory that many threads write ---------------------------------------------------------- */

CORE void core_or(uint32_t *at, uint32_t bits)
{
    CORE_EITHER(atomicOr(at, bits), *at |= bits);
}

CORE void core_add(uint32_t *at, uint32_t value)
{
    CORE_EITHER(atomicAdd(at, value), *at += value);
}

CORE void core_add_64(uint64_t *at, uint64_t value)
{
    CORE_EITHER(atomicAdd((unsigned long long *)at, (unsigned long long)value), *at += value);
}

CORE void core_max(uint32_t *at, uint32_t value)
{
    CORE_EITHER(atomicMax(at, value), *at = *at > value ? *at : value);
}

CORE void core_max_64(uint64_t *at, uint64_t value)
{
    CORE_EITHER(atomicMax((unsigned long long *)at, (unsigned long long)value),
                *at = *at > value ? *at : value);
}

/* ---- sums of a warp -------------------------------------------------------------------------- */

/* The sum over all lanes; on a CPU one variable has it already. */
CORE uint64_t core_warp_sum(uint64_t value)
{
#ifdef __CUDA_ARCH__
    for (int far = 1; far < WARP_LANES; far *= 2)
        value += __shfl_xor_sync(~0u, value, far);
#endif
    return value;
}

/* In a loop over the lanes: the sum of those before; and of all in *all, which is 0 before. */
CORE uint32_t core_warp_sum_before(uint32_t value, uint32_t *all)
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

CORE uint32_t core_count_bits(uint32_t bits)
{
    return (uint32_t)CORE_EITHER(__popc(bits), __builtin_popcount(bits));
}

/* Bits of a number that is not 0, the highest being set. */
CORE uint32_t core_bits(uint64_t number)
{
    return 64 - (uint32_t)CORE_EITHER(__clzll((long long)number), __builtin_clzll(number));
}

/* Zero bytes at the low end of a word that is not 0, and at its high end. */
CORE uint32_t core_low_zeros(uint64_t word)
{
    return (uint32_t)CORE_EITHER(__ffsll((long long)word) - 1, __builtin_ctzll(word)) / 8;
}

CORE uint32_t core_high_zeros(uint64_t word)
{
    return (uint32_t)CORE_EITHER(__clzll((long long)word), __builtin_clzll(word)) / 8;
}

#endif

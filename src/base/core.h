/* SPDX-License-Identifier: MIT */
/* The words of a core, which C and nvcc compile alike. */
#ifndef BASE_CORE_H
#define BASE_CORE_H

#include <stdint.h>

/* A function of both sides. */
#ifdef __CUDACC__
#define CORE static __host__ __device__ inline
#else
#define CORE static inline
#endif

/* An expression of each side. */
#ifdef __CUDA_ARCH__
#define CORE_EITHER(gpu, cpu) (gpu)
#else
#define CORE_EITHER(gpu, cpu) (cpu)
#endif

/* Both halves of a product, added without carry: the step of a hash. */
CORE uint64_t core_fold(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
    return a * b ^ __umul64hi(a, b);
#else
    const unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
#endif
}

#endif

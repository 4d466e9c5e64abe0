/* SPDX-License-Identifier: MIT */
/* Loads of numbers that packets hold in network order, at any address. For host and CUDA code. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>

#if defined(__CUDACC__)
#define BYTES_INLINE static inline __host__ __device__
#else
#define BYTES_INLINE static inline
#endif

BYTES_INLINE uint16_t load_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

BYTES_INLINE uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

BYTES_INLINE uint64_t load_be64(const uint8_t *p)
{
    return (uint64_t)load_be32(p) << 32 | load_be32(p + 4);
}

#endif

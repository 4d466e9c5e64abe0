/* SPDX-License-Identifier: MIT */
/* Numbers at any address: those that packets hold in network order, and little-endian ones. For
 * host and CUDA code. */
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

BYTES_INLINE void store_be16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

BYTES_INLINE void store_be32(uint8_t *to, uint32_t value)
{
    store_be16(to, value >> 16);
    store_be16(to + 2, value);
}

/* The lowest n bytes. */
BYTES_INLINE void put_le(uint8_t *to, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

BYTES_INLINE uint64_t get_le(const uint8_t *from, int n)
{
    uint64_t value = 0;

    for (int i = 0; i < n; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

#endif

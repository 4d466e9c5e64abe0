/* SPDX-License-Identifier: MIT */
/* Numbers whose first byte is the least. */
#ifndef UNPACK_LITTLE_H
#define UNPACK_LITTLE_H

#include <stdint.h>

static inline unsigned little16(const uint8_t *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static inline uint32_t little32(const uint8_t *at)
{
    return little16(at) | (uint32_t)little16(at + 2) << 16;
}

static inline uint64_t little64(const uint8_t *at)
{
    return little32(at) | (uint64_t)little32(at + 4) << 32;
}

#endif

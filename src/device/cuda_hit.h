/* SPDX-License-Identifier: MIT */
/* A hit whose id fits 32 bits, as those of literals and checks do, as it crosses from a GPU: a
 * quarter less on the link than struct sl_hit, which the caller is given. */
#ifndef DEVICE_CUDA_HIT_H
#define DEVICE_CUDA_HIT_H

#include <string.h>

#include "sluice/engine.h"

struct cuda_hit {
    uint32_t item;
    uint32_t offset;
    uint32_t id;
};

/* Makes n hits of as many that crossed. These may lie at the end of the array that they are made
 * into: each is read before the ones before it reach there. */
static inline void cuda_hits_widen(struct sl_hit *to, const void *from, size_t n)
{
    const uint8_t *crossed = (const uint8_t *)from;

    for (size_t i = 0; i < n; i++) {
        struct cuda_hit hit;

        memcpy(&hit, crossed + i * sizeof hit, sizeof hit);
        to[i].item = hit.item;
        to[i].offset = hit.offset;
        to[i].id = hit.id;
    }
}

#endif

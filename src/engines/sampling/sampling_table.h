/* SPDX-License-Identifier: MIT */
/* The common head of all samplers' tables. Compiled by C and by nvcc. */
#ifndef SAMPLING_TABLE_H
#define SAMPLING_TABLE_H

#include <stdint.h>

struct sl_engine;

/* A table begins with this; the rest is its sampler's. One block from malloc, without pointers but
 * this one. */
struct sl_sampling_table {
    const struct sl_engine *engine; /* set by sl_sampling_build; kernels never read it */
    uint32_t len;                   /* bytes of the block */
    uint32_t window;                /* bytes */
    uint32_t period;                /* bytes */
};

#endif

/* SPDX-License-Identifier: MIT */
/* What all samplers' tables begin with. Compiled by C and by nvcc. */
#ifndef SAMPLING_TABLE_H
#define SAMPLING_TABLE_H

#include <stdint.h>

struct sampler;

/* A table begins with this; the rest is its sampler's. One block without pointers but this one,
 * from malloc. */
struct sl_sampling_table {
    const struct sampler *sampler;
    uint32_t len;    /* bytes of the block */
    uint32_t window; /* bytes */
    uint32_t period; /* bytes */
};

#endif

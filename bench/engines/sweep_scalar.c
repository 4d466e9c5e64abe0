/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bench_ceilings.h"

static uint64_t sweep_read(const void *from, size_t len)
{
    const uint64_t *at = from;
    uint64_t sum[4] = {0};

    for (size_t i = 0; i < len / 8; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += at[i + k];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static void sweep_copy(void *to, const void *from, size_t len)
{
    memcpy(to, from, len);
}

const struct bench_sweep bench_sweep_scalar = {sweep_read, sweep_copy};

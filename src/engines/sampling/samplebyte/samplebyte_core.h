/* SPDX-License-Identifier: MIT */
/* Choosing by marker bytes. Compiled by C and by nvcc.
 *
 * An item is searched from its first position for the next marker byte at which a window fits. That
 * window is chosen, the skip of the state is passed over, and the search goes on (SAMPLEBYTE,
 * Aggarwal et al., "EndRE", NSDI 2010, and DYNABYTE, fig. 2). */
#ifndef SAMPLEBYTE_CORE_H
#define SAMPLEBYTE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/sampling/sampling_hash.h"
#include "sluice/sampling.h"

enum { SAMPLEBYTE_BLOCK = 64 }; /* positions whose markers are one mask */

CORE bool samplebyte_is_marker(const uint32_t marker[8], uint8_t byte)
{
    return (marker[byte / 32] >> byte % 32 & 1) != 0;
}

/* Positions from a chosen one to the next that may be chosen. The bytes behind the marker, and not
 * its place, determine whether the fraction of a byte is one. So equal content is sampled equally.
 * A window has at least SL_SAMPLING_WINDOW_MIN bytes, so these bytes are there. */
CORE uint64_t samplebyte_step(uint32_t skip, const uint8_t *marker)
{
    const uint32_t fraction = skip % 256;
    const uint64_t step = 1 + (uint64_t)(skip / 256);

    if (fraction == 0)
        return step;
    return step + ((sampling_load(marker + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 56) < fraction);
}

/* The first marked position from `from` on in a block, SAMPLEBYTE_BLOCK where there is none. */
CORE uint32_t samplebyte_next(uint64_t marked, uint64_t from)
{
    const uint64_t rest = from < SAMPLEBYTE_BLOCK ? marked >> from : 0;

    if (rest == 0)
        return SAMPLEBYTE_BLOCK;
#ifdef __CUDA_ARCH__
    return (uint32_t)from + (uint32_t)__ffsll((long long)rest) - 1;
#else
    return (uint32_t)from + (uint32_t)__builtin_ctzll(rest);
#endif
}

/* On to the first block that holds a position which may be chosen: `from` counts from `base`. */
CORE void samplebyte_advance(uint64_t *base, uint64_t *from)
{
    const uint64_t block = SAMPLEBYTE_BLOCK;
    const uint64_t next = *from > block ? *from : block;

    *base += next / block * block;
    *from = next % block;
}

#endif

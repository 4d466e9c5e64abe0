/* SPDX-License-Identifier: MIT */
/* The markers of a state in a block's shared memory. For .cu files. */
#ifndef SAMPLEBYTE_CUDA_MARKERS_H
#define SAMPLEBYTE_CUDA_MARKERS_H

#include "sluice/sampling.h"

#ifdef __CUDACC__
/* Eight words in eight banks: a look-up has no conflicts. */
static __device__ inline void share_markers(uint32_t *marker, const struct sl_dynabyte_state *state)
{
    if (threadIdx.x < 8)
        marker[threadIdx.x] = state->marker[threadIdx.x];
    __syncthreads();
}
#endif

#endif

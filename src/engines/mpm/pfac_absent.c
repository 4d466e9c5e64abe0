/* SPDX-License-Identifier: MIT */
/* The CUDA backends of pfac in a build without CUDA: they are there, and say why they cannot run.
 */
#include <stdio.h>

#include "sluice/engine.h"

static bool absent(char why[SL_WHY_LEN])
{
    snprintf(why, SL_WHY_LEN, "this build has no CUDA");
    return false;
}

extern const struct sl_backend mpm_pfac_cuda_block;
const struct sl_backend mpm_pfac_cuda_block = {
    .name = "cuda-block", .device = SL_DEVICE_CUDA, .usable = absent};

extern const struct sl_backend mpm_pfac_cuda_thread;
const struct sl_backend mpm_pfac_cuda_thread = {
    .name = "cuda-thread", .device = SL_DEVICE_CUDA, .usable = absent};

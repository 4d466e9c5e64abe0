/* SPDX-License-Identifier: MIT */
/* The CUDA backends in a build without CUDA: they are there, and say why they cannot run. */
#include <stdio.h>

#include "sluice/fib.h"

static bool absent(char why[SL_WHY_LEN])
{
    snprintf(why, SL_WHY_LEN, "this build has no CUDA");
    return false;
}

#define ABSENT(symbol, label)                  \
    extern const struct sl_fib_backend symbol; \
    const struct sl_fib_backend symbol = {.name = label, .device = SL_DEVICE_CUDA, .usable = absent}

ABSENT(fib_hash_cuda, "cuda");
ABSENT(fib_hash_cuda_direct, "cuda-direct");
ABSENT(fib_hash_cuda_interwoven, "cuda-interwoven");
ABSENT(fib_hash_cuda_persistent, "cuda-persistent");
ABSENT(fib_mata_cuda, "cuda");
ABSENT(fib_mata_cuda_direct, "cuda-direct");
ABSENT(fib_mata_cuda_interwoven, "cuda-interwoven");
ABSENT(fib_mata_cuda_persistent, "cuda-persistent");
ABSENT(fib_ata_cuda, "cuda");
ABSENT(fib_ata_cuda_interwoven, "cuda-interwoven");
ABSENT(fib_ata_cuda_persistent, "cuda-persistent");

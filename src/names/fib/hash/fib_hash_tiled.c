/* SPDX-License-Identifier: MIT */
/* Looking up in the GPU's tiling on the CPU. */
#include "fib_hash_core.h"
#include "names/fib/fib_tile.h"

FIB_TILED_BACKENDS(hash, hash_lookup);

/* SPDX-License-Identifier: MIT */
/* ata and stt on one core: name after name, interleaved, and in the GPU's tiling. */
#include "fib_ata_core.h"
#include "names/fib/fib_tile.h"

#define WALK(name) ata_##name

static inline bool ata_advance(const struct fib_view *view, const struct fib_reader *name,
                               const struct ata_walk *walk, uint32_t *word)
{
    if (walk->at == name->len)
        return false;
    *word = fib_read8(name, walk->at);
    __builtin_prefetch(ata_at(view, walk->state, *word));
    return true;
}

#include "names/fib/fib_walk_lanes.h"

FIB_CPU_BACKEND(fib_ata_scalar, "scalar", fib_cpu_usable, scalar_lookup);
FIB_CPU_BACKEND(fib_ata_interleaved, "interleaved", fib_cpu_usable, lanes_lookup);
FIB_TILED_BACKENDS(ata, ata_lookup);

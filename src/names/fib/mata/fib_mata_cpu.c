/* SPDX-License-Identifier: MIT */
/* mata on one core: name after name, interleaved, and in the GPU's tiling. */
#include "fib_mata_core.h"
#include "names/fib/fib_tile.h"

#define WALK(name) mata_##name

static inline bool mata_advance(const struct fib_view *view, const struct fib_reader *name,
                                struct mata_walk *walk, uint32_t *word)
{
    if (!mata_stride(name, &walk->cursor, word))
        return false;
    __builtin_prefetch(mata_main(view, mata_place(view, 0, walk->from & MATA_VALUE, *word)));
    return true;
}

#include "names/fib/fib_walk_lanes.h"

FIB_CPU_BACKEND(fib_mata_scalar, "scalar", fib_cpu_usable, scalar_lookup);
FIB_CPU_BACKEND(fib_mata_interleaved, "interleaved", fib_cpu_usable, lanes_lookup);
FIB_TILED_BACKENDS(mata, mata_lookup);

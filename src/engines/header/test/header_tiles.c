/* SPDX-License-Identifier: MIT */
/* The CUDA kernel's tiling on the CPU, lane by lane: finds wrong tile edges where there is no GPU.
 */
#include "header_tiles.h"

#include "engines/header/header_cpu.h"

enum { GROUP = 8 }; /* lanes a packet, as in header_cuda.cu */

static uint64_t tiles_sum(const uint8_t *bytes, uint32_t begin, uint32_t end)
{
    uint32_t sum = 0;

    for (uint32_t lane = 0; lane < GROUP; lane++)
        sum += header_fold(header_sum_lane(bytes, begin, end, lane, GROUP));
    return sum;
}

static void tiles_run(const struct sl_header_table *table, const struct sl_batch *batch,
                      struct sl_hits *hits)
{
    header_loop(table, batch, hits, tiles_sum);
}

HEADER_CPU_BACKEND(header_tiles, "tiles", cpu_backend_usable, tiles_run);

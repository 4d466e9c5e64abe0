/* SPDX-License-Identifier: MIT */
/* Rabin-Karp on one core in the tilings of the GPU. "tiled" is "cuda": several blocks an item,
 * whose threads stride over its positions. "tiled-block" is the thesis' version: an item that fills
 * a block is worked on as "cuda-block" does, a shorter one as "cuda-thread" does. They prove the
 * core where no GPU is; "scalar" is the one to use. */
#include "engines/mpm/mpm_internal.h"
#include "engines/mpm/papers/mpm_starts.h"
#include "rk_core.h"

enum { STRIPS = 3 }; /* blocks an item */

typedef bool next_walk(const struct rk_view *view, struct rk_position *position,
                       struct mpm_walk *walk);

/* The work of one thread on an item: the positions first, first + stride, ... */
static void scan_positions(const struct rk_view *view, struct rk_position *position, uint64_t first,
                           uint32_t stride, next_walk *next, uint32_t item, struct sl_hits *hits)
{
    for (uint64_t start = first; start < position->len; start += stride) {
        struct mpm_walk walk;
        uint32_t id;

        rk_begin(position, (uint32_t)start);
        while (next(view, position, &walk))
            while (mpm_walk_next(&view->order, &walk, &id))
                cpu_hits_append(hits, item, (uint32_t)start + walk.depth, id);
    }
}

static struct rk_position item_position(const struct sl_batch *batch, uint32_t item)
{
    return (struct rk_position){.payload = batch->bytes + batch->payload[item].offset,
                                .len = batch->payload[item].len,
                                .overlap = mpm_overlap(batch, item)};
}

static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    const struct rk_view view = rk_view(cpu->table, cpu->table);

    for (uint32_t item = 0; item < batch->n_items; item++) {
        struct rk_position position = item_position(batch, item);

        for (uint32_t thread = 0; thread < STRIPS * MPM_STARTS_BLOCK; thread++)
            scan_positions(&view, &position, thread, STRIPS * MPM_STARTS_BLOCK, rk_next_window,
                           item, hits);
    }
    return SL_OK;
}

static enum sl_status tiled_block_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                       struct sl_hits *hits)
{
    const struct rk_view view = rk_view(cpu->table, cpu->table);

    for (uint32_t item = 0; item < batch->n_items; item++) {
        struct rk_position position = item_position(batch, item);
        const uint32_t n_threads = position.len >= MPM_STARTS_BLOCK ? MPM_STARTS_BLOCK : 1;

        for (uint32_t thread = 0; thread < n_threads; thread++)
            scan_positions(&view, &position, thread, n_threads, rk_next_whole, item, hits);
    }
    return SL_OK;
}

CPU_BACKEND(mpm_rk_tiled, "tiled", tiled_scan);

CPU_BACKEND(mpm_rk_tiled_block, "tiled-block", tiled_block_scan);

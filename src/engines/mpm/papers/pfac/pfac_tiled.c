/* SPDX-License-Identifier: MIT */
/* The failure-less walk on one core in the tiling of the GPU. An item that fills a block has the
 * work of "cuda-block", thread after thread, and a shorter one that of "cuda-thread". It proves the
 * core where no GPU is; `ac` is the one to use. */
#include "engines/mpm/mpm_internal.h"
#include "pfac_core.h"

/* The work of one thread on an item: the starts first, first + stride, ... */
static void scan_starts(const struct pfac_view *view, const uint32_t *root, struct pfac_walk *walk,
                        uint32_t first, uint32_t stride, uint32_t item, struct sl_hits *hits)
{
    for (uint64_t start = first; start < walk->len; start += stride) {
        const uint32_t state = root[walk->text[start]];
        uint32_t id;

        if (state == MPM_NONE)
            continue;
        pfac_start(view, walk, (uint32_t)start, state);
        while (pfac_next(view, walk, &id))
            cpu_hits_append(hits, item, walk->pos, id);
    }
}

static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    const struct pfac_view view = pfac_view(cpu->table);
    const uint32_t *root = pfac_body(cpu->table)->root;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        struct pfac_walk walk = {.text = batch->bytes + batch->payload[item].offset,
                                 .len = batch->payload[item].len,
                                 .overlap = mpm_overlap(batch, item)};
        const uint32_t n_threads = walk.len >= PFAC_BLOCK ? PFAC_BLOCK : 1;

        for (uint32_t thread = 0; thread < n_threads; thread++)
            scan_starts(&view, root, &walk, thread, n_threads, item, hits);
    }
    return SL_OK;
}

CPU_BACKEND(mpm_pfac_tiled, "tiled", tiled_scan);

/* SPDX-License-Identifier: MIT */
/* Wu-Manber on one core in the tiling of the GPU, each position by itself. It proves the core where
 * no GPU is; "scalar" is the one to use. */
#include "engines/mpm/mpm_internal.h"
#include "engines/mpm/papers/mpm_starts.h"
#include "wm_core.h"

static void report(const struct wm_view *view, struct wm_chain *chain, uint32_t start,
                   uint32_t group, uint32_t item, struct sl_hits *hits)
{
    uint32_t id;

    wm_begin(chain, start, group);
    while (wm_next(view, chain, &id))
        cpu_hits_append(hits, item, chain->end, id);
}

/* The work of one thread on an item: the starts first, first + MPM_STARTS_BLOCK, ... */
static void scan_starts(const struct wm_view *view, const struct sl_batch *batch, uint32_t item,
                        uint32_t first, struct sl_hits *hits)
{
    const uint32_t len = batch->payload[item].len;
    struct wm_chain chain = {.text = batch->bytes + batch->payload[item].offset,
                             .overlap = mpm_overlap(batch, item)};

    for (uint64_t at = first; at < len; at += MPM_STARTS_BLOCK) {
        const uint32_t start = (uint32_t)at;
        const uint8_t *text = chain.text + start;

        report(view, &chain, start, wm_test(view, text, len - start), item, hits);
        if (view->n_short != 0)
            report(view, &chain, start, wm_find_short(view, text, len - start), item, hits);
    }
}

static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    const struct wm_view view = wm_view(cpu->table);

    for (uint32_t item = 0; item < batch->n_items; item++)
        for (uint32_t thread = 0; thread < MPM_STARTS_BLOCK; thread++)
            scan_starts(&view, batch, item, thread, hits);
    return SL_OK;
}

CPU_BACKEND(mpm_wm_tiled, "tiled", tiled_scan);

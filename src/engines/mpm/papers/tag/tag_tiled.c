/* SPDX-License-Identifier: MIT */
/* Tags on one core in the tiling of the GPU and in its division of work. An item has several
 * blocks, whose threads stride over its positions and collect candidates. These are verified then.
 * It proves the core where no GPU is; "scalar" is the one to use. */
#include "engines/mpm/mpm_internal.h"
#include "engines/mpm/papers/mpm_starts.h"
#include "tag_core.h"
#include "tag_host.h"

enum {
    STRIPS = 3,          /* blocks an item */
    MAX_CANDIDATES = 512 /* that are collected before they are verified */
};

struct scan {
    const struct sl_mpm_table *table;
    struct tag_view view;
    const struct sl_batch *batch;
    struct sl_hits *hits;
    struct sl_hit candidates[MAX_CANDIDATES];
    size_t n;
};

static void verify_collected(struct scan *scan)
{
    tag_verify_all(scan->table, scan->batch, scan->candidates, scan->n, scan->hits);
    scan->n = 0;
}

/* The work of one thread on an item: the positions first, first + stride, ... */
static void scan_positions(struct scan *scan, uint32_t item, uint64_t first, uint32_t stride)
{
    const struct sl_span span = scan->batch->payload[item];
    const uint8_t *payload = scan->batch->bytes + span.offset;

    for (uint64_t end = first + 1; end <= span.len; end += stride) {
        const uint64_t recent = tag_recent(payload, (uint32_t)end);
        struct tag_search search;
        uint32_t entry;

        tag_begin(&scan->view, &search, recent);
        while (tag_next(&scan->view, &search, &entry)) {
            if (scan->n == MAX_CANDIDATES)
                verify_collected(scan);
            scan->candidates[scan->n++] = (struct sl_hit){item, (uint32_t)end, entry};
        }
    }
}

static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    struct scan scan = {.table = cpu->table,
                        .view = tag_view(cpu->table, cpu->table),
                        .batch = batch,
                        .hits = hits};

    for (uint32_t item = 0; item < batch->n_items; item++)
        for (uint32_t thread = 0; thread < STRIPS * MPM_STARTS_BLOCK; thread++)
            scan_positions(&scan, item, thread, STRIPS * MPM_STARTS_BLOCK);
    verify_collected(&scan);
    return SL_OK;
}

CPU_BACKEND(mpm_tag_tiled, "tiled", tiled_scan);

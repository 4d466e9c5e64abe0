/* SPDX-License-Identifier: MIT */
/* Aho-Corasick on one core, cut into segments as on the GPU. It proves the cutting where no GPU is;
 * `scalar` is the one to use. */
#include "ac.h"
#include "ac_core.h"

enum { THREADS = 1 << 16 }; /* of a GPU: the parts of all but large batches are the shortest */

struct tiles {
    struct ac_view view;
    const struct sl_batch *batch;
    uint32_t part_len;
};

static void scan_segment(const struct tiles *tiles, uint32_t item, uint32_t part,
                         struct sl_hits *hits)
{
    const struct sl_span span = tiles->batch->payload[item];
    struct ac_walk walk;
    uint32_t id;

    ac_start(&walk, tiles->batch->bytes, span, mpm_overlap(tiles->batch, item), part,
             tiles->part_len);
    while (ac_step(&tiles->view, &walk))
        while (ac_match(&tiles->view, &walk, &id))
            cpu_hits_append(hits, item, walk.at - span.offset, id);
}

static void scan_group(const struct tiles *tiles, uint32_t first, struct sl_hits *hits)
{
    uint32_t ends[AC_GROUP];
    uint32_t sum = 0;

    for (uint32_t i = 0; i < AC_GROUP; i++) {
        if (first + i < tiles->batch->n_items)
            sum += ac_n_parts(tiles->batch->payload[first + i], tiles->part_len);
        ends[i] = sum;
    }
    for (uint32_t k = 0; k < sum; k++) {
        const uint32_t item = ac_find_item(ends, k);

        scan_segment(tiles, first + item, k - (item == 0 ? 0 : ends[item - 1]), hits);
    }
}

void ac_scan_tiled(const struct ac_view *ac, uint32_t max_len, const struct sl_batch *batch,
                   struct sl_hits *hits)
{
    const struct tiles tiles = {
        .view = *ac, .batch = batch, .part_len = ac_part_len(max_len, batch->bytes_len, THREADS)};

    for (uint32_t first = 0; first < batch->n_items; first += AC_GROUP)
        scan_group(&tiles, first, hits);
}

static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    const struct sl_mpm_table *table = cpu->table;
    const struct ac_view ac = ac_view(table);

    ac_scan_tiled(&ac, table->max_len, batch, hits);
    return SL_OK;
}

CPU_BACKEND(mpm_ac_tiled, "tiled", tiled_scan);

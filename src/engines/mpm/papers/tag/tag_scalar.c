/* SPDX-License-Identifier: MIT */
/* Tags on one core: the CPU finds the candidates as well, and verifies each at once. */
#include "engines/mpm/mpm_internal.h"
#include "tag_core.h"
#include "tag_host.h"

static void verify(const struct tag_verifier *verifier, const struct sl_batch *batch, uint32_t item,
                   uint32_t end, uint32_t entry, struct sl_hits *hits)
{
    const struct sl_span span = batch->payload[item];
    struct mpm_walk walk;
    uint32_t start;
    uint32_t id;

    if (!tag_verify(verifier, entry, end, batch->bytes + span.offset, span.len,
                    mpm_overlap(batch, item), &start, &walk))
        return;
    while (mpm_walk_next(&verifier->order, &walk, &id))
        cpu_hits_append(hits, item, start + walk.depth, id);
}

void tag_verify_all(const struct sl_mpm_table *table, const struct sl_batch *batch,
                    const struct sl_hit *candidates, size_t n, struct sl_hits *hits)
{
    const struct tag_verifier verifier = tag_verifier(table);

    for (size_t i = 0; i < n; i++)
        verify(&verifier, batch, candidates[i].item, candidates[i].offset, candidates[i].id, hits);
}

void tag_scan_all(const struct sl_mpm_table *table, const struct sl_batch *batch,
                  struct sl_hits *hits)
{
    const struct tag_view view = tag_view(table, table);
    const struct tag_verifier verifier = tag_verifier(table);

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];
        const uint8_t *payload = batch->bytes + span.offset;
        uint64_t recent = 0;

        for (uint32_t end = 1; end <= span.len; end++) {
            struct tag_search search;
            uint32_t entry;

            recent = tag_shift(recent, payload[end - 1]);
            tag_begin(&view, &search, recent);
            while (tag_next(&view, &search, &entry))
                verify(&verifier, batch, item, end, entry, hits);
        }
    }
}

static enum sl_status scalar_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits)
{
    tag_scan_all(cpu->table, batch, hits);
    return SL_OK;
}

CPU_BACKEND(mpm_tag_scalar, "scalar", scalar_scan);

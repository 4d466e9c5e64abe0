/* SPDX-License-Identifier: MIT */
/* Byte after byte with two tables and a ring of the window's bytes, item after item, as in the
 * paper's Listing 1 (after LBFS). The other backends are compared with it. */
#include "engines/sampling/rabin/rabin_core.h"
#include "engines/sampling/sampling_internal.h"

static void scan_item(const struct rabin_table *table, const uint8_t *bytes, uint32_t len,
                      uint32_t first, uint32_t item, struct sl_hits *hits)
{
    const uint32_t window = table->head.window;
    uint8_t ring[SL_SAMPLING_WINDOW_MAX] = {0};
    uint64_t fingerprint = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < len; i++) {
        const uint8_t oldest = ring[at];

        ring[at] = bytes[i];
        at = at + 1 < window ? at + 1 : 0;
        fingerprint =
            rabin_slide(table->push, table->oldest, table->shift, fingerprint, oldest, bytes[i]);
        if (rabin_chosen(table, fingerprint) && i + 1 >= first + window)
            cpu_hits_append(hits, item, i + 1 - window, fingerprint);
    }
}

static enum sl_status textbook_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                    struct sl_hits *hits)
{
    const struct rabin_table *table = rabin_table(cpu->table);

    for (uint32_t item = 0; item < batch->n_items; item++)
        scan_item(table, batch->bytes + batch->payload[item].offset, batch->payload[item].len,
                  sampling_first(&table->head, batch, item), item, hits);
    return SL_OK;
}

CPU_BACKEND(rabin_textbook, "textbook", textbook_scan);

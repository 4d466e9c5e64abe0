/* SPDX-License-Identifier: MIT */
/* Wu-Manber on one core: the window is moved by the shifts. Short literals have a pass of their
 * own, as no position may be left out for them. */
#include "mpm_internal.h"
#include "wm_core.h"

struct scan {
    struct wm_view view;
    struct wm_chain chain;
    uint32_t len; /* of the text */
    uint32_t item;
    struct sl_hits *hits;
};

static void report(struct scan *scan, uint32_t start, uint32_t group)
{
    uint32_t id;

    wm_begin(&scan->chain, start, group);
    while (wm_next(&scan->view, &scan->chain, &id))
        mpm_hits_append(scan->hits, scan->item, scan->chain.end, id);
}

/* Inlined with each block length as a constant. */
static inline void move_window(struct scan *scan, uint32_t block_len)
{
    const struct wm_view view = scan->view;
    const uint8_t *text = scan->chain.text;
    uint64_t end = view.window_len;

    while (end <= scan->len) {
        const uint32_t block = wm_block(text + end - block_len, block_len);
        const uint32_t shift = wm_shift(&view, block, block_len);

        if (shift == 0) {
            const uint32_t start = (uint32_t)(end - view.window_len);

            report(scan, start, wm_find(&view, block, text + start, scan->len - start));
        }
        end += shift + (shift == 0);
    }
}

static void find_short(struct scan *scan)
{
    for (uint32_t start = 0; start < scan->len; start++) {
        const uint32_t group =
            wm_find_short(&scan->view, scan->chain.text + start, scan->len - start);

        if (group != MPM_NONE)
            report(scan, start, group);
    }
}

static enum sl_status scalar_scan(struct mpm_cpu *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits)
{
    struct scan scan = {.view = wm_view(cpu->table), .hits = hits};

    for (uint32_t item = 0; item < batch->n_items; item++) {
        scan.item = item;
        scan.len = batch->payload[item].len;
        scan.chain.text = batch->bytes + batch->payload[item].offset;
        scan.chain.overlap = mpm_overlap(batch, item);
        if (scan.view.n_entries != 0 && scan.view.block_len == 2)
            move_window(&scan, 2);
        else if (scan.view.n_entries != 0)
            move_window(&scan, 3);
        if (scan.view.singles != NULL)
            find_short(&scan);
    }
    return SL_OK;
}

static enum sl_status scalar_submit(void *context, const struct sl_batch *batch,
                                    struct sl_hits *hits)
{
    return mpm_cpu_submit((struct mpm_cpu *)context, batch, hits, scalar_scan);
}

extern const struct sl_backend mpm_wm_scalar;
const struct sl_backend mpm_wm_scalar = {.name = "scalar",
                                         .device = SL_DEVICE_CPU,
                                         .usable = mpm_cpu_usable,
                                         .open = mpm_cpu_open,
                                         .submit = scalar_submit,
                                         .wait = mpm_cpu_wait,
                                         .close = mpm_cpu_close};

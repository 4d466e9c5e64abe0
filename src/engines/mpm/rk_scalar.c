/* SPDX-License-Identifier: MIT */
/* Rabin-Karp on one core: the windows of all lengths roll over the text side by side, in one pass.
 */
#include <string.h>

#include "mpm_internal.h"
#include "rk_core.h"

enum { STRIP = 4096 }; /* bytes that are folded before they are hashed: within a first cache */

struct scan {
    struct rk_view view;
    struct sl_hits *hits;
    const uint8_t *payload; /* of the item at hand */
    uint32_t len;
    uint32_t overlap;
    uint32_t item;
    uint32_t hash[RK_SETS];
    uint8_t folded[RK_WINDOW + STRIP]; /* a strip, and before it the bytes that leave windows */
};

/* The window of a set that ends before byte `end` passed the set's filter. */
static __attribute__((noinline)) void look(struct scan *scan, const struct rk_set *set,
                                           uint32_t hash, uint32_t end)
{
    struct mpm_walk walk;
    uint32_t id;

    if (end < set->len)
        return; /* the payload's first bytes do not fill it yet */

    const uint32_t start = end - set->len;
    const struct rk_slot *slot = rk_find(&scan->view, set, hash);
    if (slot == NULL)
        return;
    mpm_walk_begin(&walk, scan->payload, scan->len, scan->overlap, start, slot->first, slot->end);
    while (mpm_walk_next(&scan->view.order, &walk, &id))
        mpm_hits_append(scan->hits, scan->item, start + walk.depth, id);
}

/* Rolls over n bytes; the first of them is byte `at` of the payload. */
static void scan_strip(struct scan *scan, uint32_t at, uint32_t n)
{
    const struct rk_set *sets = scan->view.table.sets;
    const uint32_t n_sets = scan->view.table.n_sets;

    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *in = &scan->folded[RK_WINDOW + i];

        for (uint32_t s = 0; s < n_sets; s++) {
            const struct rk_set *set = &sets[s];
            const uint32_t hash = rk_roll(scan->hash[s], *in, *(in - set->len), set->leaving);

            scan->hash[s] = hash;
            if (rk_may_hold(&scan->view, set, hash))
                look(scan, set, hash, at + i + 1);
        }
    }
}

/* Before the payload there are zeros, whose leaving changes no hash. */
static void scan_item(struct scan *scan)
{
    memset(scan->hash, 0, sizeof scan->hash);
    memset(scan->folded, 0, RK_WINDOW);
    for (uint32_t at = 0, n; at < scan->len; at += n) {
        n = scan->len - at < STRIP ? scan->len - at : STRIP;
        for (uint32_t i = 0; i < n; i++)
            scan->folded[RK_WINDOW + i] = mpm_fold(scan->payload[at + i]);
        scan_strip(scan, at, n);
        memcpy(scan->folded, scan->folded + STRIP, RK_WINDOW); /* of a whole strip, or unused */
    }
}

static enum sl_status rk_scan(struct mpm_cpu *cpu, const struct sl_batch *batch,
                              struct sl_hits *hits)
{
    struct scan scan = {.view = rk_view(cpu->table, cpu->table), .hits = hits};

    for (uint32_t item = 0; item < batch->n_items; item++) {
        scan.payload = batch->bytes + batch->payload[item].offset;
        scan.len = batch->payload[item].len;
        scan.overlap = mpm_overlap(batch, item);
        scan.item = item;
        scan_item(&scan);
    }
    return SL_OK;
}

static enum sl_status rk_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    return mpm_cpu_submit((struct mpm_cpu *)context, batch, hits, rk_scan);
}

extern const struct sl_backend mpm_rk_scalar;
const struct sl_backend mpm_rk_scalar = {.name = "scalar",
                                         .device = SL_DEVICE_CPU,
                                         .usable = mpm_cpu_usable,
                                         .open = mpm_cpu_open,
                                         .submit = rk_submit,
                                         .wait = mpm_cpu_wait,
                                         .close = mpm_cpu_close};

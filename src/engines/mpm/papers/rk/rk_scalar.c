/* SPDX-License-Identifier: MIT */
/* Rabin-Karp on one core. One hash rolls over the text. The hash of a window of any length is its
 * value at the window's end less the share of bytes before the window. So all lengths share the
 * rolling, in one pass, and the windows' hashes do not wait for one another. */
#include <string.h>

#include "engines/mpm/mpm_internal.h"
#include "rk_core.h"

enum { STRIP = 2048 }; /* bytes that are hashed before their windows are: within a first cache */

struct scan {
    struct rk_view view;
    struct sl_hits *hits;
    const uint8_t *payload; /* of the item at hand */
    uint32_t len;
    uint32_t overlap;
    uint32_t item;
    uint32_t running[RK_WINDOW + STRIP + 1]; /* hashes up to each byte of a strip and to those
                                                before it that windows may begin at */
};

/* The window of a set that ends before byte `end` passed the set's filter. */
static __attribute__((noinline)) void check_hash(struct scan *scan, const struct rk_set *set,
                                                 uint32_t hash, uint32_t end)
{
    const struct rk_slot *slot = rk_find(&scan->view, set, hash);
    const uint32_t start = end - set->len;
    struct mpm_walk walk;
    uint32_t id;

    if (slot == NULL)
        return;
    mpm_walk_begin(&walk, scan->payload, scan->len, scan->overlap, start, slot->first, slot->end);
    while (mpm_walk_next(&scan->view.order, &walk, &id))
        cpu_hits_append(scan->hits, scan->item, start + walk.depth, id);
}

/* The windows of one length that end in a strip of n bytes, whose first is byte `at`. */
static void scan_windows(struct scan *scan, const struct rk_set *set, uint32_t at, uint32_t n)
{
    const uint32_t first = at < set->len ? set->len - at : 1;
    const uint32_t *to_end = scan->running + RK_WINDOW;
    const uint32_t *to_begin = to_end - set->len;

    for (size_t i = first; i <= n; i++) {
        const uint32_t hash = rk_window(set, to_end[i], to_begin[i]);

        if (rk_may_hold(&scan->view, set, hash))
            check_hash(scan, set, hash, at + (uint32_t)i);
    }
}

static void scan_item(struct scan *scan)
{
    uint32_t *running = scan->running + RK_WINDOW;

    running[0] = 0;
    for (uint32_t at = 0, n; at < scan->len; at += n) {
        n = scan->len - at < STRIP ? scan->len - at : STRIP;
        for (uint32_t i = 0; i < n; i++)
            running[i + 1] = rk_grow(running[i], mpm_fold(scan->payload[at + i]));
        for (uint32_t s = 0; s < scan->view.table.n_sets; s++)
            scan_windows(scan, &scan->view.table.sets[s], at, n);
        memmove(scan->running, running + n - RK_WINDOW, (RK_WINDOW + 1) * sizeof *running);
    }
}

static enum sl_status rk_scan(struct cpu_context *cpu, const struct sl_batch *batch,
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

CPU_BACKEND(mpm_rk_scalar, "scalar", rk_scan);

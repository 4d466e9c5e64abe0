/* SPDX-License-Identifier: MIT */
/* Wu-Manber on one core: windows are moved by the shifts. The next place of a window is known only
 * when its block and the block's shift have been read. A core would be idle for most of the time,
 * so several texts have a window each, moved in turn. Short literals have a pass of their own, as
 * no position may be left out for them. */
#include "engines/mpm/mpm_internal.h"
#include "wm_core.h"

enum {
    LANES = 8,
    SEGMENT_LEN = 1 << 15 /* starts: longer items are cut, so that few large ones fill all lanes */
};

/* A window on an item. */
struct lane {
    const uint8_t *text; /* the item's first byte */
    uint64_t end;        /* behind the window's last byte */
    uint64_t last;       /* the greatest end there is for this lane */
    uint32_t len;        /* of the item */
    uint32_t item;
};

struct scan {
    struct wm_view view;
    const struct sl_batch *batch;
    struct sl_hits *hits;
    uint32_t item; /* the next to hand out, starts from this one on */
    uint64_t from;
};

static void report(const struct scan *scan, uint32_t item, uint32_t start, uint32_t group)
{
    struct wm_chain chain = {.text = scan->batch->bytes + scan->batch->payload[item].offset,
                             .overlap = mpm_overlap(scan->batch, item)};
    uint32_t id;

    wm_begin(&chain, start, group);
    while (wm_next(&scan->view, &chain, &id))
        cpu_hits_append(scan->hits, item, chain.end, id);
}

/* Gives a lane the next item or segment. False: none is left. */
static bool next_text(struct scan *scan, struct lane *lane)
{
    const struct sl_batch *batch = scan->batch;
    const uint32_t m = scan->view.window_len;

    while (scan->item < batch->n_items && scan->from + m > batch->payload[scan->item].len) {
        scan->item++;
        scan->from = 0;
    }
    if (scan->item == batch->n_items)
        return false;

    const struct sl_span span = batch->payload[scan->item];
    lane->text = batch->bytes + span.offset;
    lane->len = span.len;
    lane->item = scan->item;
    lane->end = scan->from + m;
    scan->from += SEGMENT_LEN;
    lane->last = scan->from + m - 1 < span.len ? scan->from + m - 1 : span.len;
    return true;
}

static void check_window(const struct scan *scan, const struct lane *lane)
{
    const uint32_t start = (uint32_t)lane->end - scan->view.window_len;
    const uint32_t group = wm_find(&scan->view, lane->text + start, lane->len - start);

    if (group != MPM_NONE)
        report(scan, lane->item, start, group);
}

/* Inlined with each block length as a constant. */
static inline void move_windows(struct scan *scan, uint32_t block_len)
{
    const struct wm_view view = scan->view;
    struct lane lanes[LANES];
    uint32_t n = 0;

    while (n < LANES && next_text(scan, &lanes[n]))
        n++;
    while (n > 0) {
        for (uint32_t l = 0; l < n; l++) {
            struct lane *lane = &lanes[l];
            const uint32_t shift = wm_shift(&view, lane->text + lane->end - block_len, block_len);

            if (shift == 0)
                check_window(scan, lane);
            lane->end += shift + (shift == 0);
            if (lane->end > lane->last && !next_text(scan, lane))
                *lane = lanes[--n];
        }
    }
}

static void find_short(const struct scan *scan)
{
    for (uint32_t item = 0; item < scan->batch->n_items; item++) {
        const struct sl_span span = scan->batch->payload[item];
        const uint8_t *text = scan->batch->bytes + span.offset;

        for (uint32_t start = 0; start < span.len; start++) {
            const uint32_t group = wm_find_short(&scan->view, text + start, span.len - start);

            if (group != MPM_NONE)
                report(scan, item, start, group);
        }
    }
}

static enum sl_status scalar_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits)
{
    struct scan scan = {.view = wm_view(cpu->table), .batch = batch, .hits = hits};

    if (scan.view.n_long != 0 && scan.view.block_len == 2)
        move_windows(&scan, 2);
    else if (scan.view.n_long != 0)
        move_windows(&scan, 3);
    if (scan.view.n_short != 0)
        find_short(&scan);
    return SL_OK;
}

CPU_BACKEND(mpm_wm_scalar, "scalar", scalar_scan);

/* SPDX-License-Identifier: MIT */
/* Rabin's fingerprints on one core in the tiling of the GPU: ranges of lanes over the whole arena.
 * It proves the core where no GPU is. */
#include "engines/sampling/sampling_internal.h"
#include "rabin_tile.h"

enum { WARPS = 8 }; /* few, so that arenas of tests are split into several tiles a warp */

struct scan {
    const struct rabin_table *table;
    struct rabin_arena arena;
    struct rabin_split split;
    struct rabin_form form;
    struct sl_hits *hits;
};

/* A step of the arena, or zeros where that is none. */
static void load_step(const struct scan *scan, uint32_t at, uint32_t step[RABIN_STEP_WORDS])
{
    memset(step, 0, RABIN_STEP);
    for (uint32_t half = 0; half < RABIN_STEP; half += 16)
        if (at + half < scan->arena.len)
            memcpy((uint8_t *)step + half, scan->arena.bytes + at + half, 16);
}

static void report(const struct scan *scan, const struct rabin_lane *lane, uint32_t last)
{
    uint32_t item, offset;

    if (rabin_locate(&scan->arena, scan->table->head.window, last, &item, &offset))
        cpu_hits_append(scan->hits, item, offset,
                        rabin_fingerprint_of(&lane->columns, &scan->form, &scan->arena,
                                             scan->table->head.window, last));
}

/* The windows that end in the range from `at` on. */
static void scan_range(const struct scan *scan, struct rabin_lane *lane, uint32_t at)
{
    const bool far = scan->table->head.window > RABIN_STEP;
    const uint32_t from = (far ? 2 * RABIN_STEP : RABIN_STEP) - scan->table->head.window;
    uint32_t before[RABIN_STEP_WORDS], old[RABIN_STEP_WORDS], in[RABIN_STEP_WORDS];
    uint32_t out[RABIN_STEP_WORDS];

    load_step(scan, at - 2 * RABIN_STEP, before);
    load_step(scan, at - RABIN_STEP, old);
    rabin_clear(lane);
    if (far)
        rabin_enter(lane, &scan->form, before, from);
    rabin_enter(lane, &scan->form, old, far ? 0 : from);
    rabin_add_magic(lane, &scan->form);
    for (uint32_t done = 0; done < scan->split.range_len; done += RABIN_STEP) {
        load_step(scan, at + done, in);
        rabin_from_between(out, far ? before : old, far ? old : in, from);
        for (uint32_t chosen = rabin_take(lane, &scan->form, in, out); chosen != 0;) {
            const uint32_t i = (uint32_t)__builtin_clz(chosen);

            chosen &= ~(UINT32_C(0x80000000) >> i);
            report(scan, lane, at + done + i);
        }
        memcpy(before, old, sizeof before);
        memcpy(old, in, sizeof old);
    }
}

static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    const struct scan scan = {.table = rabin_table(cpu->table),
                              .arena = {.bytes = batch->bytes,
                                        .payload = batch->payload,
                                        .overlap = batch->has_overlap ? batch->overlap : NULL,
                                        .n_items = batch->n_items,
                                        .len = batch->bytes_len},
                              .split = rabin_split(batch->bytes_len, WARPS),
                              .form = rabin_form(rabin_table(cpu->table)),
                              .hits = hits};
    struct rabin_lane lane = {
        .columns = {.push = scan.table->push_words, .left = scan.table->left_words}};

    if (batch->n_items == 0)
        return SL_OK;
    for (uint64_t at = 0; at < scan.arena.len; at += scan.split.range_len)
        scan_range(&scan, &lane, (uint32_t)at);
    return SL_OK;
}

CPU_BACKEND(rabin_tiled, "tiled", tiled_scan);

/* SPDX-License-Identifier: MIT */
/* The gram matcher on one core in the tiling of the GPU. Each warp has tiles of its own; the work
 * of its lanes waits in queues, and is counted. It proves the core where no GPU is. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "engines/mpm/ac/ac.h"
#include "gram_check.h"
#include "gram_tile.h"

enum { WARPS = 64 /* of a GPU: most have a few tiles */ };

struct gram_tiled {
    struct cpu_context cpu;
    uint32_t *index;
};

struct scan {
    struct gram_view view;
    struct gram_sieve sieve;
    struct gram_arena arena;
    struct mpm_kinds kinds;
    struct sl_hits *hits;
};

struct warp {
    const struct scan *scan;
    int32_t left; /* work; below 0: the batch is given up */
    uint32_t n_passed, n_found;
    uint32_t passed[GRAM_LANES];
    uint32_t found_at[2 * GRAM_LANES]; /* less than GRAM_LANES wait while as many come in */
    uint32_t found[2 * GRAM_LANES];
};

/* False: the batch has become too dear. */
static bool spend(struct warp *warp, uint32_t work)
{
    warp->left -= (int32_t)work;
    return warp->left >= 0;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Returns its cost. */
static uint32_t verify_entry(const struct scan *scan, const struct gram_place *place,
                             const struct gram_entry *entry, uint32_t at)
{
    const struct gram_view *view = &scan->view;
    uint32_t end, work;

    if (!gram_place_matches(view, &scan->arena, place, entry, at, &end, &work))
        return work;
    if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
        cpu_hits_append(scan->hits, place->item, end, entry->match);
        return work;
    }

    const uint8_t *behind = scan->arena.bytes + at - entry->window + entry->len;
    for (uint32_t i = view->groups[entry->match]; i < view->groups[entry->match + 1]; i++)
        if (mpm_literal_matches(&view->literals[i], view->bytes, behind))
            cpu_hits_append(scan->hits, place->item, end, view->literals[i].id);
    return work;
}

static void push_found(struct warp *warp, uint32_t at, uint32_t entry)
{
    warp->found_at[warp->n_found] = at;
    warp->found[warp->n_found] = entry;
    warp->n_found++;
}

/* A lane takes one entry, and queues the next of its key. They take as long as the longest. */
static void take_found(struct warp *warp, uint32_t n)
{
    const struct scan *scan = warp->scan;
    uint32_t at[GRAM_LANES], number[GRAM_LANES], most = 0;

    warp->n_found -= n;
    memcpy(at, warp->found_at + warp->n_found, n * sizeof *at);
    memcpy(number, warp->found + warp->n_found, n * sizeof *number);
    for (uint32_t lane = 0; lane < n; lane++) {
        const struct gram_entry *entry = &scan->sieve.entries[number[lane]];
        struct gram_place place;

        if (gram_locate(&scan->arena, at[lane], &place)) {
            const uint32_t work = verify_entry(scan, &place, entry, at[lane]);

            most = work > most ? work : most;
        }
        if ((entry->flags & GRAM_ENTRY_LAST) == 0)
            push_found(warp, at[lane], number[lane] + 1);
    }
    if (!spend(warp, GRAM_WORK_ROUND + most))
        warp->n_found = 0;
}

/* ---- dictionary ------------------------------------------------------------------------------ */

static void take_passed(struct warp *warp)
{
    const uint32_t n = warp->n_passed;

    warp->n_passed = 0;
    if (!spend(warp, GRAM_WORK_ROUND))
        return;
    for (uint32_t lane = 0; lane < n; lane++) {
        const uint32_t at = warp->passed[lane];
        const uint64_t bytes = gram_fold8(gram_load8(warp->scan->arena.bytes + at));
        const uint32_t first =
            gram_sieve_find(&warp->scan->sieve, (uint32_t)bytes, (uint32_t)(bytes >> 32));

        if (first != GRAM_NONE)
            push_found(warp, at, first);
    }
    while (warp->n_found >= GRAM_LANES)
        take_found(warp, GRAM_LANES);
}

static void push_passed(struct warp *warp, uint32_t at)
{
    warp->passed[warp->n_passed++] = at;
    if (warp->n_passed == GRAM_LANES)
        take_passed(warp);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A literal in a run of bytes that are coarsely equal. */
static void search_run(const struct scan *scan, const struct gram_place *place,
                       const struct gram_run_literal *literal, const struct gram_run *run)
{
    uint32_t streak = 0;

    for (uint32_t at = run->begin; at < run->end; at++) {
        const uint32_t behind = at + 1 - place->span.offset;

        streak = gram_run_takes(literal, scan->arena.bytes[at]) ? streak + 1 : 0;
        if (streak >= literal->len && behind > place->overlap)
            cpu_hits_append(scan->hits, place->item, behind, literal->id);
    }
}

/* A literal that is a run. */
static void report_run(struct warp *warp, const struct gram_place *place,
                       const struct gram_run_literal *literal, const struct gram_run *run)
{
    const struct scan *scan = warp->scan;

    if (!spend(warp, gram_run_work(run)))
        return;
    if (!run->uniform) {
        search_run(scan, place, literal, run);
    } else if (gram_run_takes(literal, scan->arena.bytes[run->begin])) {
        const struct mpm_ends ends =
            gram_run_ends(place, run, literal->len, mpm_is_sparse(scan->kinds, place->item));

        mpm_append_ends(scan->hits, place->item, literal->id, &ends);
    }
}

static void report_runs(struct warp *warp, const struct gram_place *place, uint8_t byte,
                        const struct gram_run *run)
{
    const struct gram_view *view = &warp->scan->view;
    struct gram_run_list list = gram_runs_of(view->body, byte);
    struct gram_run_literal literal;

    while (warp->left >= 0 && gram_next_run(view, run, &list, &literal))
        report_run(warp, place, &literal, run);
}

static uint32_t end_of_run(struct warp *warp, uint8_t byte, uint64_t coarse, uint32_t at,
                           uint32_t behind)
{
    for (uint32_t end; at < behind && spend(warp, GRAM_WORK_ROUND); at = end) {
        end = gram_run_end(&warp->scan->arena, byte, coarse, at, GRAM_RUN_STEP, behind);
        if (end < at + GRAM_RUN_STEP)
            return end;
    }
    return behind;
}

/* A run that begins here, in this item, if it may be a literal. */
static void verify_run(struct warp *warp, const struct gram_place *place, uint32_t begin)
{
    const uint8_t given = warp->scan->arena.bytes[begin];
    const uint8_t byte = (uint8_t)gram_fold4(given);
    const uint32_t behind = place->span.offset + place->span.len;

    if (!gram_has_runs_of(warp->scan->view.body, byte))
        return;

    const uint32_t equal = end_of_run(warp, given, 0, begin, behind);
    const uint32_t end = end_of_run(warp, byte, UINT64_C(0x2020202020202020), equal, behind);
    const struct gram_run run = {begin, end, equal == end};

    report_runs(warp, place, byte, &run);
}

/* Runs at an item's first byte are handled apart: they may continue bytes before it. */
static void verify_inner_run(struct warp *warp, uint32_t at)
{
    struct gram_place place;

    if (gram_locate(&warp->scan->arena, at, &place) && at > place.span.offset)
        verify_run(warp, &place, at);
}

/* A lane an item. False: the batch has become too dear. */
static bool verify_first_runs(const struct scan *scan, uint32_t first)
{
    const struct gram_arena *arena = &scan->arena;
    struct warp warp = {.scan = scan, .left = GRAM_WORK_FREE + GRAM_LANES * GRAM_WORK_ITEM};

    for (uint32_t item = first; item < arena->n_items && item < first + GRAM_LANES; item++) {
        const struct gram_place place = {item, arena->payload[item],
                                         arena->overlap != NULL ? arena->overlap[item] : 0};

        if (place.span.len > 0)
            verify_run(&warp, &place, place.span.offset);
    }
    return warp.left >= 0;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Adds to a lane's cost. */
static void verify_tiny(const struct warp *warp, uint32_t at, int32_t *work)
{
    const struct scan *scan = warp->scan;
    const struct gram_table *body = scan->view.body;
    const struct gram_list *list = &body->tiny;
    const struct gram_entry *entries = (const struct gram_entry *)mpm_at(body, list->entries);
    const uint8_t *text = scan->arena.bytes + at;
    struct gram_place place;

    if (!gram_locate(&scan->arena, at, &place))
        return;
    for (uint32_t left = gram_tiny_classes(body, text); left != 0; left &= left - 1) {
        const uint32_t key = gram_tiny_first_key(body, left, text);

        for (uint32_t i = list->begin[key]; i < list->begin[key + 1] && *work <= warp->left; i++)
            *work += 1 + (int32_t)verify_entry(scan, &place, &entries[i], at);
    }
}

/* Returns the cost of the lane's tiny literals. */
static int32_t scan_lane(struct warp *warp, uint32_t at)
{
    const struct scan *scan = warp->scan;
    const struct gram_table *body = scan->view.body;
    const uint8_t *bytes = scan->arena.bytes + at;
    uint32_t words[GRAM_LANE_WORDS];
    int32_t work = 0;

    memcpy(words + 1, bytes, sizeof words - sizeof *words);
    words[0] = ~words[1] << 24; /* no run goes on from before the arena */
    if (at > 0)
        memcpy(words, bytes - 4, 4);
    for (int i = 0; i < GRAM_LANE_WORDS; i++)
        words[i] = gram_fold4(words[i]);

    uint32_t windows =
        gram_lane_windows(&scan->sieve, scan->sieve.words, words + 1, scan->sieve.next != 0);
    for (; windows != 0; windows &= windows - 1)
        push_passed(warp, at + (uint32_t)__builtin_ctz(windows));
    if (body->n_runs != 0)
        for (uint32_t bits = gram_lane_runs(words); bits != 0; bits &= bits - 1)
            verify_inner_run(warp, at + (uint32_t)__builtin_ctz(bits));
    if (body->n_tiny != 0)
        for (uint32_t bits = gram_lane_tiny(body, bytes); bits != 0; bits &= bits - 1)
            verify_tiny(warp, at + (uint32_t)__builtin_ctz(bits), &work);
    return work;
}

/* Every WARPS-th tile from the first on. False: the batch has become too dear. */
static bool scan_tiles(const struct scan *scan, uint32_t first)
{
    struct warp warp = {.scan = scan, .left = GRAM_WORK_FREE};

    for (uint64_t tile = (uint64_t)first * GRAM_TILE; tile < scan->arena.len && warp.left >= 0;
         tile += WARPS * GRAM_TILE) {
        int32_t most = 0;

        warp.left += GRAM_WORK_TILE;
        for (uint32_t lane = 0; lane < GRAM_LANES; lane++) {
            const uint64_t at = tile + (uint64_t)lane * GRAM_LANE;
            const int32_t work = at < scan->arena.len ? scan_lane(&warp, (uint32_t)at) : 0;

            most = work > most ? work : most;
        }
        (void)spend(&warp, (uint32_t)most);
    }
    take_passed(&warp);
    while (warp.n_found != 0)
        take_found(&warp, warp.n_found < GRAM_LANES ? warp.n_found : GRAM_LANES);
    return warp.left >= 0;
}

/* False: it became too dear, and not all has been found. */
static bool scan_arena(const struct scan *scan)
{
    if (scan->view.body->n_runs != 0)
        for (uint32_t item = 0; item < scan->arena.n_items; item += GRAM_LANES)
            if (!verify_first_runs(scan, item))
                return false;
    for (uint32_t warp = 0; warp < WARPS; warp++)
        if (!scan_tiles(scan, warp))
            return false;
    return true;
}

/* ---- context --------------------------------------------------------------------------------- */

static void make_index(uint32_t *index, const struct gram_arena *arena)
{
    const uint32_t n = (arena->len >> GRAM_INDEX_LOG) + 1;

    for (uint32_t item = 0; item < arena->n_items; item++) {
        uint32_t first;
        const uint32_t end = gram_index_range(arena, item, n, &first);

        for (uint32_t i = first; i < end; i++)
            index[i] = item;
    }
}

static enum sl_status tiled_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                 struct sl_hits *hits)
{
    struct gram_tiled *tiled = (struct gram_tiled *)cpu;
    const struct sl_mpm_table *table = cpu->table;
    const struct gram_view view = gram_view(table);
    const struct scan scan = {.view = view,
                              .sieve = gram_sieve(view.body),
                              .arena = {.bytes = batch->bytes,
                                        .payload = batch->payload,
                                        .overlap = batch->has_overlap ? batch->overlap : NULL,
                                        .index = tiled->index,
                                        .n_items = batch->n_items,
                                        .len = batch->bytes_len},
                              .kinds = mpm_kinds(&cpu->limits, batch),
                              .hits = hits};

    if (batch->n_items == 0)
        return SL_OK;
    make_index(tiled->index, &scan.arena);
    if (!scan_arena(&scan)) {
        const struct ac_view ac = ac_view_at(table, view.body->automaton);

        hits->n = 0;
        ac_scan_tiled(&ac, table->max_len, batch, hits);
    }
    return SL_OK;
}

static enum sl_status tiled_submit(void *context, const struct sl_batch *batch,
                                   struct sl_hits *hits)
{
    return cpu_backend_submit((struct cpu_context *)context, batch, hits, tiled_scan);
}

static void tiled_close(void *context)
{
    struct gram_tiled *tiled = (struct gram_tiled *)context;

    if (tiled != NULL)
        free(tiled->index);
    free(tiled);
}

static enum sl_status tiled_open(void **context, const void *table, const struct sl_limits *limits,
                                 struct sl_diag *diag)
{
    const enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    if (!gram_is_for_gpus((const struct sl_mpm_table *)table, diag))
        return SL_EUNSUPPORTED;
    struct gram_tiled *tiled = (struct gram_tiled *)calloc(1, sizeof *tiled);
    const size_t n = ((size_t)limits->max_bytes >> GRAM_INDEX_LOG) + 1;

    if (tiled != NULL)
        tiled->index = (uint32_t *)malloc(n * sizeof *tiled->index);
    if (tiled == NULL || tiled->index == NULL) {
        tiled_close(tiled);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    }
    tiled->cpu.table = (const struct sl_mpm_table *)table;
    tiled->cpu.limits = *limits;
    *context = tiled;
    return SL_OK;
}

extern const struct sl_backend mpm_gram_tiled;
const struct sl_backend mpm_gram_tiled = {.name = "tiled",
                                          .device = SL_DEVICE_CPU,
                                          .usable = cpu_backend_usable,
                                          .open = tiled_open,
                                          .submit = tiled_submit,
                                          .wait = cpu_backend_wait,
                                          .close = tiled_close};

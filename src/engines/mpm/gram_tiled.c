/* SPDX-License-Identifier: MIT */
/* The gram matcher on one core in the tiling of the GPU: lanes of 16 bytes over the whole arena. It
 * proves the core where no GPU is. */
#include <stdlib.h>

#include "base/diag.h"
#include "gram_check.h"
#include "gram_tile.h"

struct gram_tiled {
    struct cpu_context cpu;
    uint32_t *index;
};

struct scan {
    struct gram_view view;
    struct gram_sieve sieve;
    struct gram_arena arena;
    struct sl_hits *hits;
};

static void verify_entry(const struct scan *scan, const struct gram_place *place,
                         const struct gram_entry *entry, uint32_t at)
{
    const struct gram_view *view = &scan->view;
    uint32_t end;

    if (!gram_place_matches(view, &scan->arena, place, entry, at, &end))
        return;
    if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
        cpu_hits_append(scan->hits, place->item, end, entry->match);
        return;
    }

    const uint8_t *behind = scan->arena.bytes + at - entry->window + entry->len;
    for (uint32_t i = view->groups[entry->match]; i < view->groups[entry->match + 1]; i++)
        if (mpm_literal_matches(&view->literals[i], view->bytes, behind))
            cpu_hits_append(scan->hits, place->item, end, view->literals[i].id);
}

static void verify_window(const struct scan *scan, uint32_t at)
{
    const uint64_t bytes = gram_fold8(gram_load8(scan->arena.bytes + at));
    const uint32_t first = gram_sieve_find(&scan->sieve, (uint32_t)bytes, (uint32_t)(bytes >> 32));

    struct gram_place place;

    if (first == GRAM_NONE || !gram_locate(&scan->arena, at, &place))
        return;
    for (const struct gram_entry *entry = &scan->sieve.entries[first];; entry++) {
        verify_entry(scan, &place, entry, at);
        if ((entry->flags & GRAM_ENTRY_LAST) != 0)
            break;
    }
}

static void verify_tiny(const struct scan *scan, uint32_t at)
{
    const struct gram_list *list = &scan->view.body->tiny;
    const struct gram_entry *entries =
        (const struct gram_entry *)mpm_at(scan->view.body, list->entries);
    const uint8_t byte = mpm_fold(scan->arena.bytes[at]);

    struct gram_place place;

    if (!gram_locate(&scan->arena, at, &place))
        return;
    for (uint32_t i = list->begin[byte]; i < list->begin[byte + 1]; i++)
        verify_entry(scan, &place, &entries[i], at);
}

/* A literal that is a run, in bytes begin to end - 1 of the arena. */
static void report_run(const struct scan *scan, const struct gram_place *place, uint8_t given,
                       bool exact, uint32_t len, uint32_t id, uint32_t begin, uint32_t end)
{
    uint32_t streak = 0;

    for (uint32_t at = begin; at < end; at++) {
        const uint32_t behind = at + 1 - place->span.offset;

        streak = gram_run_takes(given, exact, scan->arena.bytes[at]) ? streak + 1 : 0;
        if (streak >= len && behind > place->overlap)
            cpu_hits_append(scan->hits, place->item, behind, id);
    }
}

static void report_runs(const struct scan *scan, const struct gram_place *place, uint8_t byte,
                        uint32_t begin, uint32_t end)
{
    const struct gram_view *view = &scan->view;
    const struct gram_list *list = &view->body->runs;
    const struct gram_entry *entries = (const struct gram_entry *)mpm_at(view->body, list->entries);

    for (uint32_t i = list->begin[byte]; i < list->begin[byte + 1]; i++) {
        const struct gram_entry *entry = &entries[i];

        if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
            report_run(scan, place, (uint8_t)entry->bytes, (entry->flags & GRAM_ENTRY_EXACT) != 0,
                       entry->len, entry->match, begin, end);
            continue;
        }
        for (uint32_t k = view->groups[entry->match]; k < view->groups[entry->match + 1]; k++) {
            const struct mpm_literal *literal = &view->literals[k];

            report_run(scan, place, view->bytes[literal->bytes], literal->exact != 0, literal->len,
                       literal->id, begin, end);
        }
    }
}

/* A run that begins here, in this item, if it may be a literal. */
static void verify_run(const struct scan *scan, const struct gram_place *place, uint32_t at)
{
    const uint8_t byte = (uint8_t)gram_fold4(scan->arena.bytes[at]);
    const uint32_t behind = place->span.offset + place->span.len;

    if (gram_has_runs_of(scan->view.body, byte))
        report_runs(scan, place, byte, at,
                    gram_run_end(&scan->arena, byte, at, UINT32_MAX, behind));
}

/* Runs at an item's first byte are looked at apart: they may go on from what lies before it. */
static void verify_inner_run(const struct scan *scan, uint32_t at)
{
    struct gram_place place;

    if (gram_locate(&scan->arena, at, &place) && at > place.span.offset)
        verify_run(scan, &place, at);
}

static void verify_first_runs(const struct scan *scan)
{
    const struct gram_arena *arena = &scan->arena;

    for (uint32_t item = 0; item < arena->n_items; item++) {
        const struct gram_place place = {item, arena->payload[item],
                                         arena->overlap != NULL ? arena->overlap[item] : 0};

        if (place.span.len > 0)
            verify_run(scan, &place, place.span.offset);
    }
}

static void scan_lane(const struct scan *scan, uint32_t at)
{
    const struct gram_table *body = scan->view.body;
    const uint8_t *bytes = scan->arena.bytes + at;
    uint32_t words[GRAM_LANE_WORDS];

    memcpy(words + 1, bytes, sizeof words - sizeof *words);
    words[0] = ~words[1] << 24; /* no run goes on from before the arena */
    if (at > 0)
        memcpy(words, bytes - 4, 4);
    for (int i = 0; i < GRAM_LANE_WORDS; i++)
        words[i] = gram_fold4(words[i]);

    uint32_t windows =
        gram_lane_windows(&scan->sieve, scan->sieve.words, words + 1, scan->sieve.next != 0);
    for (; windows != 0; windows &= windows - 1)
        verify_window(scan, at + (uint32_t)__builtin_ctz(windows));
    if (body->n_runs != 0)
        for (uint32_t bits = gram_lane_runs(words); bits != 0; bits &= bits - 1)
            verify_inner_run(scan, at + (uint32_t)__builtin_ctz(bits));
    if (body->n_tiny != 0)
        for (uint32_t bits = gram_lane_tiny(body, bytes); bits != 0; bits &= bits - 1)
            verify_tiny(scan, at + (uint32_t)__builtin_ctz(bits));
}

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
    const struct gram_view view = gram_view(cpu->table);
    const struct scan scan = {.view = view,
                              .sieve = gram_sieve(view.body),
                              .arena = {.bytes = batch->bytes,
                                        .payload = batch->payload,
                                        .overlap = batch->has_overlap ? batch->overlap : NULL,
                                        .index = tiled->index,
                                        .n_items = batch->n_items,
                                        .len = batch->bytes_len},
                              .hits = hits};

    if (batch->n_items == 0)
        return SL_OK;
    make_index(tiled->index, &scan.arena);
    if (scan.view.body->n_runs != 0)
        verify_first_runs(&scan);
    for (uint32_t at = 0; at < batch->bytes_len; at += GRAM_LANE)
        scan_lane(&scan, at);
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

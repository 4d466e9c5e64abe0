/* SPDX-License-Identifier: MIT */
/* The gram matcher on a core: filters over a chunk, then what passed is verified. */
#include "gram_cpu.h"

#include <stdlib.h>

#include "base/diag.h"

struct gram_cpu {
    struct mpm_cpu cpu;
    const struct gram_filters *filters;
    uint32_t passed[GRAM_CHUNK + 64]; /* a vector is written whole */
};

/* One item being scanned. */
struct scan {
    const struct gram_view *view;
    struct gram_text text;
    struct sl_hits *hits;
    uint32_t item;
};

/* ---- verification ---------------------------------------------------------------------------- */

static void report_group(const struct scan *scan, uint32_t group, uint32_t end)
{
    const struct gram_view *view = scan->view;

    for (uint32_t i = view->groups[group]; i < view->groups[group + 1]; i++)
        if (mpm_literal_matches(&view->literals[i], view->bytes, scan->text.bytes + end))
            mpm_hits_append(scan->hits, scan->item, end, view->literals[i].id);
}

static void verify_entry(const struct scan *scan, const struct gram_entry *entry, uint32_t at)
{
    uint32_t end;

    if (gram_entry_matches(scan->view, entry, &scan->text, at, &end))
        report_group(scan, entry->group, end);
}

static void verify_key(const struct scan *scan, uint32_t entry, uint32_t at)
{
    const struct gram_entry *entries = scan->view->entries;

    if (entry == GRAM_EMPTY)
        return;
    do
        verify_entry(scan, &entries[entry], at);
    while (entries[entry++].last == 0);
}

static void verify_windows(const struct scan *scan, const uint32_t *passed, uint32_t n)
{
    const struct gram_view *view = scan->view;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t first;

        memcpy(&first, scan->text.bytes + passed[i], 4);
        first = gram_fold4(first);
        verify_key(scan, gram_find(view->slots4, view->slots4_log, first), passed[i]);
        if (view->slots3_log != 0)
            verify_key(scan, gram_find(view->slots3, view->slots3_log, first & 0xFFFFFF),
                       passed[i]);
    }
}

static void verify_list(const struct scan *scan, const struct gram_list *list, uint8_t byte,
                        uint32_t at)
{
    const struct gram_entry *entries =
        (const struct gram_entry *)mpm_at(scan->view->body, list->entries);

    for (uint32_t i = list->begin[byte]; i < list->begin[byte + 1]; i++)
        verify_entry(scan, &entries[i], at);
}

static void verify_tiny(const struct scan *scan, const uint32_t *passed, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        verify_list(scan, &scan->view->body->tiny, mpm_fold(scan->text.bytes[passed[i]]),
                    passed[i]);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void report_ends(struct sl_hits *hits, uint32_t item, uint32_t first, uint32_t last,
                        uint32_t id)
{
    for (uint32_t end = first; end <= last; end++)
        mpm_hits_append(hits, item, end, id);
}

/* A literal that is a run, wherever it is in bytes begin to end - 1 of the text. */
static void report_run(const struct scan *scan, const struct mpm_literal *literal, uint32_t begin,
                       uint32_t end)
{
    const uint8_t *text = scan->text.bytes;
    const uint8_t given = scan->view->bytes[literal->bytes];

    for (uint32_t from = begin, to; from < end; from = to + 1) {
        for (to = from; to < end; to++)
            if (literal->exact ? text[to] != given : mpm_fold(text[to]) != mpm_fold(given))
                break;
        const uint32_t first =
            from + literal->len > scan->text.overlap ? from + literal->len : scan->text.overlap + 1;
        if (to - from >= literal->len)
            report_ends(scan->hits, scan->item, first, to, literal->id);
    }
}

static void report_runs(const struct scan *scan, uint8_t byte, uint32_t begin, uint32_t end)
{
    const struct gram_view *view = scan->view;
    const struct gram_list *list = &view->body->runs;
    const struct gram_entry *entries =
        (const struct gram_entry *)mpm_at(view->body, list->entries);

    for (uint32_t i = list->begin[byte]; i < list->begin[byte + 1]; i++) {
        const uint32_t group = entries[i].group;

        if (entries[i].len > end - begin)
            break; /* the shortest are first */
        for (uint32_t k = view->groups[group]; k < view->groups[group + 1]; k++)
            report_run(scan, &view->literals[k], begin, end);
    }
}

static void verify_runs(const struct scan *scan, const uint32_t *passed, uint32_t n)
{
    const struct gram_table *body = scan->view->body;
    const struct gram_text *text = &scan->text;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t begin = passed[i];
        const uint8_t byte = (uint8_t)gram_fold4(text->bytes[begin]);
        uint32_t end = begin + 1;

        while (end < text->len && gram_fold4(text->bytes[end]) == byte)
            end++;
        report_runs(scan, byte, begin, end);
        verify_list(scan, &body->run_begin, byte, begin);
        verify_list(scan, &body->run_end, byte, end);
    }
}

/* ---- scan ------------------------------------------------------------------------------------ */

static void scan_item(struct gram_cpu *gram, const struct scan *scan)
{
    const struct gram_view *view = scan->view;
    const struct gram_text *text = &scan->text;
    uint32_t *passed = gram->passed;

    for (uint32_t from = 0, to; from < text->len; from = to) {
        to = text->len - from < GRAM_CHUNK ? text->len : from + GRAM_CHUNK;
        verify_windows(scan, passed,
                       gram->filters->windows(view, text->bytes, from, to, passed));
        if (view->body->n_runs != 0)
            verify_runs(scan, passed, gram->filters->runs(text->bytes, from, to, passed));
        if (view->body->n_tiny != 0)
            verify_tiny(scan, passed,
                        gram->filters->tiny(view->body, text->bytes, from, to, passed));
    }
}

static enum sl_status gram_scan(struct mpm_cpu *cpu, const struct sl_batch *batch,
                                struct sl_hits *hits)
{
    const struct gram_view view = gram_view(cpu->table);

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const struct scan scan = {.view = &view,
                                  .text = {batch->bytes + batch->payload[item].offset,
                                           batch->payload[item].len, mpm_overlap(batch, item)},
                                  .hits = hits,
                                  .item = item};

        scan_item((struct gram_cpu *)cpu, &scan);
    }
    return SL_OK;
}

enum sl_status gram_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    return mpm_cpu_submit((struct mpm_cpu *)context, batch, hits, gram_scan);
}

enum sl_status gram_open(void **context, const void *table, const struct sl_limits *limits,
                         const struct gram_filters *filters, struct sl_diag *diag)
{
    struct gram_cpu *gram = (struct gram_cpu *)calloc(1, sizeof *gram);

    if (gram == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    gram->cpu.table = (const struct sl_mpm_table *)table;
    gram->cpu.limits = *limits;
    gram->filters = filters;
    *context = gram;
    return SL_OK;
}

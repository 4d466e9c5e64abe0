/* SPDX-License-Identifier: MIT */
/* The gram matcher on a core. The filters know nothing of items: they go over a stretch of the
 * arena, chunk by chunk, headers and gaps between items included, since skipping those would cost
 * more than filtering them. What passes is looked up in steps, each prefetching for the next, and
 * belongs to the item that it lies in, if to any. */
#include "gram_cpu.h"

#include <stdlib.h>

#include "base/diag.h"

enum {
    GAP_MAX = 256,         /* bytes between items of a stretch */
    STRETCH_MAX = 1u << 30 /* bytes of a stretch, unless it is one item */
};

struct gram_cpu {
    struct mpm_cpu cpu;
    const struct gram_filters *filters;
    uint32_t passed[GRAM_PASSED_MAX];
    uint32_t key[GRAM_KINDS][GRAM_PASSED_MAX];
    struct gram_candidates candidates;
};

/* A stretch being scanned: items that lie one behind another. */
struct scan {
    struct gram_cpu *gram;
    const struct gram_view *view;
    const struct sl_batch *batch;
    struct sl_hits *hits;
    const uint8_t *bytes; /* the stretch's first */
    uint32_t begin;       /* its offset in the arena */
    uint32_t last;        /* behind its last item */
};

/* An item in its stretch. */
struct place {
    struct gram_text text;
    uint32_t item;
    uint32_t begin; /* of the payload, from the stretch's first byte */
};

/* ---- items ----------------------------------------------------------------------------------- */

static struct place place_of(const struct scan *scan, uint32_t item)
{
    const struct sl_span span = scan->batch->payload[item];
    const uint32_t begin = span.offset - scan->begin;

    return (struct place){.text = {scan->bytes + begin, span.len, mpm_overlap(scan->batch, item)},
                          .item = item,
                          .begin = begin};
}

/* Goes on to the item that ends behind this position; false where the position is in none. */
static bool find_item(const struct scan *scan, struct place *place, uint32_t at)
{
    while (at - place->begin >= place->text.len && at >= place->begin) {
        if (place->item + 1 == scan->last)
            return false;
        *place = place_of(scan, place->item + 1);
    }
    return at >= place->begin;
}

/* ---- verification ---------------------------------------------------------------------------- */

static void report_group(const struct scan *scan, const struct place *place, uint32_t group,
                         uint32_t end)
{
    const struct gram_view *view = scan->view;

    for (uint32_t i = view->groups[group]; i < view->groups[group + 1]; i++)
        if (mpm_literal_matches(&view->literals[i], view->bytes, place->text.bytes + end))
            mpm_hits_append(scan->hits, place->item, end, view->literals[i].id);
}

static void verify_entry(const struct scan *scan, const struct place *place,
                         const struct gram_entry *entry, uint32_t at)
{
    uint32_t end;

    if (!gram_entry_matches(scan->view, entry, &place->text, at - place->begin, &end))
        return;
    if ((entry->flags & GRAM_ENTRY_GROUP) != 0)
        report_group(scan, place, entry->match, end);
    else
        mpm_hits_append(scan->hits, place->item, end, entry->match);
}

/* The entries of a key. Keys of two kinds may be equal: only those of the kind that was looked up
 * are meant. */
static void verify_key(const struct scan *scan, const struct place *place, enum gram_kind kind,
                       uint32_t first, uint32_t at)
{
    const struct gram_entry *entry = &scan->view->entries[first];

    do
        if (entry->kind == kind)
            verify_entry(scan, place, entry, at);
    while ((entry++->flags & GRAM_ENTRY_LAST) == 0);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Keeps of what passed only what lies in no run, and prepares its keys. */
static uint32_t make_keys(const struct scan *scan, uint32_t n)
{
    const struct gram_view *view = scan->view;
    struct gram_cpu *gram = scan->gram;
    const bool in_runs = view->body->n_in_runs != 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = gram->passed[i];
        const uint64_t bytes = gram_fold8(gram_load8(scan->bytes + at));

        gram->passed[kept] = at;
        for (int kind = 0; kind < GRAM_KINDS; kind++) {
            const uint32_t key =
                gram_key((enum gram_kind)kind, (uint32_t)bytes, (uint32_t)(bytes >> 32));

            gram->key[kind][kept] = key;
            if (view->body->n_of_kind[kind] != 0)
                __builtin_prefetch(&view->slots[gram_slot_of(key, view->slots_log)]);
        }
        kept += in_runs | !gram_in_run(bytes);
    }
    return kept;
}

static void verify_candidates(const struct scan *scan, enum gram_kind kind, struct place place,
                              uint32_t n)
{
    const struct gram_candidates *candidates = &scan->gram->candidates;

    for (uint32_t i = 0; i < n; i++)
        if (find_item(scan, &place, candidates->at[i]))
            verify_key(scan, &place, kind, candidates->entry[i], candidates->at[i]);
}

static void scan_windows(const struct scan *scan, const struct place *place, uint32_t from,
                         uint32_t to)
{
    struct gram_cpu *gram = scan->gram;
    const uint32_t n =
        make_keys(scan, gram->filters->windows(scan->view, scan->bytes, from, to, gram->passed));

    for (int kind = 0; kind < GRAM_KINDS; kind++)
        if (scan->view->body->n_of_kind[kind] != 0)
            verify_candidates(scan, (enum gram_kind)kind, *place,
                              gram->filters->find(scan->view, gram->key[kind], gram->passed, n,
                                                  &gram->candidates));
}

/* ---- runs and tiny literals ------------------------------------------------------------------ */

static void report_ends(struct sl_hits *hits, uint32_t item, uint32_t first, uint32_t last,
                        uint32_t id)
{
    const size_t n = last >= first ? last - first + (size_t)1 : 0;
    const size_t room = hits->n < hits->cap ? hits->cap - hits->n : 0;
    struct sl_hit *hit = hits->hit + hits->n;

    for (size_t i = 0; i < n && i < room; i++)
        hit[i] = (struct sl_hit){item, first + (uint32_t)i, id};
    hits->n += n;
}

/* A literal that is a run of a byte, or of both its cases, wherever it is in bytes begin to end - 1
 * of the text. */
static void report_run(const struct scan *scan, const struct place *place, uint32_t id,
                       uint32_t len, uint8_t byte, bool exact, uint32_t begin, uint32_t end)
{
    const uint8_t *text = place->text.bytes;

    for (uint32_t from = begin, to; from < end; from = to + 1) {
        for (to = from; to < end; to++)
            if (exact ? text[to] != byte : mpm_fold(text[to]) != mpm_fold(byte))
                break;
        if (to - from < len)
            continue;
        report_ends(scan->hits, place->item,
                    from + len > place->text.overlap ? from + len : place->text.overlap + 1, to,
                    id);
    }
}

/* All literals of an entry that is a run. */
static void report_run_entry(const struct scan *scan, const struct place *place,
                             const struct gram_entry *entry, uint32_t begin, uint32_t end)
{
    const struct gram_view *view = scan->view;

    if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
        report_run(scan, place, entry->match, entry->len, (uint8_t)entry->bytes,
                   (entry->flags & GRAM_ENTRY_EXACT) != 0, begin, end);
        return;
    }
    for (uint32_t i = view->groups[entry->match]; i < view->groups[entry->match + 1]; i++) {
        const struct mpm_literal *literal = &view->literals[i];

        report_run(scan, place, literal->id, literal->len, view->bytes[literal->bytes],
                   literal->exact != 0, begin, end);
    }
}

static void report_runs(const struct scan *scan, const struct place *place, uint8_t byte,
                        uint32_t begin, uint32_t end)
{
    const struct gram_view *view = scan->view;
    const struct gram_list *list = &view->body->runs;
    const struct gram_entry *entries = (const struct gram_entry *)mpm_at(view->body, list->entries);

    for (uint32_t i = list->begin[byte]; i < list->begin[byte + 1]; i++) {
        if (entries[i].len > end - begin)
            break; /* the shortest are first */
        report_run_entry(scan, place, &entries[i], begin, end);
    }
}

/* Where bytes that are coarsely equal to this one end. */
static uint32_t end_of_run(const struct gram_text *text, uint32_t at, uint8_t byte)
{
    const uint64_t run = byte * UINT64_C(0x0101010101010101);

    for (; at < text->len; at += 8) {
        const uint64_t differ = gram_fold8(gram_load8(text->bytes + at)) ^ run;

        if (differ != 0) {
            at += (uint32_t)__builtin_ctzll(differ) / 8;
            break;
        }
    }
    return at < text->len ? at : text->len;
}

/* Literals with a run that begins, or ends, just here. */
static void verify_edge(const struct scan *scan, const struct place *place, enum gram_kind kind,
                        uint8_t byte, uint32_t at)
{
    const uint8_t neighbour = place->text.bytes[kind == GRAM_RUN_BEGIN ? at - (uint32_t)1 : at];
    const uint32_t first =
        gram_find(scan->view->slots, scan->view->slots_log, gram_run_key(kind, byte, neighbour));

    if (first != GRAM_NONE)
        verify_key(scan, place, kind, first, place->begin + at);
}

/* The run that begins at this byte of an item, if it is long enough to matter. */
static void verify_run(const struct scan *scan, const struct place *place, uint32_t begin)
{
    const struct gram_table *body = scan->view->body;
    const uint8_t *text = place->text.bytes;
    const uint8_t byte = (uint8_t)gram_fold4(text[begin]);
    const uint32_t min = body->run_min[byte];

    if (min == 0 || min > place->text.len - begin || gram_fold4(text[begin + min - 1]) != byte)
        return;

    const uint32_t end = end_of_run(&place->text, begin, byte);

    report_runs(scan, place, byte, begin, end);
    if (begin > 0)
        verify_edge(scan, place, GRAM_RUN_BEGIN, byte, begin);
    if (end < place->text.len)
        verify_edge(scan, place, GRAM_RUN_END, byte, end);
}

/* A run at an item's first byte may go on from what lies before the item, and not pass: those are
 * looked at in any case. */
static void scan_runs(const struct scan *scan, struct place place, uint32_t from, uint32_t to)
{
    struct gram_cpu *gram = scan->gram;
    const uint8_t *run_min = scan->view->body->run_min;
    const uint32_t n = gram->filters->runs(scan->bytes, from, to, gram->passed);
    struct place first = place;

    for (uint32_t i = 0; i < n; i++)
        if (run_min[scan->bytes[gram->passed[i]]] != 0 &&
            find_item(scan, &place, gram->passed[i]) && gram->passed[i] != place.begin)
            verify_run(scan, &place, gram->passed[i] - place.begin);
    for (; first.begin < to; first = place_of(scan, first.item + 1)) {
        if (first.begin >= from && first.text.len > 0)
            verify_run(scan, &first, 0);
        if (first.item + 1 == scan->last)
            break;
    }
}

static void scan_tiny(const struct scan *scan, struct place place, uint32_t from, uint32_t to)
{
    struct gram_cpu *gram = scan->gram;
    const struct gram_list *list = &scan->view->body->tiny;
    const struct gram_entry *entries =
        (const struct gram_entry *)mpm_at(scan->view->body, list->entries);
    const uint32_t n = gram->filters->tiny(scan->view->body, scan->bytes, from, to, gram->passed);

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = gram->passed[i];
        const uint8_t byte = mpm_fold(scan->bytes[at]);

        if (!find_item(scan, &place, at))
            continue;
        for (uint32_t k = list->begin[byte]; k < list->begin[byte + 1]; k++)
            verify_entry(scan, &place, &entries[k], at);
    }
}

/* ---- scan ------------------------------------------------------------------------------------ */

/* Behind the last of the items from this one on that lie close one behind another. */
static uint32_t end_of_stretch(const struct sl_batch *batch, uint32_t item)
{
    const uint32_t begin = batch->payload[item].offset;
    uint64_t end = begin + (uint64_t)batch->payload[item].len;

    for (item++; item < batch->n_items; item++) {
        const struct sl_span span = batch->payload[item];

        if (span.offset < end || span.offset - end > GAP_MAX ||
            span.offset + (uint64_t)span.len - begin > STRETCH_MAX)
            break;
        end = span.offset + (uint64_t)span.len;
    }
    return item;
}

static void scan_stretch(const struct scan *scan, uint32_t first)
{
    const struct gram_table *body = scan->view->body;
    const struct sl_span last = scan->batch->payload[scan->last - 1];
    const uint32_t len = last.offset + last.len - scan->begin;
    struct place place = place_of(scan, first);

    for (uint32_t from = 0, to; from < len; from = to) {
        to = len - from < GRAM_CHUNK ? len : from + GRAM_CHUNK;
        /* The first item that reaches into the chunk. */
        (void)find_item(scan, &place, from);
        scan_windows(scan, &place, from, to);
        if (body->n_runs != 0)
            scan_runs(scan, place, from, to);
        if (body->n_tiny != 0)
            scan_tiny(scan, place, from, to);
    }
}

static enum sl_status gram_scan(struct mpm_cpu *cpu, const struct sl_batch *batch,
                                struct sl_hits *hits)
{
    const struct gram_view view = gram_view(cpu->table);

    for (uint32_t item = 0, next; item < batch->n_items; item = next) {
        next = end_of_stretch(batch, item);

        const struct scan scan = {.gram = (struct gram_cpu *)cpu,
                                  .view = &view,
                                  .batch = batch,
                                  .hits = hits,
                                  .bytes = batch->bytes + batch->payload[item].offset,
                                  .begin = batch->payload[item].offset,
                                  .last = next};
        scan_stretch(&scan, item);
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

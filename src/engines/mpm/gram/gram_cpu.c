/* SPDX-License-Identifier: MIT */
/* The gram matcher on a core. Filters scan units, not items. A unit is a few items that lie one
 * behind another in the arena, or a part of a large one. The filters scan it chunk by chunk. They
 * include headers and gaps between items, since skipping those would cost more than filtering them.
 * Positions that pass are looked up in steps, each of which prefetches for the next. A position
 * belongs to the text that it lies in, if to any.
 *
 * Verification counts its work. A unit above the budget is scanned again, and so are the DETOUR
 * units behind it. The unit's hits are removed, entries of literals that may be dear are omitted,
 * and the automaton finds those literals. A unit's hits do not depend on other units', so each is
 * reported once. */
#include "gram_cpu.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/least.h"
#include "base/reserved.h"
#include "engines/mpm/ac/ac.h"

enum {
    GAP_MAX = 256,      /* bytes between items of a unit */
    UNIT_LEN = 1 << 15, /* bytes from which on a unit takes no more items */
    PART_LEN = 1 << 16, /* bytes: larger items are cut, by the automaton as well */
    TEXTS_MAX = 1024,   /* of a unit */
    TEXT_GRAIN = 64,    /* bytes of a unit that share a hint which text they are in */
    DETOUR = 16,        /* units, all that are in a row */
    WORK_FREE = 128     /* that a unit may cost beside one for each byte: short ones may be full
                           of matches */
};

/* The last text of a unit may end here: behind items that are not large, or behind a part and the
 * longest literal before it. */
enum {
    UNIT_MAX = UNIT_LEN + GAP_MAX + PART_LEN > 2 * PART_LEN + SL_LITERAL_LEN_MAX
                   ? UNIT_LEN + GAP_MAX + PART_LEN
                   : 2 * PART_LEN + SL_LITERAL_LEN_MAX
};

struct gram_cpu {
    struct cpu_context cpu;
    const struct gram_filters *filters;
    uint32_t run_min;              /* bytes of the shortest literal that is a run */
    uint32_t begin[TEXTS_MAX + 1]; /* texts of the unit, from its first byte; behind the last, */
    uint32_t end[TEXTS_MAX + 1];   /* a text that no position reaches */
    uint32_t drop[TEXTS_MAX + 1];  /* matches that end at this byte of a text or before are not
                                      wanted */
    uint16_t text_at[UNIT_MAX / TEXT_GRAIN + 1]; /* the first that ends behind such a byte */
    uint32_t passed[GRAM_PASSED_MAX];
    struct gram_keys keys[GRAM_KINDS];
    struct gram_candidates candidates;
    struct gram_candidates matched;
};

/* A batch being scanned, and the present unit: whole items, or a part of one. A part has an
 * overlap: the bytes before it, as far as the longest literal reaches. */
struct scan {
    struct gram_cpu *gram;
    const struct gram_view *view;
    const struct sl_batch *batch;
    struct mpm_kinds kinds;
    struct sl_hits *hits;
    uint32_t reach;        /* bytes before a match's last one that it may begin at */
    struct ac_range range; /* the unit's */
    const uint8_t *bytes;  /* its first */
    uint32_t len;          /* from there to its last text's end */
    uint32_t n_texts;
    uint32_t skipped; /* bytes of the item before the part */
    int64_t left;     /* work that the unit may still cost */
    uint8_t left_out; /* flags of entries that the automaton takes */
};

/* A text of the unit. */
struct place {
    struct gram_text text;
    uint32_t index;
    uint32_t begin; /* from the unit's first byte */
};

/* ---- texts ----------------------------------------------------------------------------------- */

/* The text that ends behind this position; false where the position is in none. */
static bool find_text(const struct scan *scan, uint32_t at, struct place *place)
{
    const struct gram_cpu *gram = scan->gram;
    uint32_t index = gram->text_at[at / TEXT_GRAIN];

    while (at >= gram->end[index])
        index++;

    const uint32_t begin = gram->begin[index];
    *place =
        (struct place){.text = {scan->bytes + begin, gram->end[index] - begin, gram->drop[index]},
                       .index = index,
                       .begin = begin};
    return at >= begin;
}

static void append(const struct scan *scan, const struct place *place, uint32_t end, uint32_t id)
{
    cpu_hits_append(scan->hits, scan->range.first + place->index, scan->skipped + end, id);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Work is counted in entries and in eight bytes compared. False: the unit has become too dear. */
static bool spend(struct scan *scan, uint32_t work)
{
    scan->left -= work;
    return scan->left >= 0;
}

/* ---- verification ---------------------------------------------------------------------------- */

static void report_group(const struct scan *scan, const struct place *place, uint32_t group,
                         uint32_t end)
{
    const struct gram_view *view = scan->view;

    for (uint32_t i = view->groups[group]; i < view->groups[group + 1]; i++)
        if (mpm_literal_matches(&view->literals[i], view->bytes, place->text.bytes + end))
            append(scan, place, end, view->literals[i].id);
}

static void report_entry(const struct scan *scan, const struct place *place,
                         const struct gram_entry *entry, uint32_t end)
{
    if ((entry->flags & GRAM_ENTRY_GROUP) != 0)
        report_group(scan, place, entry->match, end);
    else
        append(scan, place, end, entry->match);
}

/* An entry whose eight bytes match. */
static void verify_matched(struct scan *scan, const struct place *place,
                           const struct gram_entry *entry, uint32_t at)
{
    const struct gram_text *text = &place->text;
    uint32_t end;

    if (!gram_entry_lies_in(entry, text, at - place->begin, &end))
        return;
    (void)spend(scan, entry->len / 8);
    if (gram_entry_is_whole(scan->view, entry, text->bytes + end - entry->len))
        report_entry(scan, place, entry, end);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* A candidate is its key's first entry. The next entries are verified in rounds. */
static void verify_candidates(struct scan *scan, enum gram_kind kind)
{
    struct gram_cpu *gram = scan->gram;
    const struct gram_candidates *matched = &gram->matched;

    while (gram->candidates.n != 0 && spend(scan, gram->candidates.n)) {
        struct place place;

        gram->filters->compare(scan->view, scan->bytes, kind, scan->left_out, &gram->candidates,
                               &gram->matched);
        for (uint32_t i = 0; i < matched->n && scan->left >= 0; i++)
            if (find_text(scan, matched->at[i], &place))
                verify_matched(scan, &place, &scan->view->entries[matched->entry[i]],
                               matched->at[i]);
    }
}

static void scan_windows(struct scan *scan, uint32_t from, uint32_t to)
{
    struct gram_cpu *gram = scan->gram;
    const struct gram_table *body = scan->view->body;
    const uint32_t n = gram->filters->windows(scan->view, scan->bytes, from, to, gram->passed);

    /* A look-up walks over a slot or two unless the literals are made to share them. */
    if (!spend(scan, n * (1 + body->walk_max / GRAM_WALK_USUAL)))
        return;
    gram->filters->keys(scan->view, scan->bytes, gram->passed, n, gram->keys);
    for (int kind = 0; kind < GRAM_KINDS; kind++) {
        if (gram->keys[kind].n == 0)
            continue;
        gram->filters->find(scan->view, &gram->keys[kind], &gram->candidates);
        verify_candidates(scan, (enum gram_kind)kind);
    }
}

/* ---- runs and tiny literals ------------------------------------------------------------------ */

/* Bytes begin to end - 1 of a text, which are coarsely equal. */
struct run {
    uint32_t begin;
    uint32_t end;
    bool uniform; /* they are equal */
};

/* A literal that is a run, in bytes begin to end - 1 of a text, which are one too. */
static void report_ends(const struct scan *scan, const struct place *place, uint32_t id,
                        uint32_t len, uint32_t begin, uint32_t end)
{
    const uint32_t item = scan->range.first + place->index;
    struct mpm_ends ends =
        mpm_ends(begin + len, end, place->text.overlap, mpm_is_sparse(scan->kinds, item));

    ends.first += scan->skipped;
    mpm_append_ends(scan->hits, item, id, &ends);
}

static bool is_byte(uint8_t text, uint8_t byte, bool exact)
{
    return exact ? text == byte : mpm_fold(text) == mpm_fold(byte);
}

/* A literal that is a run of a byte, or of both its cases, wherever it is in a run of the text. */
static void report_run(struct scan *scan, const struct place *place, uint32_t id, uint32_t len,
                       uint8_t byte, bool exact, const struct run *run)
{
    const uint8_t *text = place->text.bytes;

    if (run->uniform) {
        if (is_byte(text[run->begin], byte, exact))
            report_ends(scan, place, id, len, run->begin, run->end);
        return;
    }
    (void)spend(scan, run->end - run->begin);
    for (uint32_t from = run->begin, to; from < run->end; from = to + 1) {
        for (to = from; to < run->end && is_byte(text[to], byte, exact); to++)
            ;
        if (to - from >= len)
            report_ends(scan, place, id, len, from, to);
    }
}

/* All literals of an entry that is a run. */
static void report_run_entry(struct scan *scan, const struct place *place,
                             const struct gram_entry *entry, const struct run *run)
{
    const struct gram_view *view = scan->view;

    if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
        report_run(scan, place, entry->match, entry->len, (uint8_t)entry->bytes,
                   (entry->flags & GRAM_ENTRY_EXACT) != 0, run);
        return;
    }
    for (uint32_t i = view->groups[entry->match]; i < view->groups[entry->match + 1]; i++) {
        const struct mpm_literal *literal = &view->literals[i];

        report_run(scan, place, literal->id, literal->len, view->bytes[literal->bytes],
                   literal->exact != 0, run);
    }
}

static void report_runs(struct scan *scan, const struct place *place, uint8_t byte,
                        const struct run *run)
{
    const struct gram_view *view = scan->view;
    const struct gram_list *list = &view->body->runs;
    const struct gram_entry *entries = (const struct gram_entry *)mpm_at(view->body, list->entries);

    for (uint32_t i = list->begin[byte]; i < list->begin[byte + 1]; i++) {
        const size_t before = scan->hits->n;

        if (entries[i].len > run->end - run->begin)
            break; /* the shortest are first */
        report_run_entry(scan, place, &entries[i], run);
        if (scan->hits->n == before && !spend(scan, 1))
            break;
    }
}

/* Where bytes that are equal to this one end; coarsely where `coarse` is 0x20 in each byte. */
static uint32_t end_of_run(const struct gram_text *text, uint32_t at, uint8_t byte, uint64_t coarse)
{
    const uint64_t run = byte * UINT64_C(0x0101010101010101);

    for (; at < text->len; at += 8) {
        const uint64_t bytes = gram_load8(text->bytes + at);
        const uint64_t differ = (bytes | (bytes >> 1 & coarse)) ^ run;

        if (differ != 0) {
            at += (uint32_t)__builtin_ctzll(differ) / 8;
            break;
        }
    }
    return at < text->len ? at : text->len;
}

/* The run that begins at this byte of a text, if it is long enough to matter. */
static void verify_run(struct scan *scan, const struct place *place, uint32_t begin)
{
    const struct gram_table *body = scan->view->body;
    const uint8_t *text = place->text.bytes;
    const uint8_t byte = (uint8_t)gram_fold4(text[begin]);
    const uint32_t min = body->run_min[byte];

    if (min == 0 || min > place->text.len - begin || gram_fold4(text[begin + min - 1]) != byte)
        return;

    const uint32_t equal = end_of_run(&place->text, begin, text[begin], 0);
    const uint32_t end = end_of_run(&place->text, equal, byte, UINT64_C(0x2020202020202020));
    const struct run run = {begin, end, equal == end};

    report_runs(scan, place, byte, &run);
}

/* Of runs, those that may matter. */
static uint32_t keep_runs(const struct scan *scan, uint32_t n)
{
    const uint8_t *run_min = scan->view->body->run_min;
    uint32_t *passed = scan->gram->passed;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint8_t byte = scan->bytes[passed[i]];

        passed[kept] = passed[i];
        kept += run_min[byte] != 0;
    }
    return kept;
}

/* A run at a text's first byte may continue bytes before the text, and not pass. Such runs are
 * searched in any case. */
static void scan_runs(struct scan *scan, uint32_t from, uint32_t to)
{
    struct gram_cpu *gram = scan->gram;
    const uint32_t n =
        keep_runs(scan, gram->filters->runs(scan->bytes, from, to, gram->run_min, gram->passed));
    struct place place;

    for (uint32_t i = 0; i < n && scan->left >= 0; i++)
        if (find_text(scan, gram->passed[i], &place) && gram->passed[i] != place.begin)
            verify_run(scan, &place, gram->passed[i] - place.begin);
    for (uint32_t index = gram->text_at[from / TEXT_GRAIN];
         gram->begin[index] < to && scan->left >= 0; index++) {
        const uint32_t begin = gram->begin[index];

        if (begin >= from && begin < gram->end[index] && find_text(scan, begin, &place))
            verify_run(scan, &place, 0);
    }
}

/* The entries of a place's classes. */
static void add_tiny(struct scan *scan, uint32_t at)
{
    const struct gram_table *body = scan->view->body;
    const uint32_t first =
        (uint32_t)((body->tiny.entries - body->entries) / sizeof(struct gram_entry));
    struct gram_candidates *candidates = &scan->gram->candidates;

    for (uint32_t left = gram_tiny_classes(body, scan->bytes + at); left != 0; left &= left - 1) {
        const uint32_t key = gram_tiny_first_key(body, left, scan->bytes + at);

        candidates->at[candidates->n] = at;
        candidates->entry[candidates->n] = first + body->tiny.begin[key];
        candidates->n += body->tiny.begin[key] != body->tiny.begin[key + 1];
    }
}

/* Windows of tiny literals have kind 0. */
static void scan_tiny(struct scan *scan, uint32_t from, uint32_t to)
{
    struct gram_cpu *gram = scan->gram;
    const uint32_t n = gram->filters->tiny(scan->view->body, scan->bytes, from, to, gram->passed);

    gram->candidates.n = 0;
    for (uint32_t i = 0; i < n && scan->left >= 0; i++) {
        add_tiny(scan, gram->passed[i]);
        if (i + 1 == n || gram->candidates.n > GRAM_PASSED_MAX - GRAM_TINY_CLASSES)
            verify_candidates(scan, GRAM_KIND_7);
    }
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The next text: bytes begin to end - 1 of the unit, which are an item's or a part's. */
static void add_text(struct scan *scan, uint32_t begin, uint32_t end, uint32_t item)
{
    struct gram_cpu *gram = scan->gram;
    const uint32_t overlap = mpm_overlap(scan->batch, item);
    const uint32_t from = scan->range.from > overlap ? scan->range.from : overlap;

    gram->begin[scan->n_texts] = begin;
    gram->end[scan->n_texts] = end;
    gram->drop[scan->n_texts] = from - scan->skipped;
    for (uint32_t i = (scan->len + TEXT_GRAIN - 1) / TEXT_GRAIN; i * TEXT_GRAIN < end; i++)
        gram->text_at[i] = (uint16_t)scan->n_texts;
    scan->n_texts++;
    scan->len = end;
}

/* A part of a large item, from byte range.from on. */
static void take_part(struct scan *scan)
{
    const struct sl_span span = scan->batch->payload[scan->range.first];
    struct ac_range *range = &scan->range;

    range->last = range->first + 1;
    range->to = span.len - range->from > 2 * PART_LEN ? range->from + PART_LEN : span.len;
    scan->skipped = range->from - (range->from < scan->reach ? range->from : scan->reach);
    scan->bytes = scan->batch->bytes + span.offset + scan->skipped;
    add_text(scan, 0, range->to - scan->skipped, range->first);
}

/* Items from range.first on that lie close one behind another. */
static void take_items(struct scan *scan)
{
    const struct sl_batch *batch = scan->batch;
    const uint32_t begin = batch->payload[scan->range.first].offset;
    uint32_t item = scan->range.first;

    scan->skipped = 0;
    scan->bytes = batch->bytes + begin;
    do {
        const uint32_t offset = batch->payload[item].offset - begin;

        add_text(scan, offset, offset + batch->payload[item].len, item);
        item++;
    } while (item < batch->n_items && scan->n_texts < TEXTS_MAX && scan->len < UNIT_LEN &&
             batch->payload[item].len <= PART_LEN && batch->payload[item].offset >= begin &&
             batch->payload[item].offset - begin - scan->len <= GAP_MAX);
    scan->range.last = item;
    scan->range.to = UINT32_MAX;
}

/* The next unit; false: all of the batch has been scanned. */
static bool next_unit(struct scan *scan)
{
    struct ac_range *range = &scan->range;
    const struct sl_span *payload = scan->batch->payload;

    if (range->last > range->first) {
        const bool is_part = range->to < payload[range->first].len;

        range->first = is_part ? range->first : range->last;
        range->from = is_part ? range->to : 0;
    }
    if (range->first == scan->batch->n_items)
        return false;
    scan->n_texts = 0;
    scan->len = 0;
    if (payload[range->first].len > PART_LEN)
        take_part(scan);
    else
        take_items(scan);
    scan->gram->begin[scan->n_texts] = UINT32_MAX;
    scan->gram->end[scan->n_texts] = UINT32_MAX;
    return true;
}

/* Of all literals, or of those alone that the automaton does not have. */
static void scan_chunks(struct scan *scan)
{
    const struct gram_table *body = scan->view->body;

    for (uint32_t from = 0, to; from < scan->len && scan->left >= 0; from = to) {
        to = scan->len - from < GRAM_CHUNK ? scan->len : from + GRAM_CHUNK;
        scan_windows(scan, from, to);
        if (scan->left_out == 0 && body->n_runs != 0)
            scan_runs(scan, from, to);
        if (scan->left_out == 0 && body->n_tiny != 0)
            scan_tiny(scan, from, to);
    }
}

/* False: it became too dear, and not all has been found. */
static bool scan_unit(struct scan *scan)
{
    scan->left_out = 0;
    scan->left = WORK_FREE + (int64_t)scan->len;
    scan_chunks(scan);
    return scan->left >= 0;
}

/* The rest, which the automaton does not scan: its cost needs no count. */
static void scan_cheap(struct scan *scan)
{
    scan->left_out = GRAM_ENTRY_DEAR;
    scan->left = INT64_MAX;
    if (scan->view->body->n_cheap != 0)
        scan_chunks(scan);
}

/* ---- the automaton --------------------------------------------------------------------------- */

/* Units in a row are scanned together: the automaton goes over eight texts at a time. */
static void add_to_detour(struct ac_range *detour, const struct ac_range *range)
{
    if (detour->first == detour->last)
        *detour = *range;
    detour->last = range->last;
    detour->to = range->to;
}

static void take_detour(const struct scan *scan, struct ac_range *detour)
{
    const struct sl_mpm_table *table = scan->gram->cpu.table;
    const struct ac_view ac = ac_view_at(table, scan->view->body->automaton);

    if (detour->first != detour->last)
        ac_scan_range(&ac, scan->reach, scan->batch, *detour, scan->kinds, scan->hits);
    detour->last = detour->first;
}

static enum sl_status gram_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                struct sl_hits *hits)
{
    const struct sl_mpm_table *table = cpu->table;
    const struct gram_view view = gram_view(table);
    struct scan scan = {.gram = (struct gram_cpu *)cpu,
                        .view = &view,
                        .batch = batch,
                        .kinds = mpm_kinds(&cpu->limits, batch),
                        .hits = hits,
                        .reach = table->max_len > 0 ? table->max_len - 1 : 0};
    struct ac_range detour = {0};
    uint32_t n_to_add = 0;

    while (next_unit(&scan)) {
        const size_t n_hits = hits->n;

        if (n_to_add == 0 && scan_unit(&scan))
            continue;
        if (n_to_add == 0) {
            hits->n = n_hits;
            n_to_add = DETOUR;
        }
        scan_cheap(&scan);
        add_to_detour(&detour, &scan.range);
        if (--n_to_add == 0)
            take_detour(&scan, &detour);
    }
    take_detour(&scan, &detour);
    return SL_OK;
}

enum sl_status gram_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    return cpu_backend_submit((struct cpu_context *)context, batch, hits, gram_scan);
}

static uint32_t shortest_run(const struct gram_table *body)
{
    uint32_t min = UINT8_MAX;

    for (uint32_t byte = 0; byte < 256; byte++)
        if (body->run_min[byte] != 0)
            min = (uint32_t)least(min, body->run_min[byte]);
    return min;
}

enum sl_status gram_open(void **context, const void *table, const struct sl_limits *limits,
                         const struct gram_filters *filters, struct sl_diag *diag)
{
    const enum sl_status status = reserved_check(limits->reserved, diag);

    if (status != SL_OK)
        return status;
    struct gram_cpu *gram = (struct gram_cpu *)calloc(1, sizeof *gram);
    if (gram == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    gram->cpu.table = (const struct sl_mpm_table *)table;
    gram->cpu.limits = *limits;
    gram->filters = filters;
    gram->run_min = shortest_run(gram_view(gram->cpu.table).body);
    *context = gram;
    return SL_OK;
}

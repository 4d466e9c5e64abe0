/* SPDX-License-Identifier: MIT */
/* The matches of a batch. */
#include <stdlib.h>
#include <string.h>

#include "matcher.h"
#include "pending_samples.h"

enum {
    AHEAD = 24,   /* samples between a prefetch and its use */
    STAGES = 64,  /* samples in flight, a power of two above 2 * AHEAD */
    TOGETHER = 16 /* samples of an item that are looked up before one is compared */
};

/* ---- in stages ------------------------------------------------------------------------------- */

/* Samples pass through three stages. The bucket is prefetched. The fingerprint is looked up and the
 * source's bytes are prefetched. The bytes are compared. */
struct stages {
    const struct sl_batch *batch;
    const struct sl_hit *hits;
    uint32_t n_appended; /* items that are in the log */
    uint64_t hash[STAGES];
    uint64_t source[STAGES];
};

static void append_items(struct sl_matcher *m, struct stages *stages, uint32_t end)
{
    for (; stages->n_appended < end; stages->n_appended++) {
        const struct sl_span *const span = &stages->batch->payload[stages->n_appended];

        m->search.positions[stages->n_appended] = m->search.log.end;
        log_append(&m->search.log, stages->batch->bytes + span->offset, span->len);
        m->search.stats.bytes += span->len;
    }
}

static bool is_whole(const struct sl_matcher *m, const struct sl_batch *batch,
                     const struct sl_hit *hit)
{
    const uint32_t len = batch->payload[hit->item].len;

    return hit->offset <= len && len - hit->offset >= m->search.config.window;
}

static bool is_covered(const struct sl_matcher *m, const struct sl_hit *hit)
{
    return hit->item == m->search.covered_item &&
           hit->offset + m->search.config.window <= m->search.covered_end;
}

static void stage_prefetch(struct sl_matcher *m, struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];

    append_items(m, stages, hit->item + 1);
    stages->hash[i % STAGES] = index_hash(hit->id);
    if (!is_covered(m, hit) || m->search.renew) /* by then it will be, too */
        index_prefetch(&m->index, stages->hash[i % STAGES]);
}

/* Fetches the bytes of a source. Returns it, or SEARCH_NOWHERE: it is in the log no more. */
static uint64_t prefetch_source(const struct sl_matcher *m, uint64_t source)
{
    if (source < log_start(&m->search.log) || source >= m->search.log.end)
        return SEARCH_NOWHERE;

    const uint8_t *const there = m->search.log.bytes + log_at(&m->search.log, source);
    __builtin_prefetch(there);
    __builtin_prefetch(there + 64);
    return source;
}

static void stage_lookup(struct sl_matcher *m, struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];
    const uint64_t offset = m->search.positions[hit->item] + hit->offset;
    uint64_t *const source = &stages->source[i % STAGES];

    *source = SEARCH_NOWHERE;
    if (!is_whole(m, stages->batch, hit) || (is_covered(m, hit) && !m->search.renew))
        return;
    m->search.stats.probes++;
    *source = prefetch_source(m, index_put(&m->index, stages->hash[i % STAGES], offset));
}

static void stage_compare(struct sl_matcher *m, const struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];
    const uint64_t source = stages->source[i % STAGES];

    if (source != SEARCH_NOWHERE)
        search_consider(&m->search, stages->batch, hit, source);
}

static void match_in_stages(struct sl_matcher *m, const struct sl_batch *batch,
                            const struct sl_hit *hits, size_t n)
{
    struct stages stages = {.batch = batch, .hits = hits};

    for (size_t i = 0; i < n + 2 * AHEAD; i++) {
        if (i < n)
            stage_prefetch(m, &stages, i);
        if (i >= AHEAD && i - AHEAD < n)
            stage_lookup(m, &stages, i - AHEAD);
        if (i >= 2 * AHEAD)
            stage_compare(m, &stages, i - 2 * AHEAD);
    }
    append_items(m, &stages, batch->n_items);
}

/* ---- item by item ---------------------------------------------------------------------------- */

/* Where frames are acknowledged, no item of a batch is found by another. So an item's samples are
 * looked up few at a time, twice as many while nothing matches. Those inside a match are neither
 * looked up nor remembered, unless its source will soon be evicted. */
struct samples {
    const struct sl_batch *batch;
    const struct sl_hit *hits;
    size_t n;
};

static uint64_t look_up(struct sl_matcher *m, const struct samples *samples, size_t i)
{
    if (i + AHEAD < samples->n)
        index_prefetch(&m->index, index_hash(samples->hits[i + AHEAD].id));
    if (!is_whole(m, samples->batch, &samples->hits[i]))
        return SEARCH_NOWHERE;
    m->search.stats.probes++;
    return prefetch_source(m, index_get(&m->index, index_hash(samples->hits[i].id)));
}

/* A sample of new content is remembered at once, while its place is at hand: nothing refers to
 * bytes that are not acknowledged. One that has a source is remembered when its bytes are
 * acknowledged, for the source is found until then. */
static void remember(struct sl_matcher *m, const struct samples *samples, size_t i, bool is_new)
{
    const struct sl_hit *const hit = &samples->hits[i];
    const uint64_t hash = index_hash(hit->id);
    const uint64_t offset = m->search.positions[hit->item] + hit->offset;

    if (!is_whole(m, samples->batch, hit) || (is_covered(m, hit) && !m->search.renew))
        return;
    if (is_new)
        index_put(&m->index, hash, offset);
    else
        pending_push(&m->pending, hash, offset);
}

/* Returns whether the samples from begin on match. */
static bool match_samples(struct sl_matcher *m, const struct samples *samples, size_t begin,
                          size_t end)
{
    uint64_t sources[TOGETHER];
    const uint32_t covered = m->search.covered_end;

    for (size_t i = begin; i < end; i++)
        sources[i - begin] = look_up(m, samples, i);
    for (size_t i = begin; i < end; i++) {
        const bool is_new = sources[i - begin] == SEARCH_NOWHERE;

        if (!is_new)
            search_consider(&m->search, samples->batch, &samples->hits[i], sources[i - begin]);
        remember(m, samples, i, is_new);
    }
    return m->search.covered_end != covered;
}

static void match_item(struct sl_matcher *m, const struct samples *samples, size_t begin,
                       size_t end)
{
    size_t n = 1;

    m->search.covered_end = 0;
    for (size_t i = begin; i < end;) {
        if (is_covered(m, &samples->hits[i])) {
            remember(m, samples, i++, false);
            continue;
        }
        const size_t last = i + n < end ? i + n : end;

        n = match_samples(m, samples, i, last) ? 1 : n < TOGETHER ? 2 * n : TOGETHER;
        i = last;
    }
}

static void match_by_item(struct sl_matcher *m, const struct sl_batch *batch,
                          const struct sl_hit *hits, size_t n)
{
    const struct samples samples = {batch, hits, n};
    struct stages appending = {.batch = batch};
    size_t begin = 0;

    append_items(m, &appending, batch->n_items);
    for (uint32_t item = 0; item < batch->n_items; item++) {
        size_t end = begin;

        while (end < n && hits[end].item == item)
            end++;
        if (!search_goes_on(&m->search, batch, item, m->search.positions[item], &m->search.next)) {
            match_item(m, &samples, begin, end);
            search_expect(&m->search, batch);
        }
        search_end_item(&m->search, batch);
        begin = end;
    }
}

uint32_t matcher_expected(struct sl_matcher *m, const struct sl_batch *batch)
{
    struct search_next next = m->search.next;
    uint64_t position = m->search.log.end;
    uint32_t item = 0;

    while (item < batch->n_items && search_goes_on(&m->search, batch, item, position, &next))
        position += log_round(batch->payload[item++].len);
    m->search.n_found = 0;
    return item;
}

void matcher_match(struct sl_matcher *m, const struct sl_batch *batch, const struct sl_hit *hits,
                   size_t n)
{
    m->search.n_matches = 0;
    m->search.covered_end = 0;
    if (m->search.config.acknowledged)
        match_by_item(m, batch, hits, n);
    else
        match_in_stages(m, batch, hits, n);
    search_end_item(&m->search, batch);
    m->search.stats.samples += n;
}

/* SPDX-License-Identifier: MIT */
/* The matches of a batch: its samples go through three stages. */
#include <stdlib.h>
#include <string.h>

#include "matcher.h"
#include "pending_samples.h"

enum {
    AHEAD = 24, /* samples between a prefetch and its use */
    STAGES = 64 /* samples in flight, a power of two above 2 * AHEAD */
};

/* ---- a batch --------------------------------------------------------------------------------- */

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

static void stage_prefetch(struct sl_matcher *m, struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];

    append_items(m, stages, hit->item + 1);
    stages->hash[i % STAGES] = index_hash(hit->id);
    index_prefetch(&m->index, stages->hash[i % STAGES]);
}

static void stage_lookup(struct sl_matcher *m, struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];
    const uint64_t hash = stages->hash[i % STAGES];
    const uint64_t offset = m->search.positions[hit->item] + hit->offset;
    uint64_t *const source = &stages->source[i % STAGES];
    const uint32_t len = stages->batch->payload[hit->item].len;

    *source = SEARCH_NOWHERE;
    if (hit->offset > len || len - hit->offset < m->search.config.window)
        return;
    if (hit->item == m->search.covered_item &&
        hit->offset + m->search.config.window <= m->search.covered_end && !m->search.renew)
        return;

    m->search.stats.probes++;
    if (m->search.config.acknowledged) {
        *source = index_get(&m->index, hash);
        pending_push(&m->pending, hash, offset);
    } else {
        *source = index_put(&m->index, hash, offset);
    }
    if (*source >= log_start(&m->search.log) && *source < m->search.log.end) {
        const uint8_t *const there = m->search.log.bytes + log_at(&m->search.log, *source);

        __builtin_prefetch(there);
        __builtin_prefetch(there + 64);
    } else {
        *source = SEARCH_NOWHERE;
    }
}

static void stage_compare(struct sl_matcher *m, const struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];
    const uint64_t source = stages->source[i % STAGES];

    if (source != SEARCH_NOWHERE)
        search_consider(&m->search, stages->batch, hit, source);
}

void matcher_match(struct sl_matcher *m, const struct sl_batch *batch, const struct sl_hit *hits,
                   size_t n)
{
    struct stages stages = {.batch = batch, .hits = hits};

    m->search.n_matches = 0;
    m->search.covered_end = 0;
    for (size_t i = 0; i < n + 2 * AHEAD; i++) {
        if (i < n)
            stage_prefetch(m, &stages, i);
        if (i >= AHEAD && i - AHEAD < n)
            stage_lookup(m, &stages, i - AHEAD);
        if (i >= 2 * AHEAD)
            stage_compare(m, &stages, i - 2 * AHEAD);
    }
    append_items(m, &stages, batch->n_items);
    search_end_item(&m->search, batch);
    m->search.stats.samples += n;
}

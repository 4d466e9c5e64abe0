/* SPDX-License-Identifier: MIT */
#include "matcher.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "sluice/sampling.h"

enum {
    PENDING_EACH = 64, /* samples remembered for each frame in flight */
    PUT_AHEAD = 12     /* samples whose place in the index is fetched before it is needed */
};

void sl_redundancy_config_init(struct sl_redundancy_config *config)
{
    *config = (struct sl_redundancy_config){.cache_len = UINT64_C(64) << 20,
                                            .batch_len = 4 << 20,
                                            .max_items = 16384,
                                            .frame_max = 65535,
                                            .window = 32,
                                            .period = 32,
                                            .min_match = 32,
                                            .n_in_flight = 4096};
}

static enum sl_status out_of_range(struct sl_diag *diag, const char *name, uint64_t value,
                                   uint64_t lowest, uint64_t highest)
{
    return diag_set(diag, SL_EINVAL, NULL, 0,
                    "%s of %" PRIu64 " (expected %" PRIu64 " to %" PRIu64 ")", name, value, lowest,
                    highest);
}

enum sl_status matcher_check(const struct sl_redundancy_config *config, struct sl_diag *diag)
{
    const struct {
        const char *name;
        uint64_t value, lowest, highest;
    } ranges[] = {
        {"a cache", config->cache_len, SL_REDUNDANCY_CACHE_MIN, LOG_OFFSET_MAX / 4},
        {"an index", config->index_len, 0, LOG_OFFSET_MAX / 4},
        {"a batch", config->batch_len, SL_BATCH_ALIGN, UINT32_MAX},
        {"a number of items", config->max_items, 1, UINT32_MAX / 2},
        {"a longest packet", config->frame_max, 1, SL_FRAME_MAX},
        {"a window", config->window, SL_SAMPLING_WINDOW_MIN, SL_SAMPLING_WINDOW_MAX},
        {"a period", config->period, 1, SL_SAMPLING_PERIOD_MAX},
        {"a shortest match", config->min_match, SL_REFERENCE_MIN, config->frame_max},
        {"a number of frames in flight", config->n_in_flight, 1, 1 << 24},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].value < ranges[i].lowest || ranges[i].value > ranges[i].highest)
            return out_of_range(diag, ranges[i].name, ranges[i].value, ranges[i].lowest,
                                ranges[i].highest);
    const enum sl_status status = reserved_check(config->reserved, diag);
    if (status != SL_OK)
        return status;
    if (config->chunks && config->window < config->min_match)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "chunks of %u bytes are shorter than the shortest match, %u",
                        config->window, config->min_match);
    if ((config->n_in_flight & (config->n_in_flight - 1)) != 0)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%u frames in flight (expected a power of two)",
                        config->n_in_flight);
    return SL_OK;
}

uint64_t matcher_index_len(const struct sl_redundancy_config *config)
{
    /* Three quarters full, where sampling keeps its period. */
    return config->index_len != 0 ? config->index_len
                                  : config->cache_len / config->period * 8 / 3 * 4;
}

static enum sl_status allocate(struct sl_matcher *m, const struct sl_redundancy_config *config,
                               struct sl_diag *diag)
{
    enum sl_status status = search_create(&m->search, config, diag);
    if (status == SL_OK)
        status = log_create(&m->search.log, log_round(config->cache_len) + config->batch_len,
                            config->acknowledged, diag);
    if (status == SL_OK)
        status = index_create(&m->index, matcher_index_len(config), diag);
    if (status != SL_OK)
        return status;

    if (config->acknowledged) {
        m->pending.cap = (uint64_t)config->n_in_flight * PENDING_EACH;
        m->pending.entries = malloc(m->pending.cap * sizeof *m->pending.entries);
        if (m->pending.entries == NULL)
            return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u frames in flight",
                            config->n_in_flight);
    }
    return SL_OK;
}

enum sl_status sl_matcher_create(struct sl_matcher **matcher,
                                 const struct sl_redundancy_config *config, struct sl_diag *diag)
{
    enum sl_status status = matcher_check(config, diag);
    if (status != SL_OK)
        return status;

    struct sl_matcher *const m = calloc(1, sizeof *m);
    if (m == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a matcher");
    status = allocate(m, config, diag);
    if (status != SL_OK) {
        sl_matcher_free(m);
        return status;
    }
    *matcher = m;
    return SL_OK;
}

void sl_matcher_free(struct sl_matcher *matcher)
{
    if (matcher == NULL)
        return;
    log_free(&matcher->search.log);
    index_free(&matcher->index);
    search_free(&matcher->search);
    free(matcher->pending.entries);
    hits_scratch_free(&matcher->scratch);
    free(matcher);
}

void matcher_forget_pending(struct sl_matcher *m)
{
    m->pending.begin = m->pending.end;
    m->search.n_matches = 0;
}

void matcher_set_reach(struct sl_matcher *m, uint64_t cache_len)
{
    const uint64_t own = m->search.config.cache_len;

    m->search.reach = cache_len < own ? cache_len : own;
}

void matcher_restart(struct sl_matcher *m)
{
    matcher_forget_pending(m);
    m->search.reach = m->search.config.cache_len;
    m->search.next.source = SEARCH_NOWHERE;
    log_restart(&m->search.log, m->search.log.end);
}

/* Offsets begin anew: the index would point into the future. */
static void rewind_log(struct sl_matcher *m)
{
    matcher_restart(m);
    index_clear(&m->index);
    log_restart(&m->search.log, 0);
}

void matcher_acknowledge(struct sl_matcher *m, uint64_t offset, uint32_t len)
{
    const uint64_t first = pending_find(&m->pending, offset);

    if (offset < log_start(&m->search.log))
        return;
    log_set_known(&m->search.log, offset, len);
    for (uint64_t i = first; i < m->pending.end; i++) {
        const struct pending_sample *const sample = pending_at(&m->pending, i);

        if (sample->offset >= offset + len)
            break;
        /* Also those of the next frame, which feedback acknowledges at once, as a rule. */
        if (i + PUT_AHEAD < m->pending.end)
            index_prefetch(&m->index, pending_at(&m->pending, i + PUT_AHEAD)->hash);
        index_put(&m->index, sample->hash, sample->offset);
    }
}

void matcher_settle(struct sl_matcher *m, uint64_t offset)
{
    pending_leave(&m->pending, offset);
}

/* Limits first, then that each item's payload lies in the arena. */
enum sl_status matcher_check_batch(const struct sl_redundancy_config *config,
                                   const struct sl_batch *batch, struct sl_diag *diag)
{
    uint64_t total = 0;

    if (batch->memory == SL_MEMORY_DEVICE)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the batch lies in device memory");
    if (batch->n_items > config->max_items)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a batch of %u items (expected at most %u)",
                        batch->n_items, config->max_items);
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct sl_span *const span = &batch->payload[i];

        if (span->len > config->frame_max)
            return diag_set(diag, SL_EINVAL, NULL, 0, "item %u has %u bytes (expected at most %u)",
                            i, span->len, config->frame_max);
        total += log_round(span->len);
    }
    if (total > config->batch_len)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "a batch of %" PRIu64 " bytes (expected at most %u)", total,
                        config->batch_len);
    return SL_OK;
}

static bool is_sorted(const struct sl_hits *hits, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct sl_hit *const a = &hits->hit[i - 1], *const b = &hits->hit[i];

        if (a->item > b->item || (a->item == b->item && a->offset > b->offset))
            return false;
    }
    return true;
}

enum sl_status matcher_sort_hits(struct sl_hits *hits, const struct sl_batch *batch,
                                 struct hits_scratch *scratch, struct sl_diag *diag)
{
    const size_t n = hits->n < hits->cap ? hits->n : hits->cap;

    if (!is_sorted(hits, n)) {
        hits->in_order = false; /* for any list, which others may have changed */
        hits_sort(hits, scratch);
    }
    if (n > 0 && hits->hit[n - 1].item >= batch->n_items)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a hit in item %u of %u", hits->hit[n - 1].item,
                        batch->n_items);
    return SL_OK;
}

enum sl_status sl_matcher_batch(struct sl_matcher *matcher, const struct sl_batch *batch,
                                struct sl_hits *hits, const struct sl_match **matches,
                                size_t *n_matches, struct sl_diag *diag)
{
    const size_t n = hits->n < hits->cap ? hits->n : hits->cap;
    enum sl_status status = matcher_check_batch(&matcher->search.config, batch, diag);

    if (status == SL_OK)
        status = matcher_sort_hits(hits, batch, &matcher->scratch, diag);
    if (status != SL_OK)
        return status;
    if (matcher->search.log.end > LOG_EPOCH_MAX)
        rewind_log(matcher);
    matcher_match(matcher, batch, hits->hit, n);
    *matches = matcher->search.matches;
    *n_matches = matcher->search.n_matches;
    return SL_OK;
}

uint64_t sl_matcher_position(const struct sl_matcher *matcher, uint32_t item)
{
    return matcher->search.positions[item];
}

void sl_matcher_stats(const struct sl_matcher *matcher, struct sl_matcher_stats *stats)
{
    *stats = matcher->search.stats;
}

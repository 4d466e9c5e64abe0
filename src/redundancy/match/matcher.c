/* SPDX-License-Identifier: MIT */
#include "matcher.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "match_extent.h"
#include "sluice/sampling.h"

enum {
    AHEAD = 24,       /* samples between a prefetch and what waits for it */
    STAGES = 64,      /* samples under way, a power of two above 2 * AHEAD */
    LOOK_BACK = 64,   /* bytes of the last match that the next may always look into */
    PENDING_EACH = 64 /* samples remembered for each frame in flight */
};

#define NOWHERE UINT64_MAX

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
    if (config->chunks && config->window < config->min_match)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "chunks of %u bytes are shorter than the shortest match, %u",
                        config->window, config->min_match);
    if ((config->n_in_flight & (config->n_in_flight - 1)) != 0)
        return diag_set(diag, SL_EINVAL, NULL, 0, "%u frames in flight (expected a power of two)",
                        config->n_in_flight);
    return SL_OK;
}

static enum sl_status allocate(struct sl_matcher *m, struct sl_diag *diag)
{
    const struct sl_redundancy_config *const config = &m->config;
    /* Three quarters full, where sampling keeps its period. */
    const uint64_t index_len =
        config->index_len != 0 ? config->index_len : config->cache_len / config->period * 8 / 3 * 4;

    enum sl_status status = log_create(&m->log, log_round(config->cache_len) + config->batch_len,
                                       config->acknowledged, diag);
    if (status == SL_OK)
        status = index_create(&m->index, index_len, diag);
    if (status != SL_OK)
        return status;

    m->run_min =
        config->min_match / 2 > SL_REFERENCE_MIN ? config->min_match / 2 : SL_REFERENCE_MIN;
    m->found = malloc((config->frame_max / config->min_match + 1) * sizeof *m->found);
    m->matches = malloc((config->batch_len / SL_REFERENCE_MIN + 1) * sizeof *m->matches);
    m->positions = malloc(config->max_items * sizeof *m->positions);
    if (config->acknowledged) {
        m->pending.cap = (uint64_t)config->n_in_flight * PENDING_EACH;
        m->pending.entries = malloc(m->pending.cap * sizeof *m->pending.entries);
    }
    if (m->matches == NULL || m->found == NULL || m->positions == NULL ||
        (config->acknowledged && m->pending.entries == NULL))
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for batches of %u items",
                        config->max_items);
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
    m->config = *config;
    m->reach = config->cache_len;
    status = allocate(m, diag);
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
    log_free(&matcher->log);
    index_free(&matcher->index);
    free(matcher->positions);
    free(matcher->matches);
    free(matcher->found);
    free(matcher->pending.entries);
    hits_scratch_free(&matcher->scratch);
    free(matcher);
}

void matcher_restart(struct sl_matcher *m)
{
    m->pending.begin = m->pending.end;
    m->reach = m->config.cache_len;
    m->n_matches = 0;
    log_restart(&m->log, m->log.end);
}

/* Offsets begin anew: what the index holds would point into the future. */
static void rewind_log(struct sl_matcher *m)
{
    matcher_restart(m);
    index_clear(&m->index);
    log_restart(&m->log, 0);
}

/* ---- acknowledged samples -------------------------------------------------------------------- */

static struct pending_sample *pending_at(const struct pending_samples *pending, uint64_t i)
{
    return &pending->entries[i & (pending->cap - 1)];
}

static void pending_push(struct pending_samples *pending, uint64_t hash, uint64_t offset)
{
    if (pending->end - pending->begin == pending->cap)
        pending->begin++;
    *pending_at(pending, pending->end++) = (struct pending_sample){hash, offset};
}

/* The first entry whose offset is not below. */
static uint64_t pending_find(const struct pending_samples *pending, uint64_t offset)
{
    uint64_t low = pending->begin, high = pending->end;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (pending_at(pending, middle)->offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void matcher_acknowledge(struct sl_matcher *m, uint64_t offset, uint32_t len)
{
    const uint64_t first = pending_find(&m->pending, offset);

    if (offset < log_start(&m->log))
        return;
    log_set_known(&m->log, offset, len);
    for (uint64_t i = first; i < m->pending.end; i++) {
        const struct pending_sample *const sample = pending_at(&m->pending, i);

        if (sample->offset >= offset + len)
            break;
        index_put(&m->index, sample->hash, sample->offset);
    }
}

/* ---- one sample ------------------------------------------------------------------------------ */

/* What is being encoded. */
struct item {
    const uint8_t *bytes;
    uint64_t position; /* in the log */
    uint32_t number, len;
};

static struct item item_of(const struct sl_matcher *m, const struct sl_batch *batch,
                           uint32_t number)
{
    const struct sl_span *const span = &batch->payload[number];

    return (struct item){batch->bytes + span->offset, m->positions[number], number, span->len};
}

static struct sl_match *last_match(struct sl_matcher *m)
{
    return m->n_found > 0 ? &m->found[m->n_found - 1] : NULL;
}

/* The end of what the item's matches give. */
static uint32_t taken_until(const struct sl_matcher *m)
{
    return m->n_found > 0 ? m->found[m->n_found - 1].offset + m->found[m->n_found - 1].len : 0;
}

/* The lowest log offset that the item may refer to. */
static uint64_t lowest_source(const struct sl_matcher *m, const struct item *item)
{
    const uint64_t kept = item->position > m->reach ? item->position - m->reach : 0;

    return kept > m->log.floor ? kept : m->log.floor;
}

/* Bytes around the sample that its source has: what the comparison may look at. */
struct extent {
    uint64_t before, ahead;
};

static struct extent source_extent(const struct sl_matcher *m, const struct item *item,
                                   uint32_t offset, uint64_t source, uint64_t at)
{
    const bool inside = source >= item->position;
    const uint64_t lowest = inside ? item->position : lowest_source(m, item);
    struct extent extent = {source - lowest, m->log.len - at};

    if (extent.before > at)
        extent.before = at;
    if (extent.before > offset)
        extent.before = offset;
    /* From outside, a reference ends where its packet begins: it is decoded from the log alone. */
    if (!inside && extent.ahead > item->position - source)
        extent.ahead = item->position - source;
    if (extent.ahead > item->len - offset)
        extent.ahead = item->len - offset;
    if (m->log.known != NULL) {
        extent.ahead = log_run(&m->log, source, extent.ahead, true);
        extent.before = log_known_before(&m->log, source, extent.before);
    }
    return extent;
}

/* Takes a match in, less what the last one has of it. */
static void take_match(struct sl_matcher *m, const struct item *item, uint32_t begin, uint32_t end,
                       uint64_t source)
{
    const uint32_t taken = taken_until(m);

    if (begin < taken) {
        source += taken - begin;
        begin = taken;
    }
    if (end < begin + m->config.min_match)
        return;
    m->found[m->n_found++] = (struct sl_match){source, item->number, begin, end - begin};
    m->covered_item = item->number;
    m->covered_end = end;
    m->renew = source < item->position && item->position - source > m->config.cache_len / 2;
}

/* Bytes before the sample that are equal too. Where they reach back to the last match's beginning,
 * the new one replaces it, and may go on. How far it looks into the last one is bounded by the
 * bytes that it adds, so that all of this is linear in the bytes covered. */
static uint32_t expand_back(struct sl_matcher *m, const struct item *item, uint32_t offset,
                            uint32_t end, const uint8_t *there, uint64_t most)
{
    const struct sl_match *const last = last_match(m);
    const uint8_t *const here = item->bytes + offset;
    const uint32_t taken = taken_until(m);
    const uint64_t look = LOOK_BACK + 2 * (uint64_t)(end - taken);
    const uint32_t into = last == NULL ? 0 : last->len < look ? last->len : (uint32_t)look;
    const uint32_t lowest = taken - into;
    uint32_t limit = offset > lowest ? offset - lowest : 0;

    uint32_t n = (uint32_t)extent_before(here, there, most < limit ? most : limit);
    if (last == NULL || offset - n > last->offset)
        return n;
    m->n_found--;
    limit = offset - n - taken_until(m);
    most -= n;
    return n + (uint32_t)extent_before(here - n, there - n, most < limit ? most : limit);
}

/* A sample whose fingerprint was seen at `source`. */
static void consider(struct sl_matcher *m, const struct item *item, uint32_t offset,
                     uint64_t source)
{
    const uint32_t window = m->config.window;
    const uint32_t taken = taken_until(m);

    if (offset + window <= taken || (m->config.chunks && offset < taken))
        return;
    if (source < lowest_source(m, item) || source >= item->position + offset)
        return;

    const uint64_t at = log_at(&m->log, source);
    const struct extent extent = source_extent(m, item, offset, source, at);
    const uint8_t *const here = item->bytes + offset, *const there = m->log.bytes + at;
    if (extent.ahead < window || memcmp(here, there, window) != 0)
        return;
    if (m->config.chunks) {
        take_match(m, item, offset, offset + window, source);
        return;
    }

    const uint32_t end =
        offset + window +
        (uint32_t)extent_ahead(here + window, there + window, extent.ahead - window);
    const uint32_t before = expand_back(m, item, offset, end, there, extent.before);
    take_match(m, item, offset - before, end, source - before);
}

/* ---- between matches ------------------------------------------------------------------------- */

static void give_match(struct sl_matcher *m, const struct sl_match *match)
{
    m->matches[m->n_matches++] = *match;
    m->stats.matches++;
    m->stats.matched_bytes += match->len;
}

/* Runs of bytes in [begin, end) of the item that equal those from `source` on, place by place.
 * Returns the end of the last one. */
static uint32_t give_runs(struct sl_matcher *m, const struct item *item, uint32_t begin,
                          uint32_t end, uint64_t source)
{
    const uint8_t *const here = item->bytes + begin;
    const uint8_t *const there = m->log.bytes + log_at(&m->log, source);
    const uint32_t len = end - begin;
    uint32_t done = 0;

    for (uint32_t i = 0; i + 8 <= len;) {
        if (extent_load(here + i) != extent_load(there + i)) {
            i += 8;
            continue;
        }
        const uint32_t before = (uint32_t)extent_before(here + i, there + i, i - done);
        const uint32_t after = 8 + (uint32_t)extent_ahead(here + i + 8, there + i + 8, len - i - 8);

        if (before + after >= m->run_min) {
            give_match(m, &(struct sl_match){source + i - before, item->number, begin + i - before,
                                             before + after});
            done = i + after;
        }
        i += after;
    }
    return begin + done;
}

/* Behind a match: what follows its source. Returns the end of the last run. */
static uint32_t give_following(struct sl_matcher *m, const struct item *item, uint32_t end,
                               const struct sl_match *left)
{
    const uint32_t begin = left->offset + left->len;
    const uint64_t source = left->source + left->len;

    if (source == item->position)
        return begin;
    const struct extent extent = source_extent(m, item, begin, source, log_at(&m->log, source));
    const uint32_t n = extent.ahead < end - begin ? (uint32_t)extent.ahead : end - begin;
    return give_runs(m, item, begin, begin + n, source);
}

/* Before a match: what precedes its source. */
static void give_preceding(struct sl_matcher *m, const struct item *item, uint32_t begin,
                           const struct sl_match *right)
{
    const struct extent extent =
        source_extent(m, item, right->offset, right->source, log_at(&m->log, right->source));
    const uint32_t end = right->offset;
    const uint32_t n = extent.before < end - begin ? (uint32_t)extent.before : end - begin;

    give_runs(m, item, end - n, end, right->source - n);
}

/* Content that was changed at places goes on at the distance where it was: what lies between two
 * matches is compared with what follows the one's source, and with what precedes the other's. */
static void give_gap(struct sl_matcher *m, const struct item *item, uint32_t begin, uint32_t end,
                     const struct sl_match *left, const struct sl_match *right)
{
    if (left != NULL && end - begin >= m->run_min)
        begin = give_following(m, item, end, left);
    if (right != NULL && end - begin >= m->run_min)
        give_preceding(m, item, begin, right);
}

/* The matches of an item are all found. */
static void end_item(struct sl_matcher *m, const struct sl_batch *batch)
{
    const struct item item = item_of(m, batch, m->found[0].item);
    const struct sl_match *left = NULL;
    uint32_t begin = 0;

    for (size_t i = 0; i < m->n_found; i++) {
        const struct sl_match *const match = &m->found[i];

        if (!m->config.chunks)
            give_gap(m, &item, begin, match->offset, left, match);
        give_match(m, match);
        begin = match->offset + match->len;
        left = match;
    }
    if (!m->config.chunks)
        give_gap(m, &item, begin, item.len, left, NULL);
    m->n_found = 0;
}

/* ---- a batch --------------------------------------------------------------------------------- */

/* Samples on their way through three stages: the bucket is prefetched; it is looked up and the
 * source's bytes are prefetched; these are compared. */
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

        m->positions[stages->n_appended] = m->log.end;
        log_append(&m->log, stages->batch->bytes + span->offset, span->len);
        m->stats.bytes += span->len;
    }
}

static void stage_prefetch(struct sl_matcher *m, struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];

    append_items(m, stages, hit->item + 1);
    stages->hash[i % STAGES] = index_hash(hit->id);
    index_prefetch(&m->index, stages->hash[i % STAGES]);
}

static void stage_look_up(struct sl_matcher *m, struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];
    const uint64_t hash = stages->hash[i % STAGES];
    const uint64_t offset = m->positions[hit->item] + hit->offset;
    uint64_t *const source = &stages->source[i % STAGES];
    const uint32_t len = stages->batch->payload[hit->item].len;

    *source = NOWHERE;
    if (hit->offset > len || len - hit->offset < m->config.window)
        return;
    if (hit->item == m->covered_item && hit->offset + m->config.window <= m->covered_end &&
        !m->renew)
        return;

    m->stats.probes++;
    if (m->config.acknowledged) {
        *source = index_get(&m->index, hash);
        pending_push(&m->pending, hash, offset);
    } else {
        *source = index_put(&m->index, hash, offset);
    }
    if (*source >= log_start(&m->log) && *source < m->log.end) {
        const uint8_t *const there = m->log.bytes + log_at(&m->log, *source);

        __builtin_prefetch(there);
        __builtin_prefetch(there + 64);
    } else {
        *source = NOWHERE;
    }
}

static void stage_compare(struct sl_matcher *m, const struct stages *stages, size_t i)
{
    const struct sl_hit *const hit = &stages->hits[i];
    const uint64_t source = stages->source[i % STAGES];

    if (source == NOWHERE)
        return;
    m->stats.found++;
    if (m->n_found > 0 && m->found[0].item != hit->item)
        end_item(m, stages->batch);
    const struct item item = item_of(m, stages->batch, hit->item);
    consider(m, &item, hit->offset, source);
}

static void match_batch(struct sl_matcher *m, const struct sl_batch *batch,
                        const struct sl_hit *hits, size_t n)
{
    struct stages stages = {.batch = batch, .hits = hits};

    m->n_matches = 0;
    m->covered_end = 0;
    for (size_t i = 0; i < n + 2 * AHEAD; i++) {
        if (i < n)
            stage_prefetch(m, &stages, i);
        if (i >= AHEAD && i - AHEAD < n)
            stage_look_up(m, &stages, i - AHEAD);
        if (i >= 2 * AHEAD)
            stage_compare(m, &stages, i - 2 * AHEAD);
    }
    append_items(m, &stages, batch->n_items);
    if (m->n_found > 0)
        end_item(m, batch);
    m->stats.samples += n;
}

/* Limits first, then that each item's payload lies in the arena. */
static enum sl_status check_batch(const struct sl_matcher *m, const struct sl_batch *batch,
                                  struct sl_diag *diag)
{
    uint64_t total = 0;

    if (batch->memory == SL_MEMORY_DEVICE)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the batch lies in device memory");
    if (batch->n_items > m->config.max_items)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a batch of %u items (expected at most %u)",
                        batch->n_items, m->config.max_items);
    for (uint32_t i = 0; i < batch->n_items; i++) {
        const struct sl_span *const span = &batch->payload[i];

        if (span->len > m->config.frame_max)
            return diag_set(diag, SL_EINVAL, NULL, 0, "item %u has %u bytes (expected at most %u)",
                            i, span->len, m->config.frame_max);
        total += log_round(span->len);
    }
    if (total > m->config.batch_len)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "a batch of %" PRIu64 " bytes (expected at most %u)", total,
                        m->config.batch_len);
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

enum sl_status sl_matcher_batch(struct sl_matcher *matcher, const struct sl_batch *batch,
                                struct sl_hits *hits, const struct sl_match **matches,
                                size_t *n_matches, struct sl_diag *diag)
{
    const size_t n = hits->n < hits->cap ? hits->n : hits->cap;
    const enum sl_status status = check_batch(matcher, batch, diag);

    if (status != SL_OK)
        return status;
    if (!is_sorted(hits, n)) {
        hits->in_order = false; /* whatever is said of a list that others may have changed */
        hits_sort(hits, &matcher->scratch);
    }
    if (n > 0 && hits->hit[n - 1].item >= batch->n_items)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a hit in item %u of %u", hits->hit[n - 1].item,
                        batch->n_items);
    if (matcher->log.end > LOG_EPOCH_MAX)
        rewind_log(matcher);
    match_batch(matcher, batch, hits->hit, n);
    *matches = matcher->matches;
    *n_matches = matcher->n_matches;
    return SL_OK;
}

const struct sl_match *matcher_of_item(const struct sl_matcher *m, uint32_t item, size_t *cursor,
                                       size_t *n)
{
    size_t at = *cursor, end;

    if (at > 0 && m->matches[at - 1].item >= item)
        at = 0;
    while (at < m->n_matches && m->matches[at].item < item)
        at++;
    for (end = at; end < m->n_matches && m->matches[end].item == item; end++)
        ;
    *cursor = end;
    *n = end - at;
    return m->matches + at;
}

uint64_t sl_matcher_position(const struct sl_matcher *matcher, uint32_t item)
{
    return matcher->positions[item];
}

void sl_matcher_stats(const struct sl_matcher *matcher, struct sl_matcher_stats *stats)
{
    *stats = matcher->stats;
}

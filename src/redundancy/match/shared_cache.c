/* SPDX-License-Identifier: MIT */
#include "shared_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "matcher.h"

enum {
    AHEAD = 16,            /* samples between a prefetch of the index and its use */
    COMPARE_AHEAD = 12,    /* the same of the log */
    PACKET_LEN = 256,      /* log bytes: of longer packets a cacheful can wait */
    WAITING_MIN = 1024,    /* entries */
    STEP_BACK = 1000000000 /* ns: a clock that steps back further begins anew */
};

/* ---- the cache ------------------------------------------------------------------------------- */

/* The buckets of a part: a number that can grow from its begin by doubling. */
static uint64_t part_buckets(const struct sl_redundancy_config *config)
{
    const uint64_t n = matcher_index_len(config) / sizeof(struct index_bucket) / CACHE_PARTS;

    return n > INDEX_BEGIN ? n / INDEX_BEGIN * INDEX_BEGIN : n > 0 ? n : 1;
}

/* The guard lets a match cross the ring's end, so no match depends on where that is. */
static enum sl_status create_ring(struct packet_log *log, const struct sl_redundancy_config *config,
                                  uint32_t n_batches, struct sl_diag *diag)
{
    const uint64_t guard = 2 * log_round(config->frame_max);
    const uint64_t kept = log_round(config->cache_len) + n_batches * log_round(config->batch_len);
    const enum sl_status status =
        log_create(log, (kept > guard ? kept : guard) + guard, false, diag);

    log->len -= guard;
    log->guard = guard;
    return status;
}

static uint64_t waiting_cap(uint64_t n)
{
    uint64_t cap = WAITING_MIN;

    while (cap < n)
        cap *= 2;
    return cap;
}

/* Room for the samples and packets of a whole cache: older ones cannot be found. */
static enum sl_status create_waiting(struct shared_cache *cache,
                                     const struct sl_redundancy_config *config,
                                     struct sl_diag *diag)
{
    const uint64_t n_packets = waiting_cap(config->cache_len / PACKET_LEN);
    const uint64_t each = waiting_cap(config->cache_len / config->period / CACHE_PARTS);

    cache->n_waiting = n_packets + each * CACHE_PARTS;
    cache->waiting = memory_map(cache->n_waiting * sizeof *cache->waiting, "what waits", diag);
    if (cache->waiting == NULL)
        return SL_ENOMEM;
    cache->packets = (struct waiting){.entries = cache->waiting, .cap = n_packets};
    for (uint32_t i = 0; i < CACHE_PARTS; i++)
        cache->parts[i].samples =
            (struct waiting){.entries = cache->waiting + n_packets + i * each, .cap = each};
    return SL_OK;
}

enum sl_status shared_cache_create(struct shared_cache *cache,
                                   const struct sl_redundancy_config *config, uint32_t n_batches,
                                   int64_t delay_ns, struct sl_diag *diag)
{
    const uint64_t each = part_buckets(config);
    enum sl_status status = matcher_check(config, diag);

    if (status != SL_OK)
        return status;
    *cache =
        (struct shared_cache){.n_buckets = index_room(each, CACHE_PARTS_LOG), .delay_ns = delay_ns};
    status = create_ring(&cache->log, config, n_batches, diag);
    if (status != SL_OK)
        return status;
    cache->buckets = memory_map(cache->n_buckets * sizeof *cache->buckets, "an index", diag);
    cache->parts = aligned_alloc(64, CACHE_PARTS * sizeof *cache->parts);
    if (cache->buckets == NULL)
        return SL_ENOMEM;
    if (cache->parts == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for an index");
    for (uint32_t i = 0; i < CACHE_PARTS; i++) {
        cache->parts[i] = (struct cache_part){.end = 0};
        index_place(&cache->parts[i].index, cache->buckets, each, CACHE_PARTS_LOG, i);
    }
    return delay_ns > 0 ? create_waiting(cache, config, diag) : SL_OK;
}

void shared_cache_free(struct shared_cache *cache)
{
    memory_unmap(cache->log.bytes, cache->log.len + cache->log.guard);
    memory_unmap(cache->buckets, cache->n_buckets * sizeof *cache->buckets);
    memory_unmap(cache->waiting, cache->n_waiting * sizeof *cache->waiting);
    free(cache->parts);
}

/* ---- a batch --------------------------------------------------------------------------------- */

enum sl_status cached_batch_create(struct cached_batch *cached, uint32_t max_items, bool delayed,
                                   struct sl_diag *diag)
{
    *cached = (struct cached_batch){.place = malloc(max_items * sizeof *cached->place)};
    if (delayed)
        cached->until = malloc(max_items * sizeof *cached->until);
    return cached->place != NULL && (cached->until != NULL || !delayed)
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for batches of %u items", max_items);
}

void cached_batch_free(struct cached_batch *cached)
{
    free(cached->place);
    free(cached->until);
    free(cached->source);
    free(cached->sample);
}

static enum sl_status make_room(struct cached_batch *cached, size_t n, struct sl_diag *diag)
{
    if (n <= cached->cap)
        return SL_OK;
    free(cached->source);
    free(cached->sample);
    cached->cap = n + n / 4;
    cached->source = malloc(cached->cap * sizeof *cached->source);
    cached->sample = malloc(cached->cap * sizeof *cached->sample);
    if (cached->source != NULL && cached->sample != NULL)
        return SL_OK;
    cached->cap = 0;
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %zu samples", n);
}

static void place_items(struct cached_batch *cached, const struct sl_batch *batch)
{
    uint64_t place = 0;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        cached->place[item] = (uint32_t)place;
        place += log_round(batch->payload[item].len);
    }
    cached->room = place;
}

static uint32_t part_of(uint64_t hash)
{
    return (uint32_t)(hash >> (64 - CACHE_PARTS_LOG));
}

static bool is_whole(const struct sl_batch *batch, const struct sl_hit *hit, uint32_t window)
{
    const uint32_t len = batch->payload[hit->item].len;

    return hit->offset <= len && len - hit->offset >= window;
}

/* Sets begin_of: the samples of each part are counted, and added up. Those whose window leaves the
 * payload are in no part. */
static void count_parts(struct cached_batch *cached, const struct sl_batch *batch,
                        const struct sl_hit *hits, uint32_t window)
{
    uint32_t count[CACHE_PARTS] = {0}, sum = 0;

    for (size_t i = 0; i < cached->n; i++)
        if (is_whole(batch, &hits[i], window))
            count[part_of(index_hash(hits[i].id))]++;
    for (uint32_t part = 0; part < CACHE_PARTS; part++) {
        cached->begin_of[part] = sum;
        sum += count[part];
    }
    cached->begin_of[CACHE_PARTS] = sum;
}

enum sl_status cached_batch_set(struct cached_batch *cached, const struct sl_batch *batch,
                                const struct sl_hit *hits, size_t n, uint32_t window,
                                struct sl_diag *diag)
{
    uint32_t next[CACHE_PARTS];
    const enum sl_status status = make_room(cached, n, diag);

    if (status != SL_OK)
        return status;
    cached->n = n;
    place_items(cached, batch);
    count_parts(cached, batch, hits, window);
    memcpy(next, cached->begin_of, sizeof next);
    for (size_t i = 0; i < n; i++) {
        const uint64_t hash = index_hash(hits[i].id);

        cached->source[i] = SEARCH_NOWHERE;
        if (is_whole(batch, &hits[i], window))
            cached->sample[next[part_of(hash)]++] = (struct cached_sample){
                hash, (uint32_t)i, cached->place[hits[i].item] + hits[i].offset};
    }
    return SL_OK;
}

/* ---- a part takes a batch -------------------------------------------------------------------- */

/* The index of a place that is less than a ring behind the ring's end. */
static uint64_t ring_index(const struct shared_cache *cache, uint64_t at)
{
    return at < cache->log.len ? at : at - cache->log.len;
}

static void put_item(const struct packet_log *log, uint64_t at, const uint8_t *bytes, uint32_t len)
{
    const uint64_t end = at + log_round(len);

    log_put(log, at, bytes, len);
    if (at < log->guard)
        memcpy(log->bytes + log->len + at, log->bytes + at,
               end < log->guard ? end - at : log->guard - at);
    if (end > log->len)
        memcpy(log->bytes + log->len, log->bytes, end - log->len);
}

/* Each part copies a share of the items, so that no thread copies them all. */
static void copy_share(const struct shared_cache *cache, const struct cached_batch *cached,
                       const struct sl_batch *batch, uint32_t part, uint64_t begin_at)
{
    const uint32_t begin = (uint32_t)((uint64_t)batch->n_items * part / CACHE_PARTS);
    const uint32_t end = (uint32_t)((uint64_t)batch->n_items * (part + 1) / CACHE_PARTS);

    for (uint32_t item = begin; item < end; item++) {
        const struct sl_span *const span = &batch->payload[item];

        if (span->len != 0)
            put_item(&cache->log, ring_index(cache, begin_at + cached->place[item]),
                     batch->bytes + span->offset, span->len);
    }
}

/* `begin`: the batch's, in the log. */
static void look_up(struct cache_part *taker, struct cached_batch *cached, uint32_t part,
                    uint64_t begin)
{
    const struct cached_sample *const sample = cached->sample;
    const uint32_t end = cached->begin_of[part + 1];

    for (uint32_t i = cached->begin_of[part]; i < end; i++) {
        if (i + AHEAD < end)
            index_prefetch(&taker->index, sample[i + AHEAD].hash);
        cached->source[sample[i].number] =
            index_put(&taker->index, sample[i].hash, begin + sample[i].place);
    }
}

/* ---- what waits ------------------------------------------------------------------------------ */

static void set_time(struct waiting *waiting, int64_t time_ns)
{
    if (time_ns > waiting->now || waiting->now - time_ns > STEP_BACK)
        waiting->now = time_ns;
}

static const struct waiting_entry *oldest(const struct waiting *waiting)
{
    return &waiting->entries[waiting->begin & (waiting->cap - 1)];
}

/* Whether the oldest has waited so long. Where the clock began anew, entries from before have. */
static bool has_waited(const struct waiting *waiting, int64_t delay_ns)
{
    const int64_t waited = waiting->now - oldest(waiting)->time_ns;

    return waiting->begin != waiting->end && (waited >= delay_ns || waited < 0);
}

static void wait_for_it(struct waiting *waiting, uint64_t hash, uint64_t offset)
{
    waiting->begin += waiting->end - waiting->begin == waiting->cap;
    waiting->entries[waiting->end++ & (waiting->cap - 1)] =
        (struct waiting_entry){hash, offset, waiting->now};
}

/* Where the log ends that each item may refer to. */
static void set_ends(struct shared_cache *cache, struct cached_batch *cached,
                     const struct sl_batch *batch)
{
    struct waiting *const packets = &cache->packets;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint64_t position = cached->begin + cached->place[item];

        set_time(packets, batch->origin[item].time_ns);
        while (has_waited(packets, cache->delay_ns))
            packets->begin++;
        cached->until[item] = packets->begin != packets->end ? oldest(packets)->offset : position;
        if (batch->payload[item].len != 0)
            wait_for_it(packets, 0, position);
    }
}

/* As look_up, but a sample is put where it has waited. */
static void look_up_later(struct cache_part *taker, struct cached_batch *cached,
                          const struct sl_batch *batch, uint32_t part, int64_t delay_ns)
{
    struct waiting *const samples = &taker->samples;
    uint32_t item = 0;

    for (uint32_t i = cached->begin_of[part]; i < cached->begin_of[part + 1]; i++) {
        const struct cached_sample *const sample = &cached->sample[i];

        while (item + 1 < batch->n_items && cached->place[item + 1] <= sample->place)
            item++;
        set_time(samples, batch->origin[item].time_ns);
        for (; has_waited(samples, delay_ns); samples->begin++)
            (void)index_put(&taker->index, oldest(samples)->hash, oldest(samples)->offset);
        cached->source[sample->number] = index_get(&taker->index, sample->hash);
        wait_for_it(samples, sample->hash, taker->end + sample->place);
    }
}

void shared_cache_take(struct shared_cache *cache, struct cached_batch *cached,
                       const struct sl_batch *batch, uint32_t part)
{
    struct cache_part *const taker = &cache->parts[part];

    if (taker->end > LOG_EPOCH_MAX) { /* offsets begin anew, for each part with the same batch */
        index_clear(&taker->index);
        taker->samples.begin = taker->samples.end;
        taker->end = 0;
        if (part == 0)
            cache->packets.begin = cache->packets.end;
    }
    if (part == 0) {
        cached->begin = taker->end;
        cached->begin_at = taker->end_at;
        if (cache->delay_ns > 0)
            set_ends(cache, cached, batch);
    }
    copy_share(cache, cached, batch, part, taker->end_at);
    if (cache->delay_ns > 0)
        look_up_later(taker, cached, batch, part, cache->delay_ns);
    else
        look_up(taker, cached, part, taker->end);
    taker->end += cached->room;
    taker->end_at = ring_index(cache, taker->end_at + cached->room);
}

struct packet_log shared_cache_view(const struct shared_cache *cache,
                                    const struct cached_batch *cached)
{
    struct packet_log view = cache->log;

    view.end = cached->begin + cached->room;
    view.end_at = ring_index(cache, cached->begin_at + cached->room);
    return view;
}

/* ---- an order that the caller keeps ---------------------------------------------------------- */

void shared_cache_place(const struct shared_cache *cache, struct cached_batch *cached,
                        uint64_t ahead)
{
    cached->begin = cache->log.end + ahead;
    cached->begin_at = ring_index(cache, cache->log.end_at + ahead);
}

void shared_cache_copy(const struct shared_cache *cache, const struct cached_batch *cached,
                       const struct sl_batch *batch)
{
    for (uint32_t part = 0; part < CACHE_PARTS; part++)
        copy_share(cache, cached, batch, part, cached->begin_at);
}

void shared_cache_look_up(const struct shared_cache *cache, struct cached_batch *cached,
                          uint32_t part)
{
    look_up(&cache->parts[part], cached, part, cached->begin);
}

void shared_cache_advance(struct shared_cache *cache, const struct cached_batch *cached)
{
    cache->log = shared_cache_view(cache, cached);
}

enum sl_status shared_cache_load(struct shared_cache *cache, int fd, struct kept_log *kept,
                                 struct sl_diag *diag)
{
    struct packet_log *const log = &cache->log;
    const enum sl_status status = kept_read(fd, kept, log, diag);

    memcpy(log->bytes + log->len, log->bytes, log->guard);
    return status;
}

/* ---- matches --------------------------------------------------------------------------------- */

/* Fetches what sample i will be compared with. Where it lies behind the sample before as its source
 * does, that one's comparison reaches it. */
static void prefetch_source(const struct packet_log *log, const uint64_t *sources,
                            const struct sl_hit *hits, size_t i)
{
    const uint64_t source = sources[i];
    const struct sl_hit *const hit = &hits[i];

    if (source < log_start(log) || source >= log->end ||
        (i > 0 && hit[-1].item == hit->item &&
         source - sources[i - 1] == hit->offset - hit[-1].offset))
        return;
    const uint8_t *const there = log->bytes + log_at(log, source);

    __builtin_prefetch(there);
    __builtin_prefetch(there + 64);
}

void shared_cache_match(const struct shared_cache *cache, const struct cached_batch *cached,
                        const struct sl_batch *batch, const struct sl_hit *hits,
                        struct match_search *search)
{
    search->log = shared_cache_view(cache, cached);
    search->n_matches = 0;
    search->until = cached->until;
    for (uint32_t item = 0; item < batch->n_items; item++)
        search->positions[item] = cached->begin + cached->place[item];
    for (size_t i = 0; i < cached->n; i++) {
        if (i + COMPARE_AHEAD < cached->n)
            prefetch_source(&search->log, cached->source, hits, i + COMPARE_AHEAD);
        if (cached->source[i] != SEARCH_NOWHERE)
            search_consider(search, batch, &hits[i], cached->source[i]);
    }
    search_end_item(search, batch);
}

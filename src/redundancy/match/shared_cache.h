/* SPDX-License-Identifier: MIT */
/* A packet cache and its index that several threads fill. Batches have one order, and the index has
 * PARTS parts by fingerprint. A part takes one batch after another, in that order. Parts wait for
 * each other in nothing, so the result depends on no thread.
 *
 * A sample is looked up among all samples of the batches before, and those before it in its own.
 * The newest with its fingerprint counts, and the sample is then the newest itself. With a delay it
 * waits so long, by the packets' times, before it is found. A batch's bytes
 * are compared once every part has taken it. The ring keeps as many batches more than the cache as
 * are between the first part and the comparison. */
#ifndef REDUNDANCY_SHARED_CACHE_H
#define REDUNDANCY_SHARED_CACHE_H

#include "fingerprint_index.h"
#include "kept_log.h"
#include "match_search.h"
#include "packet_log.h"
#include "sluice/redundancy.h"

enum { CACHE_PARTS_LOG = 6, CACHE_PARTS = 1 << CACHE_PARTS_LOG };

/* Entries that a part has seen and does not find yet, in order: entry i at [i % cap]. The oldest
 * gives way. */
struct waiting {
    struct waiting_entry {
        uint64_t hash; /* of a sample */
        uint64_t offset;
        int64_t time_ns;
    } * entries;
    uint64_t cap; /* a power of two */
    uint64_t begin, end;
    int64_t now; /* the newest time */
};

/* A part, in cache lines of its own: it belongs to one thread at a time. */
struct cache_part {
    _Alignas(64) struct fingerprint_index index;
    uint64_t end, end_at;   /* of the log, behind the last batch that this part has taken */
    struct waiting samples; /* with a delay */
};

struct shared_cache {
    struct packet_log log; /* the ring; each part has an end of its own */
    struct index_bucket *buckets;
    uint64_t n_buckets; /* of all parts */
    struct cache_part *parts;
    int64_t delay_ns;              /* 0: none */
    struct waiting packets;        /* with a delay: of the first part, without hashes */
    struct waiting_entry *waiting; /* those of the packets, and of all parts' samples */
    uint64_t n_waiting;
};

/* A batch on its way through the cache. */
struct cached_batch {
    uint32_t *place; /* of each item: log bytes from the batch's begin on */
    uint64_t room;   /* log bytes of all items */
    size_t n;        /* samples; with room for `cap` */
    size_t cap;
    uint64_t *source; /* of each sample: where it was seen before, or SEARCH_NOWHERE */

    /* The samples by part. */
    uint32_t begin_of[CACHE_PARTS + 1];
    struct cached_sample {
        uint64_t hash;
        uint32_t number, place;
    } * sample;

    /* Once the first part has taken it. */
    uint64_t begin, begin_at; /* of the log */
    uint64_t *until;          /* with a delay: where the log ends that each item may refer to */
};

/* SL_EINVAL, SL_ENOMEM: as sl_matcher_create. n_batches: how many are between the first part and
 * the comparison. */
enum sl_status shared_cache_create(struct shared_cache *cache,
                                   const struct sl_redundancy_config *config, uint32_t n_batches,
                                   int64_t delay_ns, struct sl_diag *diag);
void shared_cache_free(struct shared_cache *cache);

enum sl_status cached_batch_create(struct cached_batch *cached, uint32_t max_items, bool delayed,
                                   struct sl_diag *diag);
void cached_batch_free(struct cached_batch *cached);

/* Any thread: sorts the samples of a batch, which was checked, by part. SL_ENOMEM. */
enum sl_status cached_batch_set(struct cached_batch *cached, const struct sl_batch *batch,
                                const struct sl_hit *hits, size_t n, uint32_t window,
                                struct sl_diag *diag);

/* Takes the batch into a part: a share of its bytes, and the part's samples. */
void shared_cache_take(struct shared_cache *cache, struct cached_batch *cached,
                       const struct sl_batch *batch, uint32_t part);

/* The log as it ends with this batch, once every part has taken it. */
struct packet_log shared_cache_view(const struct shared_cache *cache,
                                    const struct cached_batch *cached);

/* Finds the matches of such a batch by its samples, those of cached_batch_set: search->matches. */
void shared_cache_match(const struct shared_cache *cache, const struct cached_batch *cached,
                        const struct sl_batch *batch, const struct sl_hit *hits,
                        struct match_search *search);

/* The same in steps, without a delay, for a caller who keeps the order. A batch gets its place,
 * `ahead` bytes behind the log's end and less than a ring. Any thread sets its samples and copies
 * it. Each part looks up its share, one batch after another. The log's end moves behind a batch. */
void shared_cache_place(const struct shared_cache *cache, struct cached_batch *cached,
                        uint64_t ahead);
void shared_cache_copy(const struct shared_cache *cache, const struct cached_batch *cached,
                       const struct sl_batch *batch);
void shared_cache_look_up(const struct shared_cache *cache, struct cached_batch *cached,
                          uint32_t part);
void shared_cache_advance(struct shared_cache *cache, const struct cached_batch *cached);

/* Into a new cache: a log that was kept, without samples. Statuses are kept_read's. */
enum sl_status shared_cache_load(struct shared_cache *cache, int fd, struct kept_log *kept,
                                 struct sl_diag *diag);

#endif

/* SPDX-License-Identifier: MIT */
/* The hash plane on one core, many names at once: what one will read next is on its way into the
 * cache while the others are worked on.
 *
 * Who includes this defines how a bucket and a key are compared:
 *   uint32_t lanes_match(const uint64_t *bucket, uint64_t tag)   a bit for each slot with the tag
 *   bool lanes_key_is(const uint32_t *record, const struct fib_reader *name, uint32_t len) */
#ifndef FIB_HASH_LANES_H
#define FIB_HASH_LANES_H

#include "fib_hash_core.h"
#include "fib_internal.h"

enum { LANES = 64, DEEP_MAX = HASH_HEIGHT_MAX - 1 };

struct lane {
    struct fib_reader name;
    struct hash_candidate candidate;
    uint32_t level; /* to be probed next, at most the split */
    uint32_t n_deep;
    uint32_t end[HASH_SPLIT_MAX + 1];
    uint32_t deep_end[DEEP_MAX];
    uint64_t hash[HASH_SPLIT_MAX + 1];
    uint64_t deep_hash[DEEP_MAX];
};

/* Lanes that wait for the same step. */
struct queue {
    uint32_t n;
    uint8_t lane[LANES];
};

static inline void queue_add(struct queue *queue, uint32_t lane)
{
    queue->lane[queue->n++] = (uint8_t)lane;
}

/* As fib_component_end, on bytes that lie in one piece. */
static inline uint32_t lanes_component_end(const struct fib_reader *name, uint32_t at)
{
    const uint8_t *bytes = (const uint8_t *)name->words + at;
    uint32_t head;

    if (name->len - at >= 2 && (uint8_t)(bytes[0] - 1) < 252 && bytes[1] < 253)
        return bytes[1] <= name->len - at - 2 ? at + 2 + bytes[1] : at;
    return fib_component_end_slow(name, at, &head);
}

static inline uint64_t load8(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t lanes_hash(const struct fib_secret *secret, uint64_t hash,
                                  const struct fib_reader *name, uint32_t at, uint32_t end)
{
    const uint8_t *bytes = (const uint8_t *)name->words + at;
    uint32_t left = end - at;

    for (; left > 16; left -= 16, bytes += 16)
        hash = fib_hash_step(secret, hash, load8(bytes), load8(bytes + 8));

    const uint64_t low = left >= 8 ? ~UINT64_C(0) : ~(~UINT64_C(0) << left * 8);
    const uint64_t high = left >= 16 ? ~UINT64_C(0)
                          : left > 8 ? ~(~UINT64_C(0) << (left - 8) * 8)
                                     : 0;
    return fib_hash_step(secret, hash, load8(bytes) & low, load8(bytes + 8) & high);
}

static inline void fetch_bucket(const struct fib_view *view, uint64_t hash)
{
    __builtin_prefetch(hash_bucket(view, fib_place(hash, view->n_places[0])));
}

static inline struct hash_found lanes_probe(const struct fib_view *view, uint64_t hash)
{
    const uint64_t tag = hash_tag(hash);
    struct hash_found found = {0, 0};
    uint32_t place = fib_place(hash, view->n_places[0]);

    for (;;) {
        const uint64_t *bucket = hash_bucket(view, place);

        for (uint32_t match = lanes_match(bucket, tag); match != 0; match &= match - 1) {
            const uint64_t slot = fib_load64(&bucket[__builtin_ctz(match)]);

            if (hash_has_tag(slot, tag)) /* it may have changed since */
                hash_look_at(&found, slot);
        }
        if (hash_is_done(&found, fib_load64(&bucket[0])))
            return found;
        place = place + 1 != view->n_places[0] ? place + 1 : 0;
    }
}

/* The hashes down to the split, and the way to the bucket of the longest. */
static inline void begin_lane(const struct fib_view *view, struct lane *lane)
{
    uint32_t n = 0, at = 0;
    uint64_t hash = view->secret.start;

    while (n < view->split) {
        const uint32_t end = lanes_component_end(&lane->name, at);

        if (end == at)
            break;
        hash = lanes_hash(&view->secret, hash, &lane->name, at, end);
        n++;
        lane->hash[n] = hash;
        lane->end[n] = end;
        at = end;
    }
    lane->level = n;
    lane->candidate.piece = 0;
    if (n > 0)
        fetch_bucket(view, hash);
}

/* The hashes below the split, as far down as entries may be, and the ways to their buckets. */
static inline void begin_deep(const struct fib_view *view, struct lane *lane, uint32_t height)
{
    uint64_t hash = lane->hash[lane->level];
    uint32_t at = lane->end[lane->level], n = 0;

    while (n < height) {
        const uint32_t end = lanes_component_end(&lane->name, at);

        if (end == at)
            break;
        hash = lanes_hash(&view->secret, hash, &lane->name, at, end);
        fetch_bucket(view, hash);
        lane->deep_hash[n] = hash;
        lane->deep_end[n] = end;
        n++;
        at = end;
    }
    lane->n_deep = n;
}

/* A record may cross into the next line only where it is longer than a line. */
static inline void take_candidate(const struct fib_view *view, struct lane *lane, uint32_t piece,
                                  uint32_t len)
{
    lane->candidate.piece = piece;
    lane->candidate.len = len;
    __builtin_prefetch(hash_record(view, piece));
}

/* One probe at a lane's level; returns the queue that it goes on in. */
static inline struct queue *probe_lane(const struct fib_view *view, struct lane *lane,
                                       struct queue *up, struct queue *deep, struct queue *ready)
{
    const uint32_t level = lane->level;
    const struct hash_found found = lanes_probe(view, lane->hash[level]);

    if (found.piece != 0)
        take_candidate(view, lane, found.piece, lane->end[level]);
    if (level == view->split && found.height != 0) {
        if (found.height < HASH_HEIGHT_MAX) {
            begin_deep(view, lane, found.height);
            return deep;
        }
        hash_look_below(view, &lane->name, lane->hash[level], lane->end[level], found.height,
                        &lane->candidate);
    }
    if (lane->candidate.piece != 0)
        return ready;
    lane->level = level - 1;
    if (level == 1)
        return ready;
    fetch_bucket(view, lane->hash[level - 1]);
    return up;
}

/* From the bottom up to the split. */
static inline struct queue *probe_deep(const struct fib_view *view, struct lane *lane,
                                       struct queue *up, struct queue *ready)
{
    for (uint32_t i = lane->n_deep; i-- > 0;) {
        const struct hash_found found = lanes_probe(view, lane->deep_hash[i]);

        if (found.piece != 0) {
            take_candidate(view, lane, found.piece, lane->deep_end[i]);
            return ready;
        }
    }
    if (lane->candidate.piece != 0 || --lane->level == 0)
        return ready;
    fetch_bucket(view, lane->hash[lane->level]);
    return up;
}

static inline struct fib_answer end_lane(const struct fib_view *view, const struct lane *lane)
{
    const struct hash_candidate *candidate = &lane->candidate;

    if (candidate->piece == 0)
        return fib_root_answer(view);

    const uint32_t *record = hash_record(view, candidate->piece);
    if (!lanes_key_is(record, &lane->name, candidate->len))
        return hash_lookup_slow(view, &lane->name);
    return (struct fib_answer){fib_load32(record), candidate->len};
}

static inline void run_lanes(const struct fib_view *view, struct lane *lanes, uint32_t n)
{
    struct queue up = {0}, deep = {0}, ready = {0};

    for (uint32_t i = 0; i < n; i++) {
        begin_lane(view, &lanes[i]);
        if (lanes[i].level != 0)
            queue_add(&up, i);
    }
    while (up.n != 0) {
        const struct queue now = up;

        up.n = 0;
        deep.n = 0;
        for (uint32_t i = 0; i < now.n; i++)
            queue_add(probe_lane(view, &lanes[now.lane[i]], &up, &deep, &ready), now.lane[i]);
        for (uint32_t i = 0; i < deep.n; i++)
            queue_add(probe_deep(view, &lanes[deep.lane[i]], &up, &ready), deep.lane[i]);
    }
}

static inline void lanes_lookup(const struct fib_view *view, const struct sl_batch *batch,
                                uint32_t *next_hop, uint32_t *prefix_len)
{
    struct lane lanes[LANES];

    for (uint32_t first = 0; first < batch->n_items; first += LANES) {
        const uint32_t left = batch->n_items - first;
        const uint32_t n = left < LANES ? left : LANES;

        for (uint32_t i = 0; i < n; i++)
            lanes[i].name = fib_item(batch, first + i, 1);
        for (uint32_t i = first + n; i < batch->n_items && i < first + n + LANES; i++)
            __builtin_prefetch(batch->bytes + batch->payload[i].offset);
        run_lanes(view, lanes, n);
        for (uint32_t i = 0; i < n; i++) {
            const struct fib_answer answer = end_lane(view, &lanes[i]);

            next_hop[first + i] = answer.next_hop;
            if (prefix_len != NULL)
                prefix_len[first + i] = answer.len;
        }
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* The hash plane on one core, many names at once. The next read of one is on its way into the cache
 * while the others have their turn.
 *
 * Names go in groups of lanes down a pipeline. One group is hashed while the one before reads its
 * first buckets. Older groups read the further buckets that fewer lanes need, and the oldest reads
 * its records. So the memory always has about a group's loads to work on, and each load a group's
 * time to come back. A lane's outcome is unpredictable. So no branch tests it: lists collect all
 * lanes of a kind, which are then processed one after another.
 *
 * The file that includes this defines how a bucket and a key are compared:
 *   uint32_t lanes_match(const uint64_t *bucket, uint64_t tag, uint64_t *first)
 *     a bit for each slot with the tag; the first one's slot, 0 where there is none
 *   bool lanes_key_is(const uint32_t *record, const struct fib_reader *name, uint32_t len) */
#ifndef FIB_HASH_LANES_H
#define FIB_HASH_LANES_H

#include "fib_hash_core.h"
#include "names/fib/fib_internal.h"

enum {
    LANES = 32,
    PASSES = 6, /* over a group's buckets, each as much later as another group takes to be hashed */
    GROUPS = 8, /* in the pipeline and being filled: a power of two above PASSES + 1 */
    LEVELS = HASH_SPLIT_MAX + HASH_HEIGHT_MAX,
    SPANS_OF_LINE = 64 / sizeof(struct sl_span)
};

struct lanes {
    uint32_t first, n; /* items of the batch */
    uint32_t n_next, n_open;
    uint8_t next[LANES];   /* lanes before the first bucket of a level */
    uint8_t open[LANES];   /* and before further ones of it, or with slots that are odd */
    uint32_t level[LANES]; /* that is probed, 0: none left */
    _Alignas(64) uint64_t place[LANES];
    struct hash_found found[LANES]; /* at that level, in the buckets so far */
    struct hash_candidate candidate[LANES];
    _Alignas(64) uint64_t hash[LEVELS][LANES];
    _Alignas(64) uint32_t end[LEVELS][LANES];
};

typedef void lanes_hasher(const struct fib_view *view, const struct sl_batch *batch,
                          struct lanes *lanes);

/* ---- hashes ---------------------------------------------------------------------------------- */

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
    return fib_hash_step(secret, hash, fib_low_bytes(load8(bytes), left),
                         fib_low_bytes(load8(bytes + 8), left > 8 ? left - 8 : 0));
}

static inline void fetch_place(const struct fib_view *view, const struct lanes *lanes, uint32_t i)
{
    __builtin_prefetch(hash_bucket(view, (uint32_t)lanes->place[i]));
}

static inline void go_to_level(const struct fib_view *view, struct lanes *lanes, uint32_t i,
                               uint32_t level)
{
    lanes->level[i] = level;
    lanes->found[i] = (struct hash_found){0, 0};
    lanes->place[i] = fib_place(lanes->hash[level][i], view->n_places[0]);
    fetch_place(view, lanes, i);
}

/* Hashes from the level above on down to `last`, or where the name ends; returns that level. */
static inline uint32_t descend(const struct fib_view *view, const struct fib_reader *name,
                               struct lanes *lanes, uint32_t i, uint32_t above, uint32_t last)
{
    uint64_t hash = lanes->hash[above][i];
    uint32_t level = above, at = lanes->end[above][i];

    while (level < last) {
        const uint32_t end = lanes_component_end(name, at);

        if (end == at)
            break;
        hash = lanes_hash(&view->secret, hash, name, at, end);
        level++;
        lanes->hash[level][i] = hash;
        lanes->end[level][i] = end;
        at = end;
    }
    return level;
}

/* Down to the split, and the way to the bucket of the longest prefix. */
static inline void hash_lane(const struct fib_view *view, const struct sl_batch *batch,
                             struct lanes *lanes, uint32_t i)
{
    const struct fib_reader name = fib_item(batch, lanes->first + i, 1);

    go_to_level(view, lanes, i, descend(view, &name, lanes, i, 0, view->split));
}

static inline void hash_lanes(const struct fib_view *view, const struct sl_batch *batch,
                              struct lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->n; i++)
        hash_lane(view, batch, lanes, i);
}

/* ---- buckets --------------------------------------------------------------------------------- */

/* The lines with the record's first bytes and, where it is longer than one, with its last. Those
 * between come when they are asked for: few names have any. */
static inline void fetch_record(const struct fib_view *view, uint32_t piece, uint32_t len)
{
    const uint8_t *record = (const uint8_t *)hash_record(view, piece);

    __builtin_prefetch(record);
    __builtin_prefetch(record + len + 4);
}

static inline void take_candidate(const struct fib_view *view, struct lanes *lanes, uint32_t i,
                                  uint32_t piece)
{
    lanes->candidate[i] = (struct hash_candidate){piece, lanes->end[lanes->level[i]][i]};
    fetch_record(view, piece, lanes->candidate[i].len);
}

/* After a level without an entry; the split's own bucket was read before those below it. False:
 * the lane has its candidate, or there is none. */
static inline bool go_up(const struct fib_view *view, struct lanes *lanes, uint32_t i)
{
    uint32_t level = lanes->level[i] - 1;

    if (level == view->split && lanes->candidate[i].piece == 0)
        level--;
    if (level == view->split || level == 0)
        return false;
    go_to_level(view, lanes, i, level);
    return true;
}

/* Below the split, as far down as entries may be, or up where the name has nothing there. False:
 * the lane has its candidate, or there is none. */
static inline bool go_below(const struct fib_view *view, const struct sl_batch *batch,
                            struct lanes *lanes, uint32_t i, uint32_t height)
{
    const struct fib_reader name = fib_item(batch, lanes->first + i, 1);
    const uint32_t level = lanes->level[i];

    if (height == HASH_HEIGHT_MAX) {
        hash_search_below(view, &name, lanes->hash[level][i], lanes->end[level][i], height,
                          &lanes->candidate[i]);
        return lanes->candidate[i].piece == 0 && go_up(view, lanes, i);
    }
    const uint32_t bottom = descend(view, &name, lanes, i, level, level + height);
    if (bottom == level)
        return lanes->candidate[i].piece == 0 && go_up(view, lanes, i);
    go_to_level(view, lanes, i, bottom);
    return true;
}

/* One bucket of a lane; returns whether there is another one to read. */
static inline bool probe_lane(const struct fib_view *view, const struct sl_batch *batch,
                              struct lanes *lanes, uint32_t i)
{
    const uint32_t level = lanes->level[i];
    const uint64_t *bucket = hash_bucket(view, (uint32_t)lanes->place[i]);
    const uint64_t hash = lanes->hash[level][i], tag = hash_tag(hash);
    struct hash_found found = lanes->found[i];
    uint64_t slot;

    for (uint32_t match = lanes_match(bucket, tag, &slot); match != 0; match &= match - 1) {
        slot = fib_load64(&bucket[__builtin_ctz(match)]);
        if (hash_has_tag(slot, tag)) /* it may have changed since */
            hash_read_slot(&found, slot);
    }
    if (!hash_is_done(&found, fib_load64(&bucket[hash_filter(hash)]))) {
        lanes->found[i] = found;
        lanes->place[i] = lanes->place[i] + 1 != view->n_places[0] ? lanes->place[i] + 1 : 0;
        fetch_place(view, lanes, i);
        return true;
    }
    if (found.piece != 0)
        take_candidate(view, lanes, i, found.piece);
    if (level == view->split && found.height != 0)
        return go_below(view, batch, lanes, i, found.height);
    return found.piece == 0 && go_up(view, lanes, i);
}

static inline void probe_open(const struct fib_view *view, const struct sl_batch *batch,
                              struct lanes *lanes)
{
    uint32_t n_open = 0;

    for (uint32_t k = 0; k < lanes->n_open; k++) {
        const uint8_t i = lanes->open[k];

        lanes->open[n_open] = i;
        n_open += probe_lane(view, batch, lanes, i);
    }
    lanes->n_open = n_open;
}

/* Lanes that their first bucket did not give an entry with nothing below it. */
struct odd_lanes {
    uint32_t n;
    uint8_t lane[LANES];
    bool several[LANES];  /* slots have the tag */
    uint64_t slot[LANES]; /* the first of them, 0: none */
};

/* First buckets: the lanes that are not odd have their candidate. */
static inline void probe_first(const struct fib_view *view, struct lanes *lanes,
                               struct odd_lanes *odd)
{
    uint32_t n_odd = 0;

    for (uint32_t k = 0; k < lanes->n_next; k++) {
        const uint32_t i = lanes->next[k], level = lanes->level[i];
        const uint64_t *bucket = hash_bucket(view, (uint32_t)lanes->place[i]);
        struct hash_candidate *candidate = &lanes->candidate[i];
        uint64_t slot;
        const uint32_t match = lanes_match(bucket, hash_tag(lanes->hash[level][i]), &slot);
        const uint32_t others = match & (match - 1);
        const bool is_odd = ((uint32_t)(hash_piece(slot) == 0) | hash_height(slot) | others) != 0;
        const uint32_t keep = 0 - (uint32_t)is_odd;

        fetch_record(view, hash_piece(slot), lanes->end[level][i]);
        candidate->piece = (candidate->piece & keep) | (hash_piece(slot) & ~keep);
        candidate->len = (candidate->len & keep) | (lanes->end[level][i] & ~keep);
        odd->lane[n_odd] = (uint8_t)i;
        odd->several[n_odd] = others != 0;
        odd->slot[n_odd] = slot;
        n_odd += is_odd;
    }
    odd->n = n_odd;
}

/* As go_up, of many lanes; returns how many have a level to go to: they are next. */
static inline uint32_t go_up_all(const struct fib_view *view, struct lanes *lanes,
                                 const uint8_t *ups, uint32_t n_ups)
{
    const uint32_t split = view->split;
    uint32_t n_next = 0;

    for (uint32_t k = 0; k < n_ups; k++) {
        const uint32_t i = ups[k];
        uint32_t level = lanes->level[i] - 1;

        level -= (uint32_t)(level == split) & (uint32_t)(lanes->candidate[i].piece == 0);
        lanes->level[i] = level;
        lanes->place[i] = fib_place(lanes->hash[level][i], view->n_places[0]);
        fetch_place(view, lanes, i); /* where it ends, a bucket that is in the cache */
        lanes->next[n_next] = (uint8_t)i;
        n_next += (uint32_t)(level != 0) & (uint32_t)(level != split);
    }
    return n_next;
}

/* The lanes that are next. */
static inline void probe_next(const struct fib_view *view, const struct sl_batch *batch,
                              struct lanes *lanes)
{
    const uint32_t split = view->split;
    struct odd_lanes odd;
    uint8_t ups[LANES], downs[LANES]; /* lanes; indexes of odd ones */
    uint32_t n_ups = 0, n_downs = 0, n_next;

    probe_first(view, lanes, &odd);
    for (uint32_t k = 0; k < odd.n; k++) {
        const uint32_t i = odd.lane[k], level = lanes->level[i];
        const uint64_t *bucket = hash_bucket(view, (uint32_t)lanes->place[i]);
        const uint64_t filter = fib_load64(&bucket[hash_filter(lanes->hash[level][i])]);
        const bool ends = ((filter & HASH_MORE) == 0) & !odd.several[k];
        const bool goes_up = ends & (odd.slot[k] == 0);
        const bool goes_down = ends & (hash_height(odd.slot[k]) != 0) & (level == split);

        ups[n_ups] = (uint8_t)i;
        n_ups += goes_up;
        downs[n_downs] = (uint8_t)k;
        n_downs += goes_down;
        lanes->open[lanes->n_open] = (uint8_t)i;
        lanes->n_open += !(goes_up | goes_down);
    }
    n_next = go_up_all(view, lanes, ups, n_ups);
    for (uint32_t k = 0; k < n_downs; k++) {
        const uint32_t i = odd.lane[downs[k]];
        const uint64_t slot = odd.slot[downs[k]];

        lanes->candidate[i] = (struct hash_candidate){hash_piece(slot), lanes->end[split][i]};
        lanes->next[n_next] = (uint8_t)i;
        n_next += go_below(view, batch, lanes, i, hash_height(slot));
    }
    lanes->n_next = n_next;
}

static inline void probe(const struct fib_view *view, const struct sl_batch *batch,
                         struct lanes *lanes)
{
    probe_open(view, batch, lanes); /* not those that open now: they wait for their bucket */
    probe_next(view, batch, lanes);
}

/* ---- batches --------------------------------------------------------------------------------- */

static inline struct fib_answer answer_of(const struct fib_view *view,
                                          const struct fib_reader *name,
                                          const struct hash_candidate *candidate)
{
    if (candidate->piece == 0)
        return fib_root_answer(view);

    const uint32_t *record = hash_record(view, candidate->piece);
    if (!lanes_key_is(record, name, candidate->len))
        return hash_lookup_slow(view, name);
    return (struct fib_answer){fib_load32(record), candidate->len};
}

static inline void end_group(const struct fib_view *view, const struct sl_batch *batch,
                             struct lanes *lanes, uint32_t *next_hop, uint32_t *prefix_len)
{
    while (lanes->n_open + lanes->n_next != 0)
        probe(view, batch, lanes);
    for (uint32_t i = 0; i < lanes->n; i++) {
        const struct fib_reader name = fib_item(batch, lanes->first + i, 1);
        const struct fib_answer answer = answer_of(view, &name, &lanes->candidate[i]);

        next_hop[lanes->first + i] = answer.next_hop;
        if (prefix_len != NULL)
            prefix_len[lanes->first + i] = answer.len;
    }
}

/* The part of the batch that groups behind this one will read: names, and before them their spans.
 */
static inline void fetch_names(const struct sl_batch *batch, uint32_t first, uint32_t left)
{
    for (uint32_t i = 3 * LANES; i < 4 * LANES && i < left; i += SPANS_OF_LINE)
        __builtin_prefetch(&batch->payload[first + i]);
    for (uint32_t i = LANES; i < 2 * LANES && i < left; i++) {
        const uint8_t *bytes = batch->bytes + batch->payload[first + i].offset;

        __builtin_prefetch(bytes);
        __builtin_prefetch(bytes + 64);
    }
}

static inline void begin_group(const struct fib_view *view, const struct sl_batch *batch,
                               struct lanes *lanes, uint32_t first, lanes_hasher *hasher)
{
    const uint32_t left = batch->n_items - first;

    fetch_names(batch, first, left);
    lanes->first = first;
    lanes->n = left < LANES ? left : LANES;
    memset(lanes->found, 0, sizeof lanes->found);
    memset(lanes->candidate, 0, sizeof lanes->candidate);
    hasher(view, batch, lanes);
    lanes->n_next = lanes->n_open = 0;
    for (uint32_t i = 0; i < lanes->n; i++) {
        lanes->next[lanes->n_next] = (uint8_t)i;
        lanes->n_next += lanes->level[i] != 0;
    }
}

static inline __attribute__((always_inline)) void
lanes_lookup(const struct fib_view *view, const struct sl_batch *batch, uint32_t *next_hop,
             uint32_t *prefix_len, lanes_hasher *hasher)
{
    const uint32_t n = batch->n_items / LANES + (batch->n_items % LANES != 0);
    struct lanes groups[GROUPS];

    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < LANES; i++) {
            groups[g].hash[0][i] = view->secret.start;
            groups[g].end[0][i] = 0;
        }
    for (uint32_t t = 0; n != 0 && t < n + PASSES + 1; t++) { /* t - p < n: there is that group */
        if (t < n)
            begin_group(view, batch, &groups[t % GROUPS], t * LANES, hasher);
        for (uint32_t p = 1; p <= PASSES; p++)
            if (t - p < n)
                probe(view, batch, &groups[(t - p) % GROUPS]);
        if (t - PASSES - 1 < n)
            end_group(view, batch, &groups[(t - PASSES - 1) % GROUPS], next_hop, prefix_len);
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* The fingerprint index: from a fingerprint to the log offset where it was last seen.
 *
 * A bucket is one cache line with eight entries, so a probe is one miss. One compare covers sixteen
 * bits of the fingerprint in all eight entries. An entry is a hint. It may be stale, or another
 * fingerprint's, so the caller compares bytes. Nothing is ever removed, and an empty entry needs no
 * mark: it points to offset 0.
 *
 * A bucket holds each tag at most once, the newest, and replaces its oldest entry. A hostile peer
 * can crowd its own bucket only, at the cost of one compare a probe.
 *
 * A sixteenth of the index is used at first, and twice as much where it is getting full, so a small
 * input takes little memory. An entry does not state in which half of its bucket it belongs, and is
 * kept in both. The copies are few, and the first to be lost.
 *
 * Indices that grow alike can take turns in one memory, a run of buckets each. What all of them use
 * is then one piece, for huge pages: the kernel makes small ones much more slowly. */
#ifndef REDUNDANCY_FINGERPRINT_INDEX_H
#define REDUNDANCY_FINGERPRINT_INDEX_H

#include <stdint.h>
#include <string.h>

#include "sluice/status.h"

enum {
    INDEX_WAYS = 8,
    INDEX_OFFSET_BITS = 48,
    INDEX_BEGIN = 16, /* the part of the buckets that is used at first */
    INDEX_RUN = 64    /* buckets that lie together where indices take turns */
};

struct index_bucket {
    uint16_t tag[INDEX_WAYS];
    uint8_t offset[INDEX_WAYS][INDEX_OFFSET_BITS / 8]; /* little endian */
};

struct fingerprint_index {
    struct index_bucket *buckets; /* room for n_max */
    uint64_t others;              /* buckets of other indices between two runs */
    uint64_t n_buckets;           /* in use */
    uint64_t n_max;               /* below 2^32 */
    uint64_t n_entries;           /* that were put, lost ones among them */
    unsigned shift;               /* the 32 bits of a hash from this one on choose the bucket */
};

/* At most len bytes, but at least one bucket. */
enum sl_status index_create(struct fingerprint_index *index, uint64_t len, struct sl_diag *diag);

/* The buckets in memory of 2^n_bits indices of n_buckets each. */
uint64_t index_room(uint64_t n_buckets, unsigned n_bits);

/* One of these in such memory, which has zeros at first: of the hashes whose highest n_bits bits
 * are `number`. */
void index_place(struct fingerprint_index *index, struct index_bucket *room, uint64_t n_buckets,
                 unsigned n_bits, uint32_t number);
void index_free(struct fingerprint_index *index);

/* Forgets all. */
void index_clear(struct fingerprint_index *index);

/* Doubles the buckets in use. */
void index_grow(struct fingerprint_index *index);

/* Samplers choose fingerprints by some of their bits, which are then the same in all. A product
 * spreads the other bits over the high bits. 32 of those choose the bucket, and the 16 from bit 16
 * on are the tag. */
static inline uint64_t index_hash(uint64_t fingerprint)
{
    fingerprint ^= fingerprint >> 32;
    return fingerprint * UINT64_C(0x9E3779B97F4A7C15);
}

static inline struct index_bucket *index_bucket_at(const struct fingerprint_index *index,
                                                   uint64_t i)
{
    return &index->buckets[i + i / INDEX_RUN * index->others];
}

static inline struct index_bucket *index_bucket_of(const struct fingerprint_index *index,
                                                   uint64_t hash)
{
    return index_bucket_at(index,
                           (uint64_t)(uint32_t)(hash >> index->shift) * index->n_buckets >> 32);
}

static inline void index_prefetch(const struct fingerprint_index *index, uint64_t hash)
{
    __builtin_prefetch(index_bucket_of(index, hash), 1);
}

static inline uint64_t index_entry(const struct index_bucket *bucket, int way)
{
    uint64_t value;

    /* The eight bytes that end with the entry: they begin inside the bucket's line. */
    memcpy(&value, (const uint8_t *)bucket + 14 + 6 * way, sizeof value);
    return value >> 16;
}

static inline void index_entry_set(struct index_bucket *bucket, int way, uint64_t offset)
{
    const uint32_t low = (uint32_t)offset;
    const uint16_t high = (uint16_t)(offset >> 32);

    memcpy(bucket->offset[way], &low, sizeof low);
    memcpy(bucket->offset[way] + 4, &high, sizeof high);
}

/* The way that holds the tag, or -1. */
static inline int index_find(const struct index_bucket *bucket, uint16_t tag)
{
    typedef uint16_t tags __attribute__((vector_size(16)));
    tags held;
    uint64_t equal[2];

    memcpy(&held, bucket->tag, sizeof held);
    const tags same = (tags)(held == tag);
    memcpy(equal, &same, sizeof equal);
    if ((equal[0] | equal[1]) == 0)
        return -1;
    return equal[0] != 0 ? __builtin_ctzll(equal[0]) / 16 : 4 + __builtin_ctzll(equal[1]) / 16;
}

static inline uint16_t index_tag(uint64_t hash)
{
    return (uint16_t)(hash >> 16);
}

/* Where the fingerprint was last seen, or UINT64_MAX. */
static inline uint64_t index_get(const struct fingerprint_index *index, uint64_t hash)
{
    const struct index_bucket *const bucket = index_bucket_of(index, hash);
    const int way = index_find(bucket, index_tag(hash));

    return way < 0 ? UINT64_MAX : index_entry(bucket, way);
}

/* A new entry: all ways move up by one, and the last is lost. Overlapping moves, each read before
 * it is overwritten. The tags are one number, for no part of them is read before it is stored. */
static inline void index_push(struct index_bucket *bucket, uint16_t tag, uint64_t offset)
{
    typedef uint8_t sixteen __attribute__((vector_size(16)));
    uint8_t *const from = bucket->offset[0], *const to = bucket->offset[1];
    unsigned __int128 tags;
    sixteen low, middle, high;

    memcpy(&tags, bucket->tag, 16);
    memcpy(&low, from, 16);
    memcpy(&middle, from + 16, 16);
    memcpy(&high, from + 26, 16);
    tags = tags << 16 | tag;
    memcpy(bucket->tag, &tags, 16);
    memcpy(to, &low, 16);
    memcpy(to + 16, &middle, 16);
    memcpy(to + 26, &high, 16);
    index_entry_set(bucket, 0, offset);
}

/* Puts it, and returns what index_get would have. */
static inline uint64_t index_put(struct fingerprint_index *index, uint64_t hash, uint64_t offset)
{
    struct index_bucket *const bucket = index_bucket_of(index, hash);
    const uint16_t tag = index_tag(hash);
    const int way = index_find(bucket, tag);

    if (way >= 0) {
        const uint64_t before = index_entry(bucket, way);

        index_entry_set(bucket, way, offset);
        return before;
    }
    index_push(bucket, tag, offset);
    index->n_entries++;
    if (index->n_entries > index->n_buckets / 4 && index->n_buckets < index->n_max)
        index_grow(index);
    return UINT64_MAX;
}

#endif

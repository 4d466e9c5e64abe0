/* SPDX-License-Identifier: MIT */
/* The hash plane: two-stage look-up with heights, keys verified. Compiled by C and by nvcc.
 *
 * A bucket is a cache line of eight slots; a slot is one 64-bit word:
 *   0-31  piece: where the entry's record is in the arena; 0: a marker, which is no entry
 *   32-35 height: at the split, how many more components entries below it have, 15: or more
 *   36    more, of the bucket: in slot i, of the hashes whose filter number is i some did not fit
 *         and stand in the next one
 *   37    used
 *   40-63 tag: of the hash
 * A record is the next hop, the key's length and the key: in the byte behind the next hop and from
 * the fifth on where the length is below 255, else 255, then the length in two bytes, a zero, and
 * the key from the eighth on.
 *
 * All prefixes of `split` components below which there are entries have a slot, so that one probe
 * tells whether to look further down or up. */
#ifndef FIB_HASH_CORE_H
#define FIB_HASH_CORE_H

#include "fib_view.h"

enum {
    HASH_SLOTS = 8,      /* a bucket */
    HASH_SPLIT_MAX = 8,  /* components */
    HASH_HEIGHT_MAX = 15 /* and more */
};

#define HASH_MORE (UINT64_C(1) << 36)
#define HASH_USED (UINT64_C(1) << 37)
#define HASH_TAG_MASK (~UINT64_C(0) << 40 | HASH_USED)

FIB_CORE uint64_t hash_tag(uint64_t hash)
{
    return hash << 40 | HASH_USED;
}

/* The slot whose `more` speaks for a hash: bits that neither tag nor place are made of. */
FIB_CORE uint32_t hash_filter(uint64_t hash)
{
    return (uint32_t)(hash >> 24) & (HASH_SLOTS - 1);
}

FIB_CORE uint32_t hash_piece(uint64_t slot)
{
    return (uint32_t)slot;
}

FIB_CORE uint32_t hash_height(uint64_t slot)
{
    return (uint32_t)(slot >> 32) & HASH_HEIGHT_MAX;
}

FIB_CORE bool hash_has_tag(uint64_t slot, uint64_t tag)
{
    return ((slot ^ tag) & HASH_TAG_MASK) == 0;
}

/* Words of a record. */
FIB_CORE uint32_t hash_record_words(uint32_t key_len)
{
    return key_len < 255 ? (5 + key_len + 3) / 4 : (8 + key_len + 3) / 4;
}

/* Whether a record's key is the name's first len bytes. */
FIB_CORE bool hash_key_is(const uint32_t *record, const struct fib_reader *name, uint32_t len)
{
    const bool is_short = len < 255;
    const uint32_t head = is_short ? len : 255 | len << 8;
    const uint32_t first = fib_load32(&record[1]);
    uint32_t at = is_short ? 3 : 0; /* of the key's bytes, where record[2] begins */

    if (is_short) {
        const uint32_t have = len < 3 ? len : 3;
        const uint32_t wanted = head | fib_read32(name, 0) << 8;

        if (((first ^ wanted) & (uint32_t)(UINT64_C(0xFFFFFFFF) >> (24 - have * 8))) != 0)
            return false;
    } else if (first != head) {
        return false;
    }
    for (record += 2; at < len; at += 4, record++) {
        const uint32_t left = len - at;
        const uint32_t mask = left < 4 ? (UINT32_C(1) << left * 8) - 1 : UINT32_MAX;

        if (((fib_load32(record) ^ fib_read32(name, at)) & mask) != 0)
            return false;
    }
    return true;
}

/* What a prefix finds in its buckets: the first entry with its tag, and the largest height. That
 * the key is another one shows later, and seldom. An entry with nothing below it ends the search:
 * if it is the right one all is found, and if not its key will say so. */
struct hash_found {
    uint32_t piece; /* 0: none */
    uint32_t height;
};

FIB_CORE void hash_look_at(struct hash_found *found, uint64_t slot)
{
    const uint32_t height = hash_height(slot);

    if (found->piece == 0)
        found->piece = hash_piece(slot);
    if (height > found->height)
        found->height = height;
}

FIB_CORE bool hash_is_done(const struct hash_found *found, uint64_t filter)
{
    return (filter & HASH_MORE) == 0 || (found->piece != 0 && found->height == 0);
}

FIB_CORE const uint64_t *hash_bucket(const struct fib_view *view, uint32_t place)
{
    return (const uint64_t *)view->part[0] + (size_t)place * HASH_SLOTS;
}

FIB_CORE struct hash_found hash_probe(const struct fib_view *view, uint64_t hash)
{
    const uint64_t tag = hash_tag(hash);
    struct hash_found found = {0, 0};
    uint32_t place = fib_place(hash, view->n_places[0]);

    for (;;) {
        const uint64_t *bucket = hash_bucket(view, place);

        for (uint32_t i = 0; i < HASH_SLOTS; i++) {
            const uint64_t slot = fib_load64(&bucket[i]);

            if (hash_has_tag(slot, tag))
                hash_look_at(&found, slot);
        }
        if (hash_is_done(&found, fib_load64(&bucket[hash_filter(hash)])))
            return found;
        place = place + 1 != view->n_places[0] ? place + 1 : 0;
    }
}

FIB_CORE const uint32_t *hash_record(const struct fib_view *view, uint32_t piece)
{
    return (const uint32_t *)view->part[1] + piece;
}

/* The record of exactly these first bytes, or NULL: all entries with the tag are compared. */
FIB_CORE const uint32_t *hash_find(const struct fib_view *view, uint64_t hash,
                                   const struct fib_reader *name, uint32_t len)
{
    const uint64_t tag = hash_tag(hash);
    uint32_t place = fib_place(hash, view->n_places[0]);

    for (;;) {
        const uint64_t *bucket = hash_bucket(view, place);

        for (uint32_t i = 0; i < HASH_SLOTS; i++) {
            const uint64_t slot = fib_load64(&bucket[i]);

            if (hash_has_tag(slot, tag) && hash_piece(slot) != 0 &&
                hash_key_is(hash_record(view, hash_piece(slot)), name, len))
                return hash_record(view, hash_piece(slot));
        }
        if ((fib_load64(&bucket[hash_filter(hash)]) & HASH_MORE) == 0)
            return NULL;
        place = place + 1 != view->n_places[0] ? place + 1 : 0;
    }
}

/* From the definition of the plane, comparing everywhere: where a tag deceived. */
FIB_CORE struct fib_answer hash_lookup_slow(const struct fib_view *view,
                                            const struct fib_reader *name)
{
    struct fib_answer answer = fib_root_answer(view);
    uint64_t hash = view->secret.start;
    uint32_t head;

    for (uint32_t at = 0, end; (end = fib_component_end(name, at, &head)) != at; at = end) {
        hash = fib_hash_component(&view->secret, hash, name, at, end);

        const uint32_t *record = hash_find(view, hash, name, end);
        if (record != NULL) {
            answer.next_hop = fib_load32(record);
            answer.len = end;
        }
    }
    return answer;
}

/* The entry that seems to match at most components; its key decides. */
struct hash_candidate {
    uint32_t piece; /* 0: none, the root's answer */
    uint32_t len;
};

/* Looks below the split, as far down as entries may be, and improves the candidate. */
FIB_CORE void hash_look_below(const struct fib_view *view, const struct fib_reader *name,
                              uint64_t hash, uint32_t at, uint32_t height,
                              struct hash_candidate *candidate)
{
    const uint32_t depth = height == HASH_HEIGHT_MAX ? UINT32_MAX : height;
    uint32_t head;

    for (uint32_t i = 0; i < depth; i++) {
        const uint32_t end = fib_component_end(name, at, &head);

        if (end == at)
            return;
        hash = fib_hash_component(&view->secret, hash, name, at, end);
        at = end;

        const struct hash_found found = hash_probe(view, hash);
        if (found.piece != 0) {
            candidate->piece = found.piece;
            candidate->len = end;
        }
    }
}

FIB_CORE struct fib_answer hash_decide(const struct fib_view *view, const struct fib_reader *name,
                                       const struct hash_candidate *candidate)
{
    if (candidate->piece == 0)
        return fib_root_answer(view);

    const uint32_t *record = hash_record(view, candidate->piece);
    if (!hash_key_is(record, name, candidate->len))
        return hash_lookup_slow(view, name);

    const struct fib_answer answer = {fib_load32(record), candidate->len};
    return answer;
}

FIB_CORE struct fib_answer hash_lookup(const struct fib_view *view, const struct fib_reader *name)
{
    uint64_t hash[HASH_SPLIT_MAX + 1];
    uint32_t end[HASH_SPLIT_MAX + 1];
    struct hash_candidate candidate = {0, 0};
    uint32_t n = 0, head;

    hash[0] = view->secret.start;
    end[0] = 0;
    while (n < view->split && (end[n + 1] = fib_component_end(name, end[n], &head)) != end[n]) {
        hash[n + 1] = fib_hash_component(&view->secret, hash[n], name, end[n], end[n + 1]);
        n++;
    }
    for (uint32_t level = n; level > 0 && candidate.piece == 0; level--) {
        const struct hash_found found = hash_probe(view, hash[level]);

        candidate.piece = found.piece;
        candidate.len = end[level];
        if (level == view->split && found.height != 0)
            hash_look_below(view, name, hash[level], end[level], found.height, &candidate);
    }
    return hash_decide(view, name, &candidate);
}

#endif

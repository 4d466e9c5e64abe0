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
 * All prefixes of `split` components below which there are entries have a slot. So one probe
 * decides between further down and further up. */
#ifndef FIB_HASH_CORE_H
#define FIB_HASH_CORE_H

#include "names/fib/fib_view.h"

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

/* Whether a record's key is the name's first len bytes. Behind its length a key lies one byte later
 * in its words than in the name's, a long one as there. No end before the last word: keys seldom
 * differ, and a GPU has all loads under way at once. */
FIB_CORE bool hash_key_is(const uint32_t *record, const struct fib_reader *name, uint32_t len)
{
    const bool is_short = len < 255;
    const uint32_t bits = is_short ? 24 : 0;
    const uint32_t *word = name->words;
    uint32_t before = is_short ? len << 24 : 255 | len << 8;
    uint32_t left = len + (is_short ? 1 : 4), differ = 0;

    for (record++; left > 4; left -= 4, record++, word += name->stride) {
        differ |= fib_load32(record) ^ fib_shift_right(before, *word, bits);
        before = *word;
    }
    differ |=
        (fib_load32(record) ^ fib_shift_right(before, *word, bits)) & UINT32_MAX >> (32 - left * 8);
    return differ == 0;
}

/* The find of a prefix in its buckets: the first entry with its tag, and the largest height. That
 * the key is another one shows later, and seldom. An entry with nothing below it ends the search.
 * Its key shows later whether it is the right one. */
struct hash_found {
    uint32_t piece; /* 0: none */
    uint32_t height;
};

FIB_CORE void hash_read_slot(struct hash_found *found, uint64_t slot)
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

/* On GPUs by the widest loads there are. */
FIB_CORE void hash_read_bucket(uint64_t slots[HASH_SLOTS], const uint64_t *bucket)
{
#ifdef __CUDA_ARCH__
    for (uint32_t i = 0; i < HASH_SLOTS; i += 2) {
        const ulonglong2 two = __ldg((const ulonglong2 *)&bucket[i]);

        slots[i] = two.x;
        slots[i + 1] = two.y;
    }
#else
    for (uint32_t i = 0; i < HASH_SLOTS; i++)
        slots[i] = fib_load64(&bucket[i]);
#endif
}

FIB_CORE struct hash_found hash_probe(const struct fib_view *view, uint64_t hash)
{
    const uint64_t tag = hash_tag(hash);
    struct hash_found found = {0, 0};
    uint32_t place = fib_place(hash, view->n_places[0]);

    for (;;) {
        const uint64_t *bucket = hash_bucket(view, place);
        uint64_t slots[HASH_SLOTS];

        hash_read_bucket(slots, bucket);
        for (uint32_t i = 0; i < HASH_SLOTS; i++)
            if (hash_has_tag(slots[i], tag))
                hash_read_slot(&found, slots[i]);
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
FIB_CORE void hash_search_below(const struct fib_view *view, const struct fib_reader *name,
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

/* The hash of the first *level components, or of all where there are fewer; *level becomes how
 * many, *end where they end. */
FIB_CORE uint64_t hash_prefix(const struct fib_view *view, const struct fib_reader *name,
                              uint32_t *level, uint32_t *end)
{
    uint64_t hash = view->secret.start;
    uint32_t n = 0, at = 0, head;

    while (n < *level && (*end = fib_component_end(name, at, &head)) != at) {
        hash = fib_hash_component(&view->secret, hash, name, at, *end);
        at = *end;
        n++;
    }
    *level = n;
    *end = at;
    return hash;
}

/* Where nothing is found at a level, the one above is hashed anew. Few names come to that, and the
 * hashes of all levels would not fit a GPU's registers. */
FIB_CORE struct fib_answer hash_lookup(const struct fib_view *view, const struct fib_reader *name)
{
    struct hash_candidate candidate = {0, 0};

    for (uint32_t level = view->split; level > 0 && candidate.piece == 0; level--) {
        const uint64_t hash = hash_prefix(view, name, &level, &candidate.len);
        if (level == 0)
            break;
        const struct hash_found found = hash_probe(view, hash);

        candidate.piece = found.piece;
        if (level == view->split && found.height != 0)
            hash_search_below(view, name, hash, candidate.len, found.height, &candidate);
    }
    return hash_decide(view, name, &candidate);
}

#endif

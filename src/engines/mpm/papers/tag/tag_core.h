/* SPDX-License-Identifier: MIT */
/* Tags (GPU Gems 3, chapter 35): of each literal a window of 6 bytes is looked for. Its last two
 * bytes, the key, index a table of 64 K buckets. The four before them, the tag, are compared with
 * those in the bucket. A position that passes is a candidate, and is verified apart. Compiled by C
 * and by nvcc.
 *
 * A literal of 2 to 5 bytes is a window as a whole, with a tag of the 0 to 3 bytes before the key.
 * Literals of 1 byte have a table of their own. All bytes are folded. */
#ifndef TAG_CORE_H
#define TAG_CORE_H

#include "engines/mpm/papers/mpm_walk.h"

enum {
    TAG_WINDOW = 6,     /* bytes of the longest window */
    TAG_KEY = 2,        /* bytes of the key */
    TAG_KEYS = 65536,   /* buckets */
    TAG_FIRST_BITS = 20 /* of a bucket: its first entry */
};

#define TAG_FIRST_MASK ((UINT32_C(1) << TAG_FIRST_BITS) - 1)

/* The literals that are found by one window at one place of theirs: groups first to those of the
 * entry behind, of the order. */
struct tag_entry {
    uint32_t first;
    uint32_t end; /* bytes of the literals up to the window's end */
};

/* The body of the block. Entries are sorted by key, then tag_word, then end; those of one byte are
 * the last. A bucket is the number of its first entry; it ends where the next one begins. Above
 * that number it has one bit for each length of its windows, from TAG_KEY on. */
struct tag_table {
    uint32_t single[256]; /* entry of the one-byte literal, or MPM_NONE; both cases of a letter */
    uint32_t n_entries;
    uint32_t has_single;
    uint64_t buckets; /* TAG_KEYS + 1; offsets are from the body's first byte */
    uint64_t words;   /* n_entries: tag_word of each */
    uint64_t entries; /* n_entries + 1 */
    uint64_t order;   /* the groups, by entry and folded bytes */
};

/* The parts that finding candidates needs. Buckets and words alone are read at every position. */
struct tag_view {
    const uint32_t *single; /* NULL where there is none */
    const uint32_t *buckets;
    const uint64_t *words;
};

/* The parts that verifying them needs. */
struct tag_verifier {
    struct mpm_order order;
    const struct tag_entry *entries;
};

MPM_CORE const struct tag_table *tag_body(const struct sl_mpm_table *table)
{
    return (const struct tag_table *)mpm_at(table, table->body);
}

/* `head` is the table in memory that can be read here. `at` is the table, or its copy on a device,
 * whose addresses the view gets. */
MPM_CORE struct tag_view tag_view(const struct sl_mpm_table *head, const struct sl_mpm_table *at)
{
    const struct tag_table *table = tag_body(head);
    const uint8_t *body = (const uint8_t *)mpm_at(at, head->body);
    struct tag_view view;

    view.single = table->has_single ? (const uint32_t *)body : NULL;
    view.buckets = (const uint32_t *)mpm_at(body, table->buckets);
    view.words = (const uint64_t *)mpm_at(body, table->words);
    return view;
}

MPM_CORE struct tag_verifier tag_verifier(const struct sl_mpm_table *table)
{
    const struct tag_table *body = tag_body(table);
    struct tag_verifier verifier;

    verifier.order.literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    verifier.order.groups = (const uint32_t *)mpm_at(table, table->groups);
    verifier.order.bytes = (const uint8_t *)mpm_at(table, table->bytes);
    verifier.order.order = (const uint32_t *)mpm_at(body, body->order);
    verifier.entries = (const struct tag_entry *)mpm_at(body, body->entries);
    return verifier;
}

/* The bytes before a position, the nearest lowest: of `recent` bytes and one more. */
MPM_CORE uint64_t tag_shift(uint64_t recent, uint8_t byte)
{
    return recent << 8 | mpm_fold(byte);
}

/* The same read from a text, as far as a window reaches. */
MPM_CORE uint64_t tag_recent(const uint8_t *text, uint32_t end)
{
    uint64_t recent = 0;

    for (uint32_t i = end < TAG_WINDOW ? 0 : end - TAG_WINDOW; i < end; i++)
        recent = tag_shift(recent, text[i]);
    return recent;
}

MPM_CORE uint32_t tag_key(uint64_t recent)
{
    return (uint32_t)recent & (TAG_KEYS - 1);
}

/* The order of a bucket's entries: by the window's length, then by its tag. */
MPM_CORE uint64_t tag_word(uint64_t recent, uint32_t window)
{
    const uint64_t tag = recent >> 8 * TAG_KEY & ((UINT64_C(1) << 8 * (window - TAG_KEY)) - 1);

    return (uint64_t)window << 32 | tag;
}

/* The search for the entries whose window ends at one position. */
struct tag_search {
    uint64_t recent;
    uint32_t single;  /* an entry to report, or MPM_NONE */
    uint32_t lengths; /* of windows in the bucket, not yet looked for: bit 0 is `window` */
    uint32_t window;
    uint32_t at; /* the entry to compare, */
    uint32_t last;
    uint64_t word; /* and what it is looked for by */
};

/* `recent` holds the bytes before the position, one at least; where there are too few for a window,
 * it holds zeros. An entry that passes with those is no match: its literals would begin before the
 * text. */
MPM_CORE void tag_begin(const struct tag_view *view, struct tag_search *search, uint64_t recent)
{
    search->recent = recent;
    search->single = view->single != NULL ? view->single[recent & 0xFF] : MPM_NONE;
    search->lengths = view->buckets[tag_key(recent)] >> TAG_FIRST_BITS;
    search->window = TAG_KEY;
    search->at = 0;
    search->last = 0;
    search->word = 0;
}

/* Looks for the bucket's windows of the next length that it has. */
MPM_CORE void tag_seek(const struct tag_view *view, struct tag_search *search)
{
    const uint32_t key = tag_key(search->recent);

    while ((search->lengths & 1) == 0) {
        search->lengths >>= 1;
        search->window++;
    }
    search->word = tag_word(search->recent, search->window);
    search->at = view->buckets[key] & TAG_FIRST_MASK;
    search->last = view->buckets[key + 1] & TAG_FIRST_MASK;
    for (uint32_t n = search->last - search->at; n > 0;) {
        const uint32_t half = n / 2;

        if (view->words[search->at + half] < search->word) {
            search->at += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    search->lengths >>= 1;
    search->window++;
}

/* The next candidate: an entry. False: no more. */
MPM_CORE bool tag_next(const struct tag_view *view, struct tag_search *search, uint32_t *entry)
{
    if (search->single != MPM_NONE) {
        *entry = search->single;
        search->single = MPM_NONE;
        return true;
    }
    for (;;) {
        if (search->at < search->last && view->words[search->at] == search->word) {
            *entry = search->at++;
            return true;
        }
        if (search->lengths == 0)
            return false;
        tag_seek(view, search);
    }
}

/* Begins the walk that verifies a candidate at `end` of a payload of len bytes whose first
 * `overlap` were scanned before. False: the literals would begin before the payload. */
MPM_CORE bool tag_verify(const struct tag_verifier *verifier, uint32_t entry, uint32_t end,
                         const uint8_t *payload, uint32_t len, uint32_t overlap, uint32_t *start,
                         struct mpm_walk *walk)
{
    const struct tag_entry *found = &verifier->entries[entry];

    if (found->end > end)
        return false;
    *start = end - found->end;
    mpm_walk_begin(walk, payload, len, overlap, *start, found[0].first, found[1].first);
    return true;
}

#endif

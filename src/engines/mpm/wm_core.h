/* SPDX-License-Identifier: MIT */
/* Wu-Manber (thesis, sections 2.4.3 and 4.3.3; Wu and Manber 1994). A window of m bytes, m the
 * length of the shortest literal, lies on the text. Its last B bytes, the block, say how far it may
 * be moved, and where that is nowhere, which literals may begin where it does. Everything is folded.
 * Compiled by C and by nvcc.
 *
 * Literals shorter than a block would leave windows without one. They are kept apart, found by
 * their bytes as an index, and do not shorten the window. */
#ifndef WM_CORE_H
#define WM_CORE_H

#include "mpm_table.h"

enum {
    WM_WINDOW_MAX = 255, /* bytes: so that a shift is one byte */
    WM_PREFIX = 4,       /* bytes of a window's beginning that an entry holds */
    WM_SINGLES = 256,
    WM_PAIRS = 65536
};

/* A group whose window ends in a block of its bucket (the paper's HASH and PREFIX in one). */
struct wm_entry {
    uint32_t prefix; /* the first bytes of its window, the first of all in the highest bits */
    uint32_t group;
};

/* The body of the block; offsets are bytes from its first byte. Where n_entries is 0 no literal is
 * as long as a block, and there is no window. */
struct wm_table {
    uint32_t block_len;    /* B: 2 or 3 */
    uint32_t window_len;   /* m */
    uint32_t prefix_len;   /* bytes of an entry's prefix: WM_PREFIX, or m where that is less */
    uint32_t shift_shift;  /* of a hash: the index of its shift, B = 3 */
    uint32_t bucket_shift; /* of a hash: the index of its bucket */
    uint32_t n_entries;
    uint64_t shifts;  /* uint8_t: by block (B = 2) or by its hash (B = 3) */
    uint64_t buckets; /* uint32_t: by hash: the first entry; the next bucket's is the end */
    uint64_t entries; /* wm_entry: by bucket, in each in order of groups */
    uint64_t shorter; /* uint32_t, by group: the longest that is its prefix and of its kind, short
                         or not; MPM_NONE */
    uint64_t singles; /* uint32_t: by byte: the short group of that byte; 0: there is no short one */
    uint64_t pairs;   /* uint32_t: by two bytes: the longest short group that they begin with; 0:
                         none is of two bytes */
};

/* A table as a scan needs it. */
struct wm_view {
    const uint8_t *shifts;
    const uint32_t *buckets;
    const struct wm_entry *entries;
    const uint32_t *shorter;
    const uint32_t *singles; /* NULL: no short groups */
    const uint32_t *pairs;   /* NULL: none of two bytes */
    const struct mpm_literal *literals;
    const uint32_t *groups;
    const uint8_t *bytes;
    uint32_t block_len;
    uint32_t window_len;
    uint32_t prefix_len;
    uint32_t shift_shift;
    uint32_t bucket_shift;
    uint32_t n_entries;
};

MPM_CORE struct wm_view wm_view(const struct sl_mpm_table *table)
{
    const struct wm_table *body = (const struct wm_table *)mpm_at(table, table->body);
    struct wm_view view;

    view.shifts = (const uint8_t *)mpm_at(body, body->shifts);
    view.buckets = (const uint32_t *)mpm_at(body, body->buckets);
    view.entries = (const struct wm_entry *)mpm_at(body, body->entries);
    view.shorter = (const uint32_t *)mpm_at(body, body->shorter);
    view.singles = body->singles != 0 ? (const uint32_t *)mpm_at(body, body->singles) : NULL;
    view.pairs = body->pairs != 0 ? (const uint32_t *)mpm_at(body, body->pairs) : NULL;
    view.literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    view.groups = (const uint32_t *)mpm_at(table, table->groups);
    view.bytes = (const uint8_t *)mpm_at(table, table->bytes);
    view.block_len = body->block_len;
    view.window_len = body->window_len;
    view.prefix_len = body->prefix_len;
    view.shift_shift = body->shift_shift;
    view.bucket_shift = body->bucket_shift;
    view.n_entries = body->n_entries;
    return view;
}

/* mpm_fold of four bytes at once. A byte's low seven bits plus 0x3F reach 0x80 from 'A' on, plus
 * 0x25 from 'Z' + 1 on: of both sums' high bits just one is set for letters of upper case. */
MPM_CORE uint32_t wm_fold4(uint32_t bytes)
{
    const uint32_t low = bytes & 0x7F7F7F7Fu;
    const uint32_t upper = ((low + 0x3F3F3F3Fu) ^ (low + 0x25252525u)) & ~bytes & 0x80808080u;

    return bytes | upper >> 2;
}

/* The block of block_len bytes at `text`, folded. */
MPM_CORE uint32_t wm_block(const uint8_t *text, uint32_t block_len)
{
    const uint32_t two = text[0] | (uint32_t)text[1] << 8;

    return wm_fold4(block_len == 2 ? two : two | (uint32_t)text[2] << 16);
}

/* Fibonacci hashing: indices are the top bits of a product with an odd constant near 2^32 / golden
 * ratio. */
MPM_CORE uint32_t wm_hash(uint32_t block)
{
    return block * 0x9E3779B1u;
}

/* How far a window that ends in this block may be moved without passing a match. */
MPM_CORE uint32_t wm_shift(const struct wm_view *view, uint32_t block, uint32_t block_len)
{
    return view->shifts[block_len == 2 ? block : wm_hash(block) >> view->shift_shift];
}

/* The first bytes at `text`, folded, in the order of strings. */
MPM_CORE uint32_t wm_prefix(const uint8_t *text, uint32_t prefix_len)
{
    uint32_t prefix = 0;

    for (uint32_t i = 0; i < prefix_len; i++)
        prefix = prefix << 8 | mpm_fold(text[i]);
    return prefix;
}

MPM_CORE const struct mpm_literal *wm_first_literal(const struct wm_view *view, uint32_t group)
{
    return &view->literals[view->groups[group]];
}

/* Whether a group is behind a text in order; *shared is the bytes that they have in common. */
MPM_CORE bool wm_is_behind(const struct wm_view *view, uint32_t group, const uint8_t *text,
                           uint32_t len, uint32_t *shared)
{
    const struct mpm_literal *literal = wm_first_literal(view, group);
    const uint8_t *given = view->bytes + literal->bytes;
    const uint32_t both = literal->len < len ? literal->len : len;
    uint32_t i = 0;

    while (i < both && mpm_fold(given[i]) == mpm_fold(text[i]))
        i++;
    *shared = i;
    return i < both ? mpm_fold(given[i]) > mpm_fold(text[i]) : literal->len > len;
}

/* The longest group that a text begins with, MPM_NONE: there is none. `block` is the last of the
 * window at the text's first byte.
 *
 * Such groups all have this window, so they are in this bucket. Let p be the longest, and g the
 * last of the bucket that is not behind the text. As p <= g <= text and the text begins with p, so
 * does g: g is p, or p is among the shorter ones of g. So a bucket costs a binary search, whatever
 * its length. */
MPM_CORE uint32_t wm_find(const struct wm_view *view, uint32_t block, const uint8_t *text,
                          uint32_t len)
{
    const uint32_t bucket = wm_hash(block) >> view->bucket_shift;
    uint32_t first = view->buckets[bucket];
    uint32_t end = view->buckets[bucket + 1];
    uint32_t group = MPM_NONE;
    uint32_t shared = 0;

    if (first == end)
        return MPM_NONE;

    const uint32_t prefix = wm_prefix(text, view->prefix_len);
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        const struct wm_entry entry = view->entries[middle];
        uint32_t n = 0;
        const bool behind = entry.prefix != prefix
                                ? entry.prefix > prefix
                                : wm_is_behind(view, entry.group, text, len, &n);

        if (behind) {
            end = middle;
        } else {
            first = middle + 1;
            group = entry.group;
            shared = n;
        }
    }
    if (shared < view->window_len)
        return MPM_NONE;
    while (group != MPM_NONE && wm_first_literal(view, group)->len > shared)
        group = view->shorter[group];
    return group;
}

/* The longest short group that a text of len > 0 bytes begins with, MPM_NONE: there is none. */
MPM_CORE uint32_t wm_find_short(const struct wm_view *view, const uint8_t *text, uint32_t len)
{
    if (view->pairs != NULL && len > 1)
        return view->pairs[wm_block(text, 2)];
    return view->singles != NULL ? view->singles[mpm_fold(text[0])] : MPM_NONE;
}

/* The matches at one start position: of a group and of those that are its prefixes. */
struct wm_chain {
    const uint8_t *text;
    uint32_t overlap; /* matches that end here or before are not wanted */
    uint32_t start;
    uint32_t end;     /* behind the match found last */
    uint32_t group;   /* the next, MPM_NONE: no more */
    uint32_t literal; /* of the group before: the next to look at, */
    uint32_t last;    /* and the end of them */
};

MPM_CORE void wm_begin(struct wm_chain *chain, uint32_t start, uint32_t group)
{
    chain->start = start;
    chain->group = group;
    chain->literal = 0;
    chain->last = 0;
}

/* The next match: its literal; its end is chain->end. False: no more. */
MPM_CORE bool wm_next(const struct wm_view *view, struct wm_chain *chain, uint32_t *id)
{
    for (;;) {
        while (chain->literal < chain->last) {
            const struct mpm_literal *literal = &view->literals[chain->literal++];

            if (mpm_literal_matches(literal, view->bytes, chain->text + chain->end)) {
                *id = literal->id;
                return true;
            }
        }
        if (chain->group == MPM_NONE)
            return false;
        chain->literal = view->groups[chain->group];
        chain->last = view->groups[chain->group + 1];
        chain->end = chain->start + view->literals[chain->literal].len;
        chain->group = view->shorter[chain->group];
        if (chain->end <= chain->overlap)
            return false; /* all that follow are shorter */
    }
}

/* The thesis' test of one start position, for which no other is needed (section 4.3.3): the longest
 * group there that is not short. */
MPM_CORE uint32_t wm_test(const struct wm_view *view, const uint8_t *text, uint32_t len)
{
    if (view->n_entries == 0 || len < view->window_len)
        return MPM_NONE;

    const uint32_t block =
        wm_block(text + view->window_len - view->block_len, view->block_len);
    return wm_shift(view, block, view->block_len) == 0 ? wm_find(view, block, text, len)
                                                       : MPM_NONE;
}

#endif

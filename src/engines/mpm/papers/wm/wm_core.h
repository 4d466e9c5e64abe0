/* SPDX-License-Identifier: MIT */
/* Wu-Manber (thesis, sections 2.4.3 and 4.3.3; Wu and Manber 1994). A window as long as the
 * shortest literal, m bytes, lies on the text. Its last B bytes, the block, say how far it may be
 * moved. Where they say 0, some literals have this block there, and those that also begin with the
 * window's first bytes are compared. Everything is folded. Compiled by C and by nvcc.
 *
 * "Short" literals, of less than WM_LONG bytes, would leave next to nothing to move the window by.
 * They do not count for it and are found by their first two bytes. */
#ifndef WM_CORE_H
#define WM_CORE_H

#include "engines/mpm/mpm_table.h"

enum {
    WM_LONG = 4,         /* bytes of the shortest literal that is not short */
    WM_WINDOW_MAX = 255, /* bytes: so that a shift is one byte */
    WM_PAIRS = 65536
};

/* A group of a bucket or slot (the paper's HASH and PREFIX in one). */
struct wm_entry {
    uint32_t prefix; /* its first WM_LONG bytes, the first in the highest bits; of short groups 0 */
    uint32_t group;
};

/* The body of the block; offsets are bytes from its first byte. Long groups are in buckets by their
 * prefix and the last block of their window; short ones in slots by two bytes, a single byte in
 * every slot of a pair that it begins. In a bucket or slot, entries are in order of groups.
 *
 * shifts   uint8_t: by block, folded or not (B = 2), or by the hash of the folded block (B = 3)
 * buckets  uint32_t: by hash, the first entry; the next bucket's is the end
 * slots    uint32_t: likewise; slot 0 is empty
 * pairs    uint16_t: by two bytes, folded or not, their slot
 * entries  wm_entry: the buckets', then the slots'
 * shorter  uint32_t: by group, the longest other group that it begins with, long if it is long
 *          itself, short if it is short; or MPM_NONE */
struct wm_table {
    uint32_t block_len;    /* B: 2 or 3 */
    uint32_t window_len;   /* m */
    uint32_t shift_shift;  /* of a hash: the index of its shift, B = 3 */
    uint32_t bucket_shift; /* of a hash: the index of its bucket */
    uint32_t n_long;       /* groups; where it is 0 there is no window */
    uint32_t n_short;
    uint64_t shifts;
    uint64_t buckets;
    uint64_t slots;
    uint64_t pairs;
    uint64_t entries;
    uint64_t shorter;
};

/* A table as a scan needs it. */
struct wm_view {
    const uint8_t *shifts;
    const uint32_t *buckets;
    const uint32_t *slots;
    const uint16_t *pairs;
    const struct wm_entry *entries;
    const uint32_t *shorter;
    const struct mpm_literal *literals;
    const uint32_t *groups;
    const uint8_t *bytes;
    uint32_t block_len;
    uint32_t window_len;
    uint32_t shift_shift;
    uint32_t bucket_shift;
    uint32_t n_long;
    uint32_t n_short;
};

MPM_CORE struct wm_view wm_view(const struct sl_mpm_table *table)
{
    const struct wm_table *body = (const struct wm_table *)mpm_at(table, table->body);
    struct wm_view view;

    view.shifts = (const uint8_t *)mpm_at(body, body->shifts);
    view.buckets = (const uint32_t *)mpm_at(body, body->buckets);
    view.slots = (const uint32_t *)mpm_at(body, body->slots);
    view.pairs = (const uint16_t *)mpm_at(body, body->pairs);
    view.entries = (const struct wm_entry *)mpm_at(body, body->entries);
    view.shorter = (const uint32_t *)mpm_at(body, body->shorter);
    view.literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    view.groups = (const uint32_t *)mpm_at(table, table->groups);
    view.bytes = (const uint8_t *)mpm_at(table, table->bytes);
    view.block_len = body->block_len;
    view.window_len = body->window_len;
    view.shift_shift = body->shift_shift;
    view.bucket_shift = body->bucket_shift;
    view.n_long = body->n_long;
    view.n_short = body->n_short;
    return view;
}

/* mpm_fold of four bytes at once. A byte's low seven bits plus 0x3F reach 0x80 from 'A' on, and
 * plus 0x25 from 'Z' + 1 on. For letters of upper case the high bit of just one sum is set. */
MPM_CORE uint32_t wm_fold4(uint32_t bytes)
{
    const uint32_t low = bytes & 0x7F7F7F7Fu;
    const uint32_t upper = ((low + 0x3F3F3F3Fu) ^ (low + 0x25252525u)) & ~bytes & 0x80808080u;

    return bytes | upper >> 2;
}

MPM_CORE uint32_t wm_pair(const uint8_t *text)
{
    return text[0] | (uint32_t)text[1] << 8;
}

/* The block of block_len bytes at `text`, folded. */
MPM_CORE uint32_t wm_block(const uint8_t *text, uint32_t block_len)
{
    return wm_fold4(block_len == 2 ? wm_pair(text) : wm_pair(text) | (uint32_t)text[2] << 16);
}

/* Fibonacci hashing: indices are the top bits of a product with an odd constant near 2^32 / golden
 * ratio. */
MPM_CORE uint32_t wm_hash(uint32_t key)
{
    return key * 0x9E3779B1u;
}

/* How far a window that ends with the block at `text` may be moved without passing a match. */
MPM_CORE uint32_t wm_shift(const struct wm_view *view, const uint8_t *text, uint32_t block_len)
{
    const uint32_t at =
        block_len == 2 ? wm_pair(text) : wm_hash(wm_block(text, 3)) >> view->shift_shift;

    return view->shifts[at];
}

/* The first WM_LONG bytes at `text`, folded, in the order of strings. */
MPM_CORE uint32_t wm_prefix(const uint8_t *text)
{
    return wm_fold4((uint32_t)text[0] << 24 | (uint32_t)text[1] << 16 | (uint32_t)text[2] << 8 |
                    text[3]);
}

MPM_CORE const struct mpm_literal *wm_first_literal(const struct wm_view *view, uint32_t group)
{
    return &view->literals[view->groups[group]];
}

/* Whether a group is behind a text in order. *shared is a number of bytes that they have in common,
 * then all of them. */
MPM_CORE bool wm_is_behind(const struct wm_view *view, uint32_t group, const uint8_t *text,
                           uint32_t len, uint32_t *shared)
{
    const struct mpm_literal *literal = wm_first_literal(view, group);
    const uint8_t *given = view->bytes + literal->bytes;
    const uint32_t both = literal->len < len ? literal->len : len;
    uint32_t i = *shared;

    while (i < both && mpm_fold(given[i]) == mpm_fold(text[i]))
        i++;
    *shared = i;
    return i < both ? mpm_fold(given[i]) > mpm_fold(text[i]) : literal->len > len;
}

/* The longest group of some entries that a text begins with, MPM_NONE: there is none.
 *
 * The entries are in order, and with a group all its prefixes of its kind, long or short, are among
 * them. Let p be the longest group that the text begins with, and g the last that is not behind the
 * text. As p <= g <= text, and the text begins with p, so does g. So p is g, or one of the shorter
 * ones of g. So a binary search is all that it takes, however many entries there are. A prefix that
 * the text shares with the groups on both sides, it shares with all between. */
MPM_CORE uint32_t wm_search(const struct wm_view *view, uint32_t first, uint32_t end,
                            uint32_t prefix, const uint8_t *text, uint32_t len)
{
    uint32_t group = MPM_NONE;
    uint32_t before = 0; /* bytes in common with the entry before `first`, */
    uint32_t behind = 0; /* and with that at `end` */

    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        const struct wm_entry entry = view->entries[middle];
        uint32_t shared = before < behind ? before : behind;

        if (entry.prefix != prefix ? entry.prefix > prefix
                                   : wm_is_behind(view, entry.group, text, len, &shared)) {
            end = middle;
            behind = shared;
        } else {
            first = middle + 1;
            before = shared;
            group = entry.group;
        }
    }
    if (before == 0)
        return MPM_NONE;
    while (group != MPM_NONE && wm_first_literal(view, group)->len > before)
        group = view->shorter[group];
    return group;
}

MPM_CORE uint32_t wm_bucket(uint32_t prefix, uint32_t block, uint32_t bucket_shift)
{
    return wm_hash(prefix ^ wm_hash(block)) >> bucket_shift;
}

/* The longest long group that a text begins with, MPM_NONE: there is none. The text is as long as a
 * window. */
MPM_CORE uint32_t wm_find(const struct wm_view *view, const uint8_t *text, uint32_t len)
{
    const uint32_t block = wm_block(text + view->window_len - view->block_len, view->block_len);
    const uint32_t prefix = wm_prefix(text);
    const uint32_t bucket = wm_bucket(prefix, block, view->bucket_shift);
    const uint32_t first = view->buckets[bucket];
    const uint32_t end = view->buckets[bucket + 1];

    return first != end ? wm_search(view, first, end, prefix, text, len) : MPM_NONE;
}

/* The longest short group that a text of len > 0 bytes begins with, MPM_NONE: there is none. A last
 * byte is looked up as if one more followed, which only a group of that byte alone survives. */
MPM_CORE uint32_t wm_find_short(const struct wm_view *view, const uint8_t *text, uint32_t len)
{
    const uint32_t slot = view->pairs[len > 1 ? wm_pair(text) : text[0]];

    return slot != 0 ? wm_search(view, view->slots[slot], view->slots[slot + 1], 0, text, len)
                     : MPM_NONE;
}

/* The matches at one start position: of a group and of those that are its prefixes. */
struct wm_chain {
    const uint8_t *text;
    uint32_t overlap; /* matches that end here or before are not wanted */
    uint32_t start;
    uint32_t end;     /* behind the match found last */
    uint32_t group;   /* the next, MPM_NONE: no more */
    uint32_t literal; /* of the group before: the next to compare, */
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
 * long group there. */
MPM_CORE uint32_t wm_test(const struct wm_view *view, const uint8_t *text, uint32_t len)
{
    if (view->n_long == 0 || len < view->window_len)
        return MPM_NONE;

    const uint8_t *block = text + view->window_len - view->block_len;

    return wm_shift(view, block, view->block_len) == 0 ? wm_find(view, text, len) : MPM_NONE;
}

#endif

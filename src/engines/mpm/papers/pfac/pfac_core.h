/* SPDX-License-Identifier: MIT */
/* The failure-less Aho-Corasick walk (thesis, section 4.3.2 and figure 12; Lin's PFAC): from one
 * start position down the trie until it ends. Every position is a start, so no failure links are
 * needed. Compiled by C and by nvcc. */
#ifndef PFAC_CORE_H
#define PFAC_CORE_H

#include "engines/mpm/mpm_table.h"

enum {
    PFAC_BUCKET = 4,     /* transitions in one 32-byte sector of a GPU's memory */
    PFAC_BLOCK = 128,    /* threads of a block */
    PFAC_STATE_BITS = 28 /* of a state's number */
};

/* Transitions but for the root's, by hash of (state, byte): state << 36 | next << 8 | byte, 0 where
 * empty (no state leads to itself). A bucket is filled from its first entry on, and its overflow is
 * in the buckets behind it, around the end; at most half of all entries are taken, so a search
 * ends. */
struct pfac_bucket {
#ifdef __cplusplus
    alignas(32) uint64_t entry[PFAC_BUCKET];
#else
    _Alignas(32) uint64_t entry[PFAC_BUCKET];
#endif
};

/* The body of the block. States below n_groups end a group of literals, which has their number. */
struct pfac_table {
    uint32_t root[256]; /* the first row: next states, or MPM_NONE; both cases of a letter */
    uint32_t n_groups;
    uint32_t bucket_mask; /* buckets - 1; their number is a power of two */
    uint32_t bucket_shift;
    uint32_t pad;
    uint64_t buckets; /* offset from the body's first byte */
};

/* A table as a walk needs it. */
struct pfac_view {
    const struct pfac_bucket *buckets;
    const struct mpm_literal *literals;
    const uint32_t *groups;
    const uint8_t *bytes;
    uint32_t n_groups;
    uint32_t bucket_mask;
    uint32_t bucket_shift;
};

MPM_CORE const struct pfac_table *pfac_body(const struct sl_mpm_table *table)
{
    return (const struct pfac_table *)mpm_at(table, table->body);
}

MPM_CORE struct pfac_view pfac_view(const struct sl_mpm_table *table)
{
    const struct pfac_table *body = pfac_body(table);
    struct pfac_view view;

    view.buckets = (const struct pfac_bucket *)mpm_at(body, body->buckets);
    view.literals = (const struct mpm_literal *)mpm_at(table, table->literals);
    view.groups = (const uint32_t *)mpm_at(table, table->groups);
    view.bytes = (const uint8_t *)mpm_at(table, table->bytes);
    view.n_groups = body->n_groups;
    view.bucket_mask = body->bucket_mask;
    view.bucket_shift = body->bucket_shift;
    return view;
}

/* Fibonacci hashing: the top bits of a product with an odd constant near 2^64 / golden ratio. */
MPM_CORE uint32_t pfac_hash(uint32_t state, uint8_t byte, uint32_t bucket_shift)
{
    const uint64_t key = (uint64_t)state << 8 | byte;

    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32 >> bucket_shift);
}

MPM_CORE uint32_t pfac_next_state(const struct pfac_view *view, uint32_t state, uint8_t byte)
{
    const uint64_t key = (uint64_t)state << (PFAC_STATE_BITS + 8) | byte;
    const uint64_t next = ((UINT64_C(1) << PFAC_STATE_BITS) - 1) << 8;
    uint32_t at = pfac_hash(state, byte, view->bucket_shift);

    for (;;) {
        const struct pfac_bucket bucket = view->buckets[at];

        for (int i = 0; i < PFAC_BUCKET; i++)
            if ((bucket.entry[i] & ~next) == key && bucket.entry[i] != 0)
                return (uint32_t)((bucket.entry[i] & next) >> 8);
        if (bucket.entry[PFAC_BUCKET - 1] == 0)
            return MPM_NONE;
        at = (at + 1) & view->bucket_mask;
    }
}

/* One walk, over bytes `pos` and on of a text; the caller has taken the step from the root. */
struct pfac_walk {
    const uint8_t *text;
    uint32_t len;
    uint32_t overlap; /* matches that end here or before are not wanted */
    uint32_t pos;     /* behind the bytes read */
    uint32_t state;
    uint32_t literal; /* of those that end at the state: the next to compare, */
    uint32_t last;    /* and the end of them */
};

MPM_CORE void pfac_enter(const struct pfac_view *view, struct pfac_walk *walk, uint32_t state)
{
    walk->pos++;
    walk->state = state;
    walk->literal = 0;
    walk->last = 0;
    if (state < view->n_groups && walk->pos > walk->overlap) {
        walk->literal = view->groups[state];
        walk->last = view->groups[state + 1];
    }
}

/* Starts at `start`, whose transition from the root leads to `state`. */
MPM_CORE void pfac_start(const struct pfac_view *view, struct pfac_walk *walk, uint32_t start,
                         uint32_t state)
{
    walk->pos = start;
    pfac_enter(view, walk, state);
}

/* The next match that begins at the walk's start: its literal; its end is walk->pos. False: no
 * more. */
MPM_CORE bool pfac_next(const struct pfac_view *view, struct pfac_walk *walk, uint32_t *id)
{
    for (;;) {
        while (walk->literal < walk->last) {
            const struct mpm_literal *literal = &view->literals[walk->literal++];

            /* No literal of a built table is longer than what was read. */
            if (literal->len <= walk->pos &&
                mpm_literal_matches(literal, view->bytes, walk->text + walk->pos)) {
                *id = literal->id;
                return true;
            }
        }
        if (walk->pos == walk->len)
            return false;

        const uint32_t next = pfac_next_state(view, walk->state, mpm_fold(walk->text[walk->pos]));
        if (next == MPM_NONE)
            return false;
        pfac_enter(view, walk, next);
    }
}

#endif

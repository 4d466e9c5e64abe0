/* SPDX-License-Identifier: MIT */
/* Rabin-Karp for many literals (thesis, sections 2.4.1 and 4.3.1): hashes of windows of the text,
 * looked up among the hashes of the literals. Compiled by C and by nvcc.
 *
 * The hash of folded bytes t[0] to t[k - 1] is the sum of t[i] * RK_BASE^(k - i), modulo 2^32. The
 * thesis has base 256, modulo 997. The last byte is multiplied too, so the top bits depend on all.
 */
#ifndef RK_CORE_H
#define RK_CORE_H

#include "engines/mpm/papers/mpm_walk.h"

#define RK_BASE UINT32_C(0x9E3779B1) /* odd, near 2^32 / golden ratio: spreads bytes to the top */

enum {
    RK_WINDOW = 32, /* bytes of the longest window */
    RK_SETS = 8     /* window lengths at most */
};

/* A hash that occurs in a set, and its groups in the order; end is 0 where the slot is empty. */
struct rk_slot {
    uint32_t hash;
    uint32_t first;
    uint32_t end;
};

/* The literals that windows of one length find: the largest length not above theirs. A hash table
 * has their first bytes (open addressing, at most half full). A filter of one bit for many hashes
 * is before it. Both are indexed by the hash's top bits. */
struct rk_set {
    uint32_t len;    /* bytes of the window */
    uint32_t weight; /* RK_BASE^len: of what lies before the window, in the running hash */
    uint32_t filter_shift;
    uint32_t slot_shift;
    uint64_t filter; /* offsets from the body's first byte */
    uint64_t slots;
};

/* A whole group for the thesis' own version, which compares with one after another. */
struct rk_whole {
    uint32_t hash;
    uint32_t len;
};

/* The body of the block. */
struct rk_table {
    struct rk_set sets[RK_SETS]; /* n_sets of them, ascending by length */
    uint32_t n_sets;
    uint32_t n_groups;
    uint64_t order;  /* n_groups: by set, hash and folded bytes */
    uint64_t wholes; /* n_groups, in the same order */
};

/* A table as a scan needs it. */
struct rk_view {
    struct mpm_order order;
    const uint8_t *body;
    const struct rk_whole *wholes;
    struct rk_table table;
};

/* `head` is the table in memory that can be read here. `at` is the table, or its copy on a device,
 * whose addresses the view gets. */
MPM_CORE struct rk_view rk_view(const struct sl_mpm_table *head, const struct sl_mpm_table *at)
{
    struct rk_view view;

    view.table = *(const struct rk_table *)mpm_at(head, head->body);
    view.body = (const uint8_t *)mpm_at(at, head->body);
    view.wholes = (const struct rk_whole *)mpm_at(view.body, view.table.wholes);
    view.order.literals = (const struct mpm_literal *)mpm_at(at, head->literals);
    view.order.groups = (const uint32_t *)mpm_at(at, head->groups);
    view.order.bytes = (const uint8_t *)mpm_at(at, head->bytes);
    view.order.order = (const uint32_t *)mpm_at(view.body, view.table.order);
    return view;
}

/* The hash of bytes and one more behind them. */
MPM_CORE uint32_t rk_grow(uint32_t hash, uint8_t folded)
{
    return (hash + folded) * RK_BASE;
}

/* The hash of a window, from the running hashes up to its end and up to its begin, of all bytes
 * from anywhere before it. */
MPM_CORE uint32_t rk_window(const struct rk_set *set, uint32_t to_end, uint32_t to_begin)
{
    return to_end - to_begin * set->weight;
}

MPM_CORE uint32_t rk_hash(const uint8_t *text, uint32_t len)
{
    uint32_t hash = 0;

    for (uint32_t i = 0; i < len; i++)
        hash = rk_grow(hash, mpm_fold(text[i]));
    return hash;
}

/* False: the set does not hold this hash. */
MPM_CORE bool rk_may_hold(const struct rk_view *view, const struct rk_set *set, uint32_t hash)
{
    const uint32_t *filter = (const uint32_t *)mpm_at(view->body, set->filter);
    const uint32_t bit = hash >> set->filter_shift;

    return (filter[bit / 32] >> bit % 32 & 1) != 0;
}

/* The slot of a hash, or NULL. */
MPM_CORE const struct rk_slot *rk_find(const struct rk_view *view, const struct rk_set *set,
                                       uint32_t hash)
{
    const struct rk_slot *slots = (const struct rk_slot *)mpm_at(view->body, set->slots);
    const uint32_t mask = UINT32_MAX >> set->slot_shift;
    uint32_t at = hash >> set->slot_shift;

    while (slots[at].end != 0 && slots[at].hash != hash)
        at = (at + 1) & mask;
    return slots[at].end != 0 ? &slots[at] : NULL;
}

/* The literals that begin at one position of a payload. */
struct rk_position {
    const uint8_t *payload;
    uint32_t len;
    uint32_t overlap; /* matches that end here or before are not wanted */
    uint32_t start;
    uint32_t hash;  /* of the `depth` bytes from start on */
    uint32_t depth; /* bytes hashed */
    uint32_t next;  /* set, or whole group, to compare */
};

MPM_CORE void rk_begin(struct rk_position *position, uint32_t start)
{
    position->start = start;
    position->hash = 0;
    position->depth = 0;
    position->next = 0;
}

/* Begins the walk of the next set that holds the hash of the window at this position. All windows
 * begin here, so growing one hash gives those of all lengths. False: there is none. */
MPM_CORE bool rk_next_window(const struct rk_view *view, struct rk_position *position,
                             struct mpm_walk *walk)
{
    const uint8_t *text = position->payload + position->start;
    const uint32_t room = position->len - position->start;

    while (position->next < view->table.n_sets) {
        const struct rk_set *set = &view->table.sets[position->next++];

        if (set->len > room)
            return false;
        while (position->depth < set->len)
            position->hash = rk_grow(position->hash, mpm_fold(text[position->depth++]));
        if (!rk_may_hold(view, set, position->hash))
            continue;

        const struct rk_slot *slot = rk_find(view, set, position->hash);
        if (slot != NULL) {
            mpm_walk_begin(walk, position->payload, position->len, position->overlap,
                           position->start, slot->first, slot->end);
            return true;
        }
    }
    return false;
}

/* The thesis' own version (figure 11): begins the walk of the next group whose hash is that of as
 * many bytes here. The bytes are hashed anew for every group. False: there is none. */
MPM_CORE bool rk_next_whole(const struct rk_view *view, struct rk_position *position,
                            struct mpm_walk *walk)
{
    const uint8_t *text = position->payload + position->start;
    const uint32_t room = position->len - position->start;

    while (position->next < view->table.n_groups) {
        const uint32_t at = position->next++;
        const struct rk_whole whole = view->wholes[at];

        if (whole.len <= room && rk_hash(text, whole.len) == whole.hash) {
            mpm_walk_begin(walk, position->payload, position->len, position->overlap,
                           position->start, at, at + 1);
            return true;
        }
    }
    return false;
}

#endif

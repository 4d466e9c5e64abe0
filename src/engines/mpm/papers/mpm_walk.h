/* SPDX-License-Identifier: MIT */
/* Verification: which of some literals the text at a position begins with. For algorithms that find
 * positions by less than the whole literal. Compiled by C and by nvcc.
 *
 * The literals' groups lie in order of their folded bytes, so groups that agree with the text in
 * its first bytes are neighbours. Each byte narrows them by two binary searches at most. So the
 * cost of a position does not grow with the number of literals that begin alike, but for a
 * logarithm. */
#ifndef MPM_WALK_H
#define MPM_WALK_H

#include "engines/mpm/mpm_table.h"

/* The part of a table that a walk reads. */
struct mpm_order {
    const struct mpm_literal *literals;
    const uint32_t *groups;
    const uint8_t *bytes;
    const uint32_t *order; /* groups as the algorithm arranged them; in each range that it walks
                              they ascend and differ */
};

/* Whether a range may be walked: for checks of tables whose groups ascend (mpm_groups_ascend). */
MPM_CORE bool mpm_order_fits(const struct mpm_order *order, uint32_t n_groups, uint32_t first,
                             uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (order->order[i] >= n_groups || (i > first && order->order[i] <= order->order[i - 1]))
            return false;
    return first < end;
}

/* One walk along a text from where the literals begin. */
struct mpm_walk {
    const uint8_t *text;
    uint32_t room;    /* bytes of the text from there on */
    uint32_t dropped; /* matches of this many bytes or fewer are not wanted */
    uint32_t depth;   /* bytes read */
    uint32_t first; /* of the order: the groups that are longer than depth and agree in all of it */
    uint32_t end;
    uint32_t literal; /* of the group of depth bytes: the next to compare, */
    uint32_t last;    /* and the end of them */
};

/* Begins at `start` of a payload of len bytes whose first `overlap` were scanned before. */
MPM_CORE void mpm_walk_begin(struct mpm_walk *walk, const uint8_t *payload, uint32_t len,
                             uint32_t overlap, uint32_t start, uint32_t first, uint32_t end)
{
    walk->text = payload + start;
    walk->room = len - start;
    walk->dropped = overlap > start ? overlap - start : 0;
    walk->depth = 0;
    walk->first = first;
    walk->end = end;
    walk->literal = 0;
    walk->last = 0;
}

MPM_CORE const struct mpm_literal *mpm_order_literal(const struct mpm_order *order, uint32_t at)
{
    return &order->literals[order->groups[order->order[at]]];
}

MPM_CORE uint32_t mpm_order_byte(const struct mpm_order *order, uint32_t at, uint32_t depth)
{
    return mpm_fold(order->bytes[mpm_order_literal(order, at)->bytes + depth]);
}

/* The first of a walk's range whose byte at the walk's depth is at least `byte`. */
MPM_CORE uint32_t mpm_walk_bound(const struct mpm_order *order, const struct mpm_walk *walk,
                                 uint32_t byte)
{
    uint32_t first = walk->first;
    uint32_t end = walk->end;

    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;

        if (mpm_order_byte(order, middle, walk->depth) < byte)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Reads a byte. False: no group is left, or no text. */
MPM_CORE bool mpm_walk_step(const struct mpm_order *order, struct mpm_walk *walk)
{
    if (walk->first == walk->end || walk->depth == walk->room)
        return false;

    const uint32_t byte = mpm_fold(walk->text[walk->depth]);
    if (mpm_order_byte(order, walk->first, walk->depth) != byte)
        walk->first = mpm_walk_bound(order, walk, byte);
    if (walk->first != walk->end && mpm_order_byte(order, walk->end - 1, walk->depth) != byte)
        walk->end = mpm_walk_bound(order, walk, byte + 1);
    walk->depth++;
    return walk->first != walk->end;
}

/* The next match: its literal; it ends walk->depth bytes behind the walk's start. False: no more.
 */
MPM_CORE bool mpm_walk_next(const struct mpm_order *order, struct mpm_walk *walk, uint32_t *id)
{
    for (;;) {
        while (walk->literal < walk->last) {
            const struct mpm_literal *literal = &order->literals[walk->literal++];

            if (mpm_literal_matches(literal, order->bytes, walk->text + walk->depth)) {
                *id = literal->id;
                return true;
            }
        }
        if (!mpm_walk_step(order, walk))
            return false;
        if (mpm_order_literal(order, walk->first)->len == walk->depth) {
            const uint32_t group = order->order[walk->first++]; /* a prefix sorts first */

            if (walk->depth > walk->dropped) {
                walk->literal = order->groups[group];
                walk->last = order->groups[group + 1];
            }
        }
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/* Aho-Corasick by segments (thesis, section 2.4.2), for mappings of a thread a segment. Compiled by
 * C and by nvcc.
 *
 * An item is cut into parts, and a segment is a part with the halo behind it. A walk begins at its
 * part's first byte in the root and so finds what begins there or later. Behind the part it goes on
 * while the state still holds a byte of the part, which its depth decides. So each match is
 * reported once, by the part that it begins in. The halo is at most one byte less than the longest
 * literal. Where the text follows no literal across the parts' border, it is a byte or two. */
#ifndef AC_CORE_H
#define AC_CORE_H

#include "ac_table.h"

enum {
    AC_UNIT = 16,    /* bytes of a load: all walks of a warp load at the same step */
    AC_GROUP = 32,   /* items that a warp reads together, and segments that it walks together */
    AC_PART_MIN = 64 /* bytes: below, starting a walk costs more than it gains */
};

/* Bytes of a part, a multiple of AC_UNIT: so many that n_threads have a segment each. No part is
 * shorter than the longest halo: a text that follows a literal everywhere costs twice the time, not
 * more. */
MPM_CORE uint32_t ac_part_len(uint32_t max_len, uint32_t bytes_len, uint32_t n_threads)
{
    uint32_t len = bytes_len / n_threads;

    if (len < max_len)
        len = max_len;
    if (len < AC_PART_MIN)
        len = AC_PART_MIN;
    return (len + (AC_UNIT - 1)) / AC_UNIT * AC_UNIT;
}

/* Parts begin at multiples of AC_UNIT in the arena, but for the first, which begins with the item.
 */
MPM_CORE uint32_t ac_n_parts(struct sl_span span, uint32_t part_len)
{
    const uint64_t len = (uint64_t)span.offset % AC_UNIT + span.len;

    return span.len == 0 ? 0 : (uint32_t)((len + part_len - 1) / part_len);
}

/* Of AC_GROUP items, the one that segment k of the group is cut from. ends[i] is the number of
 * segments of items 0 to i, and k < ends[AC_GROUP - 1]. */
MPM_CORE uint32_t ac_find_item(const uint32_t ends[AC_GROUP], uint32_t k)
{
    uint32_t item = 0;

    for (uint32_t step = AC_GROUP / 2; step != 0; step /= 2)
        if (ends[item + step - 1] <= k)
            item += step;
    return item;
}

/* Positions are offsets in the arena. */
struct ac_walk {
    const uint8_t *arena;
    uint32_t at;    /* behind the bytes read; begins at a multiple of AC_UNIT */
    uint32_t begin; /* the part, */
    uint32_t end;
    uint32_t stop; /* the item's end, */
    uint32_t drop; /* and its overlap's: matches that end there or before are not wanted */
    uint32_t state;
    uint32_t group;   /* that ends here: the next to compare, or MPM_NONE; */
    uint32_t literal; /* of the one before: the next to compare, */
    uint32_t last;    /* and the end of them */
    uint64_t text[2]; /* of the unit: the bytes that are left, the next one lowest */
};

MPM_CORE void ac_start(struct ac_walk *walk, const uint8_t *arena, struct sl_span span,
                       uint32_t overlap, uint32_t part, uint32_t part_len)
{
    const uint32_t stop = span.offset + span.len;

    walk->arena = arena;
    walk->at = span.offset / AC_UNIT * AC_UNIT + part * part_len;
    walk->begin = walk->at < span.offset ? span.offset : walk->at;
    walk->end = stop - walk->at < part_len ? stop : walk->at + part_len;
    walk->stop = stop;
    walk->drop = span.offset + (overlap < span.len ? overlap : span.len);
    walk->state = 0;
    walk->group = MPM_NONE;
    walk->literal = 0;
    walk->last = 0;
    walk->text[0] = 0; /* read before it is used: a walk begins with a unit */
    walk->text[1] = 0;
}

MPM_CORE uint32_t ac_next_state(const struct ac_view *view, uint32_t state, uint8_t byte)
{
    if (state >= view->n_plain) {
        const struct ac_record *record = &view->records[state - view->n_plain];
        const uint8_t folded = mpm_fold(byte);

        if (ac_has_exception(record, folded))
            return view->targets[ac_exception(record, folded)];
        state = record->row;
    }
    return view->rows[state << AC_ROW_SHIFT | byte];
}

/* Reads a byte; ac_match reports matches that end behind it. False: the segment is done. */
MPM_CORE bool ac_step(const struct ac_view *view, struct ac_walk *walk)
{
    if (walk->at >= walk->end &&
        (walk->at == walk->stop || walk->at - view->depths[walk->state] >= walk->end))
        return false;
    if (walk->at % AC_UNIT == 0)
        memcpy(walk->text, __builtin_assume_aligned(walk->arena + walk->at, AC_UNIT), AC_UNIT);

    const uint8_t byte = (uint8_t)walk->text[0];
    walk->text[0] = walk->text[0] >> 8 | walk->text[1] << 56;
    walk->text[1] >>= 8;
    if (walk->at++ < walk->begin)
        return true;
    walk->state = ac_next_state(view, walk->state, byte);
    if (walk->state >= view->n_plain && walk->at > walk->drop)
        walk->group = view->records[walk->state - view->n_plain].report;
    return true;
}

/* The next match that ends at walk->at: its literal. The groups that end here become shorter, so
 * behind the first that begins behind the part all do. False: no more. */
MPM_CORE bool ac_match(const struct ac_view *view, struct ac_walk *walk, uint32_t *id)
{
    for (;;) {
        while (walk->literal < walk->last) {
            const struct mpm_literal *literal = &view->literals[walk->literal++];

            /* No literal of a built table is longer than what was read. */
            if (literal->len <= walk->at - walk->begin &&
                mpm_literal_matches(literal, view->bytes, walk->arena + walk->at)) {
                *id = literal->id;
                return true;
            }
        }
        if (walk->group == MPM_NONE)
            return false;

        const struct ac_output output = view->outputs[walk->group];
        const bool begins_behind = walk->at - view->literals[output.literal].len >= walk->end;
        walk->group = begins_behind ? MPM_NONE : output.suffix;
        walk->literal = output.literal;
        walk->last = begins_behind ? output.literal : output.end;
    }
}

#endif

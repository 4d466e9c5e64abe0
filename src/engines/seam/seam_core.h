/* SPDX-License-Identifier: MIT */
/* A place between two segments, once, for C and for nvcc: which literals may be cut there. One that
 * is has at least a byte on either side.
 *
 * The nearest byte on either side decides most places. Four bytes name a slot, whose classes of the
 * bytes next to them decide most others. The slot's entries are compared with all bytes. */
#ifndef ENGINES_SEAM_CORE_H
#define ENGINES_SEAM_CORE_H

#include <stdbool.h>
#include <string.h>

#include "base/core.h"
#include "sluice/batch.h"

enum { SEAM_NEAR = 4, SEAM_BEFORE_MAX = 63 /* bytes before a place that are compared */ };

/* How a literal is cut, by its bytes before the place and behind it. */
enum seam_way {
    SEAM_BOTH,       /* two or more of each */
    SEAM_ONE_BEFORE, /* one, and three or more */
    SEAM_ONE_BEHIND, /* three or more, and one */
    SEAM_FEW,        /* one of either, and at most two of the other */
    SEAM_WAYS
};

/* What a set has of the keys of one hash. */
struct seam_slot {
    uint32_t next; /* which bytes are next to their key: bit i of the low half is for those of class
                      i before it, and of the high half behind it */
    uint32_t first; /* cut; those behind its last are the next slot's */
};

/* A literal that is cut, with up to eight bytes on either side, folded. */
struct seam_cut {
    uint64_t before, behind; /* the nearest byte highest, and lowest */
    uint32_t literal;
    uint16_t n_before, n_behind; /* bytes of the literal on either side */
};

struct seam_literal {
    uint64_t id;
    uint32_t at; /* of its bytes */
    uint32_t nocase;
};

/* The literals of a direction. `any` has the ways by the nearest byte on either side: four bits,
 * eight of them a number. The slots of a way lie together, by the hashes of its keys. */
struct seam_set {
    const uint32_t *any;
    const struct seam_slot *slot; /* of all ways; one more ends them */
    const struct seam_cut *cut;
    const struct seam_literal *literal;
    const uint8_t *bytes;      /* of the literals */
    uint32_t base;             /* of a hit's offset */
    uint32_t n_before;         /* bytes before a place that the longest literal needs */
    uint32_t from[SEAM_WAYS];  /* the first slot of a way */
    uint32_t shift[SEAM_WAYS]; /* of 32 bits of a hash, to a slot behind it */
};

enum {
    SEAM_KEY_FACTOR = INT32_C(-1640531535), /* 2^32 over the golden ratio */
    SEAM_CLASSES = 16,                      /* of bytes, see seam_class */
    SEAM_CLASSES_ALL = (1 << SEAM_CLASSES) - 1
};

/* The bytes next to a place, folded: the nearest of `before` is highest, and of `behind` lowest. */
struct seam_near {
    uint32_t before, behind;
};

/* Letters differ from their capitals in one bit. Digits and spaces are as they are. */
CORE uint32_t seam_fold(uint32_t bytes)
{
    return bytes | (bytes >> 1 & 0x20202020);
}

CORE uint64_t seam_fold_8(uint64_t bytes)
{
    return bytes | (bytes >> 1 & UINT64_C(0x2020202020202020));
}

CORE uint32_t seam_key(enum seam_way way, struct seam_near near)
{
    switch (way) {
    case SEAM_BOTH:
        return near.before >> 16 | near.behind << 16;
    case SEAM_ONE_BEFORE:
        return near.before >> 24 | near.behind << 8;
    case SEAM_ONE_BEHIND:
        return near.before >> 8 | near.behind << 24;
    default:
        return near.before >> 24 | (near.behind & 0xFF) << 8;
    }
}

/* The class of a byte, in the lowest bits. */
CORE uint32_t seam_class(uint32_t byte)
{
    return (byte ^ byte >> 4) % SEAM_CLASSES;
}

/* Bytes of a way's key on either side. */
CORE uint32_t seam_key_before(enum seam_way way)
{
    return way == SEAM_BOTH ? 2 : way == SEAM_ONE_BEHIND ? 3 : 1;
}

CORE uint32_t seam_key_behind(enum seam_way way)
{
    return way == SEAM_BOTH ? 2 : way == SEAM_ONE_BEFORE ? 3 : 1;
}

/* The bits of the bytes next to the key, as in a slot. */
CORE uint32_t seam_next(enum seam_way way, struct seam_near near)
{
    const uint32_t before = near.before >> 8 * (3 - seam_key_before(way)) & 0xFF;
    const uint32_t behind = near.behind >> 8 * seam_key_behind(way) & 0xFF;

    return UINT32_C(1) << seam_class(before) | UINT32_C(1) << (SEAM_CLASSES + seam_class(behind));
}

/* The number of the slot that has the way's key. */
CORE uint32_t seam_slot_of(const struct seam_set *set, enum seam_way way, struct seam_near near)
{
    return set->from[way] + (seam_key(way, near) * (uint32_t)SEAM_KEY_FACTOR >> set->shift[way]);
}

/* The ways in which a literal may be cut, by the nearest byte on either side: bits. */
CORE uint32_t seam_ways_any(const struct seam_set *set, struct seam_near near)
{
    const uint32_t at = seam_key(SEAM_FEW, near);

    return set->any[at / 8] >> at % 8 * 4 & 15;
}

/* Whether the way's slot has the bytes next to its key. */
CORE bool seam_passes(const struct seam_set *set, enum seam_way way, struct seam_near near)
{
    const uint32_t next = seam_next(way, near);

    return (set->slot[seam_slot_of(set, way, near)].next & next) == next;
}

/* ---- the bytes of a place -------------------------------------------------------------------- */

/* Those before a place end at `before`. */
struct seam_sides {
    const uint8_t *before, *behind;
    uint32_t n_before, n_behind;
};

CORE uint64_t seam_last_8(const uint8_t *end, uint32_t n)
{
    uint64_t bytes = 0;

    if (n >= 8)
        memcpy(&bytes, end - 8, 8);
    else
        for (uint32_t i = 1; i <= n; i++)
            bytes |= (uint64_t) * (end - i) << (64 - 8 * i);
    return seam_fold_8(bytes);
}

CORE uint64_t seam_first_8(const uint8_t *behind, uint32_t n)
{
    uint64_t bytes = 0;

    if (n >= 8)
        memcpy(&bytes, behind, 8);
    else
        for (uint32_t i = 0; i < n; i++)
            bytes |= (uint64_t)behind[i] << 8 * i;
    return seam_fold_8(bytes);
}

CORE struct seam_near seam_near_of(uint64_t before, uint64_t behind)
{
    const struct seam_near near = {(uint32_t)(before >> 32), (uint32_t)behind};

    return near;
}

/* The sides of an item whose `before` is not 0, with at least `wanted` bytes before it, or all that
 * there are. Those that lie in several items are copied to `room`. Where the column's items have
 * fewer bytes than the longest literal needs, the stream has no others. */
CORE struct seam_sides seam_sides_of(const struct sl_batch *batch, uint32_t item, uint32_t wanted,
                                     uint8_t room[SEAM_BEFORE_MAX])
{
    const struct sl_span payload = batch->payload[item];
    uint32_t at = (batch->before[item] & SL_BEFORE_NUMBER) - 1, n = 0;
    struct sl_span span = batch->payload[at];
    struct seam_sides sides = {batch->bytes + span.offset + span.len, batch->bytes + payload.offset,
                               span.len, payload.len};

    if (span.len >= wanted || (batch->before[at] & SL_BEFORE_NUMBER) == 0)
        return sides;
    for (;;) {
        for (uint32_t i = span.len; i != 0 && n < wanted; i--)
            room[SEAM_BEFORE_MAX - ++n] = batch->bytes[span.offset + i - 1];
        if (n == wanted || (batch->before[at] & SL_BEFORE_NUMBER) == 0)
            break;
        at = (batch->before[at] & SL_BEFORE_NUMBER) - 1;
        span = batch->payload[at];
    }
    sides.before = room + SEAM_BEFORE_MAX;
    sides.n_before = n;
    return sides;
}

/* The ways in which a literal may be cut between the sides: bits. */
CORE uint32_t seam_ways_of(const struct seam_set *set, const struct seam_sides *sides)
{
    const uint32_t n_before = sides->n_before < SEAM_NEAR ? sides->n_before : (uint32_t)SEAM_NEAR;
    const uint32_t n_behind = sides->n_behind < SEAM_NEAR ? sides->n_behind : (uint32_t)SEAM_NEAR;
    const struct seam_near near =
        seam_near_of(seam_last_8(sides->before, n_before), seam_first_8(sides->behind, n_behind));
    const bool is_usual = n_before == SEAM_NEAR && n_behind == SEAM_NEAR;
    const uint32_t any = seam_ways_any(set, near);
    uint32_t ways = 0;

    for (int way = 0; way < SEAM_WAYS; way++)
        if ((any >> way & 1) != 0 && (!is_usual || seam_passes(set, (enum seam_way)way, near)))
            ways |= 1u << way;
    return ways;
}

/* The same of an item whose `before` is not 0. */
CORE uint32_t seam_ways_at(const struct seam_set *set, const struct sl_batch *batch, uint32_t item)
{
    uint8_t room[SEAM_BEFORE_MAX];
    const struct seam_sides sides = seam_sides_of(batch, item, SEAM_NEAR, room);

    return seam_ways_of(set, &sides);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Whether the first bytes on either side are the cut's: eight, or all that it has. */
CORE bool seam_begins_alike(const struct seam_cut *cut, uint64_t before, uint64_t behind)
{
    const uint32_t left = cut->n_before < 8 ? 8 * (8u - cut->n_before) : 0;
    const uint32_t right = cut->n_behind < 8 ? 8 * (8u - cut->n_behind) : 0;

    return (cut->before ^ before) >> left == 0 && (cut->behind ^ behind) << right == 0;
}

CORE uint8_t seam_lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte | 0x20) : byte;
}

/* Whether the literal of a cut is written across the place; `before` and `behind` are the place's
 * nearest bytes. */
CORE bool seam_is_written(const struct seam_set *set, const struct seam_cut *cut, uint64_t before,
                          uint64_t behind, const struct seam_sides *sides)
{
    if (cut->n_before > sides->n_before || cut->n_behind > sides->n_behind ||
        !seam_begins_alike(cut, before, behind))
        return false;
    const struct seam_literal *const literal = &set->literal[cut->literal];
    const uint8_t *const bytes = set->bytes + literal->at;
    const uint32_t len = (uint32_t)cut->n_before + cut->n_behind;

    for (uint32_t i = 0; i < len; i++) {
        const uint8_t is = i < cut->n_before ? *(sides->before - cut->n_before + i)
                                             : sides->behind[i - cut->n_before];

        if (bytes[i] != (literal->nocase != 0 ? seam_lower(is) : is))
            return false;
    }
    return true;
}

/* The cuts of some ways, as they are compared with the bytes of a place. */
struct seam_walk {
    const struct seam_set *set;
    const struct seam_sides *sides;
    uint64_t before, behind; /* the place's nearest bytes */
    uint32_t ways;           /* bits */
    int way;                 /* the next */
    uint32_t at, end;        /* cuts of the way before it */
};

CORE struct seam_walk seam_walk_of(const struct seam_set *set, const struct seam_sides *sides,
                                   uint32_t ways)
{
    const struct seam_walk walk = {set,
                                   sides,
                                   seam_last_8(sides->before, sides->n_before),
                                   seam_first_8(sides->behind, sides->n_behind),
                                   ways,
                                   0,
                                   0,
                                   0};

    return walk;
}

/* The next cut whose literal is written across the place; NULL: there is none. */
CORE const struct seam_cut *seam_walk_next(struct seam_walk *walk)
{
    const struct seam_set *const set = walk->set;

    for (;;) {
        while (walk->at < walk->end) {
            const struct seam_cut *const cut = &set->cut[walk->at++];

            if (seam_is_written(set, cut, walk->before, walk->behind, walk->sides))
                return cut;
        }
        while (walk->way < SEAM_WAYS && (walk->ways >> walk->way & 1) == 0)
            walk->way++;
        if (walk->way == SEAM_WAYS)
            return NULL;
        const struct seam_slot *const slot = &set->slot[seam_slot_of(
            set, (enum seam_way)walk->way++, seam_near_of(walk->before, walk->behind))];

        walk->at = slot->first;
        walk->end = slot[1].first;
    }
}

#endif

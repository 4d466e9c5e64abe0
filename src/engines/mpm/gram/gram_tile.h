/* SPDX-License-Identifier: MIT */
/* The gram matcher over an arena in tiles, as GPUs do it. A lane filters 16 bytes. A position that
 * passes is verified by its place in the arena, and its item is looked up last. Compiled by C and
 * by nvcc. */
#ifndef GRAM_TILE_H
#define GRAM_TILE_H

#include "gram_sieve.h"

enum {
    GRAM_LANES = 32,     /* of a warp, which goes over a tile together */
    GRAM_LANE = 16,      /* bytes */
    GRAM_LANE_WORDS = 7, /* that a lane reads: the one before its bytes, its bytes and two more */
    GRAM_TILE = GRAM_LANES * GRAM_LANE,
    GRAM_INDEX_LOG = 9 /* bytes of the arena that share an entry of the index of items */
};

/* The limit of a warp's verification, in units of eight bytes compared by some or all of its lanes.
 * A batch on which a warp exceeds it is given up. The automaton scans it then, and takes about as
 * long for a tile as this limit. */
enum {
    GRAM_WORK_TILE = 256,  /* for each tile, */
    GRAM_WORK_ITEM = 64,   /* for each item that begins with a run, */
    GRAM_WORK_FREE = 4096, /* and for each warp: some tiles are full of matches */
    GRAM_WORK_ROUND = 8,   /* a look-up or an entry for each lane, which wait for memory, */
    GRAM_WORK_LONG = 64,   /* and again each of these bytes of a literal that is compared */
    GRAM_WORK_RUN = 2      /* a literal in a run, and 32 bytes of one that are read */
};

enum { GRAM_RUN_STEP = GRAM_LANES * 8 /* bytes in which a warp looks for a run's end */ };

/* A batch's arena. Payloads do not overlap, and ascend. */
struct gram_arena {
    const uint8_t *bytes;
    const struct sl_span *payload;
    const uint16_t *overlap; /* NULL where no item has any */
    const uint32_t *index;   /* the last item whose payload begins at or before each 512, or 0 */
    uint32_t n_items;
    uint32_t len; /* bytes */
};

/* A place in an item. */
struct gram_place {
    uint32_t item;
    struct sl_span span;
    uint32_t overlap;
};

/* The entries of the index that are an item's: those from *first on, up to the returned one. The
 * last item has all that are left of n. */
MPM_CORE uint32_t gram_index_range(const struct gram_arena *arena, uint32_t item, uint32_t n,
                                   uint32_t *first)
{
    const uint32_t round = (1u << GRAM_INDEX_LOG) - 1;

    /* From the first entry at or behind the payload's first byte; of the first item, all before. */
    *first = item == 0
                 ? 0
                 : (uint32_t)(((uint64_t)arena->payload[item].offset + round) >> GRAM_INDEX_LOG);
    return item + 1 == arena->n_items
               ? n
               : (uint32_t)(((uint64_t)arena->payload[item + 1].offset + round) >> GRAM_INDEX_LOG);
}

/* The item whose payload holds a byte, if one does. The offsets of four items are read together. */
MPM_CORE bool gram_locate(const struct gram_arena *arena, uint32_t at, struct gram_place *place)
{
    uint32_t item = arena->index[at >> GRAM_INDEX_LOG];
    enum { TOGETHER = 4 };

    for (uint32_t n = TOGETHER; n == TOGETHER; item += n) {
        n = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (uint32_t i = 1; i <= TOGETHER; i++)
            n += item + i < arena->n_items && arena->payload[item + i].offset <= at;
    }
    place->item = item;
    place->span = arena->payload[item];
    place->overlap = arena->overlap != NULL ? arena->overlap[item] : 0;
    return at >= place->span.offset && at - place->span.offset < place->span.len;
}

/* Whether an entry's literal is in a place with its window at `at`. On success *end is the byte
 * behind it, from the payload's first. *work: the comparison's cost. */
MPM_CORE bool gram_place_matches(const struct gram_view *view, const struct gram_arena *arena,
                                 const struct gram_place *place, const struct gram_entry *entry,
                                 uint32_t at, uint32_t *end, uint32_t *work)
{
    struct gram_text text;

    text.bytes = arena->bytes + place->span.offset;
    text.len = place->span.len;
    text.overlap = place->overlap;
    *work = 0;
    if (!gram_entry_fits(entry, &text, at - place->span.offset, end))
        return false;
    *work = entry->len / GRAM_WORK_LONG * GRAM_WORK_ROUND;
    return gram_entry_is_whole(view, entry, text.bytes + *end - entry->len);
}

/* ---- a lane's filters ------------------------------------------------------------------------ */

/* Four bytes from byte `at` (0 to 3) of a on, going on in b. */
MPM_CORE uint32_t gram_funnel(uint32_t a, uint32_t b, uint32_t at)
{
#ifdef __CUDA_ARCH__
    return __funnelshift_r(a, b, 8 * at);
#else
    return (uint32_t)(((uint64_t)b << 32 | a) >> 8 * at);
#endif
}

/* Bit p: a window may begin at byte p of the lane. `words` are its four and the two behind them,
 * folded; the last is read only where the sieve is long. */
MPM_CORE uint32_t gram_lane_windows(const struct gram_sieve *sieve, const uint32_t *filter,
                                    const uint32_t *words, bool is_long)
{
    uint32_t passed = 0;

#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (uint32_t p = 0; p < GRAM_LANE; p++) {
        const uint32_t *own = words + p / 4;
        const uint32_t first = gram_funnel(own[0], own[1], p % 4);
        const uint32_t next = is_long ? gram_funnel(own[1], own[2], p % 4) : 0;

        gram_sieve_probe(sieve, filter, first, next, 1u << p, &passed);
    }
    return passed;
}

/* 0x80 in each byte where a and b are equal, 0 elsewhere. */
MPM_CORE uint32_t gram_equal4(uint32_t a, uint32_t b)
{
    const uint32_t differ = a ^ b;

    return ~(((differ & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | differ | 0x7F7F7F7Fu);
}

/* Bit p: a run of three bytes or more begins at byte p of the lane. */
MPM_CORE uint32_t gram_lane_runs(const uint32_t words[GRAM_LANE_WORDS])
{
    uint32_t equal = 0; /* bit 4 + p: byte p equals the next */

#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (uint32_t i = 0; i < GRAM_LANE_WORDS - 1; i++)
        equal |=
            ((gram_equal4(words[i], gram_funnel(words[i], words[i + 1], 1)) >> 7) * 0x01020408u >>
             24)
            << 4 * i;
    return equal >> 4 & equal >> 5 & ~(equal >> 3) & 0xFFFF;
}

/* Bit p: a tiny literal may begin at byte p of the lane; `bytes` are as they are. */
MPM_CORE uint32_t gram_lane_tiny(const struct gram_table *body, const uint8_t *bytes)
{
    uint32_t passed = 0;

    for (uint32_t p = 0; p < GRAM_LANE; p++)
        passed |= (uint32_t)(gram_tiny_classes(body, bytes + p) != 0) << p;
    return passed;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Whether there are literals that are runs of a byte. */
MPM_CORE bool gram_has_runs_of(const struct gram_table *body, uint8_t byte)
{
    const uint8_t folded = (uint8_t)gram_fold4(byte);

    return body->runs.begin[folded] != body->runs.begin[folded + 1];
}

/* Bytes begin to end - 1 of the arena, which are coarsely equal. */
struct gram_run {
    uint32_t begin;
    uint32_t end;
    bool uniform; /* they are equal */
};

/* The end of bytes that are equal to this one, coarsely where `coarse` is 0x20 in each byte. It
 * reads `most` bytes at most, a multiple of 8, and none beyond `end`. */
MPM_CORE uint32_t gram_run_end(const struct gram_arena *arena, uint8_t byte, uint64_t coarse,
                               uint32_t at, uint32_t most, uint32_t end)
{
    const uint64_t run = byte * UINT64_C(0x0101010101010101);

    for (uint32_t i = 0; i < most && at < end; i += 8, at += 8) {
        const uint64_t bytes = gram_load8(arena->bytes + at);
        const uint64_t differ = (bytes | (bytes >> 1 & coarse)) ^ run;

        if (differ == 0)
            continue;
#ifdef __CUDA_ARCH__
        at += (uint32_t)(__ffsll((long long)differ) - 1) / 8;
#else
        at += (uint32_t)__builtin_ctzll(differ) / 8;
#endif
        break;
    }
    return at < end ? at : end;
}

/* A literal that is a run of a byte, or of both its cases. */
struct gram_run_literal {
    uint8_t byte;
    bool exact; /* case counts */
    uint32_t len;
    uint32_t id;
};

/* Goes over the literals that are runs of a byte, shortest first. */
struct gram_run_list {
    uint32_t entry, last_entry;
    uint32_t literal, last_literal; /* of the group at hand */
};

MPM_CORE struct gram_run_list gram_runs_of(const struct gram_table *body, uint8_t byte)
{
    struct gram_run_list list = {body->runs.begin[byte], body->runs.begin[byte + 1], 0, 0};

    return list;
}

/* The next one; false: no other is short enough for the run. */
MPM_CORE bool gram_next_run(const struct gram_view *view, const struct gram_run *run,
                            struct gram_run_list *at, struct gram_run_literal *next)
{
    const struct gram_entry *entries =
        (const struct gram_entry *)mpm_at(view->body, view->body->runs.entries);

    while (at->literal == at->last_literal) {
        const struct gram_entry *entry = &entries[at->entry];

        if (at->entry == at->last_entry || entry->len > run->end - run->begin)
            return false;
        at->entry++;
        if ((entry->flags & GRAM_ENTRY_GROUP) == 0) {
            next->byte = (uint8_t)entry->bytes;
            next->exact = (entry->flags & GRAM_ENTRY_EXACT) != 0;
            next->len = entry->len;
            next->id = entry->match;
            return true;
        }
        at->literal = view->groups[entry->match];
        at->last_literal = view->groups[entry->match + 1];
    }

    const struct mpm_literal *literal = &view->literals[at->literal++];
    next->byte = view->bytes[literal->bytes];
    next->exact = literal->exact != 0;
    next->len = literal->len;
    next->id = literal->id;
    return true;
}

/* The cost of a literal there. */
MPM_CORE uint32_t gram_run_work(const struct gram_run *run)
{
    return GRAM_WORK_RUN * (1 + (run->end - run->begin) / (run->uniform ? 1024 : 32));
}

/* The ends of a literal of `len` bytes in a run that is full of it, from the payload's first byte;
 * `sparse`: the first and the last alone. */
MPM_CORE struct mpm_ends gram_run_ends(const struct gram_place *place, const struct gram_run *run,
                                       uint32_t len, bool sparse)
{
    return mpm_ends(run->begin - place->span.offset + len, run->end - place->span.offset,
                    place->overlap, sparse);
}

/* Whether a byte goes on a run that is a literal. */
MPM_CORE bool gram_run_takes(const struct gram_run_literal *literal, uint8_t byte)
{
    return literal->exact ? byte == literal->byte : mpm_fold(byte) == mpm_fold(literal->byte);
}

#endif

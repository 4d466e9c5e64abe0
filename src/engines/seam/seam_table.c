/* SPDX-License-Identifier: MIT */
#include "seam_table.h"

#include <stdlib.h>

#include "base/least.h"

enum {
    SLOTS_LOG_MIN = 8,       /* of the slots of a way: one for each of the most cuts that it has, */
    SLOTS_LOG_MAX = 18,      /* within these */
    ANY_NUMBERS = 65536 / 8, /* of all keys of two bytes */
    ALIGN = 64
};

/* ---- cuts ------------------------------------------------------------------------------------ */

static struct seam_cut cut_of(const struct seam_wanted *literal, uint32_t index, uint32_t at)
{
    const uint32_t n_behind = literal->len - at;

    return (struct seam_cut){seam_last_8(literal->bytes + at, at),
                             seam_first_8(literal->bytes + at, n_behind), index, (uint16_t)at,
                             (uint16_t)n_behind};
}

static enum seam_way way_of(const struct seam_cut *cut)
{
    if (cut->n_before > 1 && cut->n_behind > 1)
        return SEAM_BOTH;
    if (cut->n_before > 2 || cut->n_behind > 2)
        return cut->n_before == 1 ? SEAM_ONE_BEFORE : SEAM_ONE_BEHIND;
    return SEAM_FEW;
}

/* The classes of a byte that a literal has, or not. */
static uint32_t classes_of(uint32_t classes, bool has)
{
    return has ? classes : SEAM_CLASSES_ALL;
}

/* A part while it is filled. */
struct filling {
    struct seam_set set;
    uint32_t *any;
    struct seam_slot *slot;
    struct seam_cut *cut;
};

/* The slot of a cut, once the sets have it. */
static struct seam_slot *put(const struct filling *filling, const struct seam_cut *cut)
{
    const struct seam_near near = seam_near_of(cut->before, cut->behind);
    const enum seam_way way = way_of(cut);
    const uint32_t at = seam_key(SEAM_FEW, near), next = seam_next(way, near);
    struct seam_slot *const slot = &filling->slot[seam_slot_of(&filling->set, way, near)];

    filling->any[at / 8] |= UINT32_C(1) << (at % 8 * 4 + way);
    slot->next |= classes_of(next & SEAM_CLASSES_ALL, cut->n_before > seam_key_before(way)) |
                  classes_of(next >> SEAM_CLASSES, cut->n_behind > seam_key_behind(way))
                      << SEAM_CLASSES;
    return slot;
}

static uint32_t n_slots_of(const struct seam_part *part)
{
    return part->from[SEAM_FEW] + (UINT32_MAX >> part->shift[SEAM_FEW]) + 1;
}

/* Slots hold the cuts of their hash: counted, then laid from their ends down. */
static void fill(struct seam_table *table, bool to_server, const struct seam_wanted *wanted,
                 uint32_t n)
{
    uint8_t *const base = (uint8_t *)table;
    const struct seam_part *const part = &table->part[to_server];
    const struct filling filling = {.set = seam_set_of(table, to_server),
                                    .any = (uint32_t *)(base + part->any),
                                    .slot = (struct seam_slot *)(base + part->slot),
                                    .cut = (struct seam_cut *)(base + part->cut)};
    const uint32_t n_slots = n_slots_of(part);

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t at = 1; wanted[i].to[to_server] && at < wanted[i].len; at++) {
                const struct seam_cut cut = cut_of(&wanted[i], i, at);
                struct seam_slot *const slot = put(&filling, &cut);

                if (pass == 0)
                    slot->first++;
                else
                    filling.cut[--slot->first] = cut;
            }
        for (uint32_t i = 0; i < n_slots && pass == 0; i++)
            filling.slot[i + 1].first += filling.slot[i].first;
    }
}

/* ---- the block ------------------------------------------------------------------------------- */

static uint32_t log_of(uint64_t n)
{
    uint32_t log = SLOTS_LOG_MIN;

    while (log < SLOTS_LOG_MAX && (UINT64_C(1) << log) < n)
        log++;
    return log;
}

/* Takes bytes of the block. */
static uint32_t take(uint64_t *len, uint64_t more)
{
    const uint64_t at = *len;

    *len += (more + ALIGN - 1) / ALIGN * ALIGN;
    return (uint32_t)at;
}

static void lay_part(struct seam_part *part, uint64_t *len, uint64_t n_literals, uint64_t n_cuts)
{
    const uint64_t most[SEAM_WAYS] = {n_cuts, n_literals, n_literals, 0};
    uint32_t n_slots = 0;

    for (int way = 0; way < SEAM_WAYS; way++) {
        const uint32_t log = log_of(most[way]);

        part->from[way] = n_slots;
        part->shift[way] = 32 - log;
        n_slots += UINT32_C(1) << log;
    }
    part->any = take(len, ANY_NUMBERS * sizeof(uint32_t));
    part->slot = take(len, (n_slots + 1) * sizeof(struct seam_slot));
    part->cut = take(len, n_cuts * sizeof(struct seam_cut));
}

/* Lays out the parts of a block. */
static struct seam_table lay(const struct seam_wanted *wanted, uint32_t n)
{
    struct seam_table table = {.len = 0};
    uint64_t n_literals[2] = {0, 0}, n_cuts[2] = {0, 0}, n_bytes = 0;

    for (uint32_t i = 0; i < n; i++) {
        for (int to = 0; to < 2; to++) {
            n_literals[to] += wanted[i].to[to];
            n_cuts[to] += wanted[i].to[to] ? wanted[i].len - 1 : 0;
        }
        n_bytes += wanted[i].len;
        if (table.n_before < wanted[i].len - 1)
            table.n_before = wanted[i].len - 1;
    }
    (void)take(&table.len, sizeof table);
    for (int to = 0; to < 2; to++)
        lay_part(&table.part[to], &table.len, n_literals[to], n_cuts[to]);
    table.literal = take(&table.len, n * sizeof(struct seam_literal));
    table.bytes = take(&table.len, n_bytes);
    return table;
}

static void copy_literals(struct seam_table *table, const struct seam_wanted *wanted, uint32_t n)
{
    uint8_t *const base = (uint8_t *)table;
    struct seam_literal *const literal = (struct seam_literal *)(base + table->literal);
    uint32_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        const bool nocase = wanted[i].nocase;

        literal[i] = (struct seam_literal){wanted[i].id, at, nocase};
        for (uint32_t b = 0; b < wanted[i].len; b++, at++)
            base[table->bytes + at] = nocase ? seam_lower(wanted[i].bytes[b]) : wanted[i].bytes[b];
    }
}

struct seam_table *seam_table_create(const struct seam_wanted *wanted, uint32_t n, uint32_t base)
{
    const struct seam_table laid = lay(wanted, n);
    struct seam_table *const table = laid.len <= UINT32_MAX ? calloc(1, laid.len) : NULL;

    if (table == NULL)
        return NULL;
    *table = laid;
    table->base = base;
    copy_literals(table, wanted, n);
    for (int to = 0; to < 2; to++)
        fill(table, to != 0, wanted, n);
    return table;
}

void seam_table_free(struct seam_table *table)
{
    free(table);
}

/* ---- one place ------------------------------------------------------------------------------- */

bool seam_table_cuts(const struct seam_table *table, bool to_server, const struct seam_sides *sides)
{
    const struct seam_set set = seam_set_of(table, to_server);
    struct seam_walk walk = seam_walk_of(&set, sides, seam_ways_of(&set, sides));

    return seam_walk_next(&walk) != NULL;
}

/* SPDX-License-Identifier: MIT */
#include "seam_filter.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"

enum {
    SET_LOG_MIN = 12, /* of the bits of a set: 32 a place */
    SET_LOG_MAX = 22,
    ANY_LOG = 16,   /* of all keys of two bytes */
    PLACES_MAX = 32 /* literals that are compared at one place */
};

/* Where a literal can be cut, with up to eight bytes on either side, folded: most places that are
 * compared differ in these. */
struct place {
    uint64_t before, behind; /* the nearest byte highest, and lowest */
    uint32_t literal;
    uint16_t n_before, n_behind; /* bytes of the literal on either side */
};

/* The places by the hash of their key, and sets of their keys. */
struct seam_filter {
    struct seam_sets sets;
    struct sl_literal *literal;
    uint32_t *first; /* place of each bucket; one more ends them */
    struct place *place;
    uint32_t buckets_log;
};

_Static_assert(offsetof(struct seam_filter, sets) == 0, "seam_filter_sets relies on it");

static uint64_t fold_8(uint64_t bytes)
{
    return bytes | (bytes >> 1 & UINT64_C(0x2020202020202020));
}

/* Up to eight bytes before `end`, and from `behind` on. */
static uint64_t last_8(const uint8_t *end, uint32_t n)
{
    uint64_t bytes = 0;

    if (n >= 8)
        memcpy(&bytes, end - 8, 8);
    else
        memcpy((uint8_t *)&bytes + 8 - n, end - n, n);
    return fold_8(bytes);
}

static uint64_t first_8(const uint8_t *behind, uint32_t n)
{
    uint64_t bytes = 0;

    if (n >= 8)
        memcpy(&bytes, behind, 8);
    else
        memcpy(&bytes, behind, n);
    return fold_8(bytes);
}

static struct seam_near near_of(uint64_t before, uint64_t behind)
{
    return (struct seam_near){(uint32_t)(before >> 32), (uint32_t)behind};
}

static uint32_t bucket_of(const struct seam_filter *filter, enum seam_way way,
                          struct seam_near near)
{
    const uint64_t key = seam_key(way, near) | (uint64_t)way << 32;

    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - filter->buckets_log));
}

/* ---- making ---------------------------------------------------------------------------------- */

static struct place place_of(const struct sl_literal *literal, uint32_t id, uint32_t cut)
{
    const uint32_t n_behind = literal->len - cut;

    return (struct place){last_8(literal->bytes + cut, cut),
                          first_8(literal->bytes + cut, n_behind), id, (uint16_t)cut,
                          (uint16_t)n_behind};
}

static enum seam_way way_of(uint32_t n_before, uint32_t n_behind)
{
    if (n_before > 1 && n_behind > 1)
        return SEAM_BOTH;
    if (n_before > 2 || n_behind > 2)
        return n_before == 1 ? SEAM_ONE_BEFORE : SEAM_ONE_BEHIND;
    return SEAM_FEW;
}

static uint32_t bucket_of_place(const struct seam_filter *filter, const struct place *place)
{
    return bucket_of(filter, way_of(place->n_before, place->n_behind),
                     near_of(place->before, place->behind));
}

static void put_bit(struct seam_sets *sets, const struct place *place)
{
    const struct seam_near near = near_of(place->before, place->behind);
    const enum seam_way way = way_of(place->n_before, place->n_behind);
    const uint32_t bit = seam_bit(sets, way, near), any = seam_key(SEAM_FEW, near);

    sets->set[way][bit / 64] |= UINT64_C(1) << bit % 64;
    sets->any[any / 64] |= UINT64_C(1) << any % 64;
}

/* Buckets hold the places of their hash: counted, then laid from their ends down. */
static void fill(struct seam_filter *filter, uint32_t n_literals)
{
    const uint32_t n_buckets = UINT32_C(1) << filter->buckets_log;

    for (uint32_t id = 0; id < n_literals; id++)
        for (uint32_t cut = 1; cut < filter->literal[id].len; cut++) {
            const struct place place = place_of(&filter->literal[id], id, cut);

            put_bit(&filter->sets, &place);
            filter->first[bucket_of_place(filter, &place)]++;
        }
    for (uint32_t i = 0; i < n_buckets; i++)
        filter->first[i + 1] += filter->first[i];
    for (uint32_t id = 0; id < n_literals; id++)
        for (uint32_t cut = 1; cut < filter->literal[id].len; cut++) {
            const struct place place = place_of(&filter->literal[id], id, cut);

            filter->place[--filter->first[bucket_of_place(filter, &place)]] = place;
        }
}

/* The least power of two, from this one on, that is no less than n. */
static uint32_t log_of(uint64_t n, uint32_t from)
{
    while ((UINT64_C(1) << from) < n)
        from++;
    return from;
}

static bool reserve_set(struct seam_sets *sets, enum seam_way way, uint32_t log)
{
    sets->shift[way] = 32 - log;
    sets->set[way] = calloc((size_t)1 << log >> 6, sizeof(uint64_t));
    return sets->set[way] != NULL;
}

static bool reserve(struct seam_filter *filter, uint32_t n_literals, size_t n_places)
{
    struct seam_sets *const sets = &filter->sets;
    const uint32_t both = log_of(32 * (uint64_t)n_places, SET_LOG_MIN);
    const uint32_t one = log_of(32 * (uint64_t)n_literals, SET_LOG_MIN);

    sets->any = calloc((size_t)1 << ANY_LOG >> 6, sizeof(uint64_t));
    filter->buckets_log = log_of(n_places, 1);
    filter->literal = malloc((n_literals + 1) * sizeof *filter->literal);
    filter->first = calloc(((size_t)1 << filter->buckets_log) + 1, sizeof *filter->first);
    filter->place = malloc((n_places + 1) * sizeof *filter->place);
    return reserve_set(sets, SEAM_BOTH, (uint32_t)least(both, SET_LOG_MAX)) &&
           reserve_set(sets, SEAM_ONE_BEFORE, (uint32_t)least(one, SET_LOG_MAX)) &&
           reserve_set(sets, SEAM_ONE_BEHIND, (uint32_t)least(one, SET_LOG_MAX)) &&
           reserve_set(sets, SEAM_FEW, SET_LOG_MIN) && sets->any != NULL &&
           filter->literal != NULL && filter->first != NULL && filter->place != NULL;
}

struct seam_filter *seam_filter_create(const struct sl_literal *literals, uint32_t n)
{
    struct seam_filter *filter = calloc(1, sizeof *filter);
    size_t n_places = 0;

    for (uint32_t id = 0; id < n; id++)
        n_places += literals[id].len - 1;
    if (filter == NULL || !reserve(filter, n, n_places)) {
        seam_filter_free(filter);
        return NULL;
    }
    if (n != 0)
        memcpy(filter->literal, literals, n * sizeof *literals);
    fill(filter, n);
    return filter;
}

void seam_filter_free(struct seam_filter *filter)
{
    if (filter == NULL)
        return;
    free(filter->literal);
    free(filter->first);
    free(filter->place);
    free(filter->sets.any);
    for (int way = 0; way < SEAM_WAYS; way++)
        free(filter->sets.set[way]);
    free(filter);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Ways for which so many bytes are at hand. */
static uint32_t ways_of(uint32_t n_before, uint32_t n_behind)
{
    return (uint32_t)(n_before > 1 && n_behind > 1) << SEAM_BOTH |
           (uint32_t)(n_behind > 2) << SEAM_ONE_BEFORE |
           (uint32_t)(n_before > 2) << SEAM_ONE_BEHIND | 1u << SEAM_FEW;
}

uint32_t seam_filter_look(const struct seam_filter *filter, const uint8_t *before,
                          uint32_t n_before, const uint8_t *behind, uint32_t n_behind)
{
    return seam_sets_look(&filter->sets,
                          near_of(last_8(before, n_before), first_8(behind, n_behind))) &
           ways_of(n_before, n_behind);
}

void seam_filter_fetch(const struct seam_filter *filter, uint32_t ways, struct seam_near near)
{
    for (; ways != 0; ways &= ways - 1)
        __builtin_prefetch(
            &filter->first[bucket_of(filter, (enum seam_way)__builtin_ctz(ways), near)]);
}

void seam_filter_fetch_places(const struct seam_filter *filter, uint32_t ways,
                              struct seam_near near)
{
    for (; ways != 0; ways &= ways - 1)
        __builtin_prefetch(&filter->place[filter->first[bucket_of(
            filter, (enum seam_way)__builtin_ctz(ways), near)]]);
}

/* Whether the first bytes on either side are the place's: eight, or all that it has. */
static bool begins_alike(const struct place *place, uint64_t before, uint64_t behind)
{
    const uint32_t left = 8 * (8 - (uint32_t)least(place->n_before, 8));
    const uint32_t right = 8 * (8 - (uint32_t)least(place->n_behind, 8));

    return (place->before ^ before) >> left == 0 && (place->behind ^ behind) << right == 0;
}

/* As many bytes are on either side. */
static bool is_written(const struct sl_literal *literal, uint32_t cut, const uint8_t *before_end,
                       const uint8_t *behind)
{
    for (uint32_t i = 0; i < literal->len; i++)
        if (seam_fold(literal->bytes[i]) !=
            seam_fold(i < cut ? *(before_end - cut + i) : behind[i - cut]))
            return false;
    return true;
}

bool seam_filter_matches(const struct seam_filter *filter, uint32_t ways, const uint8_t *before,
                         uint32_t n_before, const uint8_t *behind, uint32_t n_behind)
{
    const uint64_t left_8 = last_8(before + n_before, n_before);
    const uint64_t right_8 = first_8(behind, n_behind);

    for (; ways != 0; ways &= ways - 1) {
        const uint32_t bucket =
            bucket_of(filter, (enum seam_way)__builtin_ctz(ways), near_of(left_8, right_8));
        const uint32_t begin = filter->first[bucket], end = filter->first[bucket + 1];

        if (end - begin > PLACES_MAX)
            return true;
        for (uint32_t i = begin; i < end; i++) {
            const struct place *const place = &filter->place[i];

            if (place->n_before <= n_before && place->n_behind <= n_behind &&
                begins_alike(place, left_8, right_8) &&
                is_written(&filter->literal[place->literal], place->n_before, before + n_before,
                           behind))
                return true;
        }
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
#include "seam_filter.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/least.h"

enum {
    WORDS_LOG = 13, /* of the Bloom filter, as of some thousand literals: 64 KiB */
    WORDS_LOG_MAX = 17,
    PAIRS_LOG_MIN = 15, /* of the bits of a set of pairs: 16 a place, or 64 a literal */
    PAIRS_LOG_MAX = 21,
    PLACES_MAX = 16 /* literals that are compared at one place */
};

/* Where a literal can be cut, with up to eight bytes on either side, folded: most places that are
 * compared differ in these. */
struct place {
    uint64_t before, behind; /* the nearest byte highest, and lowest */
    uint32_t literal;
    uint16_t n_before, n_behind; /* bytes of the literal on either side */
};

/* The pairs of bytes next to each place. A Bloom filter of the places, which have
 * three bits of one word (Putze, Sanders and Singler, Cache-, Hash- and Space-Efficient Bloom
 * Filters, 2007). The places by their hash. */
struct seam_filter {
    struct seam_pairs pairs;
    struct sl_literal *literal;
    uint64_t *word;
    uint32_t *first; /* place of each bucket; one more ends them */
    struct place *place;
    uint32_t words_log, buckets_log;
};

_Static_assert(offsetof(struct seam_filter, pairs) == 0, "seam_filter_pairs relies on it");

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

/* The key of the first n bytes next to a place, the nearest one lowest. */
static uint32_t key_of(uint32_t nearest, uint32_t n)
{
    return (nearest & ((UINT32_C(1) << 8 * n) - 1)) | n << 24;
}

/* Up to SEAM_BYTES bytes of `before`, and of `behind`, for keys. */
static uint32_t nearest_before(const uint8_t *end, uint32_t n)
{
    const uint32_t second = n > 1 ? *(end - 2) : 0, third = n > 2 ? *(end - 3) : 0;

    return seam_fold(*(end - 1) | second << 8 | third << 16);
}

static uint32_t nearest_behind(const uint8_t *behind, uint32_t n)
{
    const uint32_t second = n > 1 ? behind[1] : 0, third = n > 2 ? behind[2] : 0;

    return seam_fold(behind[0] | second << 8 | third << 16);
}

/* The word of a place, by the key before it and the first byte behind it. */
static uint64_t *word_of(const struct seam_filter *filter, uint32_t before, uint32_t behind)
{
    const uint64_t hash = ((uint64_t)before << 8 | (behind & 0xFF)) * UINT64_C(0x9E3779B97F4A7C15);

    return &filter->word[hash >> (64 - filter->words_log)];
}

/* Its bits there, by the key behind it. */
static uint64_t bits_of(uint32_t behind)
{
    const uint64_t hash = behind * UINT64_C(0xC2B2AE3D27D4EB4F);

    return UINT64_C(1) << (hash >> 58) | UINT64_C(1) << (hash >> 52 & 63) |
           UINT64_C(1) << (hash >> 46 & 63);
}

static uint32_t bucket_of(const struct seam_filter *filter, uint32_t before, uint32_t behind)
{
    const uint64_t hash =
        (before ^ behind * UINT64_C(0xC2B2AE3D27D4EB4F)) * UINT64_C(0x9E3779B97F4A7C15);

    return (uint32_t)(hash >> (64 - filter->buckets_log));
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The keys on either side of a cut. */
static void read_keys(const struct sl_literal *literal, uint32_t cut, uint32_t *before,
                      uint32_t *behind)
{
    const uint32_t n_before = (uint32_t)least(cut, SEAM_BYTES);
    const uint32_t n_behind = (uint32_t)least(literal->len - cut, SEAM_BYTES);

    *before = key_of(nearest_before(literal->bytes + cut, n_before), n_before);
    *behind = key_of(nearest_behind(literal->bytes + cut, n_behind), n_behind);
}

static struct place place_of(const struct sl_literal *literal, uint32_t id, uint32_t cut)
{
    const uint32_t n_behind = literal->len - cut;

    return (struct place){last_8(literal->bytes + cut, cut),
                          first_8(literal->bytes + cut, n_behind), id, (uint16_t)cut,
                          (uint16_t)n_behind};
}

static void put_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Where a literal has a byte on either side alone, any byte may follow it. */
static void put_pairs(struct seam_pairs *pairs, const struct sl_literal *literal, uint32_t cut)
{
    const uint32_t n_behind = literal->len - cut;
    const uint8_t *const at = literal->bytes + cut;
    const uint32_t first = cut > 1 ? *(at - 2) : 0, last = n_behind > 1 ? at[1] : 0;
    const uint32_t bytes =
        seam_fold(first | (uint32_t) * (at - 1) << 8 | (uint32_t)at[0] << 16 | last << 24);

    if (cut > 1 && n_behind > 1)
        put_bit(pairs->both, seam_pairs_bit(bytes, pairs->both_shift));
    else if (cut > 1)
        put_bit(pairs->one[1], seam_pairs_bit(bytes << 8, pairs->one_shift));
    else if (n_behind > 1)
        put_bit(pairs->one[0], seam_pairs_bit(bytes >> 8, pairs->one_shift));
    for (uint32_t any = 0; literal->len == 2 && any < 256; any++)
        put_bit(pairs->one[0], seam_pairs_bit(bytes >> 8 | seam_fold(any) << 16, pairs->one_shift));
}

/* Buckets hold the places of their hash: counted, then laid from their ends down. */
static void fill(struct seam_filter *filter, uint32_t n_literals)
{
    const uint32_t n_buckets = UINT32_C(1) << filter->buckets_log;
    uint32_t before, behind;

    for (uint32_t id = 0; id < n_literals; id++)
        for (uint32_t cut = 1; cut < filter->literal[id].len; cut++) {
            read_keys(&filter->literal[id], cut, &before, &behind);
            put_pairs(&filter->pairs, &filter->literal[id], cut);
            *word_of(filter, before, behind) |= bits_of(behind);
            filter->first[bucket_of(filter, before, behind)]++;
        }
    for (uint32_t i = 0; i < n_buckets; i++)
        filter->first[i + 1] += filter->first[i];
    for (uint32_t id = 0; id < n_literals; id++)
        for (uint32_t cut = 1; cut < filter->literal[id].len; cut++) {
            read_keys(&filter->literal[id], cut, &before, &behind);
            filter->place[--filter->first[bucket_of(filter, before, behind)]] =
                place_of(&filter->literal[id], id, cut);
        }
}

/* The least power of two, from this one on, that is no less than n. */
static uint32_t log_of(uint64_t n, uint32_t from)
{
    while ((UINT64_C(1) << from) < n)
        from++;
    return from;
}

static uint64_t *reserve_pairs(uint64_t n, uint32_t *shift)
{
    const uint32_t log = (uint32_t)least(log_of(16 * n, PAIRS_LOG_MIN), PAIRS_LOG_MAX);

    *shift = 32 - log;
    return calloc((size_t)1 << log >> 6, sizeof(uint64_t));
}

static bool reserve(struct seam_filter *filter, uint32_t n_literals, size_t n_places)
{
    struct seam_pairs *const pairs = &filter->pairs;

    pairs->both = reserve_pairs(n_places, &pairs->both_shift);
    for (int i = 0; i < 2; i++)
        pairs->one[i] = reserve_pairs(4 * (uint64_t)n_literals, &pairs->one_shift);
    filter->words_log = (uint32_t)least(log_of(n_places / 4, WORDS_LOG), WORDS_LOG_MAX);
    filter->buckets_log = log_of(n_places, 1);
    filter->literal = malloc((n_literals + 1) * sizeof *filter->literal);
    filter->word = calloc((size_t)1 << filter->words_log, sizeof *filter->word);
    filter->first = calloc(((size_t)1 << filter->buckets_log) + 1, sizeof *filter->first);
    filter->place = malloc((n_places + 1) * sizeof *filter->place);
    return filter->literal != NULL && filter->word != NULL && filter->first != NULL &&
           filter->place != NULL && pairs->both != NULL && pairs->one[0] != NULL &&
           pairs->one[1] != NULL;
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
    free(filter->word);
    free(filter->first);
    free(filter->place);
    free(filter->pairs.both);
    free(filter->pairs.one[0]);
    free(filter->pairs.one[1]);
    free(filter);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Ways that a place of fewer bytes has. */
static uint32_t ways_of(uint32_t n_before, uint32_t n_behind)
{
    const uint32_t row = (1u << n_behind) - 1;

    return (row | row << SEAM_BYTES | row << 2 * SEAM_BYTES) & ((1u << SEAM_BYTES * n_before) - 1);
}

/* Without a branch for each way: what is found is hard to foresee. */
static uint32_t look_closely(const struct seam_filter *filter, uint32_t left, uint32_t right)
{
    uint64_t bits[SEAM_BYTES];
    uint32_t found = 0;

#pragma GCC unroll 3
    for (uint32_t j = 0; j < SEAM_BYTES; j++)
        bits[j] = bits_of(key_of(right, j + 1));
#pragma GCC unroll 3
    for (uint32_t i = 0; i < SEAM_BYTES; i++) {
        const uint64_t lacks = ~*word_of(filter, key_of(left, i + 1), right);

#pragma GCC unroll 3
        for (uint32_t j = 0; j < SEAM_BYTES; j++)
            found |= (uint32_t)((lacks & bits[j]) == 0) << (SEAM_BYTES * i + j);
    }
    return found;
}

uint32_t seam_filter_look(const struct seam_filter *filter, const uint8_t *before,
                          uint32_t n_before, const uint8_t *behind, uint32_t n_behind)
{
    return look_closely(filter, nearest_before(before + n_before, n_before),
                        nearest_behind(behind, n_behind)) &
           ways_of(n_before, n_behind);
}

void seam_filter_fetch(const struct seam_filter *filter, const uint8_t *before,
                       const uint8_t *behind)
{
    const uint32_t left = nearest_before(before, SEAM_BYTES);
    const uint32_t right = nearest_behind(behind, SEAM_BYTES);

    for (uint32_t i = 0; i < SEAM_BYTES; i++)
        __builtin_prefetch(word_of(filter, key_of(left, i + 1), right));
}

/* The bucket of a way that was found, by the bytes nearest on either side. */
static uint32_t bucket_of_way(const struct seam_filter *filter, uint32_t way, uint32_t left,
                              uint32_t right)
{
    return bucket_of(filter, key_of(left, way / SEAM_BYTES + 1),
                     key_of(right, way % SEAM_BYTES + 1));
}

void seam_filter_fetch_places(const struct seam_filter *filter, uint32_t found,
                              const uint8_t *before, const uint8_t *behind)
{
    const uint32_t left = nearest_before(before, SEAM_BYTES);
    const uint32_t right = nearest_behind(behind, SEAM_BYTES);

    for (; found != 0; found &= found - 1)
        __builtin_prefetch(
            &filter->first[bucket_of_way(filter, (uint32_t)__builtin_ctz(found), left, right)]);
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

bool seam_filter_matches(const struct seam_filter *filter, uint32_t found, const uint8_t *before,
                         uint32_t n_before, const uint8_t *behind, uint32_t n_behind)
{
    const uint32_t left = nearest_before(before + n_before, (uint32_t)least(n_before, SEAM_BYTES));
    const uint32_t right = nearest_behind(behind, (uint32_t)least(n_behind, SEAM_BYTES));
    const uint64_t left_8 = last_8(before + n_before, n_before);
    const uint64_t right_8 = first_8(behind, n_behind);

    for (; found != 0; found &= found - 1) {
        const uint32_t bucket = bucket_of_way(filter, (uint32_t)__builtin_ctz(found), left, right);
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

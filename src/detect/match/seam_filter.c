/* SPDX-License-Identifier: MIT */
#include "seam_filter.h"

#include "base/least.h"
#include "match_class.h"

/* A key with one byte more, away from the place. Letters differ from their capitals in one bit. */
static uint64_t key_with(uint64_t key, uint8_t byte)
{
    return key << 8 | byte | 0x20;
}

static uint64_t hash_before(uint64_t key)
{
    return key * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_behind(uint64_t key)
{
    return key * UINT64_C(0xC2B2AE3D27D4EB4F);
}

/* The bits of a place in its word. */
static uint64_t bits_of(uint64_t hash)
{
    return UINT64_C(1) << (hash >> 45 & 63) | UINT64_C(1) << (hash >> 39 & 63) |
           UINT64_C(1) << (hash >> 33 & 63);
}

static uint32_t word_of(uint64_t hash)
{
    return (uint32_t)(hash >> (64 - SEAM_WORDS_LOG));
}

static void add_cut(struct seam_filter *filter, const struct sl_literal *literal, uint32_t cut)
{
    const uint32_t n_before = (uint32_t)least(cut, SEAM_BYTES);
    const uint32_t n_behind = (uint32_t)least(literal->len - cut, SEAM_BYTES);
    uint64_t before = 0, behind = 0;

    for (uint32_t i = 1; i <= n_before; i++)
        before = key_with(before, literal->bytes[cut - i]);
    for (uint32_t i = 0; i < n_behind; i++)
        behind = key_with(behind, literal->bytes[cut + i]);

    const uint64_t hash = hash_before(before) ^ hash_behind(behind);

    filter->word[word_of(hash)] |= bits_of(hash);
}

void seam_filter_make(struct seam_filter *filter, const struct rule_index *index)
{
    for (uint32_t id = 0; id < index->n_literals; id++)
        for (uint32_t cut = 1; cut < index->literal[id].len; cut++)
            if (match_class_wants(MATCH_STREAM, &index->wants[id]))
                add_cut(filter, &index->literal[id], cut);
}

/* A literal may begin one or two bytes before the place, or end as close behind it. Without a
 * branch for each pair: what is found is hard to foresee. */
__attribute__((always_inline)) static inline bool passes(const struct seam_filter *filter,
                                                         const uint8_t *before, uint32_t n_before,
                                                         const uint8_t *behind, uint32_t n_behind)
{
    uint64_t hashes[SEAM_BYTES], key = 0;
    bool found = false;

    for (uint32_t i = 0; i < n_behind; i++) {
        key = key_with(key, behind[i]);
        hashes[i] = hash_behind(key);
    }
    key = 0;
    for (uint32_t n = 1; n <= n_before; n++) {
        key = key_with(key, before[n_before - n]);
        for (uint32_t i = 0; i < n_behind; i++) {
            const uint64_t hash = hash_before(key) ^ hashes[i], word = filter->word[word_of(hash)];

            found |= (~word & bits_of(hash)) == 0;
        }
    }
    return found;
}

bool seam_filter_passes(const struct seam_filter *filter, const uint8_t *before, uint32_t n_before,
                        const uint8_t *behind, uint32_t n_behind)
{
    if (n_before == SEAM_BYTES && n_behind == SEAM_BYTES) /* most: unrolled */
        return passes(filter, before, SEAM_BYTES, behind, SEAM_BYTES);
    return passes(filter, before, n_before, behind, n_behind);
}

/* SPDX-License-Identifier: MIT */
#include "seam_filter.h"

#include "match_class.h"

static uint8_t fold(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

static uint32_t pair_key(const uint8_t bytes[2])
{
    return fold(bytes[0]) | (uint32_t)fold(bytes[1]) << 8;
}

static uint32_t triple_key(uint8_t first, uint8_t second, uint8_t third)
{
    const uint32_t all = fold(first) | (uint32_t)fold(second) << 8 | (uint32_t)fold(third) << 16;

    return all * UINT32_C(0x9E3779B1) >> (32 - SEAM_TRIPLES_LOG);
}

static void add(uint64_t *bits, uint32_t key)
{
    bits[key / 64] |= UINT64_C(1) << key % 64;
}

static bool has(const uint64_t *bits, uint32_t key)
{
    return (bits[key / 64] >> key % 64 & 1) != 0;
}

void seam_filter_make(struct seam_filter *filter, const struct rule_index *index)
{
    for (uint32_t id = 0; id < index->n_literals; id++) {
        const struct sl_literal *literal = &index->literal[id];

        if (!match_class_wants(MATCH_STREAM, &index->wants[id]))
            continue;
        if (literal->len == 2)
            add(filter->pairs, pair_key(literal->bytes));
        for (uint32_t i = 2; i < literal->len; i++)
            add(filter->triples,
                triple_key(literal->bytes[i - 2], literal->bytes[i - 1], literal->bytes[i]));
    }
}

bool seam_filter_passes(const struct seam_filter *filter, const uint8_t *before, uint32_t n_before,
                        const uint8_t *behind, uint32_t n_behind)
{
    const uint8_t last = before[n_before - 1];

    return (n_before == 2 && has(filter->triples, triple_key(before[0], last, behind[0]))) ||
           (n_behind == 2 && has(filter->triples, triple_key(last, behind[0], behind[1]))) ||
           has(filter->pairs, pair_key((const uint8_t[]){last, behind[0]}));
}

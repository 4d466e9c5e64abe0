/* SPDX-License-Identifier: MIT */
#include "rule_address_index.h"

#include <stdlib.h>

static const struct rule_ranges *addresses_of(const struct rule *rule, enum rule_key key)
{
    if (rule->literal != NULL || rule_key_of(rule) != key)
        return NULL;
    return key == RULE_BY_SOURCE ? rule->from.addresses : rule->to.addresses;
}

static int compare(const void *a, const void *b)
{
    const unsigned __int128 left = *(const unsigned __int128 *)a;
    const unsigned __int128 right = *(const unsigned __int128 *)b;

    return (left > right) - (left < right);
}

/* Where segments begin: at 0, at the first address of each range, and behind its last. */
static void collect(struct rule_address_index *index, const struct sl_rules *rules,
                    enum rule_key key)
{
    uint32_t n = 0, kept = 0;

    index->begin[n++] = 0;
    for (size_t i = 0; i < rules->n_rules; i++) {
        const struct rule_ranges *addresses = addresses_of(rules->rule[i], key);

        for (size_t k = 0; addresses != NULL && k < addresses->n; k++) {
            index->begin[n++] = addresses->range[k].first;
            index->begin[n++] = addresses->range[k].last + 1; /* of the last address: 0 */
        }
    }
    qsort(index->begin, n, sizeof *index->begin, compare);
    for (uint32_t i = 1; i < n; i++)
        if (index->begin[i] != index->begin[kept])
            index->begin[++kept] = index->begin[i];
    index->n = kept + 1;
}

static void find_blocks(struct rule_address_index *index)
{
    uint32_t segment = 0;

    for (uint32_t block = 0; block <= RULE_ADDRESS_BLOCKS; block++) {
        const unsigned __int128 first = (UINT64_C(0xFFFF) << 32) + ((uint64_t)block << 16);

        while (segment + 1 < index->n && index->begin[segment + 1] <= first)
            segment++;
        index->ipv4[block] = segment;
    }
}

bool rule_address_index_make(struct rule_address_index *index, const struct sl_rules *rules,
                             enum rule_key key)
{
    size_t n_ranges = 0;

    for (size_t i = 0; i < rules->n_rules; i++) {
        const struct rule_ranges *addresses = addresses_of(rules->rule[i], key);

        n_ranges += addresses != NULL ? addresses->n : 0;
    }
    if (n_ranges == 0)
        return true;
    if (n_ranges > UINT32_MAX / 4)
        return false;
    index->begin = calloc(2 * n_ranges + 1, sizeof *index->begin);
    index->ipv4 = calloc(RULE_ADDRESS_BLOCKS + 1, sizeof *index->ipv4);
    if (index->begin == NULL || index->ipv4 == NULL)
        return false;
    collect(index, rules, key);
    find_blocks(index);
    return true;
}

void rule_address_index_free(struct rule_address_index *index)
{
    free(index->begin);
    free(index->ipv4);
    rule_lists_free(&index->lists);
}

bool rule_address_index_place(const struct rule_address_index *index, struct rule_pairs *pairs,
                              const struct rule_ranges *addresses, uint32_t rule, bool *placed)
{
    enum { MOST_OF_A_RANGE = 16 }; /* lists grow with the ranges, and not with their square */
    size_t n = 0;

    for (size_t k = 0; k < addresses->n; k++)
        n += rule_address_index_find(index, addresses->range[k].last) -
             rule_address_index_find(index, addresses->range[k].first) + 1;
    *placed = n <= MOST_OF_A_RANGE * addresses->n;
    for (size_t k = 0; *placed && k < addresses->n; k++) {
        const uint32_t last = rule_address_index_find(index, addresses->range[k].last);
        uint32_t segment = rule_address_index_find(index, addresses->range[k].first);

        for (; segment <= last; segment++)
            if (!rule_pairs_add(pairs, segment, rule))
                return false;
    }
    return true;
}

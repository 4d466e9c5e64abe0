/* SPDX-License-Identifier: MIT */
#include "rule_lists.h"

#include <stdlib.h>

#include "detect/rule_memory.h"

bool rule_pairs_add(struct rule_pairs *pairs, uint32_t key, uint32_t rule)
{
    struct rule_pair *grown = rule_grow(pairs->pair, &pairs->cap, pairs->n, sizeof *grown);

    if (grown == NULL)
        return false;
    pairs->pair = grown;
    pairs->pair[pairs->n++] = (struct rule_pair){key, rule};
    return true;
}

void rule_pairs_free(struct rule_pairs *pairs)
{
    free(pairs->pair);
}

bool rule_lists_make(struct rule_lists *lists, const struct rule_pairs *pairs, uint32_t n_keys)
{
    if (pairs->n == 0)
        return true;
    lists->n_keys = n_keys;
    lists->first = calloc((size_t)n_keys + 2, sizeof *lists->first);
    lists->rule = calloc(pairs->n, sizeof *lists->rule);
    if (lists->first == NULL || lists->rule == NULL || pairs->n > UINT32_MAX)
        return false;

    /* first[k + 2] counts key k. Then first[k + 1] is the place of the key's next rule, and at last
     * the end of its list. */
    for (size_t i = 0; i < pairs->n; i++)
        lists->first[pairs->pair[i].key + 2]++;
    for (size_t k = 2; k < (size_t)n_keys + 2; k++)
        lists->first[k] += lists->first[k - 1];
    for (size_t i = 0; i < pairs->n; i++)
        lists->rule[lists->first[pairs->pair[i].key + 1]++] = pairs->pair[i].rule;
    return true;
}

void rule_lists_free(struct rule_lists *lists)
{
    free(lists->first);
    free(lists->rule);
}

/* SPDX-License-Identifier: MIT */
/* Rules under keys: a list of them for each key. */
#ifndef DETECT_RULE_LISTS_H
#define DETECT_RULE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For each key the indices of rules, in their order. */
struct rule_lists {
    uint32_t *first; /* of key k: first[k] to first[k + 1] - 1 */
    uint32_t *rule;
    uint32_t n_keys; /* 0: all lists are empty */
};

struct rule_pair {
    uint32_t key;
    uint32_t rule;
};

/* Entries that will be lists, in order of rules. */
struct rule_pairs {
    struct rule_pair *pair; /* malloc'ed */
    size_t n, cap;
};

/* False: no memory. */
bool rule_pairs_add(struct rule_pairs *pairs, uint32_t key, uint32_t rule);

void rule_pairs_free(struct rule_pairs *pairs);

/* False: no memory, or more pairs than lists can have. */
bool rule_lists_make(struct rule_lists *lists, const struct rule_pairs *pairs, uint32_t n_keys);

static inline bool rule_list_is_empty(const struct rule_lists *lists, uint32_t key)
{
    return key >= lists->n_keys || lists->first[key] == lists->first[key + 1];
}

void rule_lists_free(struct rule_lists *lists);

#endif

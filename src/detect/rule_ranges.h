/* SPDX-License-Identifier: MIT */
/* Sets of numbers as sorted ranges: addresses (128 bits) and ports of rules. */
#ifndef DETECT_RULE_RANGES_H
#define DETECT_RULE_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "rule_memory.h"

/* Both ends belong to it. */
struct rule_range {
    unsigned __int128 first, last;
};

/* Sorted, disjoint, not adjacent; immutable. */
struct rule_ranges {
    size_t n;
    bool of_variables; /* the text of the set names some */
    struct rule_range range[];
};

bool rule_ranges_contain(const struct rule_ranges *ranges, unsigned __int128 number);

/* Ranges as they are read: in any order, overlapping. */
struct rule_range_list {
    struct rule_range *range; /* malloc'ed */
    size_t n, cap;
};

/* False: no memory. */
bool rule_range_add(struct rule_range_list *list, struct rule_range range);

/* The set of the numbers in `with` that are not in `without`. Sorts both. NULL: no memory. */
struct rule_ranges *rule_ranges_make(struct rule_arena *arena, struct rule_range_list *with,
                                     struct rule_range_list *without);

#endif

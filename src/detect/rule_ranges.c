/* SPDX-License-Identifier: MIT */
#include "rule_ranges.h"

#include <stdlib.h>

bool rule_ranges_contain(const struct rule_ranges *ranges, unsigned __int128 number)
{
    size_t low = 0, high = ranges->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (number > ranges->range[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges->n && number >= ranges->range[low].first;
}

bool rule_range_add(struct rule_range_list *list, struct rule_range range)
{
    struct rule_range *grown = rule_grow(list->range, &list->cap, list->n, sizeof range);

    if (grown == NULL)
        return false;
    list->range = grown;
    list->range[list->n++] = range;
    return true;
}

static int compare_first(const void *a, const void *b)
{
    const struct rule_range *left = a, *right = b;

    return (left->first > right->first) - (left->first < right->first);
}

/* Sorts, and joins ranges that overlap or touch. */
static void normalise(struct rule_range_list *list)
{
    size_t n = 0;

    if (list->n == 0)
        return;
    qsort(list->range, list->n, sizeof *list->range, compare_first);
    for (size_t i = 1; i < list->n; i++) {
        struct rule_range *last = &list->range[n];
        const struct rule_range *next = &list->range[i];

        /* first - 1 cannot wrap: where first is 0, so is the one before, and the first test holds.
         */
        if (next->first <= last->last || next->first - 1 == last->last) {
            if (next->last > last->last)
                last->last = next->last;
        } else {
            list->range[++n] = *next;
        }
    }
    list->n = n + 1;
}

struct rule_ranges *rule_ranges_make(struct rule_arena *arena, struct rule_range_list *with,
                                     struct rule_range_list *without)
{
    normalise(with);
    normalise(without);

    /* Each hole splits at most one range in two. */
    struct rule_ranges *made =
        rule_arena_alloc(arena, sizeof *made + (with->n + without->n) * sizeof *made->range);
    if (made == NULL)
        return NULL;

    size_t hole = 0;
    for (size_t i = 0; i < with->n; i++) {
        struct rule_range rest = with->range[i];
        bool left = true;

        while (hole < without->n && without->range[hole].last < rest.first)
            hole++;
        for (size_t j = hole; left && j < without->n && without->range[j].first <= rest.last; j++) {
            if (without->range[j].first > rest.first)
                made->range[made->n++] =
                    (struct rule_range){rest.first, without->range[j].first - 1};
            left = without->range[j].last < rest.last;
            if (left)
                rest.first = without->range[j].last + 1;
        }
        if (left)
            made->range[made->n++] = rest;
    }
    return made;
}

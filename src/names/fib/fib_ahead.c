/* SPDX-License-Identifier: MIT */
#include "fib_ahead.h"

enum {
    FETCH_NAMES = 32, /* entries ahead of the one that is worked on */
    FETCH_PLACES = 24,
    FETCH_NODES = 16,
    FETCH_SIBLINGS = 8
};

static const struct sl_fib_entry *entry_at(const void *entries, size_t stride, size_t i)
{
    return (const struct sl_fib_entry *)(const void *)((const uint8_t *)entries + i * stride);
}

void fib_ahead_fetch(const struct sl_fib *fib, const void *entries, size_t stride, size_t n,
                     size_t i, struct fib_ahead ahead[FIB_N_AHEAD])
{
    const size_t begin = i == 0 ? 0 : FETCH_NAMES; /* the first one makes up for those before */

    for (size_t k = begin; k <= FETCH_NAMES; k++) {
        const size_t place = i + k - (FETCH_NAMES - FETCH_PLACES);
        const size_t node = i + k - (FETCH_NAMES - FETCH_NODES);
        const size_t sibling = i + k - (FETCH_NAMES - FETCH_SIBLINGS);

        if (i + k < n)
            __builtin_prefetch(entry_at(entries, stride, i + k)->name);
        if (place < n) /* below 0 is above n */
            fib_tree_fetch_places(&fib->tree, entry_at(entries, stride, place)->name,
                                  entry_at(entries, stride, place)->name_len,
                                  &ahead[place % FIB_N_AHEAD]);
        if (node < n) {
            fib_tree_fetch_nodes(&fib->tree, &ahead[node % FIB_N_AHEAD]);
            if (fib->table.plane->fetch != NULL && ahead[node % FIB_N_AHEAD].n != 0)
                fib->table.plane->fetch(
                    fib, ahead[node % FIB_N_AHEAD].hash[ahead[node % FIB_N_AHEAD].n - 1]);
        }
        if (sibling < n)
            fib_tree_fetch_siblings(&fib->tree, &ahead[sibling % FIB_N_AHEAD]);
    }
}

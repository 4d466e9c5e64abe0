/* SPDX-License-Identifier: MIT */
/* sl_hits_sort with scratch memory that is kept from one sort to the next. */
#ifndef BATCH_HITS_SORT_H
#define BATCH_HITS_SORT_H

#include "sluice/engine.h"

/* Zeroed at first; grows as needed. */
struct hits_scratch {
    struct sl_hit *hit;
    size_t n_hits;   /* that there is room for */
    size_t *place;   /* by item */
    size_t n_places; /* the same of them */
};

/* Makes room for lists of n hits, and for hits of n items. False: there is no memory. */
bool hits_scratch_reserve(struct hits_scratch *scratch, size_t n);
bool hits_scratch_reserve_items(struct hits_scratch *scratch, size_t n);

void hits_sort(struct sl_hits *hits, struct hits_scratch *scratch);
void hits_scratch_free(struct hits_scratch *scratch);

#endif

/* SPDX-License-Identifier: MIT */
/* Places between two segments of a stream that no literal of a rule lies across. One that does has
 * at least a byte on either side: the bytes next to the place are its own, up to three of each. */
#ifndef DETECT_SEAM_FILTER_H
#define DETECT_SEAM_FILTER_H

#include <stdbool.h>

#include "detect/compile/rule_compile.h"

enum { SEAM_BYTES = 3, SEAM_WORDS_LOG = 13 };

/* A Bloom filter of where literals can be cut: a place has three bits of one word (Putze, Sanders
 * and Singler, Cache-, Hash- and Space-Efficient Bloom Filters, 2007). Letters are folded. */
struct seam_filter {
    uint64_t word[1 << SEAM_WORDS_LOG];
};

/* Of the literals that are wanted in bytes of streams. `filter` is zeroed. */
void seam_filter_make(struct seam_filter *filter, const struct rule_index *index);

/* Whether some literal may lie across the place behind `before`, the last bytes before it, and
 * before `behind`, the first ones behind it: up to SEAM_BYTES of each, and at least one. Fewer than
 * SEAM_BYTES: there are no more. */
bool seam_filter_passes(const struct seam_filter *filter, const uint8_t *before, uint32_t n_before,
                        const uint8_t *behind, uint32_t n_behind);

#endif

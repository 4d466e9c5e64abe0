/* SPDX-License-Identifier: MIT */
/* Places between two segments of a stream that no literal of a rule lies across. One that does has
 * at least a byte on either side: two neighbours of it, or three, are there. */
#ifndef DETECT_SEAM_FILTER_H
#define DETECT_SEAM_FILTER_H

#include <stdbool.h>

#include "detect/compile/rule_compile.h"

enum { SEAM_TRIPLES_LOG = 18 };

/* Letters are folded. */
struct seam_filter {
    uint64_t pairs[(1 << 16) / 64];                 /* all of a literal */
    uint64_t triples[(1 << SEAM_TRIPLES_LOG) / 64]; /* in a literal, by a hash */
};

/* Of the literals that are wanted in bytes of streams. `filter` is zeroed. */
void seam_filter_make(struct seam_filter *filter, const struct rule_index *index);

/* Whether some literal may lie across the place behind `before`, the last bytes before it, and
 * before `behind`, the first ones behind it: up to two of each, and at least one. */
bool seam_filter_passes(const struct seam_filter *filter, const uint8_t *before, uint32_t n_before,
                        const uint8_t *behind, uint32_t n_behind);

#endif

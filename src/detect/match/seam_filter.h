/* SPDX-License-Identifier: MIT */
/* Places between two segments of a stream that no literal lies across. One that does has at least a
 * byte on either side: the bytes next to the place are its own, up to three of each.
 *
 * A filter answers twice. The first look needs few bytes, and finds some places in vain. The second
 * compares literals. */
#ifndef DETECT_SEAM_FILTER_H
#define DETECT_SEAM_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/mpm.h"

enum { SEAM_BYTES = 3 };

struct seam_filter;

/* Of these literals, whose bytes are lent to the filter. NULL: no memory. */
struct seam_filter *seam_filter_create(const struct sl_literal *literals, uint32_t n);
void seam_filter_free(struct seam_filter *filter);

/* How a literal may lie across the place behind `before`, the last bytes before it, and before
 * `behind`, the first ones behind it: up to SEAM_BYTES of each, and at least one. Fewer than
 * SEAM_BYTES: there are no more. Bit SEAM_BYTES * i + j: with i + 1 bytes before, where SEAM_BYTES
 * stand for more too, and j + 1 behind. 0: none does. */
uint32_t seam_filter_look(const struct seam_filter *filter, const uint8_t *before,
                          uint32_t n_before, const uint8_t *behind, uint32_t n_behind);

/* Whether a literal is written across the place, whatever the case of its letters, as `found` has
 * it. All bytes are at hand, and those of the first look among them. True too where many literals
 * are alike next to the place. */
bool seam_filter_matches(const struct seam_filter *filter, uint32_t found, const uint8_t *before,
                         uint32_t n_before, const uint8_t *behind, uint32_t n_behind);

#endif

/* SPDX-License-Identifier: MIT */
/* Sets of places 0 to len as bits, for steps that have to do with many of them. A set is as long
 * as RULE_MARKS(len), and has no bit behind place len. */
#ifndef DETECT_PLACE_SET_H
#define DETECT_PLACE_SET_H

#include <stdint.h>

/* Replaces each place by those from `low` to `high` behind it, as far as they are in 0 to len.
 * `low` is at most `high`. */
void place_set_spread(uint64_t *set, uint32_t len, int64_t low, int64_t high);

/* Keeps the places that are in `other`, and returns their number. */
uint32_t place_set_keep(uint64_t *set, uint32_t len, const uint64_t *other);

/* Removes the places that are in `other`, and returns how many are left. */
uint32_t place_set_remove(uint64_t *set, uint32_t len, const uint64_t *other);

#endif

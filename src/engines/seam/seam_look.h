/* SPDX-License-Identifier: MIT */
/* Looks at many places at once. What decides lies in memory that was left long ago: each step waits
 * for its lines together. */
#ifndef ENGINES_SEAM_LOOK_H
#define ENGINES_SEAM_LOOK_H

#include "seam_core.h"

enum { SEAM_PLACES = 32 };

/* Places of one direction, and the ways that a look found. */
struct seam_places {
    uint32_t before[SEAM_PLACES], behind[SEAM_PLACES]; /* as of seam_near; a look folds them */
    uint32_t ways[SEAM_PLACES];
};

/* Looks at those of a set: bit i is place i. Returns those that have ways. */
typedef uint32_t seam_look_fn(const struct seam_set *set, struct seam_places *places,
                              uint32_t asked);

seam_look_fn seam_look_scalar, seam_look_avx512;

#endif

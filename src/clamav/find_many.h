/* SPDX-License-Identifier: MIT */
/* Candidates of several literals in one pass over a text: places of the rarest four bytes of each.
 */
#ifndef CLAMAV_FIND_MANY_H
#define CLAMAV_FIND_MANY_H

#include "base/find_fours.h"
#include "clamav/find.h"

struct clam_many {
    struct find_fours fours;     /* of each literal */
    uint32_t at[FIND_FOURS_MAX]; /* where they lie in it */
};

/* Adds a literal to a struct that was zero at first; they are numbered from 0. False: it is shorter
 * than four bytes. At most FIND_FOURS_MAX. */
bool clam_many_add(struct clam_many *many, const struct clam_needle *needle);

#endif

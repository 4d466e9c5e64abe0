/* SPDX-License-Identifier: MIT */
/* The oracle of multi-pattern matching: every literal is compared at every position that has its
 * first byte. */
#ifndef MPM_REF_H
#define MPM_REF_H

#include <stddef.h>

#include "sluice/batch.h"
#include "sluice/mpm.h"

/* Finds all matches in a host batch and returns their number. At most `cap` of them are written
 * to hits, ordered by item. Of equal literals each reports. */
size_t mpm_ref_scan(const struct sl_literal *literals, size_t n_literals,
                    const struct sl_batch *batch, struct sl_hit *hits, size_t cap);

#endif

/* SPDX-License-Identifier: MIT */
/* A sampler: its name, how its table is built, and its engine. */
#ifndef SAMPLING_INTERNAL_H
#define SAMPLING_INTERNAL_H

#include "batch/cpu_backend.h"
#include "sampling_table.h"
#include "sluice/sampling.h"

/* A sampler: one descriptor sampler_<name>, named once in sampling.c's list. */
struct sampler {
    const char *name;

    /* Makes a table; its engine is the caller's to set. Window and period have passed
     * sampling_check. */
    enum sl_status (*build)(struct sl_sampling_table **table,
                            const struct sl_sampling_config *config, struct sl_diag *diag);
    const struct sl_engine *engine;
};

/* The engines' `takes`. */
bool sampling_takes(const struct sl_engine *engine, const void *table);

/* The limits that all samplers share. SL_EINVAL. */
enum sl_status sampling_check(uint32_t window, uint32_t period, struct sl_diag *diag);

/* Windows that begin before this offset lie wholly inside the overlap: the piece before has
 * reported them. */
static inline uint32_t sampling_first(const struct sl_sampling_table *table,
                                      const struct sl_batch *batch, uint32_t item)
{
    const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;

    return overlap >= table->window ? overlap - table->window + 1 : 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/* What an algorithm is, and what the backends on CPUs share. */
#ifndef MPM_INTERNAL_H
#define MPM_INTERNAL_H

#include "mpm_set.h"
#include "sluice/engine.h"

/* An algorithm: one descriptor mpm_<name>, named once in mpm.c's list. */
struct mpm_algorithm {
    const char *name; /* shorter than MPM_NAME_LEN */

    /* SL_ENOMEM, or SL_EUNSUPPORTED for what this algorithm cannot do. */
    enum sl_status (*build)(struct sl_mpm_table **table, const struct mpm_set *set,
                            const struct sl_mpm_config *config, struct sl_diag *diag);

    const struct sl_engine *engine;
};

/* A context of a CPU backend; one that needs more begins with this. */
struct mpm_cpu {
    const struct sl_mpm_table *table;
    struct sl_limits limits;
    enum sl_status status; /* what wait will say */
};

bool mpm_cpu_usable(char why[SL_WHY_LEN]);
enum sl_status mpm_cpu_open(void **context, const void *table, const struct sl_limits *limits,
                            struct sl_diag *diag);
enum sl_status mpm_cpu_wait(void *context);
void mpm_cpu_close(void *context);

/* Submit: checks the batch, then has `scan` append the hits of all items. */
typedef enum sl_status mpm_scan(struct mpm_cpu *cpu, const struct sl_batch *batch,
                                struct sl_hits *hits);
enum sl_status mpm_cpu_submit(struct mpm_cpu *cpu, const struct sl_batch *batch,
                              struct sl_hits *hits, mpm_scan *scan);

static inline void mpm_hits_append(struct sl_hits *hits, uint32_t item, uint32_t end, uint32_t id)
{
    if (hits->n < hits->cap)
        hits->hit[hits->n] = (struct sl_hit){item, end, id};
    hits->n++;
}

/* Matches that end here or before were reported with the piece before. */
static inline uint32_t mpm_overlap(const struct sl_batch *batch, uint32_t item)
{
    return batch->has_overlap ? batch->overlap[item] : 0;
}

#endif

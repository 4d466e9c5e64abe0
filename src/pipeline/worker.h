/* SPDX-License-Identifier: MIT */
/* A worker: one context of each engine, on a GPU also a stage, and the work on one batch. */
#ifndef PIPELINE_WORKER_H
#define PIPELINE_WORKER_H

#include "sluice/pipeline.h"

struct worker_engine {
    const struct sl_backend *backend;
    const void *table;
    void *context;
    uint32_t max_hits; /* what the context is ready for */
    uint64_t busy_ns;
};

struct worker {
    const struct sl_pipeline_config *config;
    struct sl_limits limits;
    struct worker_engine engines[SL_PIPELINE_ENGINES_MAX];
    struct sl_stage *stage; /* NULL where no engine works on a GPU */
    uint64_t busy_ns;
};

enum sl_status worker_open(struct worker *worker, const struct sl_pipeline_config *config,
                           struct sl_diag *diag);

/* Runs every engine over a host batch: one upload on a GPU, then all engines on its stream, those
 * that have no backend for GPUs meanwhile over the host batch. The arrays in hits, one for each
 * engine, grow as needed and are sorted. */
enum sl_status worker_run(struct worker *worker, const struct sl_batch *batch, struct sl_hits *hits,
                          struct sl_diag *diag);

void worker_add_times(const struct worker *worker, struct sl_pipeline_stats *stats);
void worker_close(struct worker *worker); /* zeroed, half open or open */

void worker_free_hits(struct sl_hits *hits);

#endif

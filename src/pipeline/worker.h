/* SPDX-License-Identifier: MIT */
/* A worker: one context of each engine, on a GPU also a stage, and the work on one batch. */
#ifndef PIPELINE_WORKER_H
#define PIPELINE_WORKER_H

#include <stdatomic.h>

#include "batch/hits_sort.h"
#include "sluice/pipeline.h"

struct worker_engine {
    const struct sl_backend *backend;
    const void *table;
    void *context;
    uint32_t max_hits; /* what the context is ready for */
    uint32_t refused;  /* what there was no memory for, before it was needed */
    uint64_t busy_ns;
};

struct worker {
    const struct sl_pipeline_config *config;
    atomic_uint *max_hits; /* of each engine, that a batch of the device's needs; its workers share
                              it, so that a burst makes each of them ready for the next one */
    bool cuda;
    struct hits_scratch scratch; /* for sorting */
    struct sl_limits limits;
    struct worker_engine engines[SL_PIPELINE_ENGINES_MAX];
    struct sl_stage *stage; /* NULL where no engine works on a GPU */
    uint64_t busy_ns;
};

/* max_hits: one for each engine, 0 at first; it must outlive the worker. */
enum sl_status worker_open(struct worker *worker, const struct sl_pipeline_config *config,
                           const struct sl_device *device, atomic_uint *max_hits,
                           struct sl_diag *diag);

/* Runs every engine over a host batch: one upload on a GPU, then all engines side by side, those
 * that have no backend for GPUs meanwhile over the host batch. The arrays in hits, one for each
 * engine, grow where they must and are sorted. SL_EDEVICE of a GPU's
 * worker: the GPU is of no more use, be it for want of memory; once the worker is closed the batch
 * and hits may be given to another. */
enum sl_status worker_run(struct worker *worker, const struct sl_batch *batch, struct sl_hits *hits,
                          struct sl_diag *diag);

/* Whether its contexts have room for what some batch of the device needed; makes them, where there
 * is memory for that. It takes milliseconds: for between batches. */
bool worker_is_ready(const struct worker *worker);
void worker_get_ready(struct worker *worker);

/* Adds to the stats what the worker has measured since the last time. */
void worker_move_times(struct worker *worker, struct sl_pipeline_stats *stats);

/* Waits for what a failure left under way. Zeroed, half open, open or closed; the times stay. */
void worker_close(struct worker *worker);

/* Room for as many hits as a batch is expected to have at most; pinned where the config has a GPU,
 * which then writes them there. free leaves alone what a GPU that hangs may still write. */
enum sl_status worker_take_hits(const struct sl_pipeline_config *config, struct sl_hits *hits,
                                struct sl_diag *diag);
void worker_free_hits(const struct sl_pipeline_config *config, struct sl_hits *hits);

#endif

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
    uint32_t max_hits; /* hits for which the context has room */
    uint32_t refused;  /* room for which there was no memory */
    uint64_t busy_ns;
};

struct worker {
    const struct sl_pipeline_config *config;
    atomic_uint *max_hits; /* of each engine: the most hits of a batch of the device. Its workers
                              share it, so that a burst makes each of them ready for the next one */
    bool cuda;
    struct hits_scratch scratch; /* for sorting */
    struct sl_limits limits;
    struct worker_engine engines[SL_PIPELINE_ENGINES_MAX];
    struct sl_stage *stage; /* NULL where no engine works on a GPU */
    struct sl_batch *rest;  /* made items that the batch has no room for; NULL: none so far */
    struct sl_hits rest_hits[SL_PIPELINE_ENGINES_MAX]; /* in them */
    uint64_t busy_ns;
};

/* GPUs among the config's devices. */
uint32_t pipeline_n_gpus(const struct sl_pipeline_config *config);

/* max_hits: one for each engine, 0 at first; it must outlive the worker. */
enum sl_status worker_open(struct worker *worker, const struct sl_pipeline_config *config,
                           const struct sl_device *device, atomic_uint *max_hits,
                           struct sl_diag *diag);

/* Makes the items that no packet holds, and runs every engine over a host batch. On a GPU one
 * upload serves all engines, which run side by side. Engines without a backend for GPUs run over
 * the host batch meanwhile. The arrays in hits, one for each engine, grow where they must and are
 * sorted.
 *
 * SL_EDEVICE of a GPU's worker: the GPU is of no more use, or has no memory. Once the worker is
 * closed, another worker may run the batch. */
enum sl_status worker_run(struct worker *worker, struct sl_batch *batch, struct sl_hits *hits,
                          struct sl_diag *diag);

/* Whether the contexts have room for the largest need of any batch of the device so far. get_ready
 * opens larger contexts where there is memory. It takes milliseconds, so it runs between batches.
 */
bool worker_is_ready(const struct worker *worker);
void worker_get_ready(struct worker *worker);

/* Adds the times since the last call to the stats. */
void worker_move_times(struct worker *worker, struct sl_pipeline_stats *stats);

/* Waits for work that a failure left pending. The worker may be zeroed, half open, open or closed.
 * Its times stay. */
void worker_close(struct worker *worker);

/* Room for the most hits of engine e that a batch is expected to have. The memory is pinned where
 * the config has a GPU, which writes the hits there. free keeps memory that a hung GPU may still
 * write. */
enum sl_status worker_take_hits(const struct sl_pipeline_config *config, uint32_t e,
                                struct sl_hits *hits, struct sl_diag *diag);
void worker_free_hits(const struct sl_pipeline_config *config, struct sl_hits *hits);

/* Makes a batch of len bytes and n items of packets, with room for made items where there are any,
 * for GPUs or for the CPU alone. */
enum sl_status worker_batch_create(const struct sl_pipeline_config *config, bool cuda, uint32_t len,
                                   uint32_t n, struct sl_batch **batch, struct sl_diag *diag);

#endif

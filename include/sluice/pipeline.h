/* SPDX-License-Identifier: MIT */
/* The pipeline: batches in flight between a source, the engines and whoever takes the results.
 *
 * fill (sequential) -> prepare (any order, many at once) -> order (sequential) -> engines (workers,
 * any order, one upload a batch on a GPU) -> drain (sequential). What is sequential goes in the
 * order of filling. Memory is bounded by the batches in flight. */
#ifndef SLUICE_PIPELINE_H
#define SLUICE_PIPELINE_H

#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/device.h"
#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SL_PIPELINE_ENGINES_MAX = 8 };

struct sl_pipeline_config {
    struct sl_device device;
    uint32_t batch_len;   /* arena bytes a batch; at least SL_CAPTURE_PACKET_MAX for captures */
    uint32_t batch_items; /* items a batch */
    uint32_t n_workers;   /* threads that run engines; 0: the machine's cores, or 2 for a GPU */
    uint32_t n_loaders;   /* threads that prepare and order batches; 0: the machine's cores for a
                             GPU, on a CPU none: the workers do */

    /* The engines that are switched on; tables outlive the run. On a GPU, engines that have no
     * backend for GPUs at all run on the CPU, over the host's copy of each batch. */
    struct {
        const struct sl_engine *engine;
        const void *table;
    } engines[SL_PIPELINE_ENGINES_MAX];
    uint32_t n_engines;

    /* Fills an empty batch, or marks it for `prepare` to fill. SL_OK: go on; SL_END: this batch, if
     * it holds items, is the last; any other: the same, and the run returns that status. Called on
     * one thread. */
    enum sl_status (*fill)(void *user, struct sl_batch *batch, struct sl_diag *diag);

    /* What is left to do with a filled batch before the engines see it; NULL: nothing. `prepare` is
     * called on several threads at once, `order` on the same one after it, for one batch after
     * another in the order of filling. Any status but SL_OK ends the run with it. */
    enum sl_status (*prepare)(void *user, struct sl_batch *batch, struct sl_diag *diag);
    enum sl_status (*order)(void *user, struct sl_batch *batch, struct sl_diag *diag);

    /* Takes a batch and its hits, hits[e] of engine e, sorted. Batches come in the order of
     * filling, on one thread, while others are being filled. Any status but SL_OK ends the run with
     * it. */
    enum sl_status (*drain)(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag);
    void *user;
};

/* CPU, 4 MiB and 16,384 items a batch, no engine. */
SL_API void sl_pipeline_config_init(struct sl_pipeline_config *config);

struct sl_pipeline_stats {
    uint64_t batches;
    uint64_t seconds_ns;                         /* wall time of the run */
    uint64_t fill_ns, drain_ns;                  /* busy time of fill, of drain, */
    uint64_t load_ns, work_ns;                   /* of preparing and ordering, of the engines; all
                                                    threads added */
    uint64_t engine_ns[SL_PIPELINE_ENGINES_MAX]; /* of work: each engine, all workers added */
    uint64_t engine_hits[SL_PIPELINE_ENGINES_MAX];
    const char *backend[SL_PIPELINE_ENGINES_MAX]; /* which ran */
    uint32_t n_workers, n_loaders;
};

/* Runs until fill ends and all is drained. On return no thread of the pipeline is left. SL_OK: fill
 * ended with SL_END; otherwise the first failure of fill, an engine or drain. When an engine or
 * drain fails, what was filled later is not drained. SL_EDEVICE: an engine has backends for the
 * device, and none is usable. SL_ENOMEM before the first fill: tables, hits or batches do not fit the device's
 * or the machine's memory; a run on another device may follow. */
SL_CHECK SL_API enum sl_status sl_pipeline_run(const struct sl_pipeline_config *config,
                                               struct sl_pipeline_stats *stats,
                                               struct sl_diag *diag);

#ifdef __cplusplus
}
#endif
#endif

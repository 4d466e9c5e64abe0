/* SPDX-License-Identifier: MIT */
/* The pipeline: batches in flight between a source, the engines and whoever takes the results.
 *
 * fill (sequential) -> prepare (any order, many at once) -> order (sequential) -> apply (workers,
 * any order) -> engines (workers, any order, one upload a batch on a GPU) -> digest (workers, any
 * order) -> drain (sequential).
 * What is sequential goes in the order of filling. Memory is bounded by the batches in flight.
 *
 * Several devices have workers of their own, and whichever is free takes the next batch. A GPU that
 * fails is dropped: what was in flight on it is done again by the others or, where none is left, by
 * the CPU. Results do not depend on any of it. */
#ifndef SLUICE_PIPELINE_H
#define SLUICE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/device.h"
#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SL_PIPELINE_ENGINES_MAX = 12, SL_PIPELINE_DEVICES_MAX = 16 };

struct sl_pipeline_monitor;

/* What a device of a run did. */
struct sl_pipeline_device {
    struct sl_device device;
    uint64_t batches; /* whose engines ran there */
    uint64_t redone;  /* that it failed on, and that were done elsewhere or are to be */
    bool dropped;
    char why[256]; /* where dropped: at what it failed, and how */
};

struct sl_pipeline_config {
    struct sl_device devices[SL_PIPELINE_DEVICES_MAX]; /* usable ones, each once */
    uint32_t n_devices;
    uint32_t batch_len;   /* arena bytes a batch; at least SL_CAPTURE_PACKET_MAX for captures */
    uint32_t batch_items; /* items a batch */
    uint32_t n_batches;   /* in flight; 0: one for each thread, two for workers that load, and
                             three */
    uint32_t n_workers;   /* threads that run engines, of each device; 0: the machine's cores for
                             the CPU, half as many for a GPU, 12 at most. A GPU has six batches at
                             once at most, and one thread of each that waits stays awake for 200 us
                             before it sleeps, as the one that drains does */
    uint32_t n_loaders;   /* threads that prepare and order batches; 0: three for four of the
                             machine's cores where there is a GPU, on the CPU alone none: the workers
                             do */
    uint32_t max_wait_ms; /* for a GPU to be done with a batch; one that takes longer is taken for
                             hung, and dropped: see struct sl_limits. 0: 10,000 */

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
     * called on several threads at once, `order` on one at a time, any of them, for one batch after
     * another in the order of filling. Any status but SL_OK ends the run with it. */
    enum sl_status (*prepare)(void *user, struct sl_batch *batch, struct sl_diag *diag);
    enum sl_status (*order)(void *user, struct sl_batch *batch, struct sl_diag *diag);

    /* Writes into an ordered batch what ordering found, so that ordering is quick; NULL: there is
     * nothing to write. Called on the workers before the engines, once for each batch, for several
     * at once and in any order. */
    void (*apply)(void *user, struct sl_batch *batch);

    /* Does what needs no knowledge of the batches before: takes a batch and its hits, hits[e] of
     * engine e, sorted; NULL: there is nothing to do. Called on the workers, after the engines of
     * that batch, for several batches at once and in any order. What it makes it leaves where
     * batch->filler leads, which is this batch's alone until it is filled again: drain finds it
     * there. It may point into batch and hits, which stay as they are until drain returns. Any
     * status but SL_OK ends the run with it. */
    enum sl_status (*digest)(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag);

    /* Takes a batch and its hits, as digest does. Batches come in the order of filling, on one
     * thread, while others are being filled. Any status but SL_OK ends the run with it. */
    enum sl_status (*drain)(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag);

    /* A GPU was dropped, and its last worker has left: `device` says why and how many batches
     * others do again; sl_pipeline_choose may drop some as well. NULL: nobody wants to know. Called
     * on a worker's thread, one at a time, or, before the first fill, on the caller's. */
    void (*dropped)(void *user, const struct sl_pipeline_device *device);
    void *user;

    /* Measures how long packets take from origin.arrival_ns until drain has returned. */
    bool latency;

    /* Through which other threads look at the run; NULL: nobody does. One run at a time. */
    struct sl_pipeline_monitor *monitor;
};

/* The CPU, 4 MiB and 16,384 items a batch, no engine. */
SL_API void sl_pipeline_config_init(struct sl_pipeline_config *config);

struct sl_pipeline_stats {
    uint64_t batches;                            /* drained, */
    uint64_t items, arena_bytes;                 /* the items in them, and their arenas' bytes */
    uint64_t seconds_ns;                         /* wall time of the run */
    uint64_t fill_ns, drain_ns;                  /* busy time of fill, of drain, */
    uint64_t load_ns, work_ns, digest_ns;        /* of preparing and applying, of the engines, of
                                                    digest; all threads added */
    uint64_t order_ns;                           /* of ordering */
    uint64_t engine_ns[SL_PIPELINE_ENGINES_MAX]; /* of work: each engine, all workers added */
    uint64_t engine_hits[SL_PIPELINE_ENGINES_MAX];
    const char *backend[SL_PIPELINE_ENGINES_MAX]; /* which ran, on the first device that could */
    uint32_t n_workers, n_loaders;                /* at the start */
    uint32_t n_batches;                           /* in flight at most */

    /* Those of the config in its order, then the CPU where it took over. */
    struct sl_pipeline_device devices[SL_PIPELINE_DEVICES_MAX + 1];
    uint32_t n_devices;

    /* From arrival to result, of all packets whose arrival is known, and only where it was asked
     * for. Quantiles are at most 1/32 too high, never too low. */
    struct {
        uint64_t packets;
        uint64_t p50_ns, p99_ns, p999_ns, max_ns;
    } latency;
};

/* Runs until fill ends and all is drained. On return no thread of the pipeline is left. SL_OK: fill
 * ended with SL_END; otherwise the first failure of a step or an engine. When an engine, digest or
 * drain fails, what was filled later is not drained.
 *
 * A device on which contexts cannot be opened is dropped where there are others; where it is the
 * last, that is the run's status, before the first fill, and a run on another device may follow:
 * SL_ENOMEM: tables or hits do not fit its memory; SL_EDEVICE: it failed, or an engine has
 * backends for it, and none is usable; SL_EUNSUPPORTED: a table was not built for it. SL_ENOMEM
 * before the first fill may also be the machine's memory, or what of it can be pinned. SL_EINVAL:
 * no device, or too many.
 *
 * Once batches are filled GPUs are dropped as they fail, those that hang and one that has no memory
 * for a batch's hits among them, and the CPU takes over from the last, with the same tables; where
 * it cannot use one of them, that is the run's status. */
SL_CHECK SL_API enum sl_status sl_pipeline_run(const struct sl_pipeline_config *config,
                                               struct sl_pipeline_stats *stats,
                                               struct sl_diag *diag);

/* Leaves those of the config's devices in it with which its engines are fastest: the GPUs, the CPU,
 * or both, which then have more batches in flight. Each first does them with all its workers over
 * packets made for it, 20 ms and what one batch a worker takes; `why` says what came of it. GPUs
 * that cannot are dropped, and `why` says at what they failed; where nothing is to be chosen
 * between it is left as it is. The engines, their tables and the batches' sizes must be set, and
 * the tables good for all devices. SL_ENOMEM, SL_EDEVICE, SL_EUNSUPPORTED: the CPU cannot; `diag`
 * says why. */
SL_CHECK SL_API enum sl_status sl_pipeline_choose(struct sl_pipeline_config *config,
                                                  char why[SL_WHY_LEN], struct sl_diag *diag);

/* ---- looking at a run ------------------------------------------------------------------------ */

/* The stages that batches go through, in this order. Preparing and ordering are one. */
enum sl_pipeline_stage {
    SL_PIPELINE_FILL,
    SL_PIPELINE_LOAD,
    SL_PIPELINE_WORK, /* the engines, and digest */
    SL_PIPELINE_DRAIN,
    SL_PIPELINE_N_STAGES
};

SL_API const char *sl_pipeline_stage_name(enum sl_pipeline_stage stage); /* "fill", "load", ... */

struct sl_pipeline_snapshot {
    bool running;
    uint32_t n_engines;
    const char *engine[SL_PIPELINE_ENGINES_MAX]; /* their names */
    struct sl_pipeline_stats stats; /* so far; of each stage, the batches that have left it */

    /* Batches that wait for a stage, and those in it: for `fill` the free ones wait. Together they
     * are all batches of the run, whose number never changes; 0 where none runs. */
    struct {
        uint32_t waiting, busy;
    } stage[SL_PIPELINE_N_STAGES];
};

/* SL_ENOMEM. It may serve one run after another. */
SL_CHECK SL_API enum sl_status sl_pipeline_monitor_create(struct sl_pipeline_monitor **monitor,
                                                          struct sl_diag *diag);

/* The run's counters as they were at one moment: any thread, any time. Before the first run all is
 * 0; once a run has ended, what it had counted. A run pays for it with one lock a look, and nothing
 * between looks: it counts batches, not packets. */
SL_API void sl_pipeline_snapshot(struct sl_pipeline_monitor *monitor,
                                 struct sl_pipeline_snapshot *snapshot);

/* No run may use it any more. Accepts NULL. */
SL_API void sl_pipeline_monitor_free(struct sl_pipeline_monitor *monitor);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* The pipeline: batches in flight between a source, the engines and the consumer of the results.
 *
 *   fill      one thread, or any, one at a time
 *   prepare   workers, many batches at once, in any order
 *   order     one at a time, in the order of filling
 *   arrange   any thread, in any order
 *   deal      one at a time, in the order of filling
 *   collect   each shard one at a time, in the order of filling; all shards at once
 *   apply     workers, in any order
 *   make      workers, in any order
 *   engines   workers, in any order; one upload a batch on a GPU
 *   digest    workers, in any order
 *   settle    as collect, on workers
 *   decide    workers, one at a time, in the order of filling
 *   report    workers, in any order
 *   drain     the caller's thread, in the order of filling
 *
 * The batches in flight bound the memory. Each device has workers of its own; an idle worker takes
 * the next batch. A GPU that fails is dropped. The other devices repeat its batches in flight, or
 * the CPU where no device is left. Results do not depend on devices, threads or failures. */
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

/* Engines, devices and shards of a run, at most. */
enum { SL_PIPELINE_ENGINES_MAX = 12, SL_PIPELINE_DEVICES_MAX = 16, SL_PIPELINE_SHARDS_MAX = 64 };

/* Snapshots of a run for other threads. */
struct sl_pipeline_monitor;

/* The work of a device of a run. */
struct sl_pipeline_device {
    struct sl_device device;
    uint64_t batches; /* whose engines ran there */
    uint64_t redone;  /* on which it failed; another device repeats them */
    bool dropped;
    char why[256]; /* where dropped: the step that failed, and how */
};

/* An engine of a run. */
struct sl_pipeline_engine {
    const struct sl_engine *engine;
    const void *table;     /* the engine's; outlives the run */
    bool scans_made;       /* it scans the items that `make` makes, too */
    uint32_t joins;        /* its hits become those of engine `joins` - 1, which is an earlier one;
                              0: they are its own */
    const uint8_t *wanted; /* of the limits of its contexts (sluice/engine.h), */
    size_t n_wanted;       /* and how many, */
    uint8_t run_ends;      /* and the kinds in which the ends of runs suffice */
};

/* The configuration of a run, which borrows all that it points to. */
struct sl_pipeline_config {
    struct sl_device devices[SL_PIPELINE_DEVICES_MAX]; /* usable ones, each once */
    uint32_t n_devices;
    uint32_t batch_len;   /* arena bytes a batch; at least SL_CAPTURE_PACKET_MAX for captures */
    uint32_t batch_items; /* items a batch */
    uint32_t n_batches;   /* in flight; 0: three times n_active */

    /* Batches that are filled or worked on; others wait for those before them to be done. 0: 3, and
     * 2 for each worker; or n_batches, where that is given. */
    uint32_t n_active;

    /* Threads of each device, which do all steps from prepare to report. 0: as many as the machine
     * has cores, shared by the GPUs; beside the CPU these have a quarter, and at least two each.
     * Without `prepare` a GPU has half of the cores and one, at most 12. A GPU has at most six
     * batches at once. Its waiting threads, and the thread that drains, stay awake for 200 us
     * before they sleep. So do the CPU's where `fill_anywhere` is set. */
    uint32_t n_workers;

    /* Milliseconds until a GPU counts as hung and is dropped (struct sl_limits). 0: 10,000. */
    uint32_t max_wait_ms;

    /* On a GPU, engines without any CUDA backend run on the CPU, over the host's batch. */
    struct sl_pipeline_engine engines[SL_PIPELINE_ENGINES_MAX];
    uint32_t n_engines;

    /* Fills an empty batch, or marks it for `prepare` to fill. SL_OK: go on. SL_END: this batch, if
     * it holds items, is the last. Any other: the same, and the run returns it. */
    enum sl_status (*fill)(void *user, struct sl_batch *batch, struct sl_diag *diag);

    /* `fill` never waits for its source, as with files: workers call it, one at a time, when they
     * have nothing to load. False: a thread of its own calls it. */
    bool fill_anywhere;

    /* The work on a filled batch before the engines; NULL: none. `prepare`: several threads at
     * once. `order`: any thread, one batch after another in the order of filling. Any status but
     * SL_OK ends the run with it. */
    enum sl_status (*prepare)(void *user, struct sl_batch *batch, struct sl_diag *diag);
    enum sl_status (*order)(void *user, struct sl_batch *batch, struct sl_diag *diag);

    /* The work on an ordered batch that needs no batch before, so that order is quick; NULL: none.
     * Several threads at once. `deal`, NULL: nothing, comes behind it: any thread, one batch after
     * another in the order of filling. */
    enum sl_status (*arrange)(void *user, struct sl_batch *batch, struct sl_diag *diag);
    void (*deal)(void *user, struct sl_batch *batch);

    /* The work that is in order within each of n_shards shards (0: none), and takes most of the
     * time that order takes; NULL: none. A shard has the dealt batches one after another, in the
     * order of filling, on any thread; several shards at once. */
    void (*collect)(void *user, struct sl_batch *batch, uint32_t shard);
    uint32_t n_shards;

    /* Writes the findings of ordering and collecting into the batch, so that these are quick; NULL:
     * nothing. Workers, before the engines, once a batch, several at once and in any order. */
    void (*apply)(void *user, struct sl_batch *batch);

    /* Appends items that no packet holds to `to`, as far as there is room, for the engines that
     * scan them; NULL: there are none. Without such an engine it is not called. `from` is 0 at
     * first, and `to` is the batch. Until UINT64_MAX is returned it is called again, with what it
     * returned before, and an empty batch without packets as `to`. Each has room for an item of
     * batch_len / 8 bytes, or of 1,024. Hits in made items become hits of their packets
     * (sl_hits_resolve_made). Workers, before the engines, several batches at once. A batch may be
     * made again, with the same results. */
    uint64_t (*make)(void *user, const struct sl_batch *batch, struct sl_batch *to, uint64_t from);

    /* Removes hits of engine e that digest does not need, before they are sorted; NULL: none.
     * Hits in made items are their packets' by then. Workers, behind the engines, several batches
     * at once and in any order; again where a batch is made again. */
    void (*sift)(void *user, const struct sl_batch *batch, uint32_t e, struct sl_hits *hits);

    /* Evaluates a batch without knowledge of the batches before; NULL: nothing. hits[e] are engine
     * e's, sorted. Workers, after the engines, several at once and in any order. It may keep
     * results where batch->filler points; they are this batch's alone until the next fill. Results
     * may point into batch and hits, which stay unchanged until drain returns. Any status but SL_OK
     * ends the run with it. */
    enum sl_status (*digest)(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag);

    /* The work that is in order within each shard and needs the findings of digest; NULL: none. A
     * shard has the digested batches one after another, in the order of filling, on any worker;
     * several shards at once. Empty batches are left out. Shards of `collect` may be several
     * batches ahead. */
    void (*settle)(void *user, struct sl_batch *batch, const struct sl_hits *hits, uint32_t shard);

    /* The work that is in order over all shards; NULL: none. Workers, one batch after another in
     * the order of filling, after all shards have settled the batch. Empty batches are left out. */
    void (*decide)(void *user, struct sl_batch *batch, const struct sl_hits *hits);

    /* Makes results of the findings of the steps before, so that drain is quick; NULL: nothing.
     * Workers, after the batch is settled and decided, otherwise as digest. */
    enum sl_status (*report)(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag);

    /* Takes a batch and its hits in the order of filling. The caller's thread, while other batches
     * are being filled. Any status but SL_OK ends the run with it. */
    enum sl_status (*drain)(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag);

    /* Reports a dropped GPU after its last worker has ended; NULL: no report. `device` has the
     * reason and the number of batches that others repeat. sl_pipeline_choose may drop GPUs, too.
     * A worker's thread, one at a time; before the first fill, the caller's. */
    void (*dropped)(void *user, const struct sl_pipeline_device *device);
    void *user;

    /* Measures how long packets take from origin.arrival_ns until drain has returned. */
    bool latency;

    /* Has snapshots of the run for other threads; NULL: none. One run at a time. */
    struct sl_pipeline_monitor *monitor;

    uint64_t reserved[4]; /* 0: room to grow */
};

/* The CPU, 4 MiB and 16,384 items a batch, no engine. */
SL_API void sl_pipeline_config_init(struct sl_pipeline_config *config);

/* Counters of a run. */
struct sl_pipeline_stats {
    uint64_t batches;            /* drained */
    uint64_t items, arena_bytes; /* of the drained batches */
    uint64_t wall_ns;            /* wall time of the run */
    uint64_t fill_ns, drain_ns;  /* busy time of fill and of drain */
    uint64_t load_ns;            /* of prepare, arrange and apply, all threads added */
    uint64_t work_ns;            /* of the engines, all threads added */
    uint64_t digest_ns;          /* of digest, settle, decide and report, all threads added */
    uint64_t order_ns;           /* of order, deal and collect, all threads added */
    uint64_t engine_ns[SL_PIPELINE_ENGINES_MAX];   /* of each engine, all workers added */
    uint64_t engine_hits[SL_PIPELINE_ENGINES_MAX]; /* without those that sift removed */
    const char *backend[SL_PIPELINE_ENGINES_MAX];  /* that ran on the first device that opened */
    uint32_t n_workers;                            /* threads of all devices, at the start */
    uint32_t n_batches;                            /* in flight at most */

    /* The config's in its order, then the CPU where it took over. */
    struct sl_pipeline_device devices[SL_PIPELINE_DEVICES_MAX + 1];
    uint32_t n_devices;

    /* From arrival to result, over all packets of known arrival; 0 where not measured. Quantiles
     * are at most 1/32 too high, never too low. */
    struct {
        uint64_t packets;
        uint64_t p50_ns, p99_ns, p999_ns, max_ns;
    } latency;
};

/* Runs until fill ends and all batches are drained. On return all threads of the pipeline have
 * ended. SL_OK: fill ended with SL_END. Otherwise the first failure of a step or an engine; after a
 * failure later batches are not drained.
 *
 * A device whose contexts cannot be opened is dropped where there are others. Of the last device
 * the failure is the run's status, before the first fill; a run on another device may follow.
 * SL_ENOMEM: tables or hits do not fit its memory. SL_EDEVICE: it failed, or an engine has backends
 * for it and none is usable. SL_EUNSUPPORTED: a table was not built for it. SL_ENOMEM may also be
 * the machine's memory, or its pinned part. SL_EINVAL: no device, or more devices, engines or
 * shards than the limits, or a reserved number that is not 0.
 *
 * After the first fill a GPU is dropped when it fails, hangs, or has no memory for a batch's hits.
 * The CPU takes over from the last GPU with the same tables; where it cannot use one of them, that
 * is the run's status. */
SL_CHECK SL_API enum sl_status sl_pipeline_run(const struct sl_pipeline_config *config,
                                               struct sl_pipeline_stats *stats,
                                               struct sl_diag *diag);

/* Reduces the config's devices to the fastest for its engines: the GPUs, the CPU, or both. Both get
 * more batches in flight. Each device runs the engines with all its workers over made-up packets,
 * for 20 ms and one batch a worker; `why` reports the outcome. GPUs that fail are dropped, and
 * `why` has the reason; with one device `why` stays as it is. The engines, tables and batch sizes
 * are set, and the tables suit all devices. SL_EINVAL: as sl_pipeline_run. SL_ENOMEM, SL_EDEVICE,
 * SL_EUNSUPPORTED: the CPU cannot, with the reason in diag. */
SL_CHECK SL_API enum sl_status sl_pipeline_choose(struct sl_pipeline_config *config,
                                                  char why[SL_WHY_LEN], struct sl_diag *diag);

/* ---- snapshots of a run ---------------------------------------------------------------------- */

/* The stages of a batch, in this order. */
enum sl_pipeline_stage {
    SL_PIPELINE_FILL,
    SL_PIPELINE_LOAD, /* prepare, order, arrange, deal, collect and apply */
    SL_PIPELINE_WORK, /* make, the engines, digest, settle, decide and report */
    SL_PIPELINE_DRAIN,
    SL_N_PIPELINE_STAGES
};

SL_API const char *sl_pipeline_stage_name(enum sl_pipeline_stage stage); /* "fill", "load", ... */

/* Counters and state of a run at one moment. */
struct sl_pipeline_snapshot {
    bool running;
    uint32_t n_engines;
    const char *engine[SL_PIPELINE_ENGINES_MAX]; /* their names */
    struct sl_pipeline_stats stats; /* so far; of each stage, the batches that have left it */

    /* Batches that wait for a stage, and batches in it. Free batches wait for `fill`. The sum is
     * the run's number of batches, which never changes; 0 where none runs. */
    struct {
        uint32_t waiting, busy;
    } stage[SL_N_PIPELINE_STAGES];
};

/* Makes a monitor for one run after another. The caller frees it. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_pipeline_monitor_create(struct sl_pipeline_monitor **monitor,
                                                          struct sl_diag *diag);

/* Copies the run's counters as they were at one moment: any thread, any time. All 0 before the
 * first run; after a run, its final counters. A snapshot costs the run one lock. */
SL_API void sl_pipeline_snapshot(struct sl_pipeline_monitor *monitor,
                                 struct sl_pipeline_snapshot *snapshot);

/* Frees a monitor, which no run uses any more. Accepts NULL. */
SL_API void sl_pipeline_monitor_free(struct sl_pipeline_monitor *monitor);

#ifdef __cplusplus
}
#endif
#endif

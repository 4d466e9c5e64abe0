/* SPDX-License-Identifier: MIT */
/* The state of a run, and the roles that its threads have.
 *
 * | Role | File | Threads |
 * |---|---|---|
 * | open slots | pipeline_slots.c | openers |
 * | fill | pipeline_fill.c | one of its own, or those of each lane |
 * | load: prepare to collect | pipeline_{load,order,shards}.c | those of each lane |
 * | work: apply, engines | pipeline_work.c | those of each lane |
 * | digest | pipeline_digest.c | those of each lane |
 * | settle, decide, report | pipeline_{settle,shards}.c | as digest |
 * | drain | pipeline_drain.c | the caller's |
 * | read counters | pipeline_snapshot.c | any |
 * | take over from a lost GPU | pipeline_lost.c | the last thread of its lane |
 *
 * A batch has a sequence number, and a slot from filling to draining. One lock guards the
 * counters below, the slots' flags and what lanes count. `dealt`, `collected`, `settled` and
 * `decided` are n_left of these steps, `arranged` is n_ready of dealing, and `digested` of
 * settling. With the lock held these hold always:
 *
 * - drained <= collected <= dealt <= arranged <= ordered <= loading <= filled: a batch goes through
 *   its stages in order
 * - n_free + filled - drained + filling <= n_opening <= the slots made: an open slot is free or has
 *   a batch
 * - drained <= taken: work on a batch begins before it is drained
 * - taken <= collected: workers take collected batches
 * - drained <= reporting <= decided <= settled <= digested <= collected: a batch is reported once
 * - digested is the first batch whose slot is not digested: workers digest in any order
 * - n_done == slots that are done and not drained: workers report in any order
 * - n_digested == slots that are digested: they wait for batches before them
 * - n_redo == slots with redo set: a batch that a GPU failed on is taken before all others
 * - prepared is set from prepare to order: one thread orders at a time, `ordering`
 * - n_unarranged == slots that are ordered, and that no thread arranges: threads do in any order
 * - arranged is the first batch whose slot is not arranged
 * - n_left of a step <= next of each shard <= n_ready: a shard goes through the batches in order
 *
 * A shard has no part in the lock: the thread that sets `busy` has the shard until it clears it. */
#ifndef PIPELINE_PIPELINE_STATE_H
#define PIPELINE_PIPELINE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/histogram.h"
#include "lane.h"
#include "sluice/pipeline.h"

enum {
    PIPELINE_SPARE = 2,         /* free slots; fewer are few */
    PIPELINE_AWAKE_NS = 200000, /* how long a waiting thread stays awake before it sleeps */
    PIPELINE_OPENERS_MAX = 4    /* more threads do not pin memory faster */
};

struct slot {
    struct sl_batch *batch;
    struct sl_hits hits[SL_PIPELINE_ENGINES_MAX];
    struct sl_pipeline_device *device; /* that ran the engines */
    bool done, redo, prepared, ordered, arranged, digested;
    _Atomic uint32_t n_shards_left; /* that have not had it in the step at hand */
};

/* A shard in a step, in a cache line of its own. */
struct shard {
    _Alignas(64) atomic_bool busy;
    _Atomic uint64_t next; /* the batch that it has next */
};

/* A step that is in order within each shard: collect, settle, and with one shard deal, decide. */
struct shard_step {
    struct shard shards[SL_PIPELINE_SHARDS_MAX];
    uint32_t n_shards;        /* 0: there is nothing to do */
    _Atomic uint64_t n_ready; /* batches that may be done; written with the lock held */
    uint64_t n_left;          /* batches that all shards have done; guarded by the lock */
};

struct pipeline {
    struct shard_step deal, collect, settle, decide;

    const struct sl_pipeline_config *config;
    struct slot *slots;  /* the stats' n_batches, and behind them one that never has a batch */
    struct slot **in_at; /* of a batch, by its number modulo n_batches; else that last one */
    pthread_mutex_t latency_lock;
    struct histogram latency;     /* guarded by that lock */
    pthread_mutex_t dropped_lock; /* held while config->dropped is called */

    pthread_mutex_t lock; /* guards all below */
    /* Each condition has its own waiters, and all are signalled at the end: a batch passes six
     * threads, and there are several for each core. Workers wait on their lane. */
    pthread_cond_t freed, wanted, has_done; /* slots are, or are to be opened */
    struct watch done_watch;                /* of the thread that waits for has_done */
    uint64_t filled, loading, ordered, taken, reporting, drained;
    struct slot **free; /* n_free: open slots without a batch, the one drained last behind */
    uint32_t n_free;
    uint32_t n_opening; /* slots that are open, being opened, or found no memory */
    uint32_t n_active;  /* batches that are worked on at most; constant */
    uint32_t n_done, n_digested;
    uint32_t n_redo;
    uint32_t n_unarranged;
    bool filling, ordering, draining;
    bool lacks_memory;     /* a slot could not be opened */
    bool cuda;             /* some device is a GPU; constant */
    bool ended;            /* no further batch will be filled */
    bool failed;           /* a step failed: every thread ends */
    enum sl_status status; /* SL_OK, or the first failure */
    struct sl_diag *diag;
    struct sl_pipeline_stats *stats;
    uint64_t begin_ns;

    struct lane lanes[SL_PIPELINE_DEVICES_MAX + 1]; /* as the stats' devices */
    uint32_t n_lanes, n_openers;
    pthread_t openers[PIPELINE_OPENERS_MAX];
};

static inline struct slot *pipeline_slot(const struct pipeline *pipeline, uint64_t sequence)
{
    return pipeline->in_at[sequence % pipeline->stats->n_batches];
}

/* Whether no work is left, nor will be. With the lock held. */
static inline bool pipeline_is_done(const struct pipeline *pipeline)
{
    return pipeline->failed ||
           (pipeline->ended && pipeline->drained + pipeline->n_done == pipeline->filled);
}

/* Whether one batch more may be worked on. With the lock held. */
static inline bool pipeline_has_room(const struct pipeline *pipeline)
{
    const uint64_t waiting = pipeline->n_done + pipeline->n_digested;

    return pipeline->filled + pipeline->filling - pipeline->drained - waiting < pipeline->n_active;
}

/* ---- pipeline_wait.c; all but pipeline_fail with the lock held ------------------------------- */

void pipeline_signal_all(struct pipeline *pipeline);

/* Signals one of the waiters: one that is awake, or else one that sleeps. */
void pipeline_signal(pthread_cond_t *waiting, struct watch *watch);

/* Signals one thread of each lane: the engines have a batch more, and the first thread takes it. */
void pipeline_signal_workers(struct pipeline *pipeline);

/* A batch is worked on no more, and waits: another one may be filled, if a slot is free or can be
 * opened. */
void pipeline_signal_room(struct pipeline *pipeline);

/* Waits for a signal, without the lock. Waking a thread takes 50 us, at times 5 ms, and a GPU takes
 * 200 us for a batch. So until `awake_until` waiting threads stay awake, and yield their cores to
 * threads that have work. */
void pipeline_wait(struct pipeline *pipeline, pthread_cond_t *waiting, struct watch *watch,
                   uint64_t awake_until);

/* Keeps the first failure and its text; the run goes on. */
void pipeline_keep_failure(struct pipeline *pipeline, enum sl_status status,
                           const struct sl_diag *diag);

/* Keeps the failure and ends all threads; pipeline_fail takes the lock itself. */
void pipeline_fail_locked(struct pipeline *pipeline, enum sl_status status,
                          const struct sl_diag *diag);
void pipeline_fail(struct pipeline *pipeline, enum sl_status status, const struct sl_diag *diag);

/* ---- pipeline_fill.c, pipeline_load.c, pipeline_order.c -------------------------------------- */

/* Whether any thread may fill now. With the lock held. */
bool pipeline_may_fill(const struct pipeline *pipeline);

/* Takes a free slot and fills it; there is one. With the lock held, which is free meanwhile. */
void pipeline_fill(struct pipeline *pipeline);

/* The argument is the pipeline. */
void *pipeline_fill_loop(void *argument);

/* Prepares a filled batch, then orders to collects what can be, and waits for no other batch. */
void pipeline_load(struct pipeline *pipeline, uint64_t sequence);

/* Arranges what was ordered and deals it, then collects in all shards that no other thread has, and
 * signals those who wait for a batch. With the lock held, which is free meanwhile. */
void pipeline_collect(struct pipeline *pipeline);

/* Orders the prepared batches, unless another thread does. With the lock held. */
void pipeline_order(struct pipeline *pipeline);

/* Arranges the ordered batches that no other thread does. With the lock held. */
void pipeline_arrange(struct pipeline *pipeline);

/* ---- pipeline_shards.c; all with the lock held ----------------------------------------------- */

/* The next batch may be done in this step. */
void pipeline_enter_step(struct pipeline *pipeline, struct shard_step *step);

/* Does what is ready in all shards that no other thread has. Returns the time that it took. The
 * lock is free meanwhile. */
uint64_t pipeline_visit_shards(struct pipeline *pipeline, struct shard_step *step);

/* Whether a batch is ready in a shard that no thread has. */
bool pipeline_has_shard(const struct shard_step *step);

/* Signals a thread where more than one batch is ready: threads without work go through shards. One
 * thread alone would hold up the others for as long as all those batches take. */
void pipeline_call_for_help(struct pipeline *pipeline, const struct shard_step *step);

/* The next batch that all shards have done leaves the step. NULL: there is none. */
struct slot *pipeline_leave_step(struct pipeline *pipeline, struct shard_step *step);

/* ---- pipeline_digest.c ----------------------------------------------------------------------- */

/* Digests a batch whose engines are done, and settles it. */
void pipeline_digest(struct pipeline *pipeline, struct slot *slot);

/* ---- pipeline_settle.c ----------------------------------------------------------------------- */

/* This batch was digested: settles, decides and reports what can be, this batch or others. */
void pipeline_settle(struct pipeline *pipeline, struct slot *slot);

/* The same of batches that were digested before. */
void pipeline_settle_some(struct pipeline *pipeline);

/* ---- pipeline_work.c, pipeline_lost.c: the last thread of a lost GPU starts those of the CPU ---
 */

/* Starts the threads of an open lane. Returns an errno. */
int pipeline_start_lane(struct pipeline *pipeline, struct lane *lane);

/* The GPU failed on this batch: drops the GPU and returns the batch for another worker. The worker
 * is closed first, so nothing of the device touches the batch any more. */
void pipeline_return_batch(struct lane_thread *self, struct slot *slot, const struct sl_diag *why);

/* A thread of a lane ends. The last thread of a dropped lane reports it, and starts the CPU where
 * no other device is left. */
void pipeline_thread_ends(struct pipeline *pipeline, struct lane *lane);

/* ---- pipeline_drain.c, pipeline_snapshot.c, pipeline_slots.c --------------------------------- */

void pipeline_drain_loop(struct pipeline *pipeline);

/* The monitor's function; `opaque` is the pipeline. */
void pipeline_snapshot_read(void *opaque, struct sl_pipeline_snapshot *snapshot);
void pipeline_read_latency(struct pipeline *pipeline, struct sl_pipeline_stats *stats);

/* Makes the stats' n_batches slots, none of which is open. */
enum sl_status pipeline_make_slots(struct pipeline *pipeline, struct sl_diag *diag);

/* Starts threads that open the slots, until no more batches come. Returns an errno. */
int pipeline_start_openers(struct pipeline *pipeline);

/* The free slot that was drained last: its memory is still in a cache. There is one. */
struct slot *pipeline_take_slot(struct pipeline *pipeline);

/* The slot gets the next batch. */
void pipeline_fill_slot(struct pipeline *pipeline, struct slot *slot);

/* The slot that had the first batch has none. */
void pipeline_drain_slot(struct pipeline *pipeline, struct slot *slot);

/* A slot that has no batch may be taken. */
void pipeline_free_slot(struct pipeline *pipeline, struct slot *slot);

/* Closes lanes and slots: workers before the batches that a failed one may still work on. */
void pipeline_close(struct pipeline *pipeline);

#endif

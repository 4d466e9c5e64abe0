/* SPDX-License-Identifier: MIT */
/* Batches in flight: a filler thread, for GPUs loaders, the workers of each device, and the
 * caller's thread that drains.
 *
 * A batch has a sequence number; number s lives in slot s modulo the slots. Counters say all of the
 * order: drained <= ordered <= loading <= filled <= drained + n_slots, and drained <= taken. Where
 * there are loaders, taken <= ordered; otherwise a worker loads what it takes: taken is loading.
 * Workers finish in any order, so a slot also knows whether its work is done, or is to be done
 * again because the device failed: then a worker takes it before all that nobody has taken. */
#include "sluice/pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/diag.h"
#include "base/histogram.h"
#include "device/device.h"
#include "device/wait.h"
#include "pipeline/lane.h"
#include "pipeline/monitor.h"

enum { TIMER_SLACK_NS = 1000, AWAKE_NS = 200000 };

/* Of four cores: what is drained in order waits for a thread that another has taken the core of. */
enum { LOADERS_OF_4 = 3 };

struct slot {
    struct sl_batch *batch;
    struct sl_hits hits[SL_PIPELINE_ENGINES_MAX];
    bool done, redo;
    bool prepared;       /* and not ordered */
    pthread_cond_t turn; /* that it is this one's to be ordered */
};

struct pipeline {
    const struct sl_pipeline_config *config;
    bool cuda; /* some device is a GPU */
    uint32_t n_slots, n_loaders;
    struct slot *slots;
    pthread_mutex_t latency_lock;
    struct histogram latency; /* guarded by that lock */
    pthread_mutex_t telling;  /* held while config->dropped is called */

    pthread_mutex_t lock; /* guards all below, the slots' flags, and what lanes count */
    /* Who waits is told of what concerns him alone, and all are told when it is over: a batch
     * passes six hands, and there are some for each core. Workers wait on their lane, or, where
     * they load and it is not their turn to order, on their slot. */
    pthread_cond_t freed, has_filled, has_done;
    struct watch done_watch; /* of who waits for has_done */
    uint64_t filled, loading, ordered, taken, drained;
    uint32_t n_done; /* batches whose work is done and that are not drained */
    uint32_t n_redo; /* batches whose work is to be done again and that nobody has taken */
    bool filling, ordering, draining;
    bool ended;            /* no further batch will be filled */
    bool failed;           /* an engine or drain failed: everybody leaves */
    enum sl_status status; /* SL_OK, or the first failure */
    struct sl_diag *diag;
    struct sl_pipeline_stats *stats;
    uint64_t begin_ns;

    struct lane lanes[SL_PIPELINE_DEVICES_MAX + 1]; /* as the stats' devices */
    uint32_t n_lanes;
};

void sl_pipeline_config_init(struct sl_pipeline_config *config)
{
    memset(config, 0, sizeof *config);
    config->devices[0].kind = SL_DEVICE_CPU;
    config->devices[0].usable = true;
    config->n_devices = 1;
    config->batch_len = 4u << 20;
    config->batch_items = 16384;
}

static struct slot *slot_of(struct pipeline *pipeline, uint64_t sequence)
{
    return &pipeline->slots[sequence % pipeline->n_slots];
}

/* Keeps the first failure and its text. */
static void fail(struct pipeline *pipeline, enum sl_status status, const struct sl_diag *diag)
{
    if (pipeline->status != SL_OK)
        return;
    pipeline->status = status;
    if (pipeline->diag != NULL)
        *pipeline->diag = *diag;
}

/* ---- telling who waits, with the lock held --------------------------------------------------- */

static void tell_all(struct pipeline *pipeline)
{
    atomic_fetch_add(&pipeline->done_watch.news, 1);
    pthread_cond_broadcast(&pipeline->freed);
    pthread_cond_broadcast(&pipeline->has_filled);
    pthread_cond_broadcast(&pipeline->has_done);
    for (uint32_t i = 0; i < pipeline->n_lanes; i++) {
        atomic_fetch_add(&pipeline->lanes[i].watch.news, 1);
        pthread_cond_broadcast(&pipeline->lanes[i].ready);
    }
    for (uint32_t i = 0; i < pipeline->n_slots; i++)
        pthread_cond_broadcast(&pipeline->slots[i].turn);
}

/* Who watches need not be woken, and sees to it that others are where there is more. */
static void tell(pthread_cond_t *waiting, struct watch *watch)
{
    atomic_fetch_add(&watch->news, 1);
    if (!watch->on)
        pthread_cond_signal(waiting);
}

/* There is a batch more for the engines. One thread of each lane looks: who comes first has it. */
static void tell_workers(struct pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->n_lanes; i++)
        tell(&pipeline->lanes[i].ready, &pipeline->lanes[i].watch);
}

/* Waits to be told something, with the lock held, which is let go meanwhile. A thread that sleeps
 * is woken in 50 us, and at times in 500, while a GPU is done with a batch in 200: so until then
 * one of those that wait stays awake, and leaves its core to others that have work. */
static void wait_until_told(struct pipeline *pipeline, pthread_cond_t *waiting, struct watch *watch,
                            uint64_t awake_until)
{
    if (watch->on || clock_ns() >= awake_until) {
        pthread_cond_wait(waiting, &pipeline->lock);
        return;
    }
    const unsigned seen = atomic_load(&watch->news);

    watch->on = true;
    pthread_mutex_unlock(&pipeline->lock);
    while (atomic_load(&watch->news) == seen && clock_ns() < awake_until)
        sched_yield();
    pthread_mutex_lock(&pipeline->lock);
    watch->on = false;
}

/* ---- fill ------------------------------------------------------------------------------------ */

/* Waits for a slot whose batch has been drained; NULL: all is over. */
static struct slot *wait_for_free_slot(struct pipeline *pipeline)
{
    struct slot *slot = NULL;

    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && pipeline->filled == pipeline->drained + pipeline->n_slots)
        pthread_cond_wait(&pipeline->freed, &pipeline->lock);
    if (!pipeline->failed)
        slot = slot_of(pipeline, pipeline->filled);
    pipeline->filling = slot != NULL;
    pthread_mutex_unlock(&pipeline->lock);
    return slot;
}

static void *fill_loop(void *argument)
{
    struct pipeline *pipeline = argument;
    const struct sl_pipeline_config *config = pipeline->config;
    enum sl_status status = SL_OK;
    struct slot *slot;

    while (status == SL_OK && (slot = wait_for_free_slot(pipeline)) != NULL) {
        struct sl_diag diag = {0};
        const uint64_t begin = clock_ns();

        sl_batch_reset(slot->batch);
        status = config->fill(config->user, slot->batch, &diag);

        pthread_mutex_lock(&pipeline->lock);
        pipeline->stats->fill_ns += clock_ns() - begin;
        pipeline->filling = false;
        /* What is empty now may be filled by preparing it. */
        if (slot->batch->n_items > 0 || config->prepare != NULL) {
            slot->done = false;
            pipeline->filled++;
        }
        if (status != SL_OK) {
            pipeline->ended = true;
            if (status != SL_END)
                fail(pipeline, status, &diag);
            tell_all(pipeline);
        } else if (pipeline->n_loaders != 0) {
            pthread_cond_signal(&pipeline->has_filled);
        } else {
            tell_workers(pipeline);
        }
        pthread_mutex_unlock(&pipeline->lock);
    }
    return NULL;
}

/* ---- load ------------------------------------------------------------------------------------ */

static void fail_locked(struct pipeline *pipeline, enum sl_status status,
                        const struct sl_diag *diag)
{
    fail(pipeline, status, diag);
    pipeline->failed = true;
    tell_all(pipeline);
}

static void fail_all(struct pipeline *pipeline, enum sl_status status, const struct sl_diag *diag)
{
    pthread_mutex_lock(&pipeline->lock);
    fail_locked(pipeline, status, diag);
    pthread_mutex_unlock(&pipeline->lock);
}

/* Orders the first batch that is not ordered: it is prepared. With the lock held, which is let go
 * meanwhile. */
static void order_next(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot = slot_of(pipeline, pipeline->ordered);
    struct sl_diag diag = {0};

    slot->prepared = false;
    pthread_mutex_unlock(&pipeline->lock);
    const uint64_t begin = clock_ns();
    const enum sl_status status =
        config->order != NULL ? config->order(config->user, slot->batch, &diag) : SL_OK;
    const uint64_t busy = clock_ns() - begin;

    pthread_mutex_lock(&pipeline->lock);
    pipeline->stats->order_ns += busy;
    if (status != SL_OK) {
        fail_locked(pipeline, status, &diag);
        return;
    }
    pipeline->ordered++;
    if (pipeline->n_loaders != 0)
        tell_workers(pipeline);
    else
        pthread_cond_signal(&slot->turn);
}

/* Orders what is prepared, as far as `last`, unless another thread is at it. With the lock held. */
static void order_prepared(struct pipeline *pipeline, uint64_t last)
{
    if (pipeline->ordering)
        return;
    pipeline->ordering = true;
    while (!pipeline->failed && pipeline->ordered <= last &&
           slot_of(pipeline, pipeline->ordered)->prepared)
        order_next(pipeline);
    pipeline->ordering = false;
}

/* A worker goes on with its batch once it is ordered, which it does itself, and those before it:
 * who ordered those behind as well would keep its own waiting. With the lock held. */
static void order_own(struct pipeline *pipeline, uint64_t sequence)
{
    order_prepared(pipeline, sequence);
    while (!pipeline->failed && pipeline->ordered <= sequence) {
        pthread_cond_wait(&slot_of(pipeline, sequence)->turn, &pipeline->lock);
        order_prepared(pipeline, sequence);
    }
    pthread_cond_signal(&slot_of(pipeline, pipeline->ordered)->turn);
}

/* Prepares a filled batch, and orders what can be. Loaders order all, and none waits for a batch
 * before its own. False: all is over. */
static bool load(struct pipeline *pipeline, uint64_t sequence)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot = slot_of(pipeline, sequence);
    struct sl_diag diag = {0};
    const uint64_t begin = clock_ns();
    const enum sl_status status =
        config->prepare != NULL ? config->prepare(config->user, slot->batch, &diag) : SL_OK;
    const uint64_t busy = clock_ns() - begin;

    pthread_mutex_lock(&pipeline->lock);
    pipeline->stats->load_ns += busy;
    slot->prepared = true;
    if (status != SL_OK)
        fail_locked(pipeline, status, &diag);
    else if (pipeline->n_loaders != 0)
        order_prepared(pipeline, UINT64_MAX);
    else
        order_own(pipeline, sequence);
    const bool go_on = !pipeline->failed;
    pthread_mutex_unlock(&pipeline->lock);
    return go_on;
}

/* The next filled batch that nobody has loaded. False: there will be none. */
static bool take_load(struct pipeline *pipeline, uint64_t *sequence)
{
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && pipeline->loading == pipeline->filled && !pipeline->ended)
        pthread_cond_wait(&pipeline->has_filled, &pipeline->lock);
    const bool there = !pipeline->failed && pipeline->loading < pipeline->filled;
    if (there)
        *sequence = pipeline->loading++;
    pthread_mutex_unlock(&pipeline->lock);
    return there;
}

static void *load_loop(void *argument)
{
    struct pipeline *pipeline = argument;
    uint64_t sequence;

    while (take_load(pipeline, &sequence) && load(pipeline, sequence))
        ;
    return NULL;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* The first batch whose work is to be done again; there is one. */
static struct slot *take_redo(struct pipeline *pipeline)
{
    uint64_t sequence = pipeline->drained;

    while (!slot_of(pipeline, sequence)->redo)
        sequence++;
    slot_of(pipeline, sequence)->redo = false;
    pipeline->n_redo--;
    return slot_of(pipeline, sequence);
}

/* Whether there is no work left, nor will be. */
static bool all_is_done(const struct pipeline *pipeline)
{
    return pipeline->failed ||
           (pipeline->ended && pipeline->drained + pipeline->n_done == pipeline->filled);
}

/* Whether this lane's threads have nothing more to expect. Batches of others may come back to them,
 * so they stay until all work is done. */
static bool is_over(const struct pipeline *pipeline, const struct lane *lane)
{
    return lane->device->dropped || all_is_done(pipeline);
}

/* Threads of GPUs that wait for a batch, and will take it. */
static uint32_t n_idle_on_gpus(const struct pipeline *pipeline)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < pipeline->n_lanes; i++) {
        const struct lane *lane = &pipeline->lanes[i];

        if (lane_is_cuda(lane) && !lane->device->dropped)
            n += lane_n_ready(lane);
    }
    return n;
}

/* Whether there is a batch for this lane, and a worker. The CPU takes those for which no GPU is
 * free: they are slower there, and its cores may have to load others for the GPUs. */
static bool has_work(const struct pipeline *pipeline, const struct lane *lane)
{
    const uint64_t ready = pipeline->n_loaders == 0 ? pipeline->filled : pipeline->ordered;
    const uint64_t n = ready - pipeline->taken;

    return lane->n_idle > 0 &&
           (pipeline->n_redo != 0 || n > (lane_is_cuda(lane) ? 0 : n_idle_on_gpus(pipeline)));
}

static void apply(struct pipeline *pipeline, struct slot *slot)
{
    const struct sl_pipeline_config *config = pipeline->config;
    const uint64_t begin = clock_ns();

    if (config->apply == NULL)
        return;
    config->apply(config->user, slot->batch);
    const uint64_t busy = clock_ns() - begin;

    pthread_mutex_lock(&pipeline->lock);
    pipeline->stats->load_ns += busy;
    pthread_mutex_unlock(&pipeline->lock);
}

/* With the lock held. */
static void wait_for_work(struct pipeline *pipeline, struct lane *lane)
{
    const uint64_t awake_until = lane_is_cuda(lane) ? clock_ns() + AWAKE_NS : 0;

    lane->n_waiting++;
    while (!is_over(pipeline, lane) && !has_work(pipeline, lane))
        wait_until_told(pipeline, &lane->ready, &lane->watch, awake_until);
    lane->n_waiting--;
}

/* The next batch for the engines, and a worker for it. NULL: there will be none. */
static struct slot *take_work(struct lane_thread *self)
{
    struct pipeline *pipeline = self->pipeline;
    struct lane *lane = self->lane;
    const bool loads = pipeline->n_loaders == 0;
    struct slot *slot = NULL;
    uint64_t sequence = 0;
    bool fresh = false;

    pthread_mutex_lock(&pipeline->lock);
    wait_for_work(pipeline, lane);
    if (!is_over(pipeline, lane)) {
        self->worker = lane_take(lane);
        fresh = pipeline->n_redo == 0;
        if (fresh)
            sequence = pipeline->taken++;
        slot = fresh ? slot_of(pipeline, sequence) : take_redo(pipeline);
        if (has_work(pipeline, lane)) /* who watched may have been told twice */
            pthread_cond_signal(&lane->ready);
    }
    pthread_mutex_unlock(&pipeline->lock);
    if (fresh && loads && !load(pipeline, sequence))
        return NULL;
    if (fresh && slot != NULL)
        apply(pipeline, slot);
    return slot;
}

/* What is made of the hits. */
static enum sl_status digest(struct pipeline *pipeline, const struct slot *slot,
                             uint64_t *digest_ns, struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = pipeline->config;
    const uint64_t begin = clock_ns();
    enum sl_status status = SL_OK;

    if (config->digest != NULL)
        status = config->digest(config->user, slot->batch, slot->hits, diag);
    *digest_ns = clock_ns() - begin;
    return status;
}

/* A GPU that hangs may still write hits where it was told to: let that be nobody's. */
static void renew_hits(struct pipeline *pipeline, struct slot *slot, const struct lane *lane)
{
    const struct sl_pipeline_config *config = pipeline->config;
    enum sl_status status = SL_OK;
    struct sl_diag diag = {0};

    if (!device_is_hung(lane->device->device.index))
        return;
    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++) {
        worker_free_hits(config, &slot->hits[e]);
        status = worker_take_hits(config, &slot->hits[e], &diag);
    }
    if (status != SL_OK)
        fail_all(pipeline, status, &diag);
}

/* The GPU failed on this batch: it is dropped, and the batch is for another. Closed first: nothing
 * of the device touches the batch any more. */
static void give_back(struct lane_thread *self, struct slot *slot, const struct sl_diag *why)
{
    struct pipeline *pipeline = self->pipeline;

    worker_close(self->worker);
    renew_hits(pipeline, slot, self->lane);
    pthread_mutex_lock(&pipeline->lock);
    lane_drop(self->lane, why);
    self->lane->device->redone++;
    worker_move_times(self->worker, pipeline->stats);
    slot->redo = true;
    pipeline->n_redo++;
    tell_all(pipeline); /* the lane's other threads, too: they are to leave */
    pthread_mutex_unlock(&pipeline->lock);
}

/* Another thread may have the worker now. */
static void give_worker_back(struct lane_thread *self)
{
    struct pipeline *pipeline = self->pipeline;
    struct lane *lane = self->lane;

    pthread_mutex_lock(&pipeline->lock);
    worker_move_times(self->worker, pipeline->stats);
    lane_return(lane, self->worker);
    self->worker = NULL;
    if (has_work(pipeline, lane))
        tell(&lane->ready, &lane->watch);
    pthread_mutex_unlock(&pipeline->lock);
}

/* The engines and the digest, for one batch. False: the worker's device failed. */
static bool work_on(struct lane_thread *self, struct slot *slot)
{
    struct pipeline *pipeline = self->pipeline;
    struct sl_diag diag = {0};
    enum sl_status status = SL_OK;
    uint64_t digest_ns = 0;

    if (slot->batch->n_items != 0) {
        status = worker_run(self->worker, slot->batch, slot->hits, &diag);
        if (status == SL_EDEVICE && lane_is_cuda(self->lane)) {
            give_back(self, slot, &diag);
            return false;
        }
    }
    /* After a failure the worker may lack a context: nobody takes it before all leave. */
    const bool ready = status == SL_OK && worker_is_ready(self->worker);
    if (ready)
        give_worker_back(self);
    if (status == SL_OK && slot->batch->n_items != 0)
        status = digest(pipeline, slot, &digest_ns, &diag);
    if (status != SL_OK)
        fail_all(pipeline, status, &diag); /* before anybody takes the batch for done */
    pthread_mutex_lock(&pipeline->lock);
    pipeline->stats->digest_ns += digest_ns;
    self->lane->device->batches += slot->batch->n_items != 0;
    slot->done = true;
    pipeline->n_done++;
    if (slot == slot_of(pipeline, pipeline->drained))
        tell(&pipeline->has_done, &pipeline->done_watch);
    if (all_is_done(pipeline))
        tell_all(pipeline);
    const bool over = is_over(pipeline, self->lane);
    pthread_mutex_unlock(&pipeline->lock);
    if (!ready) { /* now that nobody waits for the batch */
        if (!over)
            worker_get_ready(self->worker);
        give_worker_back(self);
    }
    return true;
}

static void leave(struct pipeline *pipeline, struct lane *lane);

static void *work_loop(void *argument)
{
    struct lane_thread *self = argument;
    struct slot *slot;

    if (lane_is_cuda(self->lane)) /* waits are of microseconds, and longer by this */
        (void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    while ((slot = take_work(self)) != NULL && work_on(self, slot))
        ;
    leave(self->pipeline, self->lane);
    return NULL;
}

/* Returns an errno. */
static int start_lane(struct pipeline *pipeline, struct lane *lane)
{
    int error = 0;

    lane->n_running = lane->n_threads;
    for (uint32_t i = 0; i < lane->n_threads && error == 0; i++) {
        struct lane_thread *thread = &lane->threads[i];

        thread->pipeline = pipeline;
        thread->lane = lane;
        error = pthread_create(&thread->thread, NULL, work_loop, thread);
        lane->n_started += error == 0;
    }
    return error;
}

/* ---- when a device fails --------------------------------------------------------------------- */

/* Whether the last thread of a dropped lane leaves, and, in *last, whether there is work and nobody
 * for it: the CPU is to take over then, and its lane is there, not open. */
static bool leave_dropped(struct pipeline *pipeline, struct lane *lane, bool *last)
{
    bool dropped;

    pthread_mutex_lock(&pipeline->lock);
    dropped = --lane->n_running == 0 && lane->device->dropped;
    *last = dropped && !all_is_done(pipeline);
    for (uint32_t i = 0; i < pipeline->n_lanes; i++)
        *last = *last && pipeline->lanes[i].device->dropped;
    if (*last) {
        struct sl_pipeline_device *device = &pipeline->stats->devices[pipeline->n_lanes];

        (void)sl_device_list(&device->device, 1);
        pipeline->lanes[pipeline->n_lanes++].device = device;
        pipeline->stats->n_devices = pipeline->n_lanes;
    }
    pthread_mutex_unlock(&pipeline->lock);
    return dropped;
}

/* With the same tables, which CPUs can use as well. */
static void take_over(struct pipeline *pipeline, const struct sl_pipeline_device *lost)
{
    struct lane *cpu = &pipeline->lanes[pipeline->n_lanes - 1];
    struct sl_diag reason = {0}, diag = {0};
    enum sl_status status = lane_open(cpu, pipeline->config, cpu_cores(), &reason);

    if (status == SL_OK) {
        const int error = start_lane(pipeline, cpu);

        if (error == 0)
            return;
        status =
            diag_set(&reason, SL_ENOMEM, NULL, 0, "cannot start a thread: %s", strerror(error));
    }
    fail_all(pipeline,
             diag_set(&diag, status, NULL, 0, "%s; the CPU cannot take over: %.200s", lost->why,
                      reason.text),
             &diag);
}

static void leave(struct pipeline *pipeline, struct lane *lane)
{
    const struct sl_pipeline_config *config = pipeline->config;
    bool last;

    if (!leave_dropped(pipeline, lane, &last))
        return;
    pthread_mutex_lock(&pipeline->telling);
    if (config->dropped != NULL)
        config->dropped(config->user, lane->device);
    pthread_mutex_unlock(&pipeline->telling);
    if (last)
        take_over(pipeline, lane->device);
}

/* ---- drain ----------------------------------------------------------------------------------- */

/* Waits for the next batch in order to be done; NULL: there will be none. */
static struct slot *wait_for_done(struct pipeline *pipeline)
{
    struct slot *slot = slot_of(pipeline, pipeline->drained);
    const uint64_t awake_until = pipeline->cuda ? clock_ns() + AWAKE_NS : 0;

    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && !(pipeline->drained < pipeline->filled && slot->done) &&
           !(pipeline->ended && pipeline->drained == pipeline->filled))
        wait_until_told(pipeline, &pipeline->has_done, &pipeline->done_watch, awake_until);
    if (pipeline->failed || pipeline->drained == pipeline->filled)
        slot = NULL;
    pipeline->draining = slot != NULL;
    pthread_mutex_unlock(&pipeline->lock);
    return slot;
}

static void count_drained(struct pipeline *pipeline, const struct slot *slot, uint64_t busy_ns)
{
    struct sl_pipeline_stats *stats = pipeline->stats;

    for (uint32_t e = 0; e < pipeline->config->n_engines; e++)
        stats->engine_hits[e] += slot->hits[e].n;
    stats->batches++;
    stats->items += slot->batch->n_items;
    stats->arena_bytes += slot->batch->bytes_len;
    stats->drain_ns += busy_ns;
}

/* Neighbours have often arrived together. */
static void note_latency(struct pipeline *pipeline, const struct sl_batch *batch, uint64_t now)
{
    const struct sl_origin *origin = batch->origin;
    uint32_t n = origin != NULL ? batch->n_items : 0;

    pthread_mutex_lock(&pipeline->latency_lock);
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        const uint64_t arrival = origin[begin].arrival_ns;

        for (end = begin + 1; end < n && origin[end].arrival_ns == arrival; end++)
            ;
        if (arrival != 0)
            histogram_add(&pipeline->latency, now - arrival, end - begin);
    }
    pthread_mutex_unlock(&pipeline->latency_lock);
}

static void drain_loop(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot;

    while ((slot = wait_for_done(pipeline)) != NULL) {
        struct sl_diag diag = {0};
        const bool empty = slot->batch->n_items == 0;
        const uint64_t begin = clock_ns();
        const enum sl_status status =
            empty ? SL_OK : config->drain(config->user, slot->batch, slot->hits, &diag);

        const uint64_t end = clock_ns();
        if (status != SL_OK)
            fail_all(pipeline, status, &diag);
        else if (config->latency)
            note_latency(pipeline, slot->batch, end);
        pthread_mutex_lock(&pipeline->lock);
        if (!empty)
            count_drained(pipeline, slot, end - begin);
        pipeline->drained++;
        pipeline->n_done--;
        pipeline->draining = false;
        pthread_cond_signal(&pipeline->freed);
        pthread_mutex_unlock(&pipeline->lock);
    }
}

/* ---- looking at it --------------------------------------------------------------------------- */

static void look_at_stages(const struct pipeline *pipeline, struct sl_pipeline_snapshot *snapshot)
{
    /* Where workers load what they take, what is ordered is in work. */
    const bool loads = pipeline->n_loaders == 0;
    const uint64_t loading = loads ? pipeline->taken : pipeline->loading;
    const uint64_t working = loads ? pipeline->ordered : pipeline->taken;
    const uint64_t flying = pipeline->filled - pipeline->drained;
    uint32_t waiting[SL_PIPELINE_N_STAGES], busy[SL_PIPELINE_N_STAGES];

    busy[SL_PIPELINE_FILL] = pipeline->filling;
    waiting[SL_PIPELINE_FILL] = pipeline->n_slots - (uint32_t)flying - pipeline->filling;
    busy[SL_PIPELINE_LOAD] = (uint32_t)(loading - pipeline->ordered);
    waiting[SL_PIPELINE_LOAD] = (uint32_t)(pipeline->filled - loading);
    busy[SL_PIPELINE_WORK] =
        (uint32_t)(working - pipeline->drained) - pipeline->n_done - pipeline->n_redo;
    waiting[SL_PIPELINE_WORK] = (uint32_t)(pipeline->ordered - working) + pipeline->n_redo;
    busy[SL_PIPELINE_DRAIN] = pipeline->draining;
    waiting[SL_PIPELINE_DRAIN] = pipeline->n_done - pipeline->draining;
    for (int s = 0; s < SL_PIPELINE_N_STAGES; s++) {
        snapshot->stage[s].waiting = waiting[s];
        snapshot->stage[s].busy = busy[s];
    }
}

static void tell_latency(struct pipeline *pipeline, struct sl_pipeline_stats *stats)
{
    const struct histogram *latency = &pipeline->latency;

    pthread_mutex_lock(&pipeline->latency_lock);
    stats->latency.packets = latency->n;
    stats->latency.p50_ns = histogram_quantile(latency, 500);
    stats->latency.p99_ns = histogram_quantile(latency, 990);
    stats->latency.p999_ns = histogram_quantile(latency, 999);
    stats->latency.max_ns = latency->max;
    pthread_mutex_unlock(&pipeline->latency_lock);
}

/* The monitor's. */
static void look(void *opaque, struct sl_pipeline_snapshot *snapshot)
{
    struct pipeline *pipeline = opaque;
    const struct sl_pipeline_config *config = pipeline->config;

    snapshot->n_engines = config->n_engines;
    for (uint32_t e = 0; e < config->n_engines; e++)
        snapshot->engine[e] = config->engines[e].engine->name;
    pthread_mutex_lock(&pipeline->lock);
    snapshot->stats = *pipeline->stats;
    look_at_stages(pipeline, snapshot);
    pthread_mutex_unlock(&pipeline->lock);
    tell_latency(pipeline, &snapshot->stats);
    snapshot->stats.seconds_ns = clock_ns() - pipeline->begin_ns;
}

/* ---- the run --------------------------------------------------------------------------------- */

static enum sl_status open_slot(struct pipeline *pipeline, struct slot *slot, struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = pipeline->config;
    enum sl_status status =
        sl_device_batch_create(&slot->batch, pipeline->cuda ? SL_DEVICE_CUDA : SL_DEVICE_CPU,
                               config->batch_len, config->batch_items, diag);

    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++)
        status = worker_take_hits(config, &slot->hits[e], diag);
    return status;
}

/* Every n_threads-th slot, from `first` on. */
struct opening {
    struct pipeline *pipeline;
    uint32_t first, n_threads;
    pthread_t thread;
    bool started;
    enum sl_status status;
    struct sl_diag diag;
};

static void *open_some_slots(void *argument)
{
    struct opening *opening = argument;
    struct pipeline *pipeline = opening->pipeline;

    for (uint32_t d = 0; d < pipeline->config->n_devices; d++)
        if (lane_is_cuda(&pipeline->lanes[d]) && !pipeline->lanes[d].device->dropped)
            device_use(pipeline->lanes[d].device->device.index);
    for (uint32_t i = opening->first; i < pipeline->n_slots && opening->status == SL_OK;
         i += opening->n_threads)
        opening->status = open_slot(pipeline, &pipeline->slots[i], &opening->diag);
    return NULL;
}

/* Where memory is zeroed and pinned, by all cores. */
static enum sl_status open_slots(struct pipeline *pipeline, struct sl_diag *diag)
{
    enum { THREADS_MAX = 16 };
    struct opening openings[THREADS_MAX] = {0};
    const uint32_t cores = cpu_cores() < THREADS_MAX ? cpu_cores() : THREADS_MAX;
    const uint32_t n_threads = pipeline->cuda ? cores : 1;
    enum sl_status status = SL_OK;

    pipeline->slots = calloc(pipeline->n_slots, sizeof *pipeline->slots);
    if (pipeline->slots == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u batches", pipeline->n_slots);
    for (uint32_t i = 0; i < pipeline->n_slots; i++)
        pthread_cond_init(&pipeline->slots[i].turn, NULL);
    for (uint32_t t = 0; t < n_threads; t++) {
        openings[t] = (struct opening){.pipeline = pipeline, .first = t, .n_threads = n_threads};
        openings[t].started =
            pthread_create(&openings[t].thread, NULL, open_some_slots, &openings[t]) == 0;
        if (!openings[t].started)
            open_some_slots(&openings[t]);
    }
    for (uint32_t t = 0; t < n_threads; t++) {
        if (openings[t].started)
            pthread_join(openings[t].thread, NULL);
        if (status == SL_OK && openings[t].status != SL_OK) {
            status = openings[t].status;
            if (diag != NULL)
                *diag = openings[t].diag;
        }
    }
    return status;
}

/* Workers before the batches that a failed one may still be working on. */
static void close_all(struct pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->n_lanes; i++)
        lane_close(&pipeline->lanes[i]);
    for (uint32_t i = 0; pipeline->slots != NULL && i < pipeline->n_slots; i++) {
        for (uint32_t e = 0; e < SL_PIPELINE_ENGINES_MAX; e++)
            worker_free_hits(pipeline->config, &pipeline->slots[i].hits[e]);
        sl_batch_free(pipeline->slots[i].batch);
    }
    free(pipeline->slots);
}

/* Starts the filler, loaders and workers. Threads are joined from the first on. */
static int start(struct pipeline *pipeline, pthread_t *threads, uint32_t *started)
{
    int error = pthread_create(&threads[0], NULL, fill_loop, pipeline);

    *started = error == 0;
    for (uint32_t i = 0; i < pipeline->n_loaders && error == 0; i++) {
        error = pthread_create(&threads[*started], NULL, load_loop, pipeline);
        *started += error == 0;
    }
    for (uint32_t i = 0; i < pipeline->config->n_devices && error == 0; i++)
        error = start_lane(pipeline, &pipeline->lanes[i]);
    return error;
}

/* The lane that took over comes last, and was started by a thread of those before. */
static void join(struct pipeline *pipeline, const pthread_t *threads, uint32_t started)
{
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < sizeof pipeline->lanes / sizeof *pipeline->lanes; i++)
        for (uint32_t t = 0; t < pipeline->lanes[i].n_started; t++)
            pthread_join(pipeline->lanes[i].threads[t].thread, NULL);
}

static enum sl_status run_threads(struct pipeline *pipeline)
{
    pthread_t *threads = calloc((size_t)pipeline->n_loaders + 1, sizeof *threads);
    struct sl_diag diag = {0};
    uint32_t started = 0;
    int error = ENOMEM;

    if (threads != NULL)
        error = start(pipeline, threads, &started);
    if (error == 0)
        drain_loop(pipeline);
    else
        fail_all(pipeline,
                 diag_set(&diag, SL_ENOMEM, NULL, 0, "cannot start a thread: %s", strerror(error)),
                 &diag);
    join(pipeline, threads, started);
    free(threads);
    return pipeline->status;
}

static void begin(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;

    for (uint32_t i = 0; i < sizeof pipeline->lanes / sizeof *pipeline->lanes; i++)
        pthread_cond_init(&pipeline->lanes[i].ready, NULL);
    pipeline->n_lanes = pipeline->stats->n_devices = config->n_devices;
    for (uint32_t i = 0; i < config->n_devices; i++) {
        pipeline->stats->devices[i].device = config->devices[i];
        pipeline->lanes[i].device = &pipeline->stats->devices[i];
        pipeline->cuda = pipeline->cuda || lane_is_cuda(&pipeline->lanes[i]);
    }
    pipeline->n_loaders = config->n_loaders;
    if (pipeline->n_loaders == 0 && pipeline->cuda && config->prepare != NULL)
        pipeline->n_loaders = cpu_cores() * LOADERS_OF_4 / 4 + 1;
    pipeline->stats->n_loaders = pipeline->n_loaders;
}

enum sl_status sl_pipeline_run(const struct sl_pipeline_config *config,
                               struct sl_pipeline_stats *stats, struct sl_diag *diag)
{
    struct pipeline pipeline = {.config = config,
                                .telling = PTHREAD_MUTEX_INITIALIZER,
                                .lock = PTHREAD_MUTEX_INITIALIZER,
                                .freed = PTHREAD_COND_INITIALIZER,
                                .has_filled = PTHREAD_COND_INITIALIZER,
                                .has_done = PTHREAD_COND_INITIALIZER,
                                .latency_lock = PTHREAD_MUTEX_INITIALIZER,
                                .diag = diag,
                                .stats = stats,
                                .begin_ns = clock_ns()};

    memset(stats, 0, sizeof *stats);
    if (config->n_devices == 0 || config->n_devices > SL_PIPELINE_DEVICES_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a run on %u devices (expected 1 to %d)",
                        config->n_devices, SL_PIPELINE_DEVICES_MAX);
    begin(&pipeline);

    /* Workers first: tables are what a GPU has no room for. */
    enum sl_status status = lanes_open(pipeline.lanes, config, stats, diag);
    /* One batch being filled, one being drained, and one waiting, beside those being worked on. */
    pipeline.n_slots = config->n_batches;
    if (pipeline.n_slots == 0)
        pipeline.n_slots =
            (pipeline.n_loaders == 0 ? 2 : 1) * stats->n_workers + pipeline.n_loaders + 3;
    stats->n_batches = pipeline.n_slots;
    if (status == SL_OK)
        status = open_slots(&pipeline, diag);
    if (status == SL_OK) {
        monitor_begin(config->monitor, look, &pipeline);
        status = run_threads(&pipeline);
        monitor_end(config->monitor);
    }
    close_all(&pipeline);
    tell_latency(&pipeline, stats);
    stats->seconds_ns = clock_ns() - pipeline.begin_ns;
    return status;
}

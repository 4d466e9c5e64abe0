/* SPDX-License-Identifier: MIT */
/* Batches in flight: a filler thread, for a GPU loaders, workers, and the caller's thread that
 * drains.
 *
 * A batch has a sequence number; number s lives in slot s modulo the slots. Counters say all of the
 * order: drained <= ordered <= loading <= filled <= drained + n_slots, and drained <= taken. Where
 * there are loaders, taken <= ordered; otherwise a worker loads what it takes: taken is loading.
 * Workers finish in any order, so a slot also knows whether its work is done. */
#include "sluice/pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/diag.h"
#include "pipeline/monitor.h"
#include "pipeline/worker.h"

struct slot {
    struct sl_batch *batch;
    struct sl_hits hits[SL_PIPELINE_ENGINES_MAX];
    bool done;
};

struct pipeline {
    const struct sl_pipeline_config *config;
    bool cuda;
    uint32_t n_slots, n_workers, n_loaders;
    struct slot *slots;
    struct worker *workers;

    pthread_mutex_t lock; /* guards all below, and the slots' done */
    pthread_cond_t changed;
    uint64_t filled, loading, ordered, taken, drained;
    uint32_t n_done; /* batches whose work is done and that are not drained */
    bool filling, draining;
    bool ended;            /* no further batch will be filled */
    bool failed;           /* an engine or drain failed: everybody leaves */
    enum sl_status status; /* SL_OK, or the first failure */
    struct sl_diag *diag;
    struct sl_pipeline_stats *stats;
    uint64_t begin_ns;
};

void sl_pipeline_config_init(struct sl_pipeline_config *config)
{
    memset(config, 0, sizeof *config);
    config->device.kind = SL_DEVICE_CPU;
    config->device.usable = true;
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

/* ---- fill ------------------------------------------------------------------------------------ */

/* Waits for a slot whose batch has been drained; NULL: all is over. */
static struct slot *wait_for_free_slot(struct pipeline *pipeline)
{
    struct slot *slot = NULL;

    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && pipeline->filled == pipeline->drained + pipeline->n_slots)
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
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
        }
        pthread_cond_broadcast(&pipeline->changed);
        pthread_mutex_unlock(&pipeline->lock);
    }
    return NULL;
}

/* ---- load ------------------------------------------------------------------------------------ */

static void fail_all(struct pipeline *pipeline, enum sl_status status, const struct sl_diag *diag)
{
    pthread_mutex_lock(&pipeline->lock);
    fail(pipeline, status, diag);
    pipeline->failed = true;
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
}

/* Waits until all batches before have been ordered. False: all is over. */
static bool wait_for_turn(struct pipeline *pipeline, uint64_t sequence)
{
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && pipeline->ordered != sequence)
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    const bool go_on = !pipeline->failed;
    pthread_mutex_unlock(&pipeline->lock);
    return go_on;
}

/* Prepares a filled batch and orders it. False: all is over. */
static bool load(struct pipeline *pipeline, uint64_t sequence)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct sl_batch *batch = slot_of(pipeline, sequence)->batch;
    struct sl_diag diag = {0};
    uint64_t begin = clock_ns(), busy;
    enum sl_status status = SL_OK;

    if (config->prepare != NULL)
        status = config->prepare(config->user, batch, &diag);
    busy = clock_ns() - begin;
    if (status == SL_OK && !wait_for_turn(pipeline, sequence))
        return false;
    begin = clock_ns();
    if (status == SL_OK && config->order != NULL)
        status = config->order(config->user, batch, &diag);
    busy += clock_ns() - begin;
    if (status != SL_OK) {
        fail_all(pipeline, status, &diag);
        return false;
    }
    pthread_mutex_lock(&pipeline->lock);
    pipeline->ordered++;
    pipeline->stats->load_ns += busy;
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
    return true;
}

/* Takes the next of the batches that *ready counts, *taken of which are taken. False: there will be
 * none. */
static bool take_next(struct pipeline *pipeline, const uint64_t *ready, uint64_t *taken,
                      uint64_t *sequence)
{
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && *taken == *ready &&
           !(pipeline->ended && *taken == pipeline->filled))
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    const bool there = !pipeline->failed && *taken < *ready;
    if (there)
        *sequence = (*taken)++;
    pthread_mutex_unlock(&pipeline->lock);
    return there;
}

static void *load_loop(void *argument)
{
    struct pipeline *pipeline = argument;
    uint64_t sequence;

    while (take_next(pipeline, &pipeline->filled, &pipeline->loading, &sequence) &&
           load(pipeline, sequence))
        ;
    return NULL;
}

/* ---- work ------------------------------------------------------------------------------------ */

struct work_argument {
    struct pipeline *pipeline;
    struct worker *worker;
};

/* The next batch that the engines may see. NULL: there will be none. */
static struct slot *take_work(struct pipeline *pipeline)
{
    const bool loads = pipeline->n_loaders == 0;
    uint64_t sequence;

    if (!take_next(pipeline, loads ? &pipeline->filled : &pipeline->ordered, &pipeline->taken,
                   &sequence) ||
        (loads && !load(pipeline, sequence)))
        return NULL;
    return slot_of(pipeline, sequence);
}

/* The engines, and then what is made of their hits. */
static enum sl_status work_on(struct pipeline *pipeline, struct worker *worker, struct slot *slot,
                              uint64_t *digest_ns, struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = pipeline->config;
    enum sl_status status = worker_run(worker, slot->batch, slot->hits, diag);
    const uint64_t begin = clock_ns();

    if (status == SL_OK && config->digest != NULL)
        status = config->digest(config->user, slot->batch, slot->hits, diag);
    *digest_ns = clock_ns() - begin;
    return status;
}

static void *work_loop(void *argument)
{
    const struct work_argument *work = argument;
    struct pipeline *pipeline = work->pipeline;
    struct slot *slot;

    while ((slot = take_work(pipeline)) != NULL) {
        struct sl_diag diag = {0};
        uint64_t digest_ns = 0;
        const enum sl_status status =
            slot->batch->n_items == 0 ? SL_OK
                                      : work_on(pipeline, work->worker, slot, &digest_ns, &diag);

        if (status != SL_OK)
            fail_all(pipeline, status, &diag); /* before anybody takes the batch for done */
        pthread_mutex_lock(&pipeline->lock);
        worker_move_times(work->worker, pipeline->stats);
        pipeline->stats->digest_ns += digest_ns;
        slot->done = true;
        pipeline->n_done++;
        pthread_cond_broadcast(&pipeline->changed);
        pthread_mutex_unlock(&pipeline->lock);
    }
    return NULL;
}

/* ---- drain ----------------------------------------------------------------------------------- */

/* Waits for the next batch in order to be done; NULL: there will be none. */
static struct slot *wait_for_done(struct pipeline *pipeline)
{
    struct slot *slot = slot_of(pipeline, pipeline->drained);

    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && !(pipeline->drained < pipeline->filled && slot->done) &&
           !(pipeline->ended && pipeline->drained == pipeline->filled))
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
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

        if (status != SL_OK)
            fail_all(pipeline, status, &diag);
        pthread_mutex_lock(&pipeline->lock);
        if (!empty)
            count_drained(pipeline, slot, clock_ns() - begin);
        pipeline->drained++;
        pipeline->n_done--;
        pipeline->draining = false;
        pthread_cond_broadcast(&pipeline->changed);
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
    busy[SL_PIPELINE_WORK] = (uint32_t)(working - pipeline->drained) - pipeline->n_done;
    waiting[SL_PIPELINE_WORK] = (uint32_t)(pipeline->ordered - working);
    busy[SL_PIPELINE_DRAIN] = pipeline->draining;
    waiting[SL_PIPELINE_DRAIN] = pipeline->n_done - pipeline->draining;
    for (int s = 0; s < SL_PIPELINE_N_STAGES; s++) {
        snapshot->stage[s].waiting = waiting[s];
        snapshot->stage[s].busy = busy[s];
    }
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
    snapshot->stats.seconds_ns = clock_ns() - pipeline->begin_ns;
}

/* ---- the run --------------------------------------------------------------------------------- */

static enum sl_status open_slots(struct pipeline *pipeline, struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = pipeline->config;

    pipeline->slots = calloc(pipeline->n_slots, sizeof *pipeline->slots);
    if (pipeline->slots == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u batches", pipeline->n_slots);
    for (uint32_t i = 0; i < pipeline->n_slots; i++) {
        const enum sl_status status = sl_batch_create(&pipeline->slots[i].batch, config->batch_len,
                                                      config->batch_items, pipeline->cuda, diag);
        if (status != SL_OK)
            return status;
    }
    return SL_OK;
}

static enum sl_status open_workers(struct pipeline *pipeline, struct sl_diag *diag)
{
    pipeline->workers = calloc(pipeline->n_workers, sizeof *pipeline->workers);
    if (pipeline->workers == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u workers", pipeline->n_workers);
    for (uint32_t i = 0; i < pipeline->n_workers; i++) {
        const enum sl_status status = worker_open(&pipeline->workers[i], pipeline->config, diag);
        if (status != SL_OK)
            return status;
    }
    for (uint32_t e = 0; e < pipeline->config->n_engines; e++)
        pipeline->stats->backend[e] = pipeline->workers[0].engines[e].backend->name;
    return SL_OK;
}

/* Workers before the batches that a failed one may still be working on. */
static void close_all(struct pipeline *pipeline)
{
    for (uint32_t i = 0; pipeline->workers != NULL && i < pipeline->n_workers; i++)
        worker_close(&pipeline->workers[i]);
    for (uint32_t i = 0; pipeline->slots != NULL && i < pipeline->n_slots; i++) {
        for (uint32_t e = 0; e < SL_PIPELINE_ENGINES_MAX; e++)
            worker_free_hits(&pipeline->slots[i].hits[e]);
        sl_batch_free(pipeline->slots[i].batch);
    }
    free(pipeline->slots);
    free(pipeline->workers);
}

/* Starts the filler, loaders and workers, and drains. Threads are joined from the first on. */
static int start(struct pipeline *pipeline, pthread_t *threads, struct work_argument *arguments,
                 uint32_t *started)
{
    int error = pthread_create(&threads[0], NULL, fill_loop, pipeline);

    *started = error == 0;
    for (uint32_t i = 0; i < pipeline->n_loaders && error == 0; i++) {
        error = pthread_create(&threads[*started], NULL, load_loop, pipeline);
        *started += error == 0;
    }
    for (uint32_t i = 0; i < pipeline->n_workers && error == 0; i++) {
        arguments[i] = (struct work_argument){pipeline, &pipeline->workers[i]};
        error = pthread_create(&threads[*started], NULL, work_loop, &arguments[i]);
        *started += error == 0;
    }
    return error;
}

static enum sl_status run_threads(struct pipeline *pipeline)
{
    pthread_t *threads =
        calloc((size_t)pipeline->n_workers + pipeline->n_loaders + 1, sizeof *threads);
    struct work_argument *arguments = calloc(pipeline->n_workers, sizeof *arguments);
    struct sl_diag diag = {0};
    uint32_t started = 0;
    int error = ENOMEM;

    if (threads != NULL && arguments != NULL)
        error = start(pipeline, threads, arguments, &started);
    if (error == 0)
        drain_loop(pipeline);
    else
        fail_all(pipeline,
                 diag_set(&diag, SL_ENOMEM, NULL, 0, "cannot start a thread: %s", strerror(error)),
                 &diag);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(arguments);
    return pipeline->status;
}

enum sl_status sl_pipeline_run(const struct sl_pipeline_config *config,
                               struct sl_pipeline_stats *stats, struct sl_diag *diag)
{
    struct pipeline pipeline = {.config = config,
                                .cuda = config->device.kind == SL_DEVICE_CUDA,
                                .lock = PTHREAD_MUTEX_INITIALIZER,
                                .changed = PTHREAD_COND_INITIALIZER,
                                .diag = diag,
                                .stats = stats,
                                .begin_ns = clock_ns()};

    memset(stats, 0, sizeof *stats);
    pipeline.n_workers = config->n_workers;
    if (pipeline.n_workers == 0)
        pipeline.n_workers = pipeline.cuda ? 2 : cpu_cores();
    pipeline.n_loaders = config->n_loaders;
    if (pipeline.n_loaders == 0 && pipeline.cuda && config->prepare != NULL)
        pipeline.n_loaders = cpu_cores();
    /* One batch being filled, one being drained, and one waiting, beside those being worked on. */
    pipeline.n_slots = pipeline.n_workers + pipeline.n_loaders + 3;
    stats->n_workers = pipeline.n_workers;
    stats->n_loaders = pipeline.n_loaders;

    /* Workers first: tables are what a GPU has no room for. */
    enum sl_status status = open_workers(&pipeline, diag);
    if (status == SL_OK)
        status = open_slots(&pipeline, diag);
    if (status == SL_OK) {
        monitor_begin(config->monitor, look, &pipeline);
        status = run_threads(&pipeline);
        monitor_end(config->monitor);
    }
    close_all(&pipeline);
    stats->seconds_ns = clock_ns() - pipeline.begin_ns;
    return status;
}

/* SPDX-License-Identifier: MIT */
/* Batches in flight: a filler thread, workers, and the caller's thread that drains.
 *
 * A batch has a sequence number; number s lives in slot s modulo the slots. Three counters say all
 * of the order: drained <= taken <= filled <= drained + n_slots. Workers finish in any order, so a
 * slot also knows whether its work is done. */
#include "sluice/pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/diag.h"
#include "pipeline/worker.h"

struct slot {
    struct sl_batch *batch;
    struct sl_hits hits[SL_PIPELINE_ENGINES_MAX];
    bool done;
};

struct pipeline {
    const struct sl_pipeline_config *config;
    bool cuda;
    uint32_t n_slots, n_workers;
    struct slot *slots;
    struct worker *workers;

    pthread_mutex_t lock; /* guards all below, and the slots' done */
    pthread_cond_t changed;
    uint64_t filled, taken, drained;
    bool ended;            /* no further batch will be filled */
    bool failed;           /* an engine or drain failed: everybody leaves */
    enum sl_status status; /* SL_OK, or the first failure */
    struct sl_diag *diag;
    struct sl_pipeline_stats *stats;
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
        if (slot->batch->n_items > 0) {
            slot->done = false;
            pipeline->filled++;
            pipeline->stats->batches++;
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

/* ---- work ------------------------------------------------------------------------------------ */

/* Waits for a filled batch that nobody has taken; NULL: there will be none. */
static struct slot *wait_for_work(struct pipeline *pipeline)
{
    struct slot *slot = NULL;

    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && !pipeline->ended && pipeline->taken == pipeline->filled)
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    if (!pipeline->failed && pipeline->taken < pipeline->filled)
        slot = slot_of(pipeline, pipeline->taken++);
    pthread_mutex_unlock(&pipeline->lock);
    return slot;
}

struct work_argument {
    struct pipeline *pipeline;
    struct worker *worker;
};

static void *work_loop(void *argument)
{
    const struct work_argument *work = argument;
    struct pipeline *pipeline = work->pipeline;
    struct slot *slot;

    while ((slot = wait_for_work(pipeline)) != NULL) {
        struct sl_diag diag = {0};
        const enum sl_status status = worker_run(work->worker, slot->batch, slot->hits, &diag);

        pthread_mutex_lock(&pipeline->lock);
        slot->done = true;
        if (status != SL_OK) {
            fail(pipeline, status, &diag);
            pipeline->failed = true;
        }
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
    pthread_mutex_unlock(&pipeline->lock);
    return slot;
}

static void drain_loop(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot;

    while ((slot = wait_for_done(pipeline)) != NULL) {
        struct sl_diag diag = {0};
        const uint64_t begin = clock_ns();

        for (uint32_t e = 0; e < config->n_engines; e++)
            pipeline->stats->engine_hits[e] += slot->hits[e].n;
        const enum sl_status status = config->drain(config->user, slot->batch, slot->hits, &diag);
        pipeline->stats->drain_ns += clock_ns() - begin;

        pthread_mutex_lock(&pipeline->lock);
        pipeline->drained++;
        if (status != SL_OK) {
            fail(pipeline, status, &diag);
            pipeline->failed = true;
        }
        pthread_cond_broadcast(&pipeline->changed);
        pthread_mutex_unlock(&pipeline->lock);
    }
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

static enum sl_status run_threads(struct pipeline *pipeline, struct sl_diag *diag)
{
    const uint32_t n = pipeline->n_workers;
    pthread_t *threads = calloc(n + 1, sizeof *threads);
    struct work_argument *arguments = calloc(n, sizeof *arguments);
    uint32_t started = 0;
    int error = ENOMEM;

    if (threads != NULL && arguments != NULL)
        error = pthread_create(&threads[started], NULL, fill_loop, pipeline);
    while (error == 0 && started < n) {
        arguments[started] = (struct work_argument){pipeline, &pipeline->workers[started]};
        error = pthread_create(&threads[started + 1], NULL, work_loop, &arguments[started]);
        started++;
    }
    if (error == 0) {
        drain_loop(pipeline);
        started++;
    } else {
        pthread_mutex_lock(&pipeline->lock);
        pipeline->failed = true;
        pipeline->status =
            diag_set(diag, SL_ENOMEM, NULL, 0, "cannot start a thread: %s", strerror(error));
        pthread_cond_broadcast(&pipeline->changed);
        pthread_mutex_unlock(&pipeline->lock);
    }
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
                                .stats = stats};
    const uint64_t begin = clock_ns();

    memset(stats, 0, sizeof *stats);
    pipeline.n_workers = config->n_workers;
    if (pipeline.n_workers == 0)
        pipeline.n_workers = pipeline.cuda ? 2 : cpu_cores();
    /* One batch being filled, one being drained, and one waiting, beside those being worked on. */
    pipeline.n_slots = pipeline.n_workers + 3;
    stats->n_workers = pipeline.n_workers;

    /* Workers first: tables are what a GPU has no room for. */
    enum sl_status status = open_workers(&pipeline, diag);
    if (status == SL_OK)
        status = open_slots(&pipeline, diag);
    if (status == SL_OK)
        status = run_threads(&pipeline, diag);
    for (uint32_t i = 0; pipeline.workers != NULL && i < pipeline.n_workers; i++)
        worker_add_times(&pipeline.workers[i], stats);
    close_all(&pipeline);
    stats->seconds_ns = clock_ns() - begin;
    return status;
}

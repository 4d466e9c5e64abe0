/* SPDX-License-Identifier: MIT */
/* Work: the engines, on a worker of a device. */

#include <sys/prctl.h>

#include "base/clock.h"
#include "device/wait.h"
#include "pipeline_state.h"

enum { TIMER_SLACK_NS = 1000 };

/* Claims the first batch with redo set; there is one. */
static struct slot *claim_redo(struct pipeline *pipeline)
{
    uint64_t sequence = pipeline->drained;

    while (!pipeline_slot(pipeline, sequence)->redo)
        sequence++;
    pipeline_slot(pipeline, sequence)->redo = false;
    pipeline->n_redo--;
    return pipeline_slot(pipeline, sequence);
}

/* Whether the threads of this lane end. They stay until all work is done: another device may return
 * a batch. */
static bool is_over(const struct pipeline *pipeline, const struct lane *lane)
{
    return lane->device->dropped || pipeline_is_done(pipeline);
}

/* Counts the threads of GPUs that wait for a batch and can have one. */
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

/* Whether there is a batch for this lane, and a worker. The CPU takes a batch only where no GPU is
 * free. A batch is slower there, and the cores may have to load others for the GPUs. */
static bool has_work(const struct pipeline *pipeline, const struct lane *lane)
{
    const uint64_t n = pipeline->collect.n_left - pipeline->taken;

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

/* Loads the next filled batch. With the lock held, which is free meanwhile. */
static void load_next(struct pipeline *pipeline)
{
    const uint64_t sequence = pipeline->loading++;

    pthread_mutex_unlock(&pipeline->lock);
    pipeline_load(pipeline, sequence);
    pthread_mutex_lock(&pipeline->lock);
}

/* A source that never waits has the next batch at once; one that does may have none for long. */
static uint64_t awake_until(const struct pipeline *pipeline, const struct lane *lane)
{
    const bool soon = lane_is_cuda(lane) || pipeline->config->fill_anywhere;

    return soon ? clock_ns() + PIPELINE_AWAKE_NS : 0;
}

/* Fills where others wait to load, or else loads. With the lock held, which is free meanwhile.
 * False: there is nothing to fill or load. */
static bool load_some(struct pipeline *pipeline, const struct lane *lane)
{
    const bool filled = pipeline->loading < pipeline->filled;

    if ((!filled || lane->n_waiting != 0) && pipeline_may_fill(pipeline)) {
        pipeline_fill(pipeline);
        return true;
    }
    if (filled)
        load_next(pipeline);
    return filled;
}

/* Arranges batches, or goes through shards, that no other thread has. With the lock held, which is
 * free meanwhile. False: there are none. */
static bool help(struct pipeline *pipeline)
{
    if (pipeline->failed)
        return false;
    if (pipeline->n_unarranged != 0 || pipeline_has_shard(&pipeline->collect))
        pipeline_collect(pipeline);
    else if (pipeline_has_shard(&pipeline->settle))
        pipeline_settle_some(pipeline);
    else
        return false;
    return true;
}

/* Waits for a batch for the engines; loads, or helps others, while there is none. With the lock
 * held. */
static void wait_for_work(struct pipeline *pipeline, struct lane *lane)
{
    uint64_t until = awake_until(pipeline, lane);

    while (!is_over(pipeline, lane) && !has_work(pipeline, lane))
        if (load_some(pipeline, lane) || help(pipeline)) {
            until = awake_until(pipeline, lane);
        } else {
            lane->n_waiting++;
            pipeline_wait(pipeline, &lane->ready, &lane->watch, until);
            lane->n_waiting--;
        }
}

/* Claims the next batch for the engines, and a worker for it. NULL: there will be none. */
static struct slot *claim_work(struct lane_thread *self)
{
    struct pipeline *pipeline = self->pipeline;
    struct lane *lane = self->lane;
    struct slot *slot = NULL;
    bool fresh = false;

    pthread_mutex_lock(&pipeline->lock);
    wait_for_work(pipeline, lane);
    if (!is_over(pipeline, lane)) {
        self->worker = lane_take(lane);
        fresh = pipeline->n_redo == 0;
        slot = fresh ? pipeline_slot(pipeline, pipeline->taken++) : claim_redo(pipeline);
        if (has_work(pipeline, lane)) /* its signal may have found this thread */
            pipeline_signal(&lane->ready, &lane->watch);
    }
    pthread_mutex_unlock(&pipeline->lock);
    if (fresh)
        apply(pipeline, slot);
    return slot;
}

/* Returns the worker to the lane, where another thread may take it. */
static void return_worker(struct lane_thread *self)
{
    struct pipeline *pipeline = self->pipeline;
    struct lane *lane = self->lane;

    pthread_mutex_lock(&pipeline->lock);
    worker_move_times(self->worker, pipeline->stats);
    lane_return(lane, self->worker);
    self->worker = NULL;
    if (has_work(pipeline, lane))
        pipeline_signal(&lane->ready, &lane->watch);
    pthread_mutex_unlock(&pipeline->lock);
}

/* Grows a worker for the next burst, unless the lane has no more work. After a failure it may lack
 * a context: it is returned when the threads end. */
static void grow_worker(struct lane_thread *self)
{
    struct pipeline *pipeline = self->pipeline;

    pthread_mutex_lock(&pipeline->lock);
    const bool over = is_over(pipeline, self->lane);
    pthread_mutex_unlock(&pipeline->lock);
    if (!over)
        worker_get_ready(self->worker);
    return_worker(self);
}

/* Runs the engines for one batch, and digests it. The worker is returned before, unless it must
 * first grow. False: the worker's device failed. */
static bool work_on(struct lane_thread *self, struct slot *slot)
{
    struct pipeline *pipeline = self->pipeline;
    struct sl_diag diag = {0};
    enum sl_status status = SL_OK;

    if (slot->batch->n_items != 0) {
        status = worker_run(self->worker, slot->batch, slot->hits, &diag);
        if (status == SL_EDEVICE && lane_is_cuda(self->lane)) {
            pipeline_return_batch(self, slot, &diag);
            return false;
        }
    }
    slot->device = self->lane->device;
    if (status != SL_OK) {
        pipeline_fail(pipeline, status, &diag);
        return_worker(self);
        return true;
    }
    const bool ready = worker_is_ready(self->worker);

    if (ready)
        return_worker(self);
    pipeline_digest(pipeline, slot);
    if (!ready) /* no thread waits for the batch any more */
        grow_worker(self);
    return true;
}

static void *work_loop(void *argument)
{
    struct lane_thread *self = argument;
    struct slot *slot;

    if (lane_is_cuda(self->lane)) /* waits take microseconds, and this slack is added to each */
        (void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    while ((slot = claim_work(self)) != NULL && work_on(self, slot))
        ;
    pipeline_thread_ends(self->pipeline, self->lane);
    return NULL;
}

/* Returns an errno. */
int pipeline_start_lane(struct pipeline *pipeline, struct lane *lane)
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

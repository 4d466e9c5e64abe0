/* SPDX-License-Identifier: MIT */
/* How threads wait for one another, and how all of them stop. */
#include <sched.h>

#include "base/clock.h"
#include "pipeline_state.h"

/* Whether there was a watcher, which takes the signal. The next one is for another thread. */
static bool signal_watcher(struct watch *watch)
{
    const bool was_on = watch->on;

    atomic_fetch_add(&watch->n_signals, 1);
    watch->on = false;
    return was_on;
}

void pipeline_signal_all(struct pipeline *pipeline)
{
    (void)signal_watcher(&pipeline->done_watch);
    pthread_cond_broadcast(&pipeline->freed);
    pthread_cond_broadcast(&pipeline->wanted);
    pthread_cond_broadcast(&pipeline->has_done);
    for (uint32_t i = 0; i < pipeline->n_lanes; i++) {
        (void)signal_watcher(&pipeline->lanes[i].watch);
        pthread_cond_broadcast(&pipeline->lanes[i].ready);
    }
}

void pipeline_signal(pthread_cond_t *waiting, struct watch *watch)
{
    if (!signal_watcher(watch))
        pthread_cond_signal(waiting);
}

void pipeline_signal_workers(struct pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->n_lanes; i++)
        pipeline_signal(&pipeline->lanes[i].ready, &pipeline->lanes[i].watch);
}

void pipeline_signal_room(struct pipeline *pipeline)
{
    if (pipeline->n_free < PIPELINE_SPARE)
        pthread_cond_broadcast(&pipeline->wanted);
    if (!pipeline->config->fill_anywhere)
        pthread_cond_signal(&pipeline->freed);
}

void pipeline_wait(struct pipeline *pipeline, pthread_cond_t *waiting, struct watch *watch,
                   uint64_t awake_until)
{
    if (watch->on || clock_ns() >= awake_until) {
        pthread_cond_wait(waiting, &pipeline->lock);
        return;
    }
    const unsigned seen = atomic_load(&watch->n_signals);

    watch->on = true;
    pthread_mutex_unlock(&pipeline->lock);
    while (atomic_load(&watch->n_signals) == seen && clock_ns() < awake_until)
        sched_yield();
    pthread_mutex_lock(&pipeline->lock);
    if (atomic_load(&watch->n_signals) == seen)
        watch->on = false;
}

void pipeline_keep_failure(struct pipeline *pipeline, enum sl_status status,
                           const struct sl_diag *diag)
{
    if (pipeline->status != SL_OK)
        return;
    pipeline->status = status;
    if (pipeline->diag != NULL)
        *pipeline->diag = *diag;
}

void pipeline_fail_locked(struct pipeline *pipeline, enum sl_status status,
                          const struct sl_diag *diag)
{
    pipeline_keep_failure(pipeline, status, diag);
    pipeline->failed = true;
    pipeline_signal_all(pipeline);
}

void pipeline_fail(struct pipeline *pipeline, enum sl_status status, const struct sl_diag *diag)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline_fail_locked(pipeline, status, diag);
    pthread_mutex_unlock(&pipeline->lock);
}

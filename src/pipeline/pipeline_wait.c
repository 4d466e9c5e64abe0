/* SPDX-License-Identifier: MIT */
/* How threads wait for one another, and how all of them stop. */
#include <sched.h>

#include "base/clock.h"
#include "pipeline_state.h"

void pipeline_signal_all(struct pipeline *pipeline)
{
    atomic_fetch_add(&pipeline->done_watch.n_signals, 1);
    pthread_cond_broadcast(&pipeline->freed);
    pthread_cond_broadcast(&pipeline->wanted);
    pthread_cond_broadcast(&pipeline->has_done);
    for (uint32_t i = 0; i < pipeline->n_lanes; i++) {
        atomic_fetch_add(&pipeline->lanes[i].watch.n_signals, 1);
        pthread_cond_broadcast(&pipeline->lanes[i].ready);
    }
}

void pipeline_signal(pthread_cond_t *waiting, struct watch *watch)
{
    atomic_fetch_add(&watch->n_signals, 1);
    if (!watch->on)
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

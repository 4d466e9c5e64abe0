/* SPDX-License-Identifier: MIT */
/* How threads wait for one another, and how all of them stop. */
#include <sched.h>

#include "base/clock.h"
#include "pipeline_state.h"

/* Signals so many of the threads that stay awake. */
static void signal_awake(struct watch *watch, uint32_t n)
{
    watch->n_unsignalled -= n;
    atomic_fetch_add(&watch->n_signals, n);
}

static bool take_signal(struct watch *watch)
{
    unsigned n = atomic_load(&watch->n_signals);

    while (n != 0)
        if (atomic_compare_exchange_weak(&watch->n_signals, &n, n - 1))
            return true;
    return false;
}

void pipeline_signal_all(struct pipeline *pipeline)
{
    signal_awake(&pipeline->done_watch, pipeline->done_watch.n_unsignalled);
    pthread_cond_broadcast(&pipeline->freed);
    pthread_cond_broadcast(&pipeline->wanted);
    pthread_cond_broadcast(&pipeline->has_done);
    for (uint32_t i = 0; i < pipeline->n_lanes; i++) {
        signal_awake(&pipeline->lanes[i].watch, pipeline->lanes[i].watch.n_unsignalled);
        pthread_cond_broadcast(&pipeline->lanes[i].ready);
    }
}

void pipeline_signal(pthread_cond_t *waiting, struct watch *watch)
{
    if (watch->n_unsignalled != 0)
        signal_awake(watch, 1);
    else
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
    bool signalled = false;

    if (clock_ns() >= awake_until) {
        pthread_cond_wait(waiting, &pipeline->lock);
        return;
    }
    watch->n_unsignalled++;
    pthread_mutex_unlock(&pipeline->lock);
    while (!(signalled = take_signal(watch)) && clock_ns() < awake_until)
        sched_yield();
    pthread_mutex_lock(&pipeline->lock);
    if (!signalled && !take_signal(watch))
        watch->n_unsignalled--;
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

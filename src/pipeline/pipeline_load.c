/* SPDX-License-Identifier: MIT */
/* Loading: a filled batch is prepared, then ordered, then collected. */
#include "base/clock.h"
#include "pipeline_state.h"

/* Collects the ordered batches in all shards that no other thread has, and signals those who wait
 * for them. With the lock held, which is free meanwhile. */
static void collect(struct pipeline *pipeline)
{
    if (pipeline->collect.n_shards != 0 && !pipeline->failed)
        pipeline->stats->order_ns += pipeline_visit_shards(pipeline, &pipeline->collect);
    while (pipeline_leave_step(pipeline, &pipeline->collect) != NULL)
        pipeline_signal_workers(pipeline);
}

bool pipeline_load(struct pipeline *pipeline, uint64_t sequence)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot = pipeline_slot(pipeline, sequence);
    struct sl_diag diag = {0};
    const uint64_t begin = clock_ns();
    const enum sl_status status =
        config->prepare != NULL ? config->prepare(config->user, slot->batch, &diag) : SL_OK;
    const uint64_t busy = clock_ns() - begin;

    pthread_mutex_lock(&pipeline->lock);
    pipeline->stats->load_ns += busy;
    slot->prepared = true;
    if (status != SL_OK) {
        pipeline_fail_locked(pipeline, status, &diag);
    } else {
        pipeline_order(pipeline);
        collect(pipeline);
    }
    const bool go_on = !pipeline->failed;
    pthread_mutex_unlock(&pipeline->lock);
    return go_on;
}

/* Claims the next filled batch that no thread has loaded. False: there will be none. */
static bool claim_load(struct pipeline *pipeline, uint64_t *sequence)
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

void *pipeline_load_loop(void *argument)
{
    struct pipeline *pipeline = argument;
    uint64_t sequence;

    while (claim_load(pipeline, &sequence) && pipeline_load(pipeline, sequence))
        ;
    return NULL;
}

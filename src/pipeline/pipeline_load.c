/* SPDX-License-Identifier: MIT */
/* Loading: a filled batch is prepared, ordered, arranged, dealt and collected. Loaders also digest.
 */
#include "base/clock.h"
#include "pipeline_state.h"

/* Deals what was arranged, then collects in all shards that no other thread has, and signals those
 * who wait for a batch. With the lock held, which is free meanwhile. */
static void deal_and_collect(struct pipeline *pipeline)
{
    if (pipeline->deal.n_shards != 0 && !pipeline->failed)
        pipeline->stats->order_ns += pipeline_visit_shards(pipeline, &pipeline->deal);
    while (pipeline_leave_step(pipeline, &pipeline->deal) != NULL)
        pipeline_enter_step(pipeline, &pipeline->collect);
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
        pipeline_arrange(pipeline);
        deal_and_collect(pipeline);
    }
    const bool go_on = !pipeline->failed;
    pthread_mutex_unlock(&pipeline->lock);
    return go_on;
}

/* Waits for a batch to load or to digest. Fills where nothing is, or others wait to load. With the
 * lock held. */
static void wait_to_load(struct pipeline *pipeline)
{
    while (!pipeline_is_done(pipeline) && pipeline->n_offered == 0) {
        const bool filled = pipeline->loading < pipeline->filled;

        if ((!filled || pipeline->n_idle_loaders != 0) && pipeline_may_fill(pipeline)) {
            pipeline_fill(pipeline);
        } else if (filled) {
            return;
        } else {
            pipeline->n_idle_loaders++;
            pthread_cond_wait(&pipeline->has_filled, &pipeline->lock);
            pipeline->n_idle_loaders--;
        }
    }
}

/* Claims a batch to digest, or else the next filled one that no thread has loaded, which then is
 * *sequence. False: there will be none. */
static bool claim_load(struct pipeline *pipeline, struct slot **digest, uint64_t *sequence)
{
    *digest = NULL;
    pthread_mutex_lock(&pipeline->lock);
    wait_to_load(pipeline);
    const bool there = !pipeline_is_done(pipeline);
    if (there && pipeline->n_offered != 0)
        *digest = pipeline_claim_digest(pipeline);
    else if (there)
        *sequence = pipeline->loading++;
    /* The signal may have been for a batch that is filled, or may be. */
    if (*digest != NULL && (pipeline->loading < pipeline->filled || pipeline_may_fill(pipeline)))
        pthread_cond_signal(&pipeline->has_filled);
    pthread_mutex_unlock(&pipeline->lock);
    return there;
}

void *pipeline_load_loop(void *argument)
{
    struct pipeline *pipeline = argument;
    struct slot *slot;
    uint64_t sequence = 0;

    while (claim_load(pipeline, &slot, &sequence))
        if (slot != NULL)
            pipeline_digest(pipeline, slot);
        else if (!pipeline_load(pipeline, sequence))
            break;
    return NULL;
}

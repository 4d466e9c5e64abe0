/* SPDX-License-Identifier: MIT */
/* Settling, deciding and reporting: a digested batch is settled in the order of filling in each
 * shard, and decided in that order. Then the next free worker reports it, and it waits for drain.
 */
#include "base/clock.h"
#include "pipeline_state.h"

/* Runs the caller's report. With the lock held, which is free meanwhile. */
static enum sl_status report(struct pipeline *pipeline, const struct slot *slot,
                             struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = pipeline->config;

    if (config->report == NULL || slot->batch->n_items == 0)
        return SL_OK;
    pthread_mutex_unlock(&pipeline->lock);
    const uint64_t begin = clock_ns();
    const enum sl_status status = config->report(config->user, slot->batch, slot->hits, diag);
    const uint64_t busy = clock_ns() - begin;

    pthread_mutex_lock(&pipeline->lock);
    pipeline->stats->digest_ns += busy;
    return status;
}

/* Reports a batch and hands it to drain. */
static void finish(struct pipeline *pipeline, struct slot *slot)
{
    struct sl_diag diag = {0};
    const enum sl_status status = report(pipeline, slot, &diag);

    if (status != SL_OK)
        pipeline_fail_locked(pipeline, status, &diag); /* before the batch counts as done */
    slot->done = true;
    pipeline->n_done++;
    pipeline_signal_room(pipeline);
    if (slot == pipeline_slot(pipeline, pipeline->drained))
        pipeline_signal(&pipeline->has_done, &pipeline->done_watch);
    if (pipeline_is_done(pipeline))
        pipeline_signal_all(pipeline);
}

/* Each batch behind the last one that was digested in order may be settled. */
static void enter(struct pipeline *pipeline)
{
    struct slot *slot;

    while ((slot = pipeline_slot(pipeline, atomic_load(&pipeline->settle.n_ready)))->digested) {
        slot->digested = false;
        pipeline->n_digested--;
        pipeline_enter_step(pipeline, &pipeline->settle);
    }
}

/* A step without shards is passed through. */
void pipeline_settle_some(struct pipeline *pipeline)
{
    struct shard_step *settle = &pipeline->settle, *decide = &pipeline->decide;

    pipeline_call_for_help(pipeline, settle);
    if (settle->n_shards != 0)
        pipeline->stats->digest_ns += pipeline_visit_shards(pipeline, settle);
    while (pipeline_leave_step(pipeline, settle) != NULL)
        pipeline_enter_step(pipeline, decide);
    if (decide->n_shards != 0)
        pipeline->stats->digest_ns += pipeline_visit_shards(pipeline, decide);
    while (pipeline_leave_step(pipeline, decide) != NULL)
        ;
    while (!pipeline->failed && pipeline->reporting < decide->n_left)
        finish(pipeline, pipeline_slot(pipeline, pipeline->reporting++));
}

/* Without these steps nothing waits for the batches before. */
void pipeline_settle(struct pipeline *pipeline, struct slot *slot)
{
    if (pipeline->settle.n_shards == 0 && pipeline->decide.n_shards == 0) {
        finish(pipeline, slot);
        return;
    }
    slot->digested = true;
    pipeline->n_digested++;
    pipeline_signal_room(pipeline);
    enter(pipeline);
    pipeline_settle_some(pipeline);
}

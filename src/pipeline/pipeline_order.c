/* SPDX-License-Identifier: MIT */
/* Batches that are prepared in any order are ordered in the order of filling. Then threads arrange
 * them in any order. */
#include "base/clock.h"
#include "pipeline_state.h"

/* Orders the first batch that is not ordered; it is prepared. The caller holds the lock, which is
 * free while config->order runs. */
static void order_next(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot = pipeline_slot(pipeline, pipeline->ordered);
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
        pipeline_fail_locked(pipeline, status, &diag);
        return;
    }
    pipeline->ordered++;
    slot->ordered = true;
    if (pipeline->n_unarranged++ != 0) /* this thread has the first when it is back from ordering */
        pipeline_signal_workers(pipeline);
}

void pipeline_order(struct pipeline *pipeline)
{
    if (pipeline->ordering)
        return;
    pipeline->ordering = true;
    while (!pipeline->failed && pipeline_slot(pipeline, pipeline->ordered)->prepared)
        order_next(pipeline);
    pipeline->ordering = false;
}

/* Claims the first batch that is to be arranged; there is one. */
static struct slot *claim_arrange(struct pipeline *pipeline)
{
    uint64_t sequence = atomic_load(&pipeline->deal.n_ready);

    while (!pipeline_slot(pipeline, sequence)->ordered)
        sequence++;
    pipeline_slot(pipeline, sequence)->ordered = false;
    pipeline->n_unarranged--;
    return pipeline_slot(pipeline, sequence);
}

/* With the lock held, which is free meanwhile. */
static void arrange_next(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot = claim_arrange(pipeline);
    struct sl_diag diag = {0};

    if (config->arrange != NULL) {
        pthread_mutex_unlock(&pipeline->lock);
        const uint64_t begin = clock_ns();
        const enum sl_status status = config->arrange(config->user, slot->batch, &diag);
        const uint64_t busy = clock_ns() - begin;

        pthread_mutex_lock(&pipeline->lock);
        pipeline->stats->load_ns += busy;
        if (status != SL_OK) {
            pipeline_fail_locked(pipeline, status, &diag);
            return;
        }
    }
    slot->arranged = true;
}

/* Each batch behind the last one that was arranged in order may be dealt. */
void pipeline_arrange(struct pipeline *pipeline)
{
    struct slot *slot;

    while (!pipeline->failed && pipeline->n_unarranged != 0)
        arrange_next(pipeline);
    while ((slot = pipeline_slot(pipeline, atomic_load(&pipeline->deal.n_ready)))->arranged) {
        slot->arranged = false;
        pipeline_enter_step(pipeline, &pipeline->deal);
    }
}

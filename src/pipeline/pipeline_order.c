/* SPDX-License-Identifier: MIT */
/* Batches that are prepared in any order are ordered in the order of filling. */
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
    pipeline_enter_step(pipeline, &pipeline->collect);
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

/* SPDX-License-Identifier: MIT */
/* Loading: a filled batch is prepared, ordered, arranged, dealt and collected. */
#include "base/clock.h"
#include "pipeline_state.h"

void pipeline_collect(struct pipeline *pipeline)
{
    pipeline_arrange(pipeline);
    if (pipeline->deal.n_shards != 0 && !pipeline->failed)
        pipeline->stats->order_ns += pipeline_visit_shards(pipeline, &pipeline->deal);
    while (pipeline_leave_step(pipeline, &pipeline->deal) != NULL)
        pipeline_enter_step(pipeline, &pipeline->collect);
    pipeline_call_for_help(pipeline, &pipeline->collect);
    if (pipeline->collect.n_shards != 0 && !pipeline->failed)
        pipeline->stats->order_ns += pipeline_visit_shards(pipeline, &pipeline->collect);
    while (pipeline_leave_step(pipeline, &pipeline->collect) != NULL)
        pipeline_signal_workers(pipeline);
}

void pipeline_load(struct pipeline *pipeline, uint64_t sequence)
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
        pipeline_collect(pipeline);
    }
    pthread_mutex_unlock(&pipeline->lock);
}

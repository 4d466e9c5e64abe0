/* SPDX-License-Identifier: MIT */
/* Filling: one thread at a time gives the next batch its number. */
#include "base/clock.h"
#include "pipeline_state.h"

bool pipeline_may_fill(const struct pipeline *pipeline)
{
    return pipeline->config->fill_anywhere && pipeline->n_free != 0 &&
           pipeline_has_room(pipeline) && !pipeline->filling && !pipeline->ended &&
           !pipeline->failed;
}

static void end_filling(struct pipeline *pipeline, enum sl_status status,
                        const struct sl_diag *diag)
{
    pipeline->ended = true;
    if (status != SL_END)
        pipeline_keep_failure(pipeline, status, diag);
    pipeline_signal_all(pipeline);
}

void pipeline_fill(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;
    struct slot *slot = pipeline_take_slot(pipeline);
    struct sl_diag diag = {0};

    pipeline->filling = true;
    pthread_mutex_unlock(&pipeline->lock);
    const uint64_t begin = clock_ns();
    sl_batch_reset(slot->batch);
    const enum sl_status status = config->fill(config->user, slot->batch, &diag);
    const uint64_t busy = clock_ns() - begin;

    pthread_mutex_lock(&pipeline->lock);
    pipeline->stats->fill_ns += busy;
    pipeline->filling = false;
    /* Preparing may fill a batch that is empty now, but for one that could not be filled. */
    const bool failed = status != SL_OK && status != SL_END;
    if (slot->batch->n_items > 0 || (config->prepare != NULL && !failed))
        pipeline_fill_slot(pipeline, slot);
    else
        pipeline_free_slot(pipeline, slot);
    if (status == SL_OK)
        pipeline_signal_workers(pipeline);
    else
        end_filling(pipeline, status, &diag);
}

void *pipeline_fill_loop(void *argument)
{
    struct pipeline *pipeline = argument;

    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->ended && !pipeline->failed)
        if (pipeline->n_free != 0 && pipeline_has_room(pipeline))
            pipeline_fill(pipeline);
        else
            pthread_cond_wait(&pipeline->freed, &pipeline->lock);
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

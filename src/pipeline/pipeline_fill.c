/* SPDX-License-Identifier: MIT */
/* Filling: one thread gives each batch its number. */
#include "base/clock.h"
#include "pipeline_state.h"

/* Whether there is a slot, and its batch will soon be loaded. With the lock held. */
static bool may_fill(const struct pipeline *pipeline)
{
    return pipeline->n_free != 0 && pipeline->filled - pipeline->loading < pipeline->n_ahead;
}

/* Waits for a free slot. NULL: the run is over. */
static struct slot *wait_for_free_slot(struct pipeline *pipeline)
{
    struct slot *slot = NULL;

    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->failed && !may_fill(pipeline))
        pthread_cond_wait(&pipeline->freed, &pipeline->lock);
    if (!pipeline->failed)
        slot = pipeline_take_slot(pipeline);
    pipeline->filling = slot != NULL;
    pthread_mutex_unlock(&pipeline->lock);
    return slot;
}

void *pipeline_fill_loop(void *argument)
{
    struct pipeline *pipeline = argument;
    const struct sl_pipeline_config *config = pipeline->config;
    enum sl_status status = SL_OK;
    struct slot *slot;

    while (status == SL_OK && (slot = wait_for_free_slot(pipeline)) != NULL) {
        struct sl_diag diag = {0};
        const uint64_t begin = clock_ns();

        sl_batch_reset(slot->batch);
        status = config->fill(config->user, slot->batch, &diag);

        pthread_mutex_lock(&pipeline->lock);
        pipeline->stats->fill_ns += clock_ns() - begin;
        pipeline->filling = false;
        /* Preparing may fill a batch that is empty now, but for one that could not be filled. */
        const bool failed = status != SL_OK && status != SL_END;
        if (slot->batch->n_items > 0 || (config->prepare != NULL && !failed))
            pipeline_fill_slot(pipeline, slot);
        else
            pipeline_free_slot(pipeline, slot);
        if (status != SL_OK) {
            pipeline->ended = true;
            if (status != SL_END)
                pipeline_keep_failure(pipeline, status, &diag);
            pipeline_signal_all(pipeline);
        } else if (pipeline->n_loaders != 0) {
            pthread_cond_signal(&pipeline->has_filled);
        } else {
            pipeline_signal_workers(pipeline);
        }
        pthread_mutex_unlock(&pipeline->lock);
    }
    return NULL;
}

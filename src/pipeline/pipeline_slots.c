/* SPDX-License-Identifier: MIT */
/* The slots that hold the batches of a run. They are opened in their order while the run is under
 * way, once few are free: pinning memory takes longer than many a run, and GPUs wait meanwhile. The
 * slot drained last is filled next, so that a run uses few of them, and caches hold these. */

#include <stdlib.h>

#include "base/diag.h"
#include "device/device.h"
#include "pipeline_state.h"

static enum sl_status open_slot(const struct pipeline *pipeline, struct slot *slot,
                                struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = pipeline->config;
    enum sl_status status = worker_batch_create(config, pipeline->cuda, config->batch_len,
                                                config->batch_items, &slot->batch, diag);

    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++)
        status = worker_take_hits(config, e, &slot->hits[e], diag);
    return status;
}

static bool all_are_open(const struct pipeline *pipeline)
{
    return pipeline->ended || pipeline->failed || pipeline->lacks_memory ||
           pipeline->n_opening >= pipeline->stats->n_batches;
}

/* Begins to open the next slot once it is wanted. NULL: no further slot is needed, or one could not
 * be opened. With the lock held, which is free meanwhile. */
static struct slot *next_to_open(struct pipeline *pipeline)
{
    while (!all_are_open(pipeline) &&
           (pipeline->n_free >= PIPELINE_SPARE || !pipeline_has_room(pipeline)))
        pthread_cond_wait(&pipeline->wanted, &pipeline->lock);
    return all_are_open(pipeline) ? NULL : &pipeline->slots[pipeline->n_opening++];
}

/* The run goes on with the slots for which there is memory, unless there is none for the first.
 * With the lock held. */
static void do_without(struct pipeline *pipeline, const struct slot *slot, enum sl_status status,
                       const struct sl_diag *diag)
{
    pipeline->lacks_memory = true;
    pthread_cond_broadcast(&pipeline->wanted);
    if (slot == pipeline->slots)
        pipeline_fail_locked(pipeline, status, diag);
}

static void *open_slots(void *argument)
{
    struct pipeline *pipeline = (struct pipeline *)argument;
    struct slot *slot;

    pthread_mutex_lock(&pipeline->lock);
    for (uint32_t d = 0; d < pipeline->config->n_devices; d++)
        if (lane_is_cuda(&pipeline->lanes[d]) && !pipeline->lanes[d].device->dropped)
            device_use(pipeline->lanes[d].device->device.index);
    while ((slot = next_to_open(pipeline)) != NULL) {
        struct sl_diag diag = {0};

        pthread_mutex_unlock(&pipeline->lock);
        const enum sl_status status = open_slot(pipeline, slot, &diag);
        pthread_mutex_lock(&pipeline->lock);
        if (status == SL_OK)
            pipeline_free_slot(pipeline, slot);
        else
            do_without(pipeline, slot, status, &diag);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

enum sl_status pipeline_make_slots(struct pipeline *pipeline, struct sl_diag *diag)
{
    const uint32_t n = pipeline->stats->n_batches;

    pipeline->slots = calloc((size_t)n + 1, sizeof *pipeline->slots);
    pipeline->in_at = calloc(n, sizeof *pipeline->in_at);
    pipeline->free = calloc(n, sizeof *pipeline->free);
    if (pipeline->slots == NULL || pipeline->in_at == NULL || pipeline->free == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u batches", n);
    for (uint32_t i = 0; i < n; i++)
        pipeline->in_at[i] = &pipeline->slots[n];
    return SL_OK;
}

struct slot *pipeline_take_slot(struct pipeline *pipeline)
{
    struct slot *slot = pipeline->free[--pipeline->n_free];

    if (pipeline->n_free < PIPELINE_SPARE)
        pthread_cond_broadcast(&pipeline->wanted);
    return slot;
}

void pipeline_fill_slot(struct pipeline *pipeline, struct slot *slot)
{
    slot->done = false;
    pipeline->in_at[pipeline->filled++ % pipeline->stats->n_batches] = slot;
}

void pipeline_drain_slot(struct pipeline *pipeline, struct slot *slot)
{
    const uint32_t n = pipeline->stats->n_batches;

    pipeline->in_at[pipeline->drained++ % n] = &pipeline->slots[n];
    pipeline_free_slot(pipeline, slot);
}

void pipeline_free_slot(struct pipeline *pipeline, struct slot *slot)
{
    pipeline->free[pipeline->n_free++] = slot;
    if (pipeline->config->fill_anywhere)
        pipeline_signal_workers(pipeline);
    else
        pthread_cond_signal(&pipeline->freed);
}

int pipeline_start_openers(struct pipeline *pipeline)
{
    const uint32_t n = pipeline->cuda ? PIPELINE_OPENERS_MAX : 1;
    int error = 0;

    while (pipeline->n_openers < n && error == 0) {
        error = pthread_create(&pipeline->openers[pipeline->n_openers], NULL, open_slots, pipeline);
        pipeline->n_openers += error == 0;
    }
    return pipeline->n_openers > 0 ? 0 : error;
}

void pipeline_close(struct pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->n_lanes; i++)
        lane_close(&pipeline->lanes[i]);
    for (uint32_t i = 0; pipeline->slots != NULL && i < pipeline->stats->n_batches; i++) {
        for (uint32_t e = 0; e < SL_PIPELINE_ENGINES_MAX; e++)
            worker_free_hits(pipeline->config, &pipeline->slots[i].hits[e]);
        sl_batch_free(pipeline->slots[i].batch);
    }
    free(pipeline->slots);
    free(pipeline->in_at);
    free(pipeline->free);
}

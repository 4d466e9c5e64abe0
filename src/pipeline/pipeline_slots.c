/* SPDX-License-Identifier: MIT */
/* The slots that hold the batches of a run. They are opened in their order while the run is under
 * way: pinning memory for all of them takes longer than many a run. */

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
        status = worker_take_hits(config, &slot->hits[e], diag);
    return status;
}

/* Begins to open the next slot. NULL: no further slot is needed, or one could not be opened. With
 * the lock held. */
static struct slot *next_to_open(struct pipeline *pipeline)
{
    const bool over =
        pipeline->ended || pipeline->failed || pipeline->n_opening >= pipeline->n_slots;

    return over ? NULL : &pipeline->slots[pipeline->n_opening++];
}

/* The run goes on with the slots before one for which there is no memory: no slot was filled twice
 * yet. With the lock held. */
static void end_slots_at(struct pipeline *pipeline, const struct slot *slot, enum sl_status status,
                         const struct sl_diag *diag)
{
    const uint32_t n = (uint32_t)(slot - pipeline->slots);

    if (n == 0)
        pipeline_fail_locked(pipeline, status, diag);
    else if (n < pipeline->n_slots)
        pipeline->n_slots = n;
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
        slot->open = status == SL_OK;
        if (status != SL_OK)
            end_slots_at(pipeline, slot, status, &diag);
        pthread_cond_signal(&pipeline->freed);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return NULL;
}

enum sl_status pipeline_make_slots(struct pipeline *pipeline, struct sl_diag *diag)
{
    const uint32_t n = pipeline->stats->n_batches;

    pipeline->slots = calloc(n, sizeof *pipeline->slots);
    if (pipeline->slots == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u batches", n);
    pipeline->n_slots = n;
    return SL_OK;
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
}

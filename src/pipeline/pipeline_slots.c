/* SPDX-License-Identifier: MIT */
/* The slots that hold the batches of a run. */

#include <stdlib.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "device/device.h"
#include "pipeline_state.h"

static enum sl_status open_slot(struct pipeline *pipeline, struct slot *slot, struct sl_diag *diag)
{
    const struct sl_pipeline_config *config = pipeline->config;
    enum sl_status status = worker_batch_create(config, pipeline->cuda, config->batch_len,
                                                config->batch_items, &slot->batch, diag);

    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++)
        status = worker_take_hits(config, &slot->hits[e], diag);
    return status;
}

/* A thread opens every n_threads-th slot, from `first` on. */
struct opening {
    struct pipeline *pipeline;
    uint32_t first, n_threads;
    pthread_t thread;
    bool started;
    enum sl_status status;
    struct sl_diag diag;
};

static void *open_some_slots(void *argument)
{
    struct opening *opening = argument;
    struct pipeline *pipeline = opening->pipeline;

    for (uint32_t d = 0; d < pipeline->config->n_devices; d++)
        if (lane_is_cuda(&pipeline->lanes[d]) && !pipeline->lanes[d].device->dropped)
            device_use(pipeline->lanes[d].device->device.index);
    for (uint32_t i = opening->first; i < pipeline->n_slots && opening->status == SL_OK;
         i += opening->n_threads)
        opening->status = open_slot(pipeline, &pipeline->slots[i], &opening->diag);
    return NULL;
}

enum sl_status pipeline_open_slots(struct pipeline *pipeline, struct sl_diag *diag)
{
    enum { THREADS_MAX = 16 };
    struct opening openings[THREADS_MAX] = {0};
    const uint32_t cores = cpu_cores() < THREADS_MAX ? cpu_cores() : THREADS_MAX;
    const uint32_t n_threads = pipeline->cuda ? cores : 1;
    enum sl_status status = SL_OK;

    pipeline->slots = calloc(pipeline->n_slots, sizeof *pipeline->slots);
    if (pipeline->slots == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u batches", pipeline->n_slots);
    for (uint32_t t = 0; t < n_threads; t++) {
        openings[t] = (struct opening){.pipeline = pipeline, .first = t, .n_threads = n_threads};
        openings[t].started =
            pthread_create(&openings[t].thread, NULL, open_some_slots, &openings[t]) == 0;
        if (!openings[t].started)
            open_some_slots(&openings[t]);
    }
    for (uint32_t t = 0; t < n_threads; t++) {
        if (openings[t].started)
            pthread_join(openings[t].thread, NULL);
        if (status == SL_OK && openings[t].status != SL_OK) {
            status = openings[t].status;
            if (diag != NULL)
                *diag = openings[t].diag;
        }
    }
    return status;
}

void pipeline_close(struct pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->n_lanes; i++)
        lane_close(&pipeline->lanes[i]);
    for (uint32_t i = 0; pipeline->slots != NULL && i < pipeline->n_slots; i++) {
        for (uint32_t e = 0; e < SL_PIPELINE_ENGINES_MAX; e++)
            worker_free_hits(pipeline->config, &pipeline->slots[i].hits[e]);
        sl_batch_free(pipeline->slots[i].batch);
    }
    free(pipeline->slots);
}

/* SPDX-License-Identifier: MIT */
/* A run: its lanes, slots and threads, from begin to end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "monitor.h"
#include "pipeline_state.h"

enum { IN_FLIGHT = 3 /* batches for each that is worked on */ };

void sl_pipeline_config_init(struct sl_pipeline_config *config)
{
    memset(config, 0, sizeof *config);
    config->devices[0].kind = SL_DEVICE_CPU;
    config->devices[0].usable = true;
    config->n_devices = 1;
    config->batch_len = 4u << 20;
    config->batch_items = 16384;
}

/* Starts the openers, the filler where it is a thread of its own, and workers. */
static int start(struct pipeline *pipeline, pthread_t *filler, bool *fills)
{
    int error = pipeline_start_openers(pipeline);

    if (error == 0 && !pipeline->config->fill_anywhere) {
        error = pthread_create(filler, NULL, pipeline_fill_loop, pipeline);
        *fills = error == 0;
    }
    for (uint32_t i = 0; i < pipeline->config->n_devices && error == 0; i++)
        error = pipeline_start_lane(pipeline, &pipeline->lanes[i]);
    return error;
}

/* The lane that took over comes last: a thread of a lane before it started it. */
static void join(struct pipeline *pipeline)
{
    for (uint32_t i = 0; i < pipeline->n_openers; i++)
        pthread_join(pipeline->openers[i], NULL);
    for (uint32_t i = 0; i < sizeof pipeline->lanes / sizeof *pipeline->lanes; i++)
        for (uint32_t t = 0; t < pipeline->lanes[i].n_started; t++)
            pthread_join(pipeline->lanes[i].threads[t].thread, NULL);
}

static enum sl_status run_threads(struct pipeline *pipeline)
{
    struct sl_diag diag = {0};
    pthread_t filler;
    bool fills = false;
    const int error = start(pipeline, &filler, &fills);

    if (error == 0)
        pipeline_drain_loop(pipeline);
    else
        pipeline_fail(
            pipeline,
            diag_set(&diag, SL_ENOMEM, NULL, 0, "cannot start a thread: %s", strerror(error)),
            &diag);
    if (fills)
        pthread_join(filler, NULL);
    join(pipeline);
    return pipeline->status;
}

static void begin(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;

    for (uint32_t i = 0; i < sizeof pipeline->lanes / sizeof *pipeline->lanes; i++)
        pthread_cond_init(&pipeline->lanes[i].ready, NULL);
    pipeline->n_lanes = pipeline->stats->n_devices = config->n_devices;
    for (uint32_t i = 0; i < config->n_devices; i++) {
        pipeline->stats->devices[i].device = config->devices[i];
        pipeline->lanes[i].device = &pipeline->stats->devices[i];
        pipeline->cuda = pipeline->cuda || lane_is_cuda(&pipeline->lanes[i]);
    }
    pipeline->deal.n_shards = config->deal != NULL ? 1 : 0;
    pipeline->collect.n_shards = config->collect != NULL ? config->n_shards : 0;
    pipeline->settle.n_shards = config->settle != NULL ? config->n_shards : 0;
    pipeline->decide.n_shards = config->decide != NULL ? 1 : 0;
}

/* A batch that takes long holds up all behind it that are done. Each of them may wait for twice as
 * many as are worked on. */
static void count_batches(struct pipeline *pipeline)
{
    const struct sl_pipeline_config *config = pipeline->config;

    pipeline->n_active = config->n_active;
    if (pipeline->n_active == 0)
        pipeline->n_active = config->n_batches != 0 ? config->n_batches : lanes_n_active(config);
    pipeline->stats->n_batches =
        config->n_batches != 0 ? config->n_batches : IN_FLIGHT * pipeline->n_active;
}

enum sl_status sl_pipeline_run(const struct sl_pipeline_config *config,
                               struct sl_pipeline_stats *stats, struct sl_diag *diag)
{
    struct pipeline pipeline = {.config = config,
                                .dropped_lock = PTHREAD_MUTEX_INITIALIZER,
                                .lock = PTHREAD_MUTEX_INITIALIZER,
                                .freed = PTHREAD_COND_INITIALIZER,
                                .wanted = PTHREAD_COND_INITIALIZER,
                                .has_done = PTHREAD_COND_INITIALIZER,
                                .latency_lock = PTHREAD_MUTEX_INITIALIZER,
                                .diag = diag,
                                .stats = stats,
                                .begin_ns = clock_ns()};

    memset(stats, 0, sizeof *stats);
    enum sl_status status = lanes_check(config, diag);
    if (status != SL_OK)
        return status;
    begin(&pipeline);

    /* Workers open first: a GPU without room for the tables fails here. */
    status = lanes_open(pipeline.lanes, config, stats, diag);
    count_batches(&pipeline);
    if (status == SL_OK)
        status = pipeline_make_slots(&pipeline, diag);
    if (status == SL_OK) {
        monitor_begin(config->monitor, pipeline_snapshot_read, &pipeline);
        status = run_threads(&pipeline);
        monitor_end(config->monitor);
    }
    pipeline_close(&pipeline);
    pipeline_read_latency(&pipeline, stats);
    stats->wall_ns = clock_ns() - pipeline.begin_ns;
    return status;
}

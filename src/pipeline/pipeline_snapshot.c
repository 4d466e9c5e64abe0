/* SPDX-License-Identifier: MIT */
/* The counters of a run, read while it goes on. */

#include "base/clock.h"
#include "pipeline_state.h"

static void read_stages(const struct pipeline *pipeline, struct sl_pipeline_snapshot *snapshot)
{
    const uint64_t collected = pipeline->collect.n_left;
    const uint64_t flying = pipeline->filled - pipeline->drained;
    uint32_t waiting[SL_N_PIPELINE_STAGES], busy[SL_N_PIPELINE_STAGES];

    busy[SL_PIPELINE_FILL] = pipeline->filling;
    waiting[SL_PIPELINE_FILL] = pipeline->stats->n_batches - (uint32_t)flying - pipeline->filling;
    busy[SL_PIPELINE_LOAD] = (uint32_t)(pipeline->loading - collected);
    waiting[SL_PIPELINE_LOAD] = (uint32_t)(pipeline->filled - pipeline->loading);
    busy[SL_PIPELINE_WORK] =
        (uint32_t)(pipeline->taken - pipeline->drained) - pipeline->n_done - pipeline->n_redo;
    waiting[SL_PIPELINE_WORK] = (uint32_t)(collected - pipeline->taken) + pipeline->n_redo;
    busy[SL_PIPELINE_DRAIN] = pipeline->draining;
    waiting[SL_PIPELINE_DRAIN] = pipeline->n_done - pipeline->draining;
    for (int s = 0; s < SL_N_PIPELINE_STAGES; s++) {
        snapshot->stage[s].waiting = waiting[s];
        snapshot->stage[s].busy = busy[s];
    }
}

void pipeline_read_latency(struct pipeline *pipeline, struct sl_pipeline_stats *stats)
{
    const struct histogram *latency = &pipeline->latency;

    pthread_mutex_lock(&pipeline->latency_lock);
    stats->latency.packets = latency->n;
    stats->latency.p50_ns = histogram_quantile(latency, 500);
    stats->latency.p99_ns = histogram_quantile(latency, 990);
    stats->latency.p999_ns = histogram_quantile(latency, 999);
    stats->latency.max_ns = latency->max;
    pthread_mutex_unlock(&pipeline->latency_lock);
}

void pipeline_snapshot_read(void *opaque, struct sl_pipeline_snapshot *snapshot)
{
    struct pipeline *pipeline = opaque;
    const struct sl_pipeline_config *config = pipeline->config;

    snapshot->n_engines = config->n_engines;
    for (uint32_t e = 0; e < config->n_engines; e++)
        snapshot->engine[e] = config->engines[e].engine->name;
    pthread_mutex_lock(&pipeline->lock);
    snapshot->stats = *pipeline->stats;
    read_stages(pipeline, snapshot);
    pthread_mutex_unlock(&pipeline->lock);
    pipeline_read_latency(pipeline, &snapshot->stats);
    snapshot->stats.wall_ns = clock_ns() - pipeline->begin_ns;
}

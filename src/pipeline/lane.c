/* SPDX-License-Identifier: MIT */
#include "pipeline/lane.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "base/reserved.h"

enum sl_status lane_open(struct lane *lane, const struct sl_pipeline_config *config,
                         uint32_t n_threads, struct sl_diag *diag)
{
    const uint32_t n =
        lane_is_cuda(lane) && n_threads > LANE_GPU_WORKERS_MAX ? LANE_GPU_WORKERS_MAX : n_threads;
    enum sl_status status = SL_OK;

    lane->workers = calloc(n, sizeof *lane->workers);
    lane->idle = calloc(n, sizeof *lane->idle);
    lane->threads = calloc(n_threads, sizeof *lane->threads);
    if (lane->workers == NULL || lane->idle == NULL || lane->threads == NULL) {
        lane_close(lane);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u workers", n_threads);
    }
    lane->n_workers = n;
    lane->n_threads = n_threads;
    for (uint32_t i = 0; i < n && status == SL_OK; i++) {
        status =
            worker_open(&lane->workers[i], config, &lane->device->device, lane->max_hits, diag);
        lane_return(lane, &lane->workers[i]);
    }
    if (status != SL_OK)
        lane_close(lane);
    return status;
}

void lane_close(struct lane *lane)
{
    for (uint32_t i = 0; i < lane->n_workers; i++)
        worker_close(&lane->workers[i]);
    free(lane->workers);
    free(lane->idle);
    free(lane->threads);
    lane->workers = NULL;
    lane->idle = NULL;
    lane->threads = NULL;
    lane->n_workers = lane->n_idle = lane->n_threads = 0;
}

uint32_t lane_n_ready(const struct lane *lane)
{
    return lane->n_waiting < lane->n_idle ? lane->n_waiting : lane->n_idle;
}

struct worker *lane_take(struct lane *lane)
{
    return lane->idle[--lane->n_idle];
}

void lane_return(struct lane *lane, struct worker *worker)
{
    lane->idle[lane->n_idle++] = worker;
}

void lane_drop(struct lane *lane, const struct sl_diag *why)
{
    struct sl_pipeline_device *device = lane->device;

    if (device->dropped)
        return;
    device->dropped = true;
    snprintf(device->why, sizeof device->why, "%.*s", (int)sizeof device->why - 1, why->text);
}

/* A batch takes its thread several times as long as the link. The thread waits for the copy and the
 * kernels, takes the hits and makes events of them. */
enum {
    GPU_THREADS_MAX = 12, /* where there is nothing to load */
    GPU_THREADS_MIN = 2,  /* one waits, and the other loads */
    GPU_SHARE = 4         /* beside the CPU a GPU's threads are this part of the cores */
};

enum sl_status lanes_check(const struct sl_pipeline_config *config, struct sl_diag *diag)
{
    if (config->n_devices == 0 || config->n_devices > SL_PIPELINE_DEVICES_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a run on %u devices (expected 1 to %d)",
                        config->n_devices, SL_PIPELINE_DEVICES_MAX);
    if (config->n_engines > SL_PIPELINE_ENGINES_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a run with %u engines (expected at most %d)",
                        config->n_engines, SL_PIPELINE_ENGINES_MAX);
    for (uint32_t e = 0; e < config->n_engines; e++)
        if (config->engines[e].joins > e)
            return diag_set(diag, SL_EINVAL, NULL, 0,
                            "engine %u joins engine %u (expected an earlier one)", e,
                            config->engines[e].joins - 1);
    if (config->n_shards > SL_PIPELINE_SHARDS_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a run with %u shards (expected at most %d)",
                        config->n_shards, SL_PIPELINE_SHARDS_MAX);
    return reserved_check(config->reserved, diag);
}

/* The threads of each of so many GPUs, where they load as well. More threads than cores slow all of
 * them. */
static uint32_t n_loading(const struct sl_pipeline_config *config, uint32_t gpus)
{
    const uint32_t share = gpus < config->n_devices ? GPU_SHARE : 1;
    const uint32_t n = gpus != 0 ? cpu_cores() / (share * gpus) : 0;

    return n < GPU_THREADS_MIN ? GPU_THREADS_MIN : n;
}

uint32_t lane_n_threads(const struct sl_pipeline_config *config, const struct sl_device *device)
{
    const uint32_t cores = cpu_cores(), gpus = pipeline_n_gpus(config);

    if (config->n_workers != 0)
        return config->n_workers;
    if (device->kind == SL_DEVICE_CPU) {
        const uint32_t taken = config->prepare != NULL ? gpus * n_loading(config, gpus) : 0;

        return taken < cores ? cores - taken : 1;
    }
    if (config->prepare != NULL)
        return n_loading(config, gpus);
    return cores < 2 * GPU_THREADS_MAX ? cores / 2 + 1 : GPU_THREADS_MAX;
}

uint32_t lanes_n_active(const struct sl_pipeline_config *config)
{
    uint32_t n = 3;

    for (uint32_t i = 0; i < config->n_devices; i++)
        n += 2 * lane_n_threads(config, &config->devices[i]);
    return n;
}

static void name_backends(struct sl_pipeline_stats *stats, const struct worker *worker)
{
    assert(worker != NULL); /* the lane is open */
    for (uint32_t e = 0; e < worker->config->n_engines; e++)
        stats->backend[e] = worker->engines[e].backend->name;
}

enum sl_status lanes_open(struct lane *lanes, const struct sl_pipeline_config *config,
                          struct sl_pipeline_stats *stats, struct sl_diag *diag)
{
    enum sl_status failure = SL_OK;
    struct sl_diag reason = {0}; /* of the first failure */

    for (uint32_t i = 0; i < config->n_devices; i++) {
        const uint32_t n_threads = lane_n_threads(config, &config->devices[i]);
        struct sl_diag why = {0};
        const enum sl_status status = lane_open(&lanes[i], config, n_threads, &why);

        if (status == SL_OK && stats->n_workers == 0)
            name_backends(stats, &lanes[i].workers[0]);
        stats->n_workers += lanes[i].n_threads;
        if (status == SL_OK)
            continue;
        lane_drop(&lanes[i], &why);
        if (failure == SL_OK)
            reason = why;
        failure = failure == SL_OK ? status : failure;
    }
    if (stats->n_workers == 0 && diag != NULL)
        *diag = reason;
    if (stats->n_workers == 0)
        return failure;
    for (uint32_t i = 0; i < config->n_devices; i++)
        if (stats->devices[i].dropped && config->dropped != NULL)
            config->dropped(config->user, &stats->devices[i]);
    return SL_OK;
}

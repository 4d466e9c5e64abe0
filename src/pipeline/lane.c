/* SPDX-License-Identifier: MIT */
#include "pipeline/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/diag.h"

enum sl_status lane_open(struct lane *lane, const struct sl_pipeline_config *config,
                         uint32_t n_workers, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    lane->workers = calloc(n_workers, sizeof *lane->workers);
    if (lane->workers == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u workers", n_workers);
    lane->n_workers = n_workers;
    for (uint32_t i = 0; i < n_workers && status == SL_OK; i++)
        status = worker_open(&lane->workers[i].worker, config, &lane->device->device, diag);
    if (status != SL_OK)
        lane_close(lane);
    return status;
}

void lane_close(struct lane *lane)
{
    for (uint32_t i = 0; i < lane->n_workers; i++)
        worker_close(&lane->workers[i].worker);
    free(lane->workers);
    lane->workers = NULL;
    lane->n_workers = 0;
}

void lane_drop(struct lane *lane, const struct sl_diag *why)
{
    struct sl_pipeline_device *device = lane->device;

    if (device->dropped)
        return;
    device->dropped = true;
    snprintf(device->why, sizeof device->why, "%.*s", (int)sizeof device->why - 1, why->text);
}

/* A batch takes its worker several times as long as the link: it waits for the copy and the
 * kernels, takes the hits and makes events of them. */
enum { GPU_WORKERS_MAX = 12 };

uint32_t lane_n_workers(const struct sl_pipeline_config *config, const struct sl_device *device)
{
    if (config->n_workers != 0)
        return config->n_workers;
    if (device->kind == SL_DEVICE_CPU)
        return cpu_cores();
    return cpu_cores() < 2 * GPU_WORKERS_MAX ? cpu_cores() / 2 + 1 : GPU_WORKERS_MAX;
}

static void name_backends(struct sl_pipeline_stats *stats, const struct worker *worker)
{
    for (uint32_t e = 0; e < worker->config->n_engines; e++)
        stats->backend[e] = worker->engines[e].backend->name;
}

enum sl_status lanes_open(struct lane *lanes, const struct sl_pipeline_config *config,
                          struct sl_pipeline_stats *stats, struct sl_diag *diag)
{
    enum sl_status failure = SL_OK;

    for (uint32_t i = 0; i < config->n_devices; i++) {
        const uint32_t n_workers = lane_n_workers(config, &config->devices[i]);
        struct sl_diag why = {0};
        const enum sl_status status = lane_open(&lanes[i], config, n_workers, &why);

        if (status == SL_OK && stats->n_workers == 0)
            name_backends(stats, &lanes[i].workers[0].worker);
        stats->n_workers += lanes[i].n_workers;
        if (status == SL_OK)
            continue;
        lane_drop(&lanes[i], &why);
        if (failure == SL_OK && diag != NULL)
            *diag = why;
        failure = failure == SL_OK ? status : failure;
    }
    if (stats->n_workers == 0)
        return failure;
    for (uint32_t i = 0; i < config->n_devices; i++)
        if (stats->devices[i].dropped && config->dropped != NULL)
            config->dropped(config->user, &stats->devices[i]);
    return SL_OK;
}

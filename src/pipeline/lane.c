/* SPDX-License-Identifier: MIT */
#include "pipeline/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* SPDX-License-Identifier: MIT */
/* A GPU that failed: its batch is returned, its lane is retired, and the CPU takes over from the
 * last one. */
#include <errno.h>
#include <string.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "device/wait.h"
#include "pipeline_state.h"

/* A GPU that hangs may still write hits to the old arrays: the slot gets new ones. */
static void replace_hits(struct pipeline *pipeline, struct slot *slot, const struct lane *lane)
{
    const struct sl_pipeline_config *config = pipeline->config;
    enum sl_status status = SL_OK;
    struct sl_diag diag = {0};

    if (!device_is_hung(lane->device->device.index))
        return;
    for (uint32_t e = 0; e < config->n_engines && status == SL_OK; e++) {
        worker_free_hits(config, &slot->hits[e]);
        status = worker_take_hits(config, e, &slot->hits[e], &diag);
    }
    if (status != SL_OK)
        pipeline_fail(pipeline, status, &diag);
}

void pipeline_return_batch(struct lane_thread *self, struct slot *slot, const struct sl_diag *why)
{
    struct pipeline *pipeline = self->pipeline;

    worker_close(self->worker);
    replace_hits(pipeline, slot, self->lane);
    pthread_mutex_lock(&pipeline->lock);
    lane_drop(self->lane, why);
    self->lane->device->redone++;
    worker_move_times(self->worker, pipeline->stats);
    slot->redo = true;
    pipeline->n_redo++;
    pipeline_signal_all(pipeline); /* the lane's other threads end too */
    pthread_mutex_unlock(&pipeline->lock);
}

/* Counts a thread of the lane out. Returns whether it was the last one of a dropped lane. *last:
 * no device is left and work is; then a lane for the CPU is there, not yet open. */
static bool retire_dropped(struct pipeline *pipeline, struct lane *lane, bool *last)
{
    bool dropped;

    pthread_mutex_lock(&pipeline->lock);
    dropped = --lane->n_running == 0 && lane->device->dropped;
    *last = dropped && !pipeline_is_done(pipeline);
    for (uint32_t i = 0; i < pipeline->n_lanes; i++)
        *last = *last && pipeline->lanes[i].device->dropped;
    if (*last) {
        struct sl_pipeline_device *device = &pipeline->stats->devices[pipeline->n_lanes];

        (void)sl_device_list(&device->device, 1);
        pipeline->lanes[pipeline->n_lanes++].device = device;
        pipeline->stats->n_devices = pipeline->n_lanes;
    }
    pthread_mutex_unlock(&pipeline->lock);
    return dropped;
}

/* The CPU uses the same tables. */
static void take_over(struct pipeline *pipeline, const struct sl_pipeline_device *lost)
{
    struct lane *cpu = &pipeline->lanes[pipeline->n_lanes - 1];
    struct sl_diag reason = {0}, diag = {0};
    enum sl_status status = lane_open(cpu, pipeline->config, cpu_cores(), &reason);

    if (status == SL_OK) {
        const int error = pipeline_start_lane(pipeline, cpu);

        if (error == 0)
            return;
        status =
            diag_set(&reason, SL_ENOMEM, NULL, 0, "cannot start a thread: %s", strerror(error));
    }
    pipeline_fail(pipeline,
                  diag_set(&diag, status, NULL, 0, "%s; the CPU cannot take over: %.200s",
                           lost->why, reason.text),
                  &diag);
}

void pipeline_thread_ends(struct pipeline *pipeline, struct lane *lane)
{
    const struct sl_pipeline_config *config = pipeline->config;
    bool last;

    if (!retire_dropped(pipeline, lane, &last))
        return;
    pthread_mutex_lock(&pipeline->dropped_lock);
    if (config->dropped != NULL)
        config->dropped(config->user, lane->device);
    pthread_mutex_unlock(&pipeline->dropped_lock);
    if (last)
        take_over(pipeline, lane->device);
}

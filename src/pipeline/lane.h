/* SPDX-License-Identifier: MIT */
/* A lane: a device and its workers. */
#ifndef PIPELINE_LANE_H
#define PIPELINE_LANE_H

#include <pthread.h>

#include "pipeline/worker.h"

struct pipeline;
struct lane;

struct lane_worker {
    struct worker worker;
    struct pipeline *pipeline; /* what its thread is given */
    struct lane *lane;
    pthread_t thread;
};

/* What is not the workers' own is guarded by the pipeline's lock, the device's counters too. */
struct lane {
    struct sl_pipeline_device *device; /* in the run's stats */
    struct lane_worker *workers;       /* NULL where it is closed */
    uint32_t n_workers;
    uint32_t n_threads;   /* that were started */
    uint32_t n_running;   /* that have not left */
    uint32_t n_waiting;   /* for a batch */
    pthread_cond_t ready; /* for whom there may be one */
};

/* Workers that the config gives to a device. */
uint32_t lane_n_workers(const struct sl_pipeline_config *config, const struct sl_device *device);

/* Opens the workers of a lane whose device is set and nothing else; all, or none. */
enum sl_status lane_open(struct lane *lane, const struct sl_pipeline_config *config,
                         uint32_t n_workers, struct sl_diag *diag);

/* Opens the lanes of a run's devices. Those that cannot be opened are dropped; where no other is
 * left, the first failure is the status. */
enum sl_status lanes_open(struct lane *lanes, const struct sl_pipeline_config *config,
                          struct sl_pipeline_stats *stats, struct sl_diag *diag);

/* No thread may be left. */
void lane_close(struct lane *lane);

static inline bool lane_is_cuda(const struct lane *lane)
{
    return lane->device->device.kind == SL_DEVICE_CUDA;
}

/* Notes that the device is of no more use, if that is not known. */
void lane_drop(struct lane *lane, const struct sl_diag *why);

#endif

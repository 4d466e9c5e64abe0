/* SPDX-License-Identifier: MIT */
/* A lane: a device, its workers, and the threads that take turns with them. */
#ifndef PIPELINE_LANE_H
#define PIPELINE_LANE_H

#include <pthread.h>

#include "pipeline/worker.h"

struct pipeline;
struct lane;

/* Some thread that waits stays awake, and looks whether there are news. */
struct watch {
    atomic_uint news; /* how often there were; the rest is guarded by the pipeline's lock */
    bool on;
};

struct lane_thread {
    struct pipeline *pipeline;
    struct lane *lane;
    struct worker *worker; /* that it has; NULL: none */
    pthread_t thread;
};

/* A GPU has a batch for each worker at once: enough that the link always has the next one to carry.
 * With more it carries less. Threads beyond them digest. */
enum { LANE_GPU_WORKERS_MAX = 6 };

/* What is not the workers' own is guarded by the pipeline's lock, the device's counters too. */
struct lane {
    struct sl_pipeline_device *device; /* in the run's stats */
    struct worker *workers;            /* NULL where it is closed */
    uint32_t n_workers;
    atomic_uint max_hits[SL_PIPELINE_ENGINES_MAX]; /* the workers' */
    struct worker **idle; /* that no thread has; the last is taken first: its room has grown */
    uint32_t n_idle;
    struct lane_thread *threads;
    uint32_t n_threads;
    uint32_t n_started;   /* of them */
    uint32_t n_running;   /* that have not left */
    uint32_t n_waiting;   /* for a batch, */
    struct watch watch;   /* of those that wait */
    pthread_cond_t ready; /* for whom there may be one */
};

/* Threads that the config gives to a device. */
uint32_t lane_n_threads(const struct sl_pipeline_config *config, const struct sl_device *device);

/* Opens the workers for so many threads of a lane whose device is set and nothing else; all, or
 * none. */
enum sl_status lane_open(struct lane *lane, const struct sl_pipeline_config *config,
                         uint32_t n_threads, struct sl_diag *diag);

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

/* How many of the threads that wait can have a batch. */
uint32_t lane_n_ready(const struct lane *lane);

/* A worker that is idle, of which there is one, and its return. */
struct worker *lane_take(struct lane *lane);
void lane_return(struct lane *lane, struct worker *worker);

/* Notes that the device is of no more use, if that is not known. */
void lane_drop(struct lane *lane, const struct sl_diag *why);

#endif

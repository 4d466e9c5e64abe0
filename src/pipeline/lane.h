/* SPDX-License-Identifier: MIT */
/* A lane: a device, its workers, and the threads that take turns with them. */
#ifndef PIPELINE_LANE_H
#define PIPELINE_LANE_H

#include <pthread.h>

#include "pipeline/worker.h"

struct pipeline;
struct lane;

/* Waiting threads that stay awake. A signal is for one of them, the first that takes it. */
struct watch {
    atomic_uint n_signals;  /* that no thread has taken */
    uint32_t n_unsignalled; /* threads beyond the signals; guarded by the pipeline's lock */
};

struct lane_thread {
    struct pipeline *pipeline;
    struct lane *lane;
    struct worker *worker; /* that the thread holds; NULL: none */
    pthread_t thread;
};

/* A GPU has a batch for each worker at once, so that the link always has the next one. More workers
 * make the link slower. Threads beyond them load and digest. */
enum { LANE_GPU_WORKERS_MAX = 6 };

/* The pipeline's lock guards all but the workers' own fields, the device's counters too. */
struct lane {
    struct sl_pipeline_device *device; /* in the run's stats */
    struct worker *workers;            /* NULL where it is closed */
    uint32_t n_workers;
    atomic_uint max_hits[SL_PIPELINE_ENGINES_MAX]; /* the workers' */
    struct worker **idle; /* held by no thread; the last is taken first: its room has grown */
    uint32_t n_idle;
    struct lane_thread *threads;
    uint32_t n_threads;
    uint32_t n_started;   /* of these */
    uint32_t n_running;   /* that have not ended */
    uint32_t n_waiting;   /* for a batch */
    struct watch watch;   /* of the threads that wait */
    pthread_cond_t ready; /* signalled where there may be a batch */
};

/* Whether the config is within its limits. SL_EINVAL. */
enum sl_status lanes_check(const struct sl_pipeline_config *config, struct sl_diag *diag);

/* How many threads the config gives to a device. */
uint32_t lane_n_threads(const struct sl_pipeline_config *config, const struct sl_device *device);

/* How many batches these work on: one being filled, one being drained, and one waiting. Each thread
 * has one, and another for it waits for batches before it. Caches hold no more. */
uint32_t lanes_n_active(const struct sl_pipeline_config *config);

/* Opens the workers for n_threads threads: all, or none. Of the lane only the device is set. */
enum sl_status lane_open(struct lane *lane, const struct sl_pipeline_config *config,
                         uint32_t n_threads, struct sl_diag *diag);

/* Opens the lanes of a run's devices, and drops those that fail. Where none is left, the first
 * failure is the status. */
enum sl_status lanes_open(struct lane *lanes, const struct sl_pipeline_config *config,
                          struct sl_pipeline_stats *stats, struct sl_diag *diag);

/* No thread of the lane may run. */
void lane_close(struct lane *lane);

static inline bool lane_is_cuda(const struct lane *lane)
{
    return lane->device->device.kind == SL_DEVICE_CUDA;
}

/* How many of the waiting threads can have a batch: each needs an idle worker. */
uint32_t lane_n_ready(const struct lane *lane);

/* Takes an idle worker, of which there is one; and returns it. */
struct worker *lane_take(struct lane *lane);
void lane_return(struct lane *lane, struct worker *worker);

/* Marks the device as dropped, with the reason, unless it is. */
void lane_drop(struct lane *lane, const struct sl_diag *why);

#endif

/* SPDX-License-Identifier: MIT */
/* A clock that writes the counters of a run whenever an interval has passed. */
#ifndef RUN_STATS_CLOCK_H
#define RUN_STATS_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sluice/status.h"

struct stats_clock {
    uint32_t seconds;          /* from one writing to the next */
    uint64_t begin_ns;         /* of the first interval, CLOCK_MONOTONIC */
    void (*write)(void *user); /* on the clock's thread, and at the end */
    void *user;

    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop; /* guarded by the lock */
};

/* The fields above the thread are set. SL_EIO: the system has no thread. */
enum sl_status stats_clock_start(struct stats_clock *clock, struct sl_diag *diag);

/* Ends the thread and writes once more. Does nothing where the clock does not run. */
void stats_clock_end(struct stats_clock *clock);

#endif

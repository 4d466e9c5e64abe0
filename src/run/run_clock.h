/* SPDX-License-Identifier: MIT */
/* A clock that calls a function whenever an interval has passed. */
#ifndef RUN_CLOCK_H
#define RUN_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sluice/status.h"

struct run_clock {
    uint64_t interval_ns;     /* from one call to the next */
    uint64_t begin_ns;        /* of the first interval, CLOCK_MONOTONIC */
    void (*call)(void *user); /* on the clock's thread, and at the end */
    void *user;

    pthread_t thread;
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop; /* guarded by the lock */
};

/* The fields above the thread are set. SL_EIO: the system has no thread. */
enum sl_status run_clock_start(struct run_clock *clock, struct sl_diag *diag);

/* Ends the thread and calls once more. Does nothing where the clock does not run. */
void run_clock_end(struct run_clock *clock);

#endif

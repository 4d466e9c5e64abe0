/* SPDX-License-Identifier: MIT */
/* A line of progress on standard error, where it is a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <pthread.h>

#include "sluice/run.h"

struct progress {
    struct sl_run *run;
    bool on, shown;
    uint64_t begin_ns;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop; /* guarded by the lock */
};

/* Shows the run's counters four times a second from a thread of its own. */
void progress_begin(struct progress *progress, struct sl_run *run, bool quiet);

/* Ends the thread and clears the line. */
void progress_end(struct progress *progress);

#endif

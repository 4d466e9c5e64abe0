/* SPDX-License-Identifier: MIT */
#include "run_clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/diag.h"

/* Intervals that pass during a call are left out. */
static void *keep_time(void *argument)
{
    struct run_clock *clock = argument;
    uint64_t next_ns = clock->begin_ns;

    pthread_mutex_lock(&clock->lock);
    while (!clock->stop) {
        while (next_ns <= clock_ns())
            next_ns += clock->interval_ns;
        const struct timespec next = {.tv_sec = (time_t)(next_ns / 1000000000),
                                      .tv_nsec = (long)(next_ns % 1000000000)};

        if (pthread_cond_clockwait(&clock->changed, &clock->lock, CLOCK_MONOTONIC, &next) !=
                ETIMEDOUT ||
            clock->stop)
            continue;
        pthread_mutex_unlock(&clock->lock);
        clock->call(clock->user);
        pthread_mutex_lock(&clock->lock);
    }
    pthread_mutex_unlock(&clock->lock);
    return NULL;
}

enum sl_status run_clock_start(struct run_clock *clock, struct sl_diag *diag)
{
    pthread_mutex_init(&clock->lock, NULL);
    pthread_cond_init(&clock->changed, NULL);
    const int error = pthread_create(&clock->thread, NULL, keep_time, clock);
    clock->running = error == 0;
    return error == 0
               ? SL_OK
               : diag_set(diag, SL_EIO, NULL, 0, "cannot start a thread: %s", strerror(error));
}

void run_clock_end(struct run_clock *clock)
{
    if (!clock->running)
        return;
    pthread_mutex_lock(&clock->lock);
    clock->stop = true;
    pthread_cond_signal(&clock->changed);
    pthread_mutex_unlock(&clock->lock);
    pthread_join(clock->thread, NULL);
    clock->running = false;
    clock->call(clock->user);
}

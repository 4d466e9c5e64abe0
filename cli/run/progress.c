/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/console.h"

enum { INTERVAL_NS = 250000000 };

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void show(struct progress *progress)
{
    const double seconds = (double)(now_ns() - progress->begin_ns) / 1e9;
    char packets[32], bytes[32], rate[32];
    struct sl_stats stats;

    sl_run_snapshot(progress->run, &stats);
    fprintf(stderr, "\r%s packets, %s, %s/s \033[K", cli_count(stats.packets, packets),
            cli_bytes((double)stats.bytes, bytes), cli_bytes((double)stats.bytes / seconds, rate));
    progress->shown = true;
}

static void *run_progress(void *argument)
{
    struct progress *progress = argument;
    uint64_t next_ns = progress->begin_ns + INTERVAL_NS;

    pthread_mutex_lock(&progress->lock);
    while (!progress->stop) {
        const struct timespec next = {.tv_sec = (time_t)(next_ns / 1000000000),
                                      .tv_nsec = (long)(next_ns % 1000000000)};

        (void)pthread_cond_clockwait(&progress->changed, &progress->lock, CLOCK_MONOTONIC, &next);
        if (progress->stop || now_ns() < next_ns)
            continue;
        show(progress);
        next_ns = now_ns() + INTERVAL_NS;
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

void progress_begin(struct progress *progress, struct sl_run *run, bool quiet)
{
    if (quiet || !isatty(STDERR_FILENO))
        return;
    progress->run = run;
    progress->begin_ns = now_ns();
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->changed, NULL);
    progress->on = pthread_create(&progress->thread, NULL, run_progress, progress) == 0;
}

void progress_end(struct progress *progress)
{
    if (!progress->on)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->stop = true;
    pthread_cond_signal(&progress->changed);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    progress->on = false;
    if (progress->shown)
        fputs("\r\033[K", stderr);
}

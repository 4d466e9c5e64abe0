/* SPDX-License-Identifier: MIT */
#include "stats_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli.h"
#include "version.h"

enum { MAX_SECONDS = 86400 };

bool observe_parse(struct observe *observe, const char *seconds)
{
    char *end;

    errno = 0;
    const long value = strtol(seconds, &end, 10);
    if (seconds[0] < '0' || seconds[0] > '9' || *end != '\0' || errno != 0 || value < 1 ||
        value > MAX_SECONDS) {
        cli_error("--stats '%s' is no interval (expected 1 to %d seconds)", seconds, MAX_SECONDS);
        return false;
    }
    observe->seconds = (uint32_t)value;
    return true;
}

bool observe_open(struct observe *observe)
{
    return observe->address == NULL || metrics_listen(&observe->metrics, observe->address);
}

static int64_t wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* On any thread. */
static void look(void *user, struct sl_stats *stats)
{
    struct observe *observe = user;

    memset(stats, 0, sizeof *stats);
    stats->version = SLUICE_VERSION;
    stats->start_ns = observe->start_ns;
    stats->time_ns = wall_ns();
    stats->uptime_ns = clock_ns() - observe->begin_ns;
    source_look(observe->source, stats);
    findings_look(observe->findings, stats);
    sl_pipeline_snapshot(observe->monitor, &stats->pipeline);
}

static void write_event(struct observe *observe)
{
    struct sl_stats stats;

    look(observe, &stats);
    findings_write_stats(observe->findings, &stats);
}

/* Writes an event whenever an interval has passed since the run began; those that passed while a
 * sink blocked are left out. */
static void *tick(void *argument)
{
    struct observe *observe = argument;
    const uint64_t interval_ns = observe->seconds * UINT64_C(1000000000);
    uint64_t next_ns = observe->begin_ns;

    pthread_mutex_lock(&observe->lock);
    while (!observe->stop) {
        while (next_ns <= clock_ns())
            next_ns += interval_ns;
        const struct timespec next = {.tv_sec = (time_t)(next_ns / 1000000000),
                                      .tv_nsec = (long)(next_ns % 1000000000)};

        if (pthread_cond_clockwait(&observe->changed, &observe->lock, CLOCK_MONOTONIC, &next) !=
                ETIMEDOUT ||
            observe->stop)
            continue;
        pthread_mutex_unlock(&observe->lock);
        write_event(observe);
        pthread_mutex_lock(&observe->lock);
    }
    pthread_mutex_unlock(&observe->lock);
    return NULL;
}

static bool begin_clock(struct observe *observe)
{
    if (!findings_take_stats(observe->findings)) {
        cli_error("--stats=%u writes events, and no sink takes them (expected --alerts eve:FILE "
                  "or console)",
                  observe->seconds);
        return false;
    }
    pthread_mutex_init(&observe->lock, NULL);
    pthread_cond_init(&observe->changed, NULL);
    const int error = pthread_create(&observe->clock, NULL, tick, observe);
    if (error != 0)
        cli_error("cannot start a thread: %s", strerror(error));
    observe->ticks = error == 0;
    return observe->ticks;
}

bool observe_begin(struct observe *observe, struct sl_pipeline_config *config)
{
    struct sl_diag diag = {0};

    if (observe->seconds == 0 && observe->address == NULL)
        return true;
    if (sl_pipeline_monitor_create(&observe->monitor, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    config->monitor = observe->monitor;
    observe->start_ns = wall_ns();
    observe->begin_ns = clock_ns();
    return (observe->address == NULL || metrics_serve(&observe->metrics, look, observe)) &&
           (observe->seconds == 0 || begin_clock(observe));
}

void observe_end(struct observe *observe)
{
    metrics_close(&observe->metrics);
    if (observe->ticks) {
        pthread_mutex_lock(&observe->lock);
        observe->stop = true;
        pthread_cond_signal(&observe->changed);
        pthread_mutex_unlock(&observe->lock);
        pthread_join(observe->clock, NULL);
        observe->ticks = false;
        write_event(observe);
    }
    sl_pipeline_monitor_free(observe->monitor);
    observe->monitor = NULL;
}

/* SPDX-License-Identifier: MIT */
#include "run_sinks.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

/* Bytes of events that a batch may hold for each sink. Drain makes those that are beyond: memory is
 * bounded whatever the traffic. Sanitizers take time for each byte. */
#ifdef SLUICE_SANITIZED
enum { HOLD_LEN = 1 << 20 };
#else
enum { HOLD_LEN = 16 << 20 };
#endif

void run_sinks_init(struct run_sinks *sinks, const struct sl_run_config *config)
{
    memset(sinks, 0, sizeof *sinks);
    sinks->flush_each_batch = config->interface != NULL || config->max_latency_ns != 0;
    pthread_mutex_init(&sinks->lock, NULL);
}

static enum sl_status open_sink(struct run_sinks *sinks, struct sl_sink *sink,
                                enum sl_status status, const char *spec)
{
    if (status != SL_OK)
        return status;
    sinks->sinks[sinks->n].sink = sink;
    sinks->sinks[sinks->n].result.spec = spec;
    sinks->sinks[sinks->n++].result.takes_stats = sl_sink_takes_stats(sink);
    return SL_OK;
}

enum sl_status run_sinks_open(struct run_sinks *sinks, const struct sl_run_config *config,
                              struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    struct sl_sink *sink;

    for (size_t i = 0; i < config->n_sinks && status == SL_OK; i++) {
        status = sl_sink_open(&sink, config->sinks[i], diag);
        status = open_sink(sinks, sink, status, config->sinks[i]);
    }
    if (status != SL_OK || config->event == NULL)
        return status;
    status = sl_sink_open_function(&sink, config->event, config->user, diag);
    return open_sink(sinks, sink, status, NULL);
}

/* ---- events ---------------------------------------------------------------------------------- */

enum sl_status run_sinks_hold(const struct run_sinks *sinks, struct held_events held[],
                              struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (uint32_t i = 0; i < sinks->n && status == SL_OK; i++) {
        status = sl_sink_hold(&held[i].sink, sinks->sinks[i].sink, HOLD_LEN, diag);
        if (status == SL_EUNSUPPORTED) /* it takes events one by one alone */
            status = SL_OK;
    }
    return status;
}

/* Writes a batch's events behind the first `skip`. */
static enum sl_status write_events(struct sl_sink *sink, struct batch_events events, uint64_t skip,
                                   struct sl_diag *diag)
{
    enum sl_status status = SL_OK;
    struct sl_event event;

    events.ids = sl_sink_shows_community_id(sink) ? events.digest->community_ids : NULL;
    batch_events_begin(&events);
    while (status == SL_OK && (status = batch_events_next(&events, &event, diag)) == SL_OK)
        if (skip != 0)
            skip--;
        else
            status = sl_sink_write(sink, &event, diag);
    return status == SL_END ? SL_OK : status;
}

enum sl_status run_sinks_write_ahead(const struct run_sinks *sinks, struct held_events held[],
                                     const struct batch_events *events, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (uint32_t i = 0; i < sinks->n && status == SL_OK; i++) {
        if (held[i].sink == NULL)
            continue;
        status = write_events(held[i].sink, *events, 0, diag);
        held[i].whole = status == SL_OK;
        if (status == SL_EOVERFLOW)
            status = SL_OK;
    }
    return status;
}

static enum sl_status write_to(const struct run_sinks *sinks, struct sl_sink *sink,
                               struct held_events *held, const struct batch_events *events,
                               struct sl_diag *diag)
{
    uint64_t n_held = 0;
    enum sl_status status = SL_OK;

    if (held->sink != NULL) {
        n_held = sl_sink_written(held->sink);
        status = sl_sink_pass(held->sink, sink, diag);
    }
    if (status == SL_OK && !held->whole)
        status = write_events(sink, *events, n_held, diag);
    held->whole = false;
    if (status == SL_OK && sinks->flush_each_batch)
        status = sl_sink_flush(sink, diag);
    return status;
}

enum sl_status run_sinks_write(struct run_sinks *sinks, struct held_events held[],
                               const struct batch_events *events, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    pthread_mutex_lock(&sinks->lock);
    for (uint32_t i = 0; i < sinks->n && status == SL_OK; i++) {
        status = write_to(sinks, sinks->sinks[i].sink, &held[i], events, diag);
        sinks->sinks[i].result.failed = status != SL_OK;
    }
    pthread_mutex_unlock(&sinks->lock);
    return status;
}

bool run_sinks_show_community_ids(const struct run_sinks *sinks)
{
    for (uint32_t i = 0; i < sinks->n; i++)
        if (sl_sink_shows_community_id(sinks->sinks[i].sink))
            return true;
    return false;
}

/* ---- counters -------------------------------------------------------------------------------- */

bool run_sinks_take_stats(const struct run_sinks *sinks)
{
    for (uint32_t i = 0; i < sinks->n; i++)
        if (sinks->sinks[i].result.takes_stats)
            return true;
    return false;
}

static void write_stats_event(struct run_sinks *sinks, const struct sl_stats_event *stats)
{
    pthread_mutex_lock(&sinks->lock);
    for (uint32_t i = 0; i < sinks->n; i++) {
        struct sl_sink *sink = sinks->sinks[i].sink;

        if (sinks->sinks[i].result.takes_stats &&
            (sl_sink_write_stats(sink, stats, NULL) != SL_OK || sl_sink_flush(sink, NULL) != SL_OK))
            continue; /* the next write gives the reason again */
    }
    pthread_mutex_unlock(&sinks->lock);
}

void run_sinks_write_stats(struct run_sinks *sinks, const struct sl_stats *stats)
{
    char *json = NULL, *line = NULL;
    size_t len;

    if (sl_stats_json(stats, &json, &len) == SL_OK && sl_stats_line(stats, &line, &len) == SL_OK) {
        const struct sl_stats_event event = {.time_ns = stats->time_ns, .json = json, .line = line};

        write_stats_event(sinks, &event);
    }
    free(json);
    free(line);
}

void run_sinks_flush(struct run_sinks *sinks)
{
    pthread_mutex_lock(&sinks->lock);
    for (uint32_t i = 0; i < sinks->n; i++)
        if (sl_sink_flush(sinks->sinks[i].sink, NULL) != SL_OK)
            continue; /* the next write gives the reason again */
    pthread_mutex_unlock(&sinks->lock);
}

/* ---- the end --------------------------------------------------------------------------------- */

enum sl_status run_sinks_close(struct run_sinks *sinks, struct sl_diag *diag)
{
    enum sl_status first = SL_OK;

    for (uint32_t i = 0; i < sinks->n; i++) {
        struct sl_run_sink *result = &sinks->sinks[i].result;
        struct sl_diag why = {0};

        if (sinks->sinks[i].sink == NULL)
            continue;
        const enum sl_status status = sl_sink_close(sinks->sinks[i].sink, &result->written, &why);
        sinks->sinks[i].sink = NULL;
        if (status == SL_OK || result->failed) /* a failed write has given its reason */
            continue;
        result->failed = true;
        result->diag = why;
        if (first == SL_OK) {
            first = status;
            *diag = why;
        }
    }
    return first;
}

void run_sinks_clear(struct run_sinks *sinks)
{
    struct sl_diag diag;

    (void)run_sinks_close(sinks, &diag);
    pthread_mutex_destroy(&sinks->lock);
}

/* SPDX-License-Identifier: MIT */
/* The sinks of a run: where the events of its batches and its counters go. */
#ifndef RUN_SINKS_H
#define RUN_SINKS_H

#include <pthread.h>

#include "batch_events.h"

struct run_sinks {
    struct {
        struct sl_sink *sink; /* NULL once closed */
        struct sl_run_sink result;
    } sinks[SL_RUN_SINKS_MAX];
    uint32_t n;
    bool flush_each_batch; /* live: events are wanted as they come */
    pthread_mutex_t lock;  /* held while the sinks are written to */
};

void run_sinks_init(struct run_sinks *sinks, const struct sl_run_config *config);

/* Opens the config's sinks, and one that calls its function. */
enum sl_status run_sinks_open(struct run_sinks *sinks, const struct sl_run_config *config,
                              struct sl_diag *diag);

/* A sink that holds events for each sink that can have one. */
enum sl_status run_sinks_hold(const struct run_sinks *sinks, struct held_events held[],
                              struct sl_diag *diag);

/* Writes a batch's events to the sinks that hold, as far as they have room. Any thread. */
enum sl_status run_sinks_write_ahead(const struct run_sinks *sinks, struct held_events held[],
                                     const struct batch_events *events, struct sl_diag *diag);

/* Writes the events of the next batch: those that `held` holds, and then those that it had no room
 * for. */
enum sl_status run_sinks_write(struct run_sinks *sinks, struct held_events held[],
                               const struct batch_events *events, struct sl_diag *diag);

/* Whether a sink shows the community ids of events. */
bool run_sinks_show_community_ids(const struct run_sinks *sinks);

/* Whether a sink takes counters; writes them to those that do, on any thread. A sink that fails
 * gives its reason to the next that writes to it, or closes it. */
bool run_sinks_take_stats(const struct run_sinks *sinks);
void run_sinks_write_stats(struct run_sinks *sinks, const struct sl_stats *stats);

/* Writes the buffered bytes to the system, on any thread. Failures as before. */
void run_sinks_flush(struct run_sinks *sinks);

/* Flushes and closes all; the first failure. */
enum sl_status run_sinks_close(struct run_sinks *sinks, struct sl_diag *diag);

/* Closes the open sinks. */
void run_sinks_clear(struct run_sinks *sinks);

#endif

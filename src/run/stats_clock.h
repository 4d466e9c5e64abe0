/* SPDX-License-Identifier: MIT */
/* Who looks at a run while it goes on: a clock that has its counters written as events, and a
 * server for Prometheus. */
#ifndef CLI_OBSERVE_H
#define CLI_OBSERVE_H

#include <pthread.h>

#include "metrics.h"
#include "run_sinks.h"
#include "run_source.h"
#include "sluice/pipeline.h"

struct observe {
    uint32_t seconds;    /* from event to event; 0: none */
    const char *address; /* of the server; NULL: none */

    struct source *source;
    struct findings *findings;
    int64_t start_ns;
    uint64_t begin_ns;
    struct sl_pipeline_monitor *monitor;
    struct metrics metrics;

    pthread_t clock;
    bool ticks; /* the clock's thread runs */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop; /* guarded by the lock */
};

/* Parses the seconds of --stats=SECONDS; false: said on stderr. */
bool observe_parse(struct observe *observe, const char *seconds);

/* Before the run's tables are built: listens where it is to. False: said on stderr. */
bool observe_open(struct observe *observe);

/* Once source and findings are open: gives the pipeline its monitor, and begins. False: said on
 * stderr. */
bool observe_begin(struct observe *observe, struct sl_pipeline_config *config);

/* After the pipeline, before the sinks are closed: nobody looks any more, and what the run came to
 * is the last event. Also of what did not begin. */
void observe_end(struct observe *observe);

#endif

/* SPDX-License-Identifier: MIT */
/* The counters of a run, and their texts: JSON, a line, and Prometheus' format. Sinks write the
 * first two as an event (sluice/sink.h). */
#ifndef SLUICE_STATS_H
#define SLUICE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/app.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"
#include "sluice/header.h"
#include "sluice/pipeline.h"
#include "sluice/status.h"
#include "sluice/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counters are totals since the run began. Strings are UTF-8, and borrowed. */
struct sl_stats {
    int64_t start_ns, time_ns; /* the run's begin, and now: since 1970-01-01 UTC */
    uint64_t uptime_ns;        /* between them, by a clock that never steps */
    const char *version;       /* of sluice */

    uint64_t packets, bytes; /* taken from the source and dissected; bytes captured */
    uint64_t failed_sources; /* files that could not be read to their end */
    bool live; /* the source is an interface; otherwise kernel_* and interface_drops are 0 */
    bool has_header_checks; /* they are switched on */
    bool has_rules;
    bool has_state;          /* some rule has state */
    bool has_streams;        /* some rule sees TCP streams; otherwise `streams` is 0 */
    bool has_apps;           /* messages of flows are read; otherwise `apps` is 0 */
    uint64_t kernel_packets; /* see sl_capture_stats */
    uint64_t kernel_drops;
    uint64_t interface_drops;
    struct sl_dissect_stats dissected;  /* of those packets */
    struct sl_fragment_stats fragments; /* of IP */
    struct sl_flow_stats flows;

    uint64_t anomalies[SL_N_HEADER_CHECKS];
    struct sl_rules_count rules;
    uint64_t alerts;
    struct sl_state_stats state;
    uint64_t rules_stopped; /* on packets; see sl_evaluator_stopped */
    struct sl_stream_stats streams;
    struct sl_app_stats apps;

    struct sl_pipeline_snapshot pipeline;
};

/* Each call allocates a text, which the caller frees. It ends in a NUL that *len does not count.
 * docs/counters.md lists the counters. SL_ENOMEM. Any thread. */

/* Prometheus' text format, version 0.0.4 (Content-Type "text/plain; version=0.0.4;
 * charset=utf-8"). */
SL_CHECK SL_API enum sl_status sl_stats_prometheus(const struct sl_stats *stats, char **text,
                                                   size_t *len);

/* The object behind "stats" in an EVE event. Totals are named as Suricata's where it has them; the
 * others lie in an object "sluice". */
SL_CHECK SL_API enum sl_status sl_stats_json(const struct sl_stats *stats, char **text,
                                             size_t *len);

/* The most important counters on a line for people, without a line end. */
SL_CHECK SL_API enum sl_status sl_stats_line(const struct sl_stats *stats, char **text,
                                             size_t *len);

#ifdef __cplusplus
}
#endif
#endif

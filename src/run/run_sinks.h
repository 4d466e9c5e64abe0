/* SPDX-License-Identifier: MIT */
/* What a run found: hits become anomalies and alerts, are counted, and go to the sinks. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include <pthread.h>
#include <stdatomic.h>

#include "name_counts.h"
#include "payload_scan.h"
#include "run_source.h"
#include "sluice/detect.h"
#include "sluice/header.h"
#include "sluice/sink.h"

enum { MAX_SINKS = 8 };

struct digest;

struct findings {
    const struct source *source;
    const struct sl_rules *rules; /* NULL: none */
    int header_engine;            /* index of its hits, -1: not switched on */
    int matcher_engine;
    struct virus virus;
    struct run_names *names; /* NULL, or its engine -1: not switched on */

    struct {
        const char *spec;
        struct sl_sink *sink; /* NULL once closed */
        bool failed;          /* a write failed */
        uint64_t written;     /* valid once closed */
    } sinks[MAX_SINKS];
    uint32_t n_sinks;
    bool flush_each_batch;      /* live: who watches wants to see */
    pthread_mutex_t sinks_lock; /* held while the sinks are written to, once they are open */

    pthread_mutex_t lock;   /* guards what follows */
    struct digest *digests; /* one a batch in flight */

    uint64_t n_alerts; /* all below is of drain's thread */
    uint64_t n_anomalies;
    uint64_t *by_signature; /* rules' loaded entries */
    uint64_t by_check[SL_N_HEADER_CHECKS];

    /* The same as of the last batch, for other threads. */
    atomic_uint_fast64_t seen_alerts, seen_by_check[SL_N_HEADER_CHECKS];
};

/* Opens the sinks (spec is set in sinks[0 .. n_sinks)). False: said on stderr. */
bool findings_open(struct findings *findings);

/* Take a batch and the hits of each engine, as sl_pipeline_config's digest and drain. */
enum sl_status findings_digest(struct findings *findings, const struct sl_batch *batch,
                               const struct sl_hits *hits, struct sl_diag *diag);
enum sl_status findings_drain(struct findings *findings, const struct sl_batch *batch,
                              const struct sl_hits *hits, struct sl_diag *diag);

/* What was counted so far, on any thread. The caller has zeroed *stats. */
void findings_look(struct findings *findings, struct sl_stats *stats);

/* Whether a sink takes counters; writes them to those that do, on any thread. A sink that fails
 * says so to the next who writes to it, or closes it. */
bool findings_take_stats(const struct findings *findings);
void findings_write_stats(struct findings *findings, const struct sl_stats *stats);

/* Flushes and closes the sinks. False: one could not take all, said on stderr with what it took,
 * unless it was a pipe that nobody reads any more. */
bool findings_close(struct findings *findings);

/* Whether a sink of this spec is standard output. */
bool findings_is_stdout(const char *spec);

/* Whether standard output is a pipe that nobody reads any more, which a sink has found out. */
bool findings_reader_left(const struct findings *findings);

void findings_free(struct findings *findings);

#endif

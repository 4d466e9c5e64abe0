/* SPDX-License-Identifier: MIT */
/* What a run found: hits become anomalies and alerts, are counted, and go to the sinks. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include "run_names.h"
#include "sluice/detect.h"
#include "sluice/header.h"
#include "sluice/sink.h"
#include "source.h"

enum { MAX_SINKS = 8 };

struct findings {
    const struct source *source;
    const struct sl_rules *rules; /* NULL: none */
    int header_engine;            /* index of its hits, -1: not switched on */
    int matcher_engine;
    struct run_names *names; /* its engine -1: not switched on */

    struct {
        const char *spec;
        struct sl_sink *sink; /* NULL once closed */
        bool failed;          /* a write failed, and was said */
        uint64_t written;     /* valid once closed */
    } sinks[MAX_SINKS];
    uint32_t n_sinks;
    bool flush_each_batch; /* live: who watches wants to see */

    struct sl_alert *alerts; /* of one batch; grows */
    size_t max_alerts;
    uint64_t n_alerts;
    uint64_t n_anomalies;
    uint64_t *by_signature; /* rules' loaded entries */
    uint64_t by_check[SL_N_HEADER_CHECKS];
};

/* Opens the sinks (spec is set in sinks[0 .. n_sinks)). False: said on stderr. */
bool findings_open(struct findings *findings);

/* Takes a batch and the hits of each engine. */
enum sl_status findings_drain(struct findings *findings, const struct sl_batch *batch,
                              const struct sl_hits *hits, struct sl_diag *diag);

/* Flushes and closes the sinks. False: one could not take all, said on stderr with what it took. */
bool findings_close(struct findings *findings);

void findings_free(struct findings *findings);

#endif

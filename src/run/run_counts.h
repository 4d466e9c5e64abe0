/* SPDX-License-Identifier: MIT */
/* Counters of the events of a run. */
#ifndef RUN_COUNTS_H
#define RUN_COUNTS_H

#include <stdatomic.h>

#include "batch_events.h"
#include "name_counts.h"
#include "virus_counts.h"

struct run_counts {
    /* Of drain's thread. */
    uint64_t n_alerts, n_anomalies, n_stopped;
    bool saw_home;          /* an address of HOME_NET, where rules assume its default */
    uint64_t *by_signature; /* rules' loaded entries */
    uint64_t by_check[SL_N_HEADER_CHECKS];
    struct virus_counts viruses;
    struct name_counts names;

    /* The same as of the last batch, for other threads. */
    atomic_uint_fast64_t seen_alerts, seen_stopped, seen_by_check[SL_N_HEADER_CHECKS];
};

/* Of a zeroed struct. */
enum sl_status run_counts_open(struct run_counts *counts, const struct run_policy *policy,
                               struct sl_diag *diag);

/* Adds the events of a batch. */
enum sl_status run_counts_add(struct run_counts *counts, const struct batch_events *events,
                              struct sl_diag *diag);

/* After the last batch: makes the lists of results. */
enum sl_status run_counts_end(struct run_counts *counts, struct sl_diag *diag);

/* The counters so far. Any thread. */
void run_counts_snapshot(const struct run_counts *counts, struct sl_stats *stats);

void run_counts_clear(struct run_counts *counts);

#endif

/* SPDX-License-Identifier: MIT */
/* The events of a batch in the order of its packets. */
#ifndef RUN_BATCH_EVENTS_H
#define RUN_BATCH_EVENTS_H

#include "run_digest.h"
#include "run_source.h"

/* Anomalies, alerts, viruses and names, each in the order of items, merged. A copy of it begins
 * again where the original was. */
struct batch_events {
    const struct run_source *source;
    const struct sl_batch *batch;
    struct run_digest *digest;
    const struct sl_hits *header, *names;
    size_t h, a, v, n; /* the next anomaly, alert, virus and name */
};

/* At the first event. The batch was digested; hits[e] are of engine e. */
struct batch_events batch_events_of(const struct run_source *source, const struct sl_batch *batch,
                                    const struct sl_hits *hits, struct run_digest *digest);

/* Another pass over the batch begins. */
void batch_events_begin(struct batch_events *events);

/* The next event that the config wants, valid until the next call. SL_END: there are no more. */
enum sl_status batch_events_next(struct batch_events *events, struct sl_event *event,
                                 struct sl_diag *diag);

#endif

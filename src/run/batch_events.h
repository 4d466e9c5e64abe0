/* SPDX-License-Identifier: MIT */
/* The events of a batch in the order of its packets. */
#ifndef RUN_BATCH_EVENTS_H
#define RUN_BATCH_EVENTS_H

#include "run_digest.h"
#include "run_source.h"

/* The next match of a file. */
struct file_cursor {
    uint32_t message, match;
};

/* Messages of flows that ended, flows that ended, anomalies, alerts, viruses, names, DNS messages,
 * messages of flows and tagged packets, each in the order of items, merged. Viruses of a file come
 * before it. Events of flows that ended come before the other events of the packet that ended them.
 * A copy begins again where the original was. */
struct batch_events {
    const struct run_source *source;
    const struct sl_batch *batch;
    struct run_digest *digest;
    const struct sl_hits *header, *names;
    const struct sl_flow_keys *flows;     /* of the batch */
    const struct app_batch *apps;         /* of the batch */
    size_t first_flow, end_flow;          /* of these; at first all */
    struct community_ids *ids;            /* NULL, as at first: events get none */
    size_t f, h, a, v, n, j, m, t;        /* the next flow, anomaly, alert, virus, name, name across
                                             segments, DNS message, tagged packet, */
    uint32_t l, s;                        /* message of a flow that ended, and of another, */
    struct file_cursor late_virus, virus; /* and virus of their files */
    struct virus_signature lent;
    struct sl_flow_record record; /* the last flow */
    char link[32];                /* name of the link type of the last packet */
};

/* At the first event. The batch was digested and its ended flows are sorted; hits[e] are of engine
 * e. `apps` NULL: no flow says anything. */
struct batch_events batch_events_of(const struct run_source *source, const struct sl_batch *batch,
                                    const struct sl_hits *hits, struct run_digest *digest,
                                    const struct sl_flow_keys *flows, const struct app_batch *apps);

/* Another pass over the batch begins. */
void batch_events_begin(struct batch_events *events);

/* The next event that the config wants, valid until the next call. SL_END: there are no more. */
enum sl_status batch_events_next(struct batch_events *events, struct sl_event *event,
                                 struct sl_diag *diag);

#endif

/* SPDX-License-Identifier: MIT */
/* Events as packets, and a table that tracks them in both ways. */
#ifndef FLOW_TRACKER_H
#define FLOW_TRACKER_H

#include "flow_oracle.h"

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };

#define SECOND INT64_C(1000000000)

enum { MAX_FLOWS = 40000 };

/* A table, its twin and a batch for both. */
struct tracker {
    struct sl_flow_table *table, *twin; /* the twin tracks by keys, from the last shard on */
    struct sl_flow_keys *keys;          /* of the batch, */
    struct sl_flow_keys *other;         /* and of the batch before */
    struct sl_flow_stats added;         /* to the twin by all batches */
    struct sl_batch *batch;
    struct sl_dissect_stats stats;
    int64_t time;
    uint64_t n_trained;                  /* segments that visits took in trains, */
    uint64_t random;                     /* as many as this says */
    uint64_t n_flows, id[MAX_FLOWS + 1]; /* of flows, in the order of their begin */
};

void tracker_start(struct tracker *t, const struct sl_flow_config *config);
void tracker_stop(struct tracker *t);

/* Appends the packet of an event to the batch. */
void tracker_add(struct tracker *t, const struct flow_event *event);

/* Tracks the batch, by keys too. Both ways have to agree, and so have visits with trains and
 * without. The twin keeps ends, which the caller settles. */
void tracker_run(struct tracker *t);

/* The packet is of the flow that began as the n-th. */
void tracker_expect(struct tracker *t, const struct sl_origin *origin, uint64_t flow,
                    uint8_t flags);
struct sl_flow_stats tracker_stats(const struct tracker *t);

#endif

/* SPDX-License-Identifier: MIT */
/* The table beside the oracle: every packet's flow, every counter, every record of an ended flow.
 */
#ifndef FLOW_COMPARISON_H
#define FLOW_COMPARISON_H

#include "flow_tracker.h"

enum { COMPARISON_BATCH = 64 /* packets of a batch at most */ };

/* A batch that was tracked and is not yet settled. */
struct unsettled {
    struct sl_flow_keys *keys;
    uint64_t first; /* of its packets */
    uint32_t n, n_marks;
    struct sl_flow_mark mark[COMPARISON_BATCH];
};

struct comparison {
    struct tracker tracker;
    struct flow_oracle *oracle;
    struct unsettled before;
};

void comparison_start(struct comparison *comparison, const struct sl_flow_config *config);

/* Tracks the events as a batch, then settles the batch before. */
void comparison_track(struct comparison *comparison, struct flow_event *events, uint32_t n);

/* Settles the last batch, ends all flows and frees all. Returns the table's counters. */
struct sl_flow_stats comparison_end(struct comparison *comparison);

#endif

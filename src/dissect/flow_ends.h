/* SPDX-License-Identifier: MIT */
/* Flows that ended, from tracking to the records. */
#ifndef DISSECT_FLOW_ENDS_H
#define DISSECT_FLOW_ENDS_H

#include "flow_runs.h"

/* Tracking of a batch begins in this shard. */
void flow_ends_begin(struct flow_shard *shard, const struct sl_batch *batch,
                     struct sl_flow_keys *keys, uint32_t index);

/* Keeps what the flow was. The shard has a batch. */
void flow_ends_add(struct flow_shard *shard, const struct flow *flow, enum sl_flow_reason reason);

/* Describes a flow that ended at this time. */
void flow_record_fill(struct sl_flow_record *record, const struct flow *flow,
                      enum sl_flow_reason reason, int64_t time, struct flow_settled settled);

#endif

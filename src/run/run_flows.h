/* SPDX-License-Identifier: MIT */
/* The flow table of a run, and the state that rules keep in its flows. */
#ifndef RUN_RUN_FLOWS_H
#define RUN_RUN_FLOWS_H

#include "run_digest.h"
#include "source_batch.h"
#include "virus_segments.h"

/* Makes the table, and where rules have state, that as well. The rules are compiled. */
enum sl_status run_flows_open(struct run_source *source, struct sl_state **state,
                              const struct run_policy *policy, struct sl_diag *diag);

/* Lists the facts that the packets of a digested batch bring to their flows. Candidates that have
 * no flow are settled. */
void run_flows_mark(const struct run_digest *digest, struct sl_state *state,
                    const struct sl_batch *batch, const struct source_batch *part);

/* Settles a shard of the batch, whose viruses across segments are alerts. */
void run_flows_settle(struct run_digest *digest, struct sl_state *state,
                      const struct source_batch *part, struct run_source *source,
                      const struct virus_output *viruses, uint32_t shard);

/* Settles what a flow said when the run ended, which is an end of these keys. */
void run_flows_settle_end(struct run_digest *digest, struct sl_state *state,
                          const struct sl_flow_table *table, const struct sl_flow_keys *keys,
                          const struct late_flow *flow, const struct sl_flow_mark *mark);

/* Decides the candidates of a settled batch, one batch after another. */
void run_flows_decide(const struct run_digest *digest, struct sl_state *state,
                      const struct sl_batch *batch, const struct source_batch *part,
                      const struct run_source *source);

#endif

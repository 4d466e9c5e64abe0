/* SPDX-License-Identifier: MIT */
/* The flows at the end of a run. */
#ifndef RUN_FLOW_EVENTS_H
#define RUN_FLOW_EVENTS_H

#include "run_sinks.h"

/* After the last batch: writes the flows that are still in the table, on all cores. `state` may be
 * NULL. */
enum sl_status flow_events_finish(const struct run_source *source, struct sl_state *state,
                                  struct run_sinks *sinks, struct sl_diag *diag);

#endif

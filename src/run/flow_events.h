/* SPDX-License-Identifier: MIT */
/* Events of flows that ended. */
#ifndef RUN_FLOW_EVENTS_H
#define RUN_FLOW_EVENTS_H

#include "community_ids.h"
#include "run_sinks.h"

/* Adds the community id of the event's flow, which is valid until the next one. `ids` NULL: events
 * have none. */
enum sl_status flow_event_identify(struct sl_event *event, struct community_ids *ids,
                                   struct sl_diag *diag);

/* Where and when the event is: in the record's flow, at this time. */
enum sl_status flow_event_place(struct sl_event *event, const struct run_source *source,
                                const struct sl_flow_record *record, int64_t time_ns,
                                struct community_ids *ids, struct sl_diag *diag);

/* The event of a record, which it borrows and completes. */
enum sl_status flow_event_describe(struct sl_event *event, const struct run_source *source,
                                   struct sl_flow_record *record, struct community_ids *ids,
                                   struct sl_diag *diag);

/* After the last batch: writes the flows that are still in the table, on all cores. `state` may be
 * NULL. */
enum sl_status flow_events_finish(const struct run_source *source, struct sl_state *state,
                                  struct run_sinks *sinks, struct sl_diag *diag);

#endif

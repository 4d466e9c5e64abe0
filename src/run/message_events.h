/* SPDX-License-Identifier: MIT */
/* What flows say at the end of a run. */
#ifndef RUN_MESSAGE_EVENTS_H
#define RUN_MESSAGE_EVENTS_H

#include "run_sinks.h"
#include "run_streams.h"

/* After the last batch: ends all streams, and writes what flows say then. `apps` may be NULL. */
enum sl_status message_events_finish(const struct run_source *source, struct run_streams *streams,
                                     struct run_apps *apps, struct run_sinks *sinks,
                                     struct sl_diag *diag);

#endif

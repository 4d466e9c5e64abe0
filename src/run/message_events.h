/* SPDX-License-Identifier: MIT */
/* The messages of flows at the end of a run. */
#ifndef RUN_MESSAGE_EVENTS_H
#define RUN_MESSAGE_EVENTS_H

#include "sluice/run.h"

/* After the last batch: ends all streams, evaluates rules on what flows say then, and writes
 * events. The run has streams. */
enum sl_status message_events_finish(struct sl_run *run, struct sl_diag *diag);

#endif

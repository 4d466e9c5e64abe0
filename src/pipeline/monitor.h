/* SPDX-License-Identifier: MIT */
/* Where other threads read the counters of a run. */
#ifndef PIPELINE_MONITOR_H
#define PIPELINE_MONITOR_H

#include "sluice/pipeline.h"

/* Fills a zeroed snapshot, all but `running`: on any thread, one at a time. */
typedef void monitor_read(void *pipeline, struct sl_pipeline_snapshot *snapshot);

/* From begin to end `read` may be called; end calls it for the last time. Both accept NULL. */
void monitor_begin(struct sl_pipeline_monitor *monitor, monitor_read *read, void *pipeline);
void monitor_end(struct sl_pipeline_monitor *monitor);

#endif

/* SPDX-License-Identifier: MIT */
/* Where a run lets others look at it. */
#ifndef PIPELINE_MONITOR_H
#define PIPELINE_MONITOR_H

#include "sluice/pipeline.h"

/* Fills all of a zeroed snapshot but `running`; on any thread, one at a time. */
typedef void monitor_look(void *pipeline, struct sl_pipeline_snapshot *snapshot);

/* From begin to end `look` is called; end calls it for the last time. A NULL monitor is none. */
void monitor_begin(struct sl_pipeline_monitor *monitor, monitor_look *look, void *pipeline);
void monitor_end(struct sl_pipeline_monitor *monitor);

#endif

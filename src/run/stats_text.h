/* SPDX-License-Identifier: MIT */
/* The parts that all writers of counters share. */
#ifndef RUN_STATS_TEXT_H
#define RUN_STATS_TEXT_H

#include "sluice/stats.h"

/* Anomalies, and packets that were not dissected to their payload, of all kinds. */
uint64_t stats_anomalies(const struct sl_stats *stats);
uint64_t stats_undecodable(const struct sl_stats *stats);

/* The engine's name, a label of its counters. Engines of one name are numbered from the second on
 * ("rabin", "rabin-2"). Returns the name, or `numbered`. */
enum { STATS_NAME_LEN = 64 };
const char *stats_engine(const struct sl_pipeline_snapshot *pipeline, uint32_t e,
                         char numbered[STATS_NAME_LEN]);

/* "cpu", or "cuda:N" written to `numbered`: what --device calls it. */
const char *stats_device(const struct sl_device *device, char numbered[STATS_NAME_LEN]);

#endif

/* SPDX-License-Identifier: MIT */
#include "stats_text.h"

#include <stdio.h>
#include <string.h>

uint64_t stats_anomalies(const struct sl_stats *stats)
{
    uint64_t n = 0;

    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        n += stats->anomalies[c];
    return n;
}

uint64_t stats_undecodable(const struct sl_stats *stats)
{
    uint64_t n = 0;

    for (int d = SL_DEFECT_NONE + 1; d < SL_N_DEFECTS; d++)
        n += stats->dissected.defects[d];
    return n;
}

const char *stats_engine(const struct sl_pipeline_snapshot *pipeline, uint32_t e,
                         char numbered[STATS_NAME_LEN])
{
    uint32_t nth = 1;

    for (uint32_t i = 0; i < e; i++)
        nth += strcmp(pipeline->engine[i], pipeline->engine[e]) == 0;
    if (nth == 1)
        return pipeline->engine[e];
    snprintf(numbered, STATS_NAME_LEN, "%.50s-%u", pipeline->engine[e], nth);
    return numbered;
}

const char *stats_device(const struct sl_device *device, char numbered[STATS_NAME_LEN])
{
    if (device->kind == SL_DEVICE_CPU)
        return "cpu";
    snprintf(numbered, STATS_NAME_LEN, "cuda:%d", device->index);
    return numbered;
}

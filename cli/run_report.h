/* SPDX-License-Identifier: MIT */
/* The summary of a run: a text that a person likes to read, or one JSON object. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

#include "run/run_redundancy.h"
#include "run/run_sinks.h"
#include "run/run_source.h"
#include "sluice/mpm.h"
#include "sluice/pipeline.h"

struct report {
    const struct source *source;
    const struct findings *findings;
    const struct sl_rules *rules; /* NULL: none */
    const struct redundancy *redundancy;
    const struct run_names *names;
    const char *why; /* these devices */
    const struct sl_pipeline_config *config;
    const struct sl_pipeline_stats *stats;
    struct sl_mpm_info matcher; /* algorithm NULL: not switched on */
    bool details;               /* --stats */
};

void report_text(const struct report *report, FILE *out);
void report_json(const struct report *report, FILE *out);

#endif

/* SPDX-License-Identifier: MIT */
/* sluice run --names: names in packets that tables have rules for, counted. */
#ifndef CLI_RUN_NAMES_H
#define CLI_RUN_NAMES_H

#include <jansson.h>
#include <stdio.h>

#include "name_events.h"
#include "name_tables.h"
#include "sluice/packet_names.h"
#include "sluice/pipeline.h"
#include "sluice/sink.h"

/* A rule that matched. */
struct run_names_rule {
    uint64_t n;
    char *prefix;  /* its name */
    uint32_t rule; /* UINT32_MAX: a free slot */
};

struct run_names {
    struct name_tables tables; /* n 0: switched off */
    struct sl_names *names;
    struct sl_names_watch *watch;
    int engine;                 /* index of its hits, -1: not switched on */
    struct name_teller *teller; /* of drain's thread */

    uint64_t n_matched;
    struct run_names_rule *rules; /* a hash of them, at most three quarters full */
    uint32_t n_rules, n_slots;    /* a power of two */
};

/* Loads the tables and adds the engine to the pipeline's. False: said on stderr. */
bool run_names_open(struct run_names *names, struct sl_pipeline_config *config);

/* Counts a batch's matches. Of drain's thread. */
SL_CHECK enum sl_status run_names_count(struct run_names *names, const struct sl_batch *batch,
                                        const struct sl_hits *hits, struct sl_diag *diag);

void run_names_report(const struct run_names *names, bool details, FILE *out);
json_t *run_names_json(const struct run_names *names, bool details); /* the caller's */

void run_names_close(struct run_names *names);

#endif

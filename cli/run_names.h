/* SPDX-License-Identifier: MIT */
/* sluice run --names: names in packets that tables have rules for, told and counted. */
#ifndef CLI_RUN_NAMES_H
#define CLI_RUN_NAMES_H

#include <jansson.h>
#include <stdio.h>

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
    int engine; /* index of its hits, -1: not switched on */

    uint64_t n_matched;
    struct run_names_rule *rules; /* a hash of them, at most three quarters full */
    uint32_t n_rules, n_slots;    /* a power of two */

    /* The names of the item at hand, and the texts of a match. */
    const struct sl_batch *batch;
    uint32_t item, n_found;
    struct sl_packet_name found[SL_PACKET_NAMES_MAX];
    uint8_t *bytes;
    struct sl_name_match match;
    char *name, *host, *prefix, *values_text;
    const char **values;
    size_t max_values, max_values_text;
};

/* Loads the tables and adds the engine to the pipeline's. False: said on stderr. */
bool run_names_open(struct run_names *names, struct sl_pipeline_config *config);

/* A batch begins: its items are not those of the batch before. */
void run_names_batch(struct run_names *names, const struct sl_batch *batch);

/* Counts a match; with `event`, describes it there, its texts being valid until the next call. */
SL_CHECK enum sl_status run_names_take(struct run_names *names, const struct sl_hit *hit,
                                       struct sl_event *event, struct sl_diag *diag);

void run_names_report(const struct run_names *names, bool details, FILE *out);
json_t *run_names_json(const struct run_names *names, bool details); /* the caller's */

void run_names_close(struct run_names *names);

#endif

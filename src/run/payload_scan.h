/* SPDX-License-Identifier: MIT */
/* ClamAV's signatures in the payloads of a run: an engine finds anchors, what they belong to is
 * verified when a batch is drained. */
#ifndef CLI_VIRUS_H
#define CLI_VIRUS_H

#include <jansson.h>
#include <stdio.h>

#include "sluice/clamav.h"
#include "sluice/detect.h"
#include "sluice/pipeline.h"

enum { MAX_DATABASES = 16, VIRUS_GID = 600 };

struct virus {
    const char *databases[MAX_DATABASES];
    size_t n_databases; /* 0: not switched on */

    struct sl_clamav_db *db;
    int engine; /* index of its hits */

    void *names; /* those that matched, a tree of struct virus_name */
    size_t n_names;
    uint64_t n_found, n_payloads;
};

/* Loads or compiles the databases and adds the engine. False: said on stderr. */
bool virus_open(struct virus *virus, struct sl_pipeline_config *config);

/* What was found in a batch; one thread at a time. NULL, which all but create take: not switched
 * on. */
struct virus_batch;

enum sl_status virus_batch_create(struct virus_batch **found, const struct virus *virus,
                                  struct sl_diag *diag);
void virus_batch_free(struct virus_batch *found);

/* Takes a batch and the hits of each engine. */
enum sl_status virus_batch_scan(struct virus_batch *found, const struct virus *virus,
                                const struct sl_batch *batch, const struct sl_hits *hits,
                                struct sl_diag *diag);

/* The matches in the order of items; signatures as alerts have them, lent until the next. */
size_t virus_batch_count(const struct virus_batch *found);
uint32_t virus_batch_item(const struct virus_batch *found, size_t i);
const struct sl_signature *virus_batch_signature(struct virus_batch *found, size_t i);

/* Adds them to what the summary says. False: no memory. */
bool virus_count(struct virus *virus, const struct virus_batch *found);

void virus_report(const struct virus *virus, bool details, FILE *out);
json_t *virus_json(const struct virus *virus); /* the caller's */

void virus_close(struct virus *virus);

#endif

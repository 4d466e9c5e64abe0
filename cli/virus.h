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

/* A payload of the batch at hand and a signature that it matches. */
struct virus_match {
    uint32_t item;
    struct virus_name *name;
};

struct virus {
    const char *databases[MAX_DATABASES];
    size_t n_databases; /* 0: not switched on */

    struct sl_clamav_db *db;
    struct sl_clamav_scanner *scanner;
    int engine; /* index of its hits */
    struct virus_match *matches;
    size_t n_matches, max_matches;
    bool no_memory;

    void *names; /* those that matched, a tree of struct virus_name */
    size_t n_names;
    uint64_t n_found, n_payloads;
};

/* Loads or compiles the databases and adds the engine. False: said on stderr. */
bool virus_open(struct virus *virus, struct sl_pipeline_config *config);

/* Fills `matches` from a batch and the hits of each engine, in the order of items. */
enum sl_status virus_drain(struct virus *virus, const struct sl_batch *batch,
                           const struct sl_hits *hits, struct sl_diag *diag);

/* A match as alerts have it. */
void virus_signature(const struct virus_match *match, struct sl_signature *signature);

void virus_report(const struct virus *virus, bool details, FILE *out);
json_t *virus_json(const struct virus *virus); /* the caller's */

void virus_close(struct virus *virus);

#endif

/* SPDX-License-Identifier: MIT */
/* sluice run --redundancy: what eliminating redundancy would save of a capture, by one sampler or
 * by all. */
#ifndef CLI_REDUNDANCY_H
#define CLI_REDUNDANCY_H

#include <jansson.h>
#include <stdio.h>

#include "sluice/pipeline.h"
#include "sluice/redundancy.h"
#include "sluice/sampling.h"

enum { REDUNDANCY_SAMPLERS_MAX = 8 };

struct redundancy {
    const char *spec;  /* SAMPLER[,p=N][,w=N][,cache=N][,interval=N|Ns][,chunks][,no-raise]; NULL:
                          off */
    bool compare;      /* all samplers */
    const char *plot;  /* an SVG file; NULL: none */
    const char *train; /* a capture that samplebyte's markers are learned from; NULL: none */

    struct sl_sampling_config sampling;
    struct sl_savings_config config;
    bool no_raise; /* dynabyte leaves under-sampling as it is */
    struct redundancy_sampler {
        const char *name;
        struct sl_sampling_table *table;
        struct sl_savings *savings;
        int engine; /* the pipeline's; -1: sampled while draining, with what follows */
        struct sl_dynabyte *dynabyte;
        const struct sl_backend *backend;
        void *context;
        struct sl_hits hits;
    } samplers[REDUNDANCY_SAMPLERS_MAX];
    unsigned n_samplers;
};

/* Reads the options; false: said on stderr. */
bool redundancy_parse(struct redundancy *redundancy);

/* Learns samplebyte's markers and says them. False: said on stderr. */
bool redundancy_train(struct redundancy *redundancy);

/* Builds the samplers and adds those that need no state to the pipeline's engines. */
bool redundancy_open(struct redundancy *redundancy, struct sl_pipeline_config *config);

enum sl_status redundancy_drain(struct redundancy *redundancy, const struct sl_batch *batch,
                                const struct sl_hits *hits, struct sl_diag *diag);

void redundancy_report(const struct redundancy *redundancy, FILE *out);
json_t *redundancy_json(const struct redundancy *redundancy); /* an array; the caller's */

/* Draws the intervals by gnuplot. False: said on stderr. */
bool redundancy_plot(const struct redundancy *redundancy);

void redundancy_close(struct redundancy *redundancy);

#endif

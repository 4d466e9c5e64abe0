/* SPDX-License-Identifier: MIT */
/* Savings of redundancy elimination on a run's traffic, by one sampler or by all. */
#ifndef RUN_REDUNDANCY_H
#define RUN_REDUNDANCY_H

#include "run_policy.h"

/* A sampler, and what is saved by its samples. */
struct run_sampler {
    const char *name;
    struct sl_sampling_table *table;
    struct sl_savings *savings;
    int engine; /* the pipeline's; -1: samples are taken while draining, as each batch's depend on
                   the batches before */
    struct sl_dynabyte *dynabyte;
    const struct sl_backend *backend;
    void *context;
    struct sl_hits hits;
};

struct run_redundancy {
    struct sl_run_redundancy config; /* markers may be learned before it is opened */
    struct run_sampler samplers[SL_RUN_SAMPLERS_MAX];
    unsigned n_samplers;
};

void run_redundancy_init(struct run_redundancy *redundancy, const struct sl_run_config *config);

/* Where the config switches it on: builds the samplers, and adds those without a state to the
 * pipeline's engines. */
enum sl_status run_redundancy_open(struct run_redundancy *redundancy,
                                   const struct run_variants *variants,
                                   struct sl_pipeline_config *pipeline, struct sl_diag *diag);

/* Counts a batch, in the order of the traffic; hits[e] are of engine e. */
enum sl_status run_redundancy_drain(struct run_redundancy *redundancy, const struct sl_batch *batch,
                                    const struct sl_hits *hits, struct sl_diag *diag);

void run_redundancy_clear(struct run_redundancy *redundancy);

#endif

/* SPDX-License-Identifier: MIT */
/* Savings of redundancy elimination on a run's traffic, by one sampler or by all. */
#ifndef RUN_REDUNDANCY_H
#define RUN_REDUNDANCY_H

#include "redundancy/savings/savings_job.h"
#include "run_policy.h"

/* A sampler, and the savings by its samples. */
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

/* Makes room for the batches in flight, before the first one. SL_ENOMEM. */
enum sl_status run_redundancy_begin(struct run_redundancy *redundancy, uint32_t n_batches,
                                    struct sl_diag *diag);

/* A batch on its way through the samplers without a state. */
struct run_savings {
    struct savings_job *job[SL_RUN_SAMPLERS_MAX];
};
void run_savings_free(struct run_savings *savings);

/* The steps of a batch; hits[e] are of engine e. The digest takes its samples, and any thread may.
 * Each shard takes one batch after another, in the order of the traffic. Once all shards have taken
 * it, any thread matches it. Batches are added in the order of the traffic. */
enum sl_status run_redundancy_digest(struct run_redundancy *redundancy, struct run_savings *savings,
                                     const struct sl_batch *batch, const struct sl_hits *hits,
                                     struct sl_diag *diag);
void run_redundancy_settle(struct run_redundancy *redundancy, const struct run_savings *savings,
                           const struct sl_batch *batch, uint32_t shard, uint32_t n_shards);
void run_redundancy_report(struct run_redundancy *redundancy, const struct run_savings *savings,
                           const struct sl_batch *batch);
enum sl_status run_redundancy_drain(struct run_redundancy *redundancy,
                                    const struct run_savings *savings, const struct sl_batch *batch,
                                    struct sl_diag *diag);

void run_redundancy_clear(struct run_redundancy *redundancy);

#endif

/* SPDX-License-Identifier: MIT */
#include "run_redundancy.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sluice/capture.h"

enum { DYNABYTE_INTERVAL = 8 << 20 /* bytes: two batches */ };

void run_redundancy_init(struct run_redundancy *redundancy, const struct sl_run_config *config)
{
    memset(redundancy, 0, sizeof *redundancy);
    redundancy->config = config->redundancy;
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum sl_status open_dynabyte(const struct run_redundancy *redundancy,
                                    struct run_sampler *sampler,
                                    const struct sl_pipeline_config *pipeline, struct sl_diag *diag)
{
    const struct sl_limits limits = {.max_items = pipeline->batch_items,
                                     .max_bytes = pipeline->batch_len + SL_BATCH_ALIGN,
                                     .max_hits = pipeline->batch_len};
    struct sl_dynabyte_config config;

    sl_dynabyte_config_init(&config);
    config.window = redundancy->config.sampling.window;
    config.period = redundancy->config.sampling.period;
    config.interval = DYNABYTE_INTERVAL;
    config.raise = !redundancy->config.no_raise;
    sampler->hits.cap = limits.max_hits;
    sampler->hits.hit = malloc(sampler->hits.cap * sizeof *sampler->hits.hit);
    sampler->backend = sl_engine_choose(sl_sampling_engine(sampler->table), SL_DEVICE_CPU, NULL);
    if (sampler->hits.hit == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for samples");
    const enum sl_status status = sl_dynabyte_create(&sampler->dynabyte, &config, diag);
    return status == SL_OK
               ? sampler->backend->open(&sampler->context, sampler->table, &limits, diag)
               : status;
}

static enum sl_status open_sampler(struct run_redundancy *redundancy, const char *name,
                                   const struct run_variants *variants,
                                   struct sl_pipeline_config *pipeline, struct sl_diag *diag)
{
    struct run_sampler *sampler = &redundancy->samplers[redundancy->n_samplers++];
    struct sl_sampling_config sampling = redundancy->config.sampling;
    struct sl_savings_config savings = redundancy->config.savings;
    enum sl_status status;

    sampler->name = name;
    sampling.sampler = strcmp(variants->sampler, name) == 0 ? variants->sampling : name;
    sampler->engine = -1;
    if (strcmp(name, "every") == 0)
        sampling.period = savings.redundancy.period = 1;
    status = sl_sampling_build(&sampler->table, &sampling, diag);
    if (status == SL_OK)
        status = sl_savings_create(&sampler->savings, &savings, diag);
    if (status != SL_OK)
        return status;
    if (strcmp(name, "dynabyte") == 0)
        return open_dynabyte(redundancy, sampler, pipeline, diag);
    sampler->engine = run_add_engine(pipeline, sl_sampling_engine(sampler->table), sampler->table);
    return SL_OK;
}

enum sl_status run_redundancy_open(struct run_redundancy *redundancy,
                                   const struct run_variants *variants,
                                   struct sl_pipeline_config *pipeline, struct sl_diag *diag)
{
    const struct sl_run_redundancy *config = &redundancy->config;
    struct sl_redundancy_config *matching = &redundancy->config.savings.redundancy;
    enum sl_status status = SL_OK;

    if (!config->on)
        return SL_OK;
    matching->window = config->sampling.window;
    matching->period = config->sampling.period;
    matching->min_match =
        matching->chunks || matching->window < 16 ? SL_REFERENCE_MIN : matching->window;
    matching->batch_len = pipeline->batch_len + SL_BATCH_ALIGN;
    matching->max_items = pipeline->batch_items;
    matching->frame_max = SL_CAPTURE_PACKET_MAX;
    if (!config->compare)
        return open_sampler(redundancy, config->sampling.sampler, variants, pipeline, diag);
    for (size_t i = 0; sl_samplers()[i] != NULL && status == SL_OK; i++)
        status = open_sampler(redundancy, sl_samplers()[i], variants, pipeline, diag);
    return status;
}

void run_redundancy_clear(struct run_redundancy *redundancy)
{
    for (unsigned i = 0; i < redundancy->n_samplers; i++) {
        struct run_sampler *sampler = &redundancy->samplers[i];

        if (sampler->context != NULL)
            sampler->backend->close(sampler->context);
        sl_dynabyte_free(sampler->dynabyte);
        free(sampler->hits.hit);
        sl_savings_free(sampler->savings);
        sl_sampling_free(sampler->table);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

enum sl_status run_redundancy_begin(struct run_redundancy *redundancy, uint32_t n_batches,
                                    struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (unsigned i = 0; i < redundancy->n_samplers && status == SL_OK; i++)
        if (redundancy->samplers[i].engine >= 0)
            status = savings_set_in_flight(redundancy->samplers[i].savings, n_batches, diag);
    return status;
}

void run_savings_free(struct run_savings *savings)
{
    for (unsigned i = 0; i < SL_RUN_SAMPLERS_MAX; i++)
        savings_job_free(savings->job[i]);
}

enum sl_status run_redundancy_digest(struct run_redundancy *redundancy, struct run_savings *savings,
                                     const struct sl_batch *batch, const struct sl_hits *hits,
                                     struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (unsigned i = 0; i < redundancy->n_samplers && status == SL_OK; i++) {
        const struct run_sampler *sampler = &redundancy->samplers[i];

        if (sampler->engine < 0)
            continue;
        if (savings->job[i] == NULL)
            status = savings_job_create(&savings->job[i], sampler->savings, diag);
        if (status == SL_OK)
            status = savings_sample(sampler->savings, savings->job[i], batch,
                                    &hits[sampler->engine], diag);
    }
    return status;
}

void run_redundancy_settle(struct run_redundancy *redundancy, const struct run_savings *savings,
                           const struct sl_batch *batch, uint32_t shard, uint32_t n_shards)
{
    for (unsigned i = 0; i < redundancy->n_samplers; i++)
        for (uint32_t part = shard; part < CACHE_PARTS && savings->job[i] != NULL; part += n_shards)
            savings_take(redundancy->samplers[i].savings, savings->job[i], batch, part);
}

void run_redundancy_report(struct run_redundancy *redundancy, const struct run_savings *savings,
                           const struct sl_batch *batch)
{
    for (unsigned i = 0; i < redundancy->n_samplers; i++)
        if (savings->job[i] != NULL)
            savings_match(redundancy->samplers[i].savings, savings->job[i], batch);
}

/* The sampler whose state follows the traffic: one batch after another. */
static enum sl_status sample_in_order(struct run_sampler *sampler, const struct sl_batch *batch,
                                      struct sl_diag *diag)
{
    struct sl_dynabyte_state state;
    uint64_t ticket;
    enum sl_status status = sl_dynabyte_begin(sampler->dynabyte, batch, &state, &ticket);

    if (status == SL_OK)
        status = sl_dynabyte_use(sampler->context, &state);
    if (status == SL_OK)
        status = sampler->backend->submit(sampler->context, batch, &sampler->hits);
    if (status == SL_OK)
        status = sampler->backend->wait(sampler->context);
    if (status != SL_OK)
        return diag_set(diag, status, NULL, 0, "sampling a batch: %s", sl_status_text(status));
    sl_dynabyte_end(sampler->dynabyte, ticket, sampler->hits.n);
    return SL_OK;
}

enum sl_status run_redundancy_drain(struct run_redundancy *redundancy,
                                    const struct run_savings *savings, const struct sl_batch *batch,
                                    struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (unsigned i = 0; i < redundancy->n_samplers && status == SL_OK; i++) {
        struct run_sampler *sampler = &redundancy->samplers[i];

        if (sampler->engine >= 0) {
            status = savings_add(sampler->savings, savings->job[i], diag);
            continue;
        }
        status = sample_in_order(sampler, batch, diag);
        if (status == SL_OK)
            status = sl_savings_batch(sampler->savings, batch, &sampler->hits, diag);
    }
    return status;
}

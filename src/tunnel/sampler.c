/* SPDX-License-Identifier: MIT */
#include "sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { HITS_EACH = 4 /* room for this many times the hits that the period promises */ };

static enum sl_status open_dynabyte(struct sampler *sampler,
                                    const struct sl_sampling_config *sampling, struct sl_diag *diag)
{
    struct sl_dynabyte_config config;

    sl_dynabyte_config_init(&config);
    config.window = sampling->window;
    config.period = sampling->period;
    memcpy(config.marker, sampling->marker, sizeof config.marker);
    return sl_dynabyte_create(&sampler->dynabyte, &config, diag);
}

enum sl_status sampler_open(struct sampler *sampler, const struct sl_sampling_config *config,
                            uint32_t max_bytes, uint32_t max_items, struct sl_diag *diag)
{
    const struct sl_limits limits = {.max_items = max_items,
                                     .max_bytes = max_bytes,
                                     .max_hits = max_bytes / config->period * HITS_EACH + 64};
    char why[SL_WHY_LEN] = "";

    *sampler = (struct sampler){0};
    enum sl_status status = sl_sampling_build(&sampler->table, config, diag);
    if (status != SL_OK)
        return status;

    const struct sl_engine *const engine = sl_sampling_engine(sampler->table);
    sampler->backend = sl_engine_choose(engine, SL_DEVICE_CPU, why);
    if (sampler->backend == NULL)
        return diag_set(diag, SL_EUNSUPPORTED, NULL, 0, "no sampler runs here: %s", why);
    status =
        sl_engine_open(&sampler->context, engine, sampler->backend, sampler->table, &limits, diag);
    if (status == SL_OK && strcmp(config->sampler, "dynabyte") == 0)
        status = open_dynabyte(sampler, config, diag);
    if (status != SL_OK)
        return status;
    sampler->hits.cap = limits.max_hits;
    sampler->hits.hit = malloc(sampler->hits.cap * sizeof *sampler->hits.hit);
    if (sampler->hits.hit == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u samples", limits.max_hits);
    return SL_OK;
}

enum sl_status sampler_take(struct sampler *sampler, const struct sl_batch *batch,
                            struct sl_diag *diag)
{
    struct sl_dynabyte_state state;
    uint64_t ticket = 0;
    enum sl_status status = SL_OK;

    if (sampler->dynabyte != NULL)
        status = sl_dynabyte_begin(sampler->dynabyte, batch, &state, &ticket);
    if (status == SL_OK && sampler->dynabyte != NULL)
        status = sl_dynabyte_use(sampler->context, &state);
    sampler->hits.n = 0;
    sampler->hits.in_order = false;
    if (status == SL_OK)
        status = sampler->backend->submit(sampler->context, batch, &sampler->hits);
    if (status == SL_OK)
        status = sampler->backend->wait(sampler->context);
    if (status != SL_OK && status != SL_EOVERFLOW)
        return diag_set(diag, status, NULL, 0, "sampling: %s", sl_status_text(status));
    if (sampler->dynabyte != NULL)
        sl_dynabyte_end(sampler->dynabyte, ticket, sampler->hits.n);
    if (sampler->hits.n > sampler->hits.cap)
        sampler->hits.n = sampler->hits.cap;
    return SL_OK;
}

void sampler_close(struct sampler *sampler)
{
    if (sampler->context != NULL)
        sampler->backend->close(sampler->context);
    free(sampler->hits.hit);
    sl_dynabyte_free(sampler->dynabyte);
    sl_sampling_free(sampler->table);
    *sampler = (struct sampler){0};
}

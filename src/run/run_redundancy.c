/* SPDX-License-Identifier: MIT */
#include "run_redundancy.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "cli.h"
#include "encode.h"
#include "sluice/capture.h"

enum { DYNABYTE_INTERVAL = 8 << 20 /* bytes: two batches */ };

#define NS_PER_SECOND INT64_C(1000000000)

/* ---- options --------------------------------------------------------------------------------- */

static bool known_sampler(const char *name, size_t len, const char **known)
{
    for (size_t i = 0; sl_samplers()[i] != NULL; i++)
        if (strlen(sl_samplers()[i]) == len && memcmp(sl_samplers()[i], name, len) == 0) {
            *known = sl_samplers()[i];
            return true;
        }
    return false;
}

/* Bytes as parse_bytes reads them, or, where it ends in s, seconds that nanoseconds can tell. */
static bool read_value(const char *text, size_t len, uint64_t *value, bool *seconds)
{
    char copy[32];

    *seconds = len > 0 && text[len - 1] == 's';
    len -= *seconds;
    if (len == 0 || len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return parse_bytes(copy, value) && (!*seconds || *value <= INT64_MAX / NS_PER_SECOND);
}

static bool set_value(struct redundancy *redundancy, const char *name, size_t len, uint64_t value,
                      bool seconds)
{
    struct sl_savings_config *config = &redundancy->config;

    if (len == 8 && memcmp(name, "interval", len) == 0) {
        config->interval_len = seconds ? 0 : value;
        config->interval_ns = seconds ? (int64_t)value * NS_PER_SECOND : 0;
    } else if (seconds || len == 0) {
        return false;
    } else if (len == 5 && memcmp(name, "cache", len) == 0) {
        config->redundancy.cache_len = value;
    } else if (value <= UINT32_MAX && len == 1 && *name == 'p') {
        redundancy->sampling.period = (uint32_t)value;
    } else if (value <= UINT32_MAX && len == 1 && *name == 'w') {
        redundancy->sampling.window = (uint32_t)value;
    } else {
        return false;
    }
    return true;
}

/* One of the parts between commas behind the sampler's name. */
static bool parse_part(struct redundancy *redundancy, const char *part, size_t len)
{
    const char *const equals = memchr(part, '=', len);
    uint64_t value;
    bool seconds;

    if (len == 6 && memcmp(part, "chunks", len) == 0) {
        redundancy->config.redundancy.chunks = true;
        return true;
    }
    if (len == 8 && memcmp(part, "no-raise", len) == 0) {
        redundancy->no_raise = true;
        return true;
    }
    if (equals != NULL &&
        read_value(equals + 1, len - (size_t)(equals + 1 - part), &value, &seconds) &&
        set_value(redundancy, part, (size_t)(equals - part), value, seconds))
        return true;
    cli_error(
        "--redundancy: '%.*s' (expected p=N, w=N, cache=N, interval=N or interval=Ns, with K, "
        "M or G, or chunks, or no-raise)",
        (int)len, part);
    return false;
}

static bool parse_sampler(struct redundancy *redundancy, const char *name, size_t len)
{
    char list[256] = "";

    if (known_sampler(name, len, &redundancy->sampling.sampler))
        return true;
    for (size_t i = 0, n = 0; sl_samplers()[i] != NULL; i++)
        n += (size_t)snprintf(list + n, n < sizeof list ? sizeof list - n : 0, "%s%s",
                              i > 0 ? ", " : "", sl_samplers()[i]);
    cli_error("--redundancy: unknown sampler '%.*s' (expected one of %s)", (int)len, name, list);
    return false;
}

bool redundancy_parse(struct redundancy *redundancy)
{
    const char *part = redundancy->spec;
    bool first = true;

    if (part == NULL) {
        const char *const lone = redundancy->compare         ? "--compare"
                                 : redundancy->plot != NULL  ? "--plot"
                                 : redundancy->train != NULL ? "--train"
                                                             : NULL;

        if (lone != NULL)
            cli_error("%s needs --redundancy", lone);
        return lone == NULL;
    }
    sl_sampling_config_init(&redundancy->sampling);
    sl_savings_config_init(&redundancy->config);
    redundancy->sampling.period = redundancy->config.redundancy.period;
    for (; part != NULL; first = false) {
        const size_t len = strcspn(part, ",");

        if (!(first ? parse_sampler : parse_part)(redundancy, part, len))
            return false;
        part = part[len] == ',' ? part + len + 1 : NULL;
    }
    if (redundancy->no_raise && !redundancy->compare &&
        strcmp(redundancy->sampling.sampler, "dynabyte") != 0) {
        cli_error("--redundancy: no-raise is for dynabyte");
        return false;
    }
    if (redundancy->train == NULL || redundancy->compare ||
        strcmp(redundancy->sampling.sampler, "samplebyte") == 0)
        return true;
    cli_error("--train '%s' is for samplebyte (--redundancy samplebyte, or --compare)",
              redundancy->train);
    return false;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool open_dynabyte(const struct redundancy *redundancy, struct redundancy_sampler *sampler,
                          const struct sl_pipeline_config *pipeline, struct sl_diag *diag)
{
    const struct sl_limits limits = {.max_items = pipeline->batch_items,
                                     .max_bytes = pipeline->batch_len + SL_BATCH_ALIGN,
                                     .max_hits = pipeline->batch_len};
    struct sl_dynabyte_config config;

    sl_dynabyte_config_init(&config);
    config.window = redundancy->sampling.window;
    config.period = redundancy->sampling.period;
    config.interval = DYNABYTE_INTERVAL;
    config.raise = !redundancy->no_raise;
    sampler->hits.cap = limits.max_hits;
    sampler->hits.hit = malloc(sampler->hits.cap * sizeof *sampler->hits.hit);
    sampler->backend = sl_engine_choose(sl_sampling_engine(sampler->table), SL_DEVICE_CPU, NULL);
    if (sampler->hits.hit == NULL) {
        (void)diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for samples");
        return false;
    }
    return sl_dynabyte_create(&sampler->dynabyte, &config, diag) == SL_OK &&
           sampler->backend->open(&sampler->context, sampler->table, &limits, diag) == SL_OK;
}

static bool open_sampler(struct redundancy *redundancy, const char *name,
                         struct sl_pipeline_config *pipeline)
{
    struct redundancy_sampler *sampler = &redundancy->samplers[redundancy->n_samplers++];
    struct sl_sampling_config sampling = redundancy->sampling;
    struct sl_savings_config config = redundancy->config;
    struct sl_diag diag = {0};
    bool good;

    sampling.sampler = sampler->name = name;
    sampler->engine = -1;
    if (strcmp(name, "every") == 0)
        sampling.period = config.redundancy.period = 1;
    good = sl_sampling_build(&sampler->table, &sampling, &diag) == SL_OK &&
           sl_savings_create(&sampler->savings, &config, &diag) == SL_OK;
    if (good && strcmp(name, "dynabyte") == 0) {
        good = open_dynabyte(redundancy, sampler, pipeline, &diag);
    } else if (good) {
        sampler->engine = (int)pipeline->n_engines;
        pipeline->engines[pipeline->n_engines].engine = sl_sampling_engine(sampler->table);
        pipeline->engines[pipeline->n_engines++].table = sampler->table;
    }
    if (!good)
        cli_diag(&diag);
    return good;
}

bool redundancy_open(struct redundancy *redundancy, struct sl_pipeline_config *pipeline)
{
    struct sl_redundancy_config *config = &redundancy->config.redundancy;

    if (redundancy->spec == NULL)
        return true;
    config->window = redundancy->sampling.window;
    config->period = redundancy->sampling.period;
    config->min_match = config->chunks || config->window < 16 ? SL_REFERENCE_MIN : config->window;
    config->batch_len = pipeline->batch_len + SL_BATCH_ALIGN;
    config->max_items = pipeline->batch_items;
    config->frame_max = SL_CAPTURE_PACKET_MAX;
    if (!redundancy->compare)
        return open_sampler(redundancy, redundancy->sampling.sampler, pipeline);
    for (size_t i = 0; sl_samplers()[i] != NULL; i++)
        if (!open_sampler(redundancy, sl_samplers()[i], pipeline))
            return false;
    return true;
}

void redundancy_close(struct redundancy *redundancy)
{
    for (unsigned i = 0; i < redundancy->n_samplers; i++) {
        struct redundancy_sampler *sampler = &redundancy->samplers[i];

        if (sampler->context != NULL)
            sampler->backend->close(sampler->context);
        sl_dynabyte_free(sampler->dynabyte);
        free(sampler->hits.hit);
        sl_savings_free(sampler->savings);
        sl_sampling_free(sampler->table);
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

/* The sampler whose state follows the traffic: one batch after another. */
static enum sl_status sample_here(struct redundancy_sampler *sampler, const struct sl_batch *batch,
                                  struct sl_diag *diag)
{
    struct sl_dynabyte_state state;
    uint64_t ticket;
    enum sl_status status = sl_dynabyte_begin(sampler->dynabyte, batch, &state, &ticket);

    if (status == SL_OK) {
        sl_dynabyte_use(sampler->context, &state);
        status = sampler->backend->submit(sampler->context, batch, &sampler->hits);
    }
    if (status == SL_OK)
        status = sampler->backend->wait(sampler->context);
    if (status != SL_OK)
        return diag_set(diag, status, NULL, 0, "sampling a batch: %s", sl_status_text(status));
    sl_dynabyte_end(sampler->dynabyte, ticket, sampler->hits.n);
    return SL_OK;
}

enum sl_status redundancy_drain(struct redundancy *redundancy, const struct sl_batch *batch,
                                const struct sl_hits *hits, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (unsigned i = 0; i < redundancy->n_samplers && status == SL_OK; i++) {
        struct redundancy_sampler *sampler = &redundancy->samplers[i];

        if (sampler->engine < 0)
            status = sample_here(sampler, batch, diag);
        if (status == SL_OK) {
            struct sl_hits mine = sampler->engine < 0 ? sampler->hits : hits[sampler->engine];

            status = sl_savings_batch(sampler->savings, batch, &mine, diag);
        }
    }
    return status;
}

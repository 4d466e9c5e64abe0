/* SPDX-License-Identifier: MIT */
#include "sluice/sampling.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/papers.h"
#include "base/reserved.h"
#include "engines/sampling/papers/sampling_papers.h"
#include "sampling_internal.h"

/* All samplers; X(name) stands for the descriptor sampler_<name>. */
#define SAMPLERS(X) X(rabin) X(samplebyte) X(dynabyte) X(maxp) X(every)

#define DECLARE(name) extern const struct sampler sampler_##name;
SAMPLERS(DECLARE)

#define POINTER(name) &sampler_##name,
static const struct sampler *const samplers[] = {SAMPLERS(POINTER)};

#define NAME(name) #name,
static const char *const names[] = {SAMPLERS(NAME) NULL};

#define LISTED(name) " " #name

/* ---- the papers' variants -------------------------------------------------------------------- */

#define DECLARE_BACKEND(variant, backend) extern const struct sl_backend backend;
RABIN_PAPERS_BUILT(DECLARE_BACKEND)
SAMPLEBYTE_PAPERS_BUILT(DECLARE_BACKEND)

/* One backend of a sampler as an engine of its own; without backends where the build leaves it
 * out. */
struct variant {
    const struct sampler *sampler;
    struct sl_engine engine;
};

#define RABIN_VARIANT(variant, backend) \
    {&sampler_rabin, {"sampling." variant, SAMPLING_PAPER_ALONE(backend), sampling_takes}},
#define SAMPLEBYTE_VARIANT(variant, backend) \
    {&sampler_samplebyte, {"sampling." variant, SAMPLING_PAPER_ALONE(backend), sampling_takes}},
static const struct variant variants[] = {RABIN_PAPERS(RABIN_VARIANT)
                                              SAMPLEBYTE_PAPERS(SAMPLEBYTE_VARIANT)};

/* In the order of `variants`. */
#define VARIANT_NAME(variant, backend) variant,
static const char *const variant_names[] = {RABIN_PAPERS(VARIANT_NAME)
                                                SAMPLEBYTE_PAPERS(VARIANT_NAME) NULL};

#define VARIANT_LISTED(variant, backend) " " variant

/* ---- by name --------------------------------------------------------------------------------- */

/* The meaning of a configuration's name: a sampler, and the engine of it or of a variant. */
struct choice {
    const struct sampler *sampler;
    const struct sl_engine *engine;
};

static enum sl_status choose(struct choice *choice, const char *name, struct sl_diag *diag)
{
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++)
        if (strcmp(samplers[i]->name, name) == 0) {
            *choice = (struct choice){samplers[i], samplers[i]->engine};
            return SL_OK;
        }
    for (size_t i = 0; variant_names[i] != NULL; i++)
        if (strcmp(variant_names[i], name) == 0) {
            if (variants[i].engine.backends == NULL)
                return papers_left_out(name, diag);
            *choice = (struct choice){variants[i].sampler, &variants[i].engine};
            return SL_OK;
        }
    return diag_set(diag, SL_EINVAL, NULL, 0,
                    "unknown sampler '%s' (expected one of:" SAMPLERS(
                        LISTED) ", or a variant:" RABIN_PAPERS(VARIANT_LISTED)
                        SAMPLEBYTE_PAPERS(VARIANT_LISTED) ")",
                    name);
}

const char *const *sl_samplers(void)
{
    return names;
}

const char *const *sl_sampling_variants(void)
{
    return variant_names;
}

enum sl_status sl_sampling_variant(const char **sampler, const char *name, struct sl_diag *diag)
{
    struct choice choice;
    const enum sl_status status = choose(&choice, name, diag);

    if (status == SL_OK)
        *sampler = choice.sampler->name;
    return status;
}

/* ---- tables ---------------------------------------------------------------------------------- */

void sl_sampling_config_init(struct sl_sampling_config *config)
{
    /* Frequent in text, in binary data and in padding alike. */
    static const uint8_t markers[] = {0x00, ' ', '0', 'e', 'i', 's', 't', 0xFF};

    *config = (struct sl_sampling_config){
        .sampler = "rabin",
        .window = 32,
        .period = 256,
        .polynomial = UINT64_C(0xbfe6b8a5bf378d83), /* LBFS', of degree 63 */
        .magic = 0x78,
    };
    for (size_t i = 0; i < sizeof markers; i++)
        config->marker[markers[i]] = true;
}

enum sl_status sampling_check(uint32_t window, uint32_t period, struct sl_diag *diag)
{
    if (window < SL_SAMPLING_WINDOW_MIN || window > SL_SAMPLING_WINDOW_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a window of %u bytes (expected %d to %d)",
                        window, SL_SAMPLING_WINDOW_MIN, SL_SAMPLING_WINDOW_MAX);
    if (period < 1 || period > SL_SAMPLING_PERIOD_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a period of %u bytes (expected 1 to %d)", period,
                        SL_SAMPLING_PERIOD_MAX);
    return SL_OK;
}

enum sl_status sl_sampling_build(struct sl_sampling_table **table,
                                 const struct sl_sampling_config *config, struct sl_diag *diag)
{
    struct choice choice;
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status == SL_OK)
        status = choose(&choice, config->sampler, diag);
    if (status == SL_OK)
        status = sampling_check(config->window, config->period, diag);
    if (status == SL_OK)
        status = choice.sampler->build(table, config, diag);
    if (status == SL_OK)
        (*table)->engine = choice.engine;
    return status;
}

void sl_sampling_free(struct sl_sampling_table *table)
{
    free(table);
}

/* A table of each engine has a word or more. */
bool sampling_takes(const struct sl_engine *engine, const void *table)
{
    return ((const struct sl_sampling_table *)table)->engine == engine;
}

const struct sl_engine *sl_sampling_engine(const struct sl_sampling_table *table)
{
    return table->engine;
}

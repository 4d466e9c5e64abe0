/* SPDX-License-Identifier: MIT */
#include "sluice/sampling.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sampling_internal.h"

/* All samplers; X(name) stands for the descriptor sampler_<name>. */
#define SAMPLERS(X) X(rabin) X(samplebyte) X(dynabyte) X(maxp) X(every)

#define DECLARE(name) extern const struct sampler sampler_##name;
SAMPLERS(DECLARE)

#define POINTER(name) &sampler_##name,
static const struct sampler *const samplers[] = {SAMPLERS(POINTER)};

#define NAME(name) #name,
const char *const sl_samplers[] = {SAMPLERS(NAME) NULL};

#define LISTED(name) " " #name

static const struct sampler *find_sampler(const char *name)
{
    for (size_t i = 0; i < sizeof samplers / sizeof samplers[0]; i++)
        if (strcmp(samplers[i]->name, name) == 0)
            return samplers[i];
    return NULL;
}

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
    const struct sampler *sampler = find_sampler(config->sampler);

    if (sampler == NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "unknown sampler '%s' (expected one of:" SAMPLERS(LISTED) ")",
                        config->sampler);

    const enum sl_status status = sampling_check(config->window, config->period, diag);
    return status == SL_OK ? sampler->build(table, config, diag) : status;
}

void sl_sampling_free(struct sl_sampling_table *table)
{
    free(table);
}

const struct sl_engine *sl_sampling_engine(const struct sl_sampling_table *table)
{
    return table->sampler->engine;
}

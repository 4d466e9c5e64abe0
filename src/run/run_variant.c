/* SPDX-License-Identifier: MIT */
#include "run_variant.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"

/* ---- each part: the variant is known and has a use ------------------------------------------- */

static enum sl_status no_use(const char *variant, const char *reason, struct sl_diag *diag)
{
    return diag_set(diag, SL_EINVAL, NULL, 0, "variant '%s' has no use: %s", variant, reason);
}

/* An empty table gives the reason where there is no such algorithm in this build. */
static enum sl_status check_matcher(struct run_variants *variants,
                                    const struct sl_run_config *config, struct sl_diag *diag)
{
    struct sl_mpm_table *table;
    struct sl_mpm_config mpm;

    if (config->n_rule_files == 0 && config->rules == NULL)
        return no_use(variants->matcher, "there are no rules", diag);
    if (config->compiled != NULL)
        return no_use(variants->matcher, "the literals are compiled already", diag);
    sl_mpm_config_init(&mpm);
    mpm.algorithm = variants->matcher;
    const enum sl_status status = sl_mpm_build(&table, &mpm, NULL, 0, diag);
    if (status == SL_OK)
        sl_mpm_free(table);
    return status;
}

static enum sl_status check_sampling(struct run_variants *variants,
                                     const struct sl_run_config *config, struct sl_diag *diag)
{
    const struct sl_run_redundancy *redundancy = &config->redundancy;
    const char *sampler;
    const enum sl_status status = sl_sampling_variant(&sampler, variants->sampling, diag);

    if (status != SL_OK)
        return status;
    snprintf(variants->sampler, sizeof variants->sampler, "%s", sampler);
    if (!redundancy->on)
        return no_use(variants->sampling, "redundancy is not measured", diag);
    if (!redundancy->compare && strcmp(redundancy->sampling.sampler, sampler) != 0)
        return no_use(variants->sampling, "the run has another sampler", diag);
    return SL_OK;
}

static enum sl_status check_plane(struct run_variants *variants, const struct sl_run_config *config,
                                  struct sl_diag *diag)
{
    struct sl_names *names = NULL;

    if (config->names.n_files == 0)
        return no_use(variants->plane, "there are no tables of names", diag);
    if (config->names.n_files == 1 && sl_names_is_saved(config->names.files[0].path))
        return no_use(variants->plane, "the table of names is built already", diag);
    enum sl_status status = sl_names_create(&names, diag);
    if (status == SL_OK)
        status = sl_names_build(names, variants->plane, diag);
    sl_names_free(names);
    return status;
}

/* ---- the list -------------------------------------------------------------------------------- */

static bool copy(char to[RUN_VARIANT_LEN], const char *from, size_t len)
{
    if (len == 0 || len >= RUN_VARIANT_LEN)
        return false;
    memcpy(to, from, len);
    to[len] = '\0';
    return true;
}

static bool is_part(const char *text, size_t len, const char *part)
{
    return strlen(part) < len && memcmp(text, part, strlen(part)) == 0;
}

static enum sl_status parse_one(struct run_variants *variants, const struct sl_run_config *config,
                                const char *text, size_t len, struct sl_diag *diag)
{
    if (is_part(text, len, "mpm:") && copy(variants->matcher, text + 4, len - 4))
        return check_matcher(variants, config, diag);
    if (is_part(text, len, "sampling:") && copy(variants->sampling, text + 9, len - 9))
        return check_sampling(variants, config, diag);
    if (is_part(text, len, "names:") && copy(variants->plane, text + 6, len - 6))
        return check_plane(variants, config, diag);
    return diag_set(diag, SL_EINVAL, NULL, 0,
                    "'%.*s' is no variant (expected mpm:ALGORITHM, sampling:SAMPLER or "
                    "names:PLANE)",
                    (int)len, text);
}

enum sl_status run_variants_parse(struct run_variants *variants, const struct sl_run_config *config,
                                  struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    memset(variants, 0, sizeof *variants);
    for (const char *text = config->variants; text != NULL && status == SL_OK;) {
        const size_t len = strcspn(text, ",");

        status = parse_one(variants, config, text, len, diag);
        text = text[len] == ',' ? text + len + 1 : NULL;
    }
    return status;
}

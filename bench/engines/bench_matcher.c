/* SPDX-License-Identifier: MIT */
#include "bench_matcher.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/console.h"
#include "engines/mpm/mpm_internal.h"

/* Algorithms, and backends of others, that are left out unless the algorithm is named: minutes a
 * row, as they compare with one literal after another. */
static const char *const slow[] = {"naive", "rk.cuda-block", "rk.cuda-thread", NULL};

static bool is_in(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

bool mpm_is_slow(const char *name)
{
    return is_in(slow, name);
}

const char *mpm_algorithm_at(size_t n)
{
    size_t n_own = 0;

    while (sl_mpm_algorithms()[n_own] != NULL)
        n_own++;
    if (n < n_own)
        return sl_mpm_algorithms()[n];
    return n == n_own && mpm_find_algorithm("vectorscan") != NULL ? "vectorscan" : NULL;
}

bool mpm_known(const char *algorithm)
{
    return strcmp(algorithm, "auto") == 0 || mpm_find_algorithm(algorithm) != NULL;
}

struct sl_mpm_table *mpm_build(const char *algorithm, enum sl_device_kind kind,
                               const struct bench_data *sample, const struct sl_literal *literals,
                               size_t n_literals, char why[320])
{
    struct sl_mpm_config config;
    struct sl_mpm_table *table;
    struct sl_diag diag = {0};

    sl_mpm_config_init(&config);
    config.algorithm = algorithm;
    config.device = kind;
    config.sample = sample != NULL ? &sample->batches[0] : NULL;
    if (sl_mpm_build(&table, &config, literals, n_literals, &diag) == SL_OK)
        return table;
    snprintf(why, 320, "%.300s", diag.text);
    return NULL;
}

const struct sl_backend *mpm_backend(const struct bench *bench, const struct sl_mpm_table *table,
                                     enum sl_device_kind kind, const char *name)
{
    const struct sl_backend *const *backends = sl_mpm_engine(table)->backends;
    char why[SL_WHY_LEN];

    for (; *backends != NULL; backends++)
        if ((*backends)->device == kind && (name == NULL || strcmp((*backends)->name, name) == 0) &&
            bench_usable(bench, *backends, why))
            return *backends;
    return NULL;
}

bool mpm_judge(struct mpm_judge *judge, const struct bench_result *result, uint32_t n_times,
               const char *what, const char *variant)
{
    if (!judge->known) {
        judge->known = true;
        judge->hits = result->hits / n_times;
        snprintf(judge->by, sizeof judge->by, "%s %s", what, variant);
    }
    if (judge->hits * n_times == result->hits)
        return true;
    cli_error("bench: %s %s finds %" PRIu64 " hits, where %s has found %" PRIu64, what, variant,
              result->hits, judge->by, judge->hits * n_times);
    return false;
}

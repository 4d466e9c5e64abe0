/* SPDX-License-Identifier: MIT */
#include "sluice/mpm.h"

#include <string.h>

#include "base/cpu.h"
#include "base/diag.h"
#include "mpm_internal.h"

/* All algorithms; X(name) stands for the descriptor mpm_<name>. */
#define ALGORITHMS(X) \
    X(ac)             \
    X(gram)           \
    X(pfac)           \
    X(naive)          \
    X(wm)             \
    X(wm2)            \
    X(wm3)            \
    X(rk)             \
    X(tag)

#define DECLARE(name) extern const struct mpm_algorithm mpm_##name;
ALGORITHMS(DECLARE)

#define POINTER(name) &mpm_##name,
static const struct mpm_algorithm *const algorithms[] = {ALGORITHMS(POINTER)};

#define NAME(name) #name,
const char *const sl_mpm_algorithms[] = {ALGORITHMS(NAME) NULL};

#define LISTED(name) ", " #name

enum { N_ALGORITHMS = sizeof sl_mpm_algorithms / sizeof sl_mpm_algorithms[0] - 1 };

static const struct mpm_algorithm *peer;

void mpm_add_peer(const struct mpm_algorithm *algorithm)
{
    peer = algorithm;
}

const struct mpm_algorithm *mpm_find_algorithm(const char *name)
{
    if (peer != NULL && strcmp(peer->name, name) == 0)
        return peer;
    for (int i = 0; i < N_ALGORITHMS; i++)
        if (strcmp(algorithms[i]->name, name) == 0)
            return algorithms[i];
    return NULL;
}

/* gram, but for CPUs without vectors, and for sets with literals too short for its windows: both
 * are what it is slower on than the automaton. */
static const char *choose_name(const struct sl_mpm_config *config, const struct mpm_set *set)
{
    enum { SHORT = 3 }; /* bytes */

    if (config->device == SL_DEVICE_CUDA)
        return "gram";
    if (cpu_level() < CPU_AVX2)
        return "ac";
    for (uint32_t id = 0; id < set->n_literals; id++)
        if (set->literals[id].len <= SHORT)
            return "ac";
    return "gram";
}

static enum sl_status unknown_algorithm(const char *name, struct sl_diag *diag)
{
    return diag_set(diag, SL_EINVAL, NULL, 0,
                    "unknown matching algorithm '%s' (expected auto" ALGORITHMS(LISTED) ")", name);
}

void sl_mpm_config_init(struct sl_mpm_config *config)
{
    config->algorithm = "auto";
    config->device = SL_DEVICE_CPU;
    config->sample = NULL;
}

enum sl_status sl_mpm_build(struct sl_mpm_table **table, const struct sl_mpm_config *config,
                            const struct sl_literal *literals, size_t n_literals,
                            struct sl_diag *diag)
{
    const bool automatic = strcmp(config->algorithm, "auto") == 0;
    const struct mpm_algorithm *algorithm = mpm_find_algorithm(config->algorithm);
    struct mpm_set set;

    if (algorithm == NULL && !automatic)
        return unknown_algorithm(config->algorithm, diag);

    enum sl_status status = mpm_set_init(&set, literals, n_literals, diag);
    if (status != SL_OK)
        return status;
    if (automatic)
        algorithm = mpm_find_algorithm(choose_name(config, &set));
    status = algorithm->build(table, &set, config, diag);
    mpm_set_clear(&set);
    return status;
}

const struct sl_engine *sl_mpm_engine(const struct sl_mpm_table *table)
{
    return mpm_find_algorithm(table->algorithm)->engine;
}

void sl_mpm_info(const struct sl_mpm_table *table, struct sl_mpm_info *info)
{
    info->algorithm = mpm_find_algorithm(table->algorithm)->name;
    info->n_literals = table->n_literals;
    info->n_states = table->n_states;
    info->table_len = table->head.len;
    info->literals_check = table->literals_check;
}

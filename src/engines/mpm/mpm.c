/* SPDX-License-Identifier: MIT */
#include "sluice/mpm.h"

#include <string.h>

#include "base/diag.h"
#include "base/papers.h"
#include "base/reserved.h"
#include "engines/mpm/papers/mpm_papers.h"
#include "mpm_auto.h"
#include "mpm_internal.h"

/* ---- algorithms by name ---------------------------------------------------------------------- */

/* All algorithms of the build; X(name) stands for the descriptor mpm_<name>. */
#define ALGORITHMS(X) X(ac) X(gram) MPM_PAPERS_BUILT(X)

#define DECLARE(name) extern const struct mpm_algorithm mpm_##name;
ALGORITHMS(DECLARE)

#define POINTER(name) &mpm_##name,
static const struct mpm_algorithm *const algorithms[] = {ALGORITHMS(POINTER)};

#define NAME(name) #name,
static const char *const names[] = {ALGORITHMS(NAME) NULL};
static const char *const papers[] = {MPM_PAPERS(NAME) NULL};

static const struct mpm_algorithm *peer;

void mpm_add_peer(const struct mpm_algorithm *algorithm)
{
    peer = algorithm;
}

const char *const *sl_mpm_algorithms(void)
{
    return names;
}

const char *const *sl_mpm_variants(void)
{
    return papers;
}

const struct mpm_algorithm *mpm_find_algorithm(const char *name)
{
    if (peer != NULL && strcmp(peer->name, name) == 0)
        return peer;
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return algorithms[i];
    return NULL;
}

/* Says why there is no algorithm of this name. */
static enum sl_status refuse(const char *name, struct sl_diag *diag)
{
#define LISTED(name) ", " #name
    for (size_t i = 0; papers[i] != NULL; i++)
        if (strcmp(papers[i], name) == 0)
            return papers_left_out(name, diag);
    return diag_set(diag, SL_EINVAL, NULL, 0,
                    "unknown matching algorithm '%s' (expected auto" ALGORITHMS(LISTED) ")", name);
}

static const char automatic[] = "auto";

enum sl_status sl_mpm_variant(const char **algorithm, const char *name, struct sl_diag *diag)
{
    const struct mpm_algorithm *found = mpm_find_algorithm(name);

    if (found == NULL && strcmp(name, automatic) != 0)
        return refuse(name, diag);
    *algorithm = found != NULL ? found->name : automatic;
    return SL_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

void sl_mpm_config_init(struct sl_mpm_config *config)
{
    *config = (struct sl_mpm_config){.algorithm = automatic, .device = SL_DEVICE_CPU};
}

enum sl_status mpm_build_one(struct sl_mpm_table **table, const struct sl_mpm_config *config,
                             const struct sl_literal *literals, size_t n_literals,
                             struct mpm_learned *learned, struct sl_diag *diag)
{
    const char *name = NULL;
    struct mpm_set set;
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status == SL_OK)
        status = sl_mpm_variant(&name, config->algorithm, diag);
    if (status == SL_OK)
        status = mpm_set_init(&set, literals, n_literals, diag);
    if (status != SL_OK)
        return status;
    set.learned = learned;
    status = name == automatic ? mpm_auto_build(table, &set, config, diag)
                               : mpm_find_algorithm(name)->build(table, &set, config, diag);
    mpm_set_clear(&set);
    return status;
}

enum sl_status sl_mpm_build(struct sl_mpm_table **table, const struct sl_mpm_config *config,
                            const struct sl_literal *literals, size_t n_literals,
                            struct sl_diag *diag)
{
    return mpm_build_one(table, config, literals, n_literals, NULL, diag);
}

void mpm_learned_clear(struct mpm_learned *learned)
{
    if (learned->kept != NULL)
        learned->release(learned->kept);
    learned->kept = NULL;
}

const struct sl_engine *sl_mpm_engine(const struct sl_mpm_table *table)
{
    return mpm_find_algorithm(table->algorithm)->engine;
}

bool mpm_takes(const struct sl_engine *engine, const void *table)
{
    const struct sl_mpm_table *const mpm = table;

    return mpm->head.magic == mpm_block_kind.magic && sl_mpm_engine(mpm) == engine;
}

void sl_mpm_info(const struct sl_mpm_table *table, struct sl_mpm_info *info)
{
    info->algorithm = mpm_find_algorithm(table->algorithm)->name;
    info->n_literals = table->n_literals;
    info->n_states = table->n_states;
    info->table_len = table->head.len;
    info->literals_check = table->literals_check;
}

/* SPDX-License-Identifier: MIT */
/* gram is slower than the automaton on CPUs without vectors. Where literals are too short for its
 * windows, the traffic decides: both run over the sample. */
#include "mpm_auto.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/least.h"
#include "mpm_internal.h"

extern const struct mpm_algorithm mpm_ac, mpm_gram;

/* In a run other work takes the caches, and ac's table is several times as large. */
enum { MARGIN = 8 /* ac must be faster by this part */ };

enum {
    SHORT = 3,          /* bytes of a literal */
    SHORT_ONE_IN = 100, /* with more of them than one in so many, gram may be slower */
    ROUNDS = 5,         /* of each in the trial */
    TRIAL_HITS = 65536  /* that are kept; further ones are counted, at the same cost */
};

static bool has_many_short(const struct mpm_set *set)
{
    uint32_t n = 0;

    for (uint32_t id = 0; id < set->n_literals; id++)
        n += set->literals[id].len <= SHORT;
    return n > set->n_literals / SHORT_ONE_IN;
}

/* ---- the trial ------------------------------------------------------------------------------- */

struct racer {
    const struct sl_backend *backend;
    void *context;
    uint64_t least_ns; /* core time of a scan; UINT64_MAX: there was none */
};

static void open_racer(struct racer *racer, const struct mpm_algorithm *algorithm,
                       const struct sl_mpm_table *table, const struct sl_batch *sample)
{
    const struct sl_limits limits = {.max_items = sample->n_items, .max_bytes = sample->bytes_len};

    racer->least_ns = UINT64_MAX;
    racer->backend = sl_engine_choose(algorithm->engine, SL_DEVICE_CPU, NULL);
    if (racer->backend != NULL && sl_engine_open(&racer->context, algorithm->engine, racer->backend,
                                                 table, &limits, NULL) != SL_OK)
        racer->backend = NULL;
}

static void close_racer(struct racer *racer)
{
    if (racer->backend != NULL)
        racer->backend->close(racer->context);
}

static void scan(struct racer *racer, const struct sl_batch *sample, struct sl_hits *hits)
{
    if (racer->backend == NULL)
        return;
    const uint64_t begin = clock_thread_ns();
    enum sl_status status = racer->backend->submit(racer->context, sample, hits);

    if (status == SL_OK)
        status = racer->backend->wait(racer->context);
    if (status == SL_OK || status == SL_EOVERFLOW)
        racer->least_ns = least(racer->least_ns, clock_thread_ns() - begin);
}

/* The two scan in turn, so that other work of the machine slows both. Without memory for hits gram
 * counts as faster. */
static bool ac_is_faster(const struct sl_mpm_table *ac, const struct sl_mpm_table *gram,
                         const struct sl_batch *sample)
{
    struct sl_hits hits = {.hit = malloc(TRIAL_HITS * sizeof *hits.hit), .cap = TRIAL_HITS};
    struct racer racers[2] = {{0}};

    open_racer(&racers[0], &mpm_ac, ac, sample);
    open_racer(&racers[1], &mpm_gram, gram, sample);
    for (int i = 0; i < 2 * ROUNDS && hits.hit != NULL; i++)
        scan(&racers[i % 2], sample, &hits);
    for (int i = 0; i < 2; i++)
        close_racer(&racers[i]);
    free(hits.hit);
    return racers[0].least_ns < racers[1].least_ns - racers[1].least_ns / MARGIN;
}

static enum sl_status build_faster(struct sl_mpm_table **table, const struct mpm_set *set,
                                   const struct sl_mpm_config *config, struct sl_diag *diag)
{
    struct sl_mpm_table *ac = NULL, *gram = NULL;
    enum sl_status status = mpm_ac.build(&ac, set, config, diag);

    if (status == SL_OK)
        status = mpm_gram.build(&gram, set, config, diag);
    if (status != SL_OK) {
        sl_mpm_free(ac);
        return status;
    }
    const bool takes_ac = ac_is_faster(ac, gram, config->sample);

    *table = takes_ac ? ac : gram;
    sl_mpm_free(takes_ac ? gram : ac);
    return SL_OK;
}

/* ---- the choice ------------------------------------------------------------------------------ */

enum sl_status mpm_auto_build(struct sl_mpm_table **table, const struct mpm_set *set,
                              const struct sl_mpm_config *config, struct sl_diag *diag)
{
    if (config->device == SL_DEVICE_CUDA)
        return mpm_gram.build(table, set, config, diag);
    if (cpu_level() < CPU_AVX2)
        return mpm_ac.build(table, set, config, diag);
    if (!has_many_short(set))
        return mpm_gram.build(table, set, config, diag);
    if (config->sample == NULL)
        return mpm_ac.build(table, set, config, diag);
    return build_faster(table, set, config, diag);
}

/* SPDX-License-Identifier: MIT */
#include "contenders.h"

#include <stdio.h>
#include <string.h>

#include "bench_matcher.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "sluice/header.h"
#include "sluice/packet_names.h"
#include "sluice/sampling.h"

enum { NAME_BATCHES = 64, NAMES_A_BATCH = 16384 };

void contender_free(struct contender *contender)
{
    sl_header_free(contender->header);
    sl_mpm_free(contender->mpm);
    sl_sampling_free(contender->sampling);
    bench_literals_free(&contender->literals);
    bench_unload(&contender->trace);
    sl_fib_free(contender->fib);
    sl_packet_names_watch_free(contender->watch);
    sl_names_free(contender->table_of_names);
    bench_names_free(&contender->names);
}

/* The backend of this name, or where that is NULL the best one. */
static bool choose_backend(struct contender *contender, const struct bench *bench, const char *name,
                           enum sl_device_kind kind, char why[320])
{
    const struct sl_backend *const *backends = contender->engine->backends;
    char reason[SL_WHY_LEN] = "there is no such variant on this device";

    if (name == NULL)
        contender->backend = sl_engine_choose(contender->engine, kind, reason);
    for (; name != NULL && *backends != NULL && contender->backend == NULL; backends++)
        if ((*backends)->device == kind && strcmp((*backends)->name, name) == 0 &&
            bench_usable(bench, *backends, reason))
            contender->backend = *backends;
    if (contender->backend == NULL)
        snprintf(why, 320, "%s", reason);
    return contender->backend != NULL;
}

static bool build_header(struct contender *contender, const struct bench *bench,
                         const char *variant, enum sl_device_kind kind, char why[320])
{
    struct sl_header_config config;
    struct sl_diag diag = {0};

    snprintf(contender->what, sizeof contender->what, "header");
    sl_header_config_init(&config);
    if (sl_header_build(&contender->header, &config, &diag) != SL_OK) {
        snprintf(why, 320, "%.300s", diag.text);
        return false;
    }
    contender->engine = sl_header_engine();
    contender->table = contender->header;
    if (!choose_backend(contender, bench, variant, kind, why))
        return false;
    snprintf(contender->variant, sizeof contender->variant, "%s", contender->backend->name);
    return true;
}

/* Behind the literals. */
static bool build_matcher(struct contender *contender, const struct bench *bench,
                          const char *algorithm, enum sl_device_kind kind, size_t n,
                          const struct bench_data *sample, char why[320])
{
    struct sl_mpm_info info;

    if (algorithm != NULL && !mpm_known(algorithm)) {
        snprintf(why, 320, "this build has no such algorithm");
        return false;
    }
    contender->mpm = mpm_build(algorithm != NULL ? algorithm : "auto", kind, sample,
                               contender->literals.literal, n, why);
    if (contender->mpm == NULL)
        return false;
    contender->engine = sl_mpm_engine(contender->mpm);
    contender->table = contender->mpm;
    if (!choose_backend(contender, bench, NULL, kind, why))
        return false;
    sl_mpm_info(contender->mpm, &info);
    snprintf(contender->variant, sizeof contender->variant, "%s %s", info.algorithm,
             contender->backend->name);
    return true;
}

static bool build_literals(struct contender *contender, const struct bench *bench,
                           const char *variant, enum sl_device_kind kind, char why[320])
{
    size_t n = bench->counts[0];

    snprintf(why, 320, "no literals");
    if (!bench_literals_load(&contender->literals, &bench->input, n))
        return false;
    n = contender->literals.n < n ? contender->literals.n : n;
    snprintf(contender->what, sizeof contender->what, "mpm/%zu", n);
    return build_matcher(contender, bench, variant, kind, n, contender->sample, why);
}

static bool build_viruses(struct contender *contender, const struct bench *bench,
                          const char *variant, enum sl_device_kind kind, char why[320])
{
    const size_t n = bench_n_viruses(bench);

    snprintf(contender->what, sizeof contender->what, "virus/%zu", n);
    snprintf(why, 320, "no memory for signatures");
    return bench_viruses_make(&contender->literals, n) &&
           build_matcher(contender, bench, variant, kind, n, NULL, why);
}

static bool build_sampling(struct contender *contender, const struct bench *bench,
                           const char *variant, enum sl_device_kind kind, char why[320])
{
    struct sl_sampling_config config;
    struct sl_diag diag = {0};

    snprintf(contender->what, sizeof contender->what, "sampling");
    sl_sampling_config_init(&config);
    if (variant != NULL)
        config.sampler = variant;
    if (sl_sampling_build(&contender->sampling, &config, &diag) != SL_OK) {
        snprintf(why, 320, "%.300s", diag.text);
        return false;
    }
    contender->engine = sl_sampling_engine(contender->sampling);
    contender->table = contender->sampling;
    if (!choose_backend(contender, bench, NULL, kind, why))
        return false;
    snprintf(contender->variant, sizeof contender->variant, "%s %s", config.sampler,
             contender->backend->name);
    return true;
}

static bool build_names(struct contender *contender, const struct bench *bench, const char *variant,
                        enum sl_device_kind kind, char why[320])
{
    const struct sl_fib_backend *backend;
    struct sl_fib_config config;
    struct sl_diag diag = {0};
    char reason[SL_WHY_LEN];

    snprintf(contender->what, sizeof contender->what, "names");
    sl_fib_config_init(&config);
    if (variant != NULL)
        config.plane = variant;
    snprintf(why, 320, "no names");
    if (!bench_names_load(&contender->names, &bench->input, bench->entries[0]) ||
        !bench_names_trace(&contender->trace, &contender->names, false, NAME_BATCHES, NAMES_A_BATCH,
                           kind == SL_DEVICE_CUDA))
        return false;
    if (sl_fib_build(&contender->fib, &config, contender->names.entries, contender->names.n,
                     &diag) != SL_OK) {
        snprintf(why, 320, "%.300s", diag.text);
        return false;
    }
    const struct sl_fib_engine *engine = sl_fib_engine(sl_fib_table(contender->fib));
    backend = sl_fib_choose(engine, kind, reason);
    if (backend == NULL) {
        snprintf(why, 320, "%s", reason);
        return false;
    }
    bench_lookups_init(&contender->lookups, backend, contender->fib);
    contender->backend = &contender->lookups.backend;
    contender->table = &contender->lookups;
    contender->data = &contender->trace;
    snprintf(contender->variant, sizeof contender->variant, "%s %s", engine->name, backend->name);
    return true;
}

/* The names in the packets. */
static bool build_packet_names(struct contender *contender, const struct bench *bench,
                               const char *variant, enum sl_device_kind kind, char why[320])
{
    struct sl_diag diag = {0};

    snprintf(contender->what, sizeof contender->what, "packet names");
    snprintf(why, 320, "no names");
    if (!bench_names_load(&contender->names, &bench->input, bench->entries[0]))
        return false;
    contender->table_of_names = bench_names_table(&contender->names);
    if (contender->table_of_names == NULL)
        return false;
    if (sl_packet_names_watch_create(&contender->watch, contender->table_of_names, &diag) !=
        SL_OK) {
        snprintf(why, 320, "%.300s", diag.text);
        return false;
    }
    contender->engine = sl_packet_names_engine();
    contender->table = contender->watch;
    if (!choose_backend(contender, bench, variant, kind, why))
        return false;
    snprintf(contender->variant, sizeof contender->variant, "%s", contender->backend->name);
    return true;
}

/* A new engine is a line here. */
const struct contender_kind contender_kinds[N_CONTENDERS] = {
    {"header", build_header, NULL, false},     {"mpm", build_literals, "vectorscan", false},
    {"sampling", build_sampling, NULL, false}, {"virus", build_viruses, NULL, false},
    {"names", build_names, NULL, true},        {"packet-names", build_packet_names, NULL, false}};

bool bench_whole_check(const struct bench *bench)
{
    const char *at = bench->variants;

    while (at != NULL && *at != '\0') {
        const size_t len = strcspn(at, ",");
        bool known = false;

        for (int e = 0; e < N_CONTENDERS; e++) {
            const size_t n = strlen(contender_kinds[e].name);

            known |= len > n + 1 && at[n] == ':' && memcmp(at, contender_kinds[e].name, n) == 0;
        }
        if (!known) {
            cli_error("--variants '%.*s' (expected such as mpm:ac, header:scalar, sampling:maxp, "
                      "virus:ac, names:mata)",
                      (int)len, at);
            return false;
        }
        at += len + (at[len] == ',');
    }
    return true;
}

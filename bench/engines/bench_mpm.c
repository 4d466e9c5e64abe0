/* SPDX-License-Identifier: MIT */
/* Multi-pattern matching: each algorithm over the same literals and payloads. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/data/literal_sets.h"
#include "bench/data/temporary.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "mpm_rows.h"

enum { ALGORITHMS_MAX = 32 };

struct mpm {
    struct mpm_ground ground;
    const char *algorithms[ALGORITHMS_MAX];
    size_t n_algorithms;
    char names[256]; /* of those in the command line */
    struct bench_literals literals;
};

/* ---- algorithms ------------------------------------------------------------------------------ */

/* Whether an algorithm has a backend for this kind of device. An empty table shows it. */
static bool runs_on(const struct bench *bench, const char *algorithm, enum sl_device_kind kind)
{
    char why[320];
    struct sl_mpm_table *table = mpm_build(algorithm, kind, NULL, NULL, 0, why);
    const bool runs = table != NULL && mpm_backend(bench, table, kind, NULL) != NULL;

    sl_mpm_free(table);
    return runs;
}

static void unknown_algorithm(const char *name)
{
    char known[256] = "auto";
    size_t len = strlen(known);

    for (size_t i = 0; mpm_algorithm_at(i) != NULL && len < sizeof known; i++)
        len += (size_t)snprintf(known + len, sizeof known - len, ", %s", mpm_algorithm_at(i));
    cli_error("--algorithms: '%s' is no algorithm (expected %s)", name, known);
}

/* The names of the command line, or all. */
static bool choose_algorithms(struct mpm *mpm)
{
    const char *given = mpm->ground.bench->algorithms;
    char *rest = mpm->names, *name;

    for (size_t i = 0; given == NULL && mpm_algorithm_at(i) != NULL; i++)
        if (!mpm_is_slow(mpm_algorithm_at(i)) && mpm->n_algorithms < ALGORITHMS_MAX)
            mpm->algorithms[mpm->n_algorithms++] = mpm_algorithm_at(i);
    if (given == NULL)
        return true;
    if (snprintf(mpm->names, sizeof mpm->names, "%s", given) >= (int)sizeof mpm->names) {
        cli_error("--algorithms: too many names");
        return false;
    }
    while ((name = strsep(&rest, ",")) != NULL && mpm->n_algorithms < ALGORITHMS_MAX) {
        if (!mpm_known(name)) {
            unknown_algorithm(name);
            return false;
        }
        mpm->algorithms[mpm->n_algorithms++] = name;
    }
    return true;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* The overlap of pieces of files: all but a byte of the longest literal. */
static uint16_t overlap_of(const struct bench_literals *literals)
{
    uint32_t longest = 1;

    for (size_t i = 0; i < literals->n; i++)
        longest = literals->literal[i].len > longest ? literals->literal[i].len : longest;
    return (uint16_t)(longest - 1 < SL_OVERLAP_MAX ? longest - 1 : SL_OVERLAP_MAX);
}

static bool load_trained(struct mpm *mpm, const struct bench_data *all)
{
    char text[sizeof all->text];

    if (!bench_split(&mpm->ground.scan, &mpm->ground.sample, all))
        return false;
    snprintf(text, sizeof text, "half of %.50s, the other half as sample", all->text);
    memcpy(mpm->ground.scan.text, text, sizeof text);
    return true;
}

static bool load_scan(struct mpm *mpm)
{
    const uint16_t overlap = overlap_of(&mpm->literals);
    struct bench_data all = {0};

    if (!mpm->ground.bench->sample)
        return bench_load_payloads(&mpm->ground.scan, &mpm->ground.bench->input, overlap);

    const bool good =
        bench_load_payloads(&all, &mpm->ground.bench->input, overlap) && load_trained(mpm, &all);
    bench_unload(&all);
    return good;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* How long a table that was saved takes to be mapped and checked; -1: it could not be. */
static double seconds_to_load(const struct sl_mpm_table *table)
{
    struct sl_mpm_table *loaded = NULL;
    double seconds = -1;
    char path[64];

    FILE *const file = bench_temporary(path);
    if (file == NULL)
        return -1;
    (void)fclose(file);
    if (sl_mpm_save(table, path, NULL) == SL_OK) {
        const uint64_t begin = clock_ns();

        if (sl_mpm_load(&loaded, path, NULL) == SL_OK)
            seconds = (double)(clock_ns() - begin) / 1e9;
    }
    sl_mpm_free(loaded);
    (void)unlink(path);
    return seconds;
}

static void print_table(const struct mpm *mpm, const char *what, const struct sl_mpm_table *table,
                        enum sl_device_kind kind, double seconds)
{
    const double to_load = seconds_to_load(table);
    struct sl_mpm_info info;
    char bytes[32], load[48] = "";

    sl_mpm_info(table, &info);
    if (to_load >= 0)
        snprintf(load, sizeof load, ", loaded from a file in %.1f ms", to_load * 1e3);
    bench_print_head(&mpm->ground.bench->frame);
    if (mpm->ground.bench->frame.json) {
        json_t *line =
            json_pack("{s:s, s:s, s:s, s:I, s:f, s:I, s:b}", "bench", what, "algorithm",
                      info.algorithm, "device", kind == SL_DEVICE_CUDA ? "cuda" : "cpu", "literals",
                      (json_int_t)info.n_literals, "build_s", seconds, "table_bytes",
                      (json_int_t)info.table_len, "trained", mpm->ground.sample.n_batches != 0);

        if (to_load >= 0)
            json_object_set_new(line, "load_s", json_real(to_load));

        json_dumpf(line, stdout, JSON_REAL_PRECISION(6));
        putchar('\n');
        json_decref(line);
    } else {
        printf("%s: built for the %s in %.3f s, table of %s%s%s\n", what,
               kind == SL_DEVICE_CUDA ? "GPU" : "CPU", seconds,
               cli_bytes((double)info.table_len, bytes), load,
               mpm->ground.sample.n_batches != 0 ? ", with the other half as sample" : "");
    }
}

/* "ac/1000", and for auto the algorithm that it took. */
static void name_rows(char what[48], const char *algorithm, const struct sl_mpm_table *table)
{
    struct sl_mpm_info info;

    sl_mpm_info(table, &info);
    if (strcmp(algorithm, info.algorithm) == 0)
        snprintf(what, 48, "%s/%zu", algorithm, info.n_literals);
    else
        snprintf(what, 48, "%s (%s)/%zu", algorithm, info.algorithm, info.n_literals);
}

/* An algorithm with ways to run on both fits a table to each. */
static bool bench_algorithm(struct mpm *mpm, const char *algorithm, size_t n)
{
    static const enum sl_device_kind kinds[] = {SL_DEVICE_CPU, SL_DEVICE_CUDA};
    const struct bench_data *sample =
        mpm->ground.sample.n_batches != 0 ? &mpm->ground.sample : NULL;
    bool good = true, any = false;
    char what[48], why[320];

    snprintf(what, sizeof what, "%s/%zu", algorithm, n);
    for (size_t k = 0; k < 2 && good; k++) {
        if (!runs_on(mpm->ground.bench, algorithm, kinds[k]))
            continue;
        any = true;

        const uint64_t begin = clock_ns();
        struct sl_mpm_table *table =
            mpm_build(algorithm, kinds[k], sample, mpm->literals.literal, n, why);
        if (table == NULL) {
            bench_print_why(&mpm->ground.bench->frame, what, "build", why);
            continue;
        }
        name_rows(what, algorithm, table);
        print_table(mpm, what, table, kinds[k], (double)(clock_ns() - begin) / 1e9);
        good = mpm_ground_rows(&mpm->ground, what, table, kinds[k]);
        sl_mpm_free(table);
    }
    if (!any && mpm->ground.bench->algorithms != NULL)
        bench_print_why(&mpm->ground.bench->frame, what, "any backend", "none is usable here");
    return good;
}

static bool bench_counts(struct mpm *mpm)
{
    bool good = true, all = false;

    for (size_t c = 0; c < mpm->ground.bench->n_counts && good; c++) {
        size_t n = mpm->ground.bench->counts[c];

        if (n >= mpm->literals.n && all)
            continue;
        all |= n >= mpm->literals.n;
        n = n < mpm->literals.n ? n : mpm->literals.n;
        mpm->ground.judge.known = false;
        for (size_t a = 0; a < mpm->n_algorithms && good; a++)
            good = bench_algorithm(mpm, mpm->algorithms[a], n);
    }
    return good;
}

static size_t most(const struct bench *bench)
{
    size_t n = 0;

    for (size_t c = 0; c < bench->n_counts; c++)
        n = bench->counts[c] > n ? bench->counts[c] : n;
    return n;
}

bool bench_mpm(const struct bench *bench)
{
    struct mpm mpm = {.ground = {.bench = bench}};

    const bool good = choose_algorithms(&mpm) &&
                      bench_literals_load(&mpm.literals, &bench->input, most(bench)) &&
                      load_scan(&mpm) &&
                      (bench->device.kind != SL_DEVICE_CUDA || mpm_ground_load_cuda(&mpm.ground)) &&
                      bench_counts(&mpm);
    mpm_ground_unload(&mpm.ground);
    bench_literals_free(&mpm.literals);
    return good;
}

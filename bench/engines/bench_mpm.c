/* SPDX-License-Identifier: MIT */
/* Multi-pattern matching: each algorithm over the same literals and payloads. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench_mpm.h"
#include "cli/console.h"
#include "device/device.h"
#include "engines/mpm/mpm_internal.h"

enum {
    ALGORITHMS_MAX = 32,
    N_BLOCKS = 4,
    HITS_TOLD = 100,   /* of a batch's bytes: where hits take as many, they slow the link */
    PINNED_BATCHES = 8 /* to a GPU, at least: only the last is not full */
};

/* Batches that cross to a GPU, MiB. */
static const uint32_t blocks[N_BLOCKS] = {1, 4, 16, 32};

/* Algorithms, and backends of others, that are left out unless the algorithm is named: minutes a
 * row, as they compare with one literal after another. */
static const char *const slow[] = {"naive", "rk.cuda-block", "rk.cuda-thread", NULL};

struct mpm {
    const struct bench *bench;
    const char *algorithms[ALGORITHMS_MAX];
    size_t n_algorithms;
    char names[256]; /* of those that the command line names */
    struct bench_literals literals;
    struct bench_data scan;             /* what all run over, on the host */
    struct bench_data sample;           /* what tables are trained on; empty: nothing */
    struct bench_data pinned[N_BLOCKS]; /* GPU: `scan` n_pinned times over, in pinned memory */
    uint32_t n_pinned[N_BLOCKS];
    struct bench_data there; /* GPU: `scan` n_times over, on the device */
    uint32_t n_times;
    double link[N_BLOCKS], best_link; /* bytes a second */
    struct mpm_judge judge;
};

/* ---- algorithms ------------------------------------------------------------------------------ */

static bool is_in(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* The n-th of the library's, and the peer behind them; NULL: there are no more. */
static const char *algorithm_at(size_t n)
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

/* Whether an algorithm has a way to run on this kind of device: an empty table tells. */
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
    char known[256] = "auto", safe[64];
    size_t len = strlen(known);

    for (size_t i = 0; algorithm_at(i) != NULL && len < sizeof known; i++)
        len += (size_t)snprintf(known + len, sizeof known - len, ", %s", algorithm_at(i));
    cli_error("--algorithms: '%s' is no algorithm (expected %s)",
              cli_printable(name, safe, sizeof safe), known);
}

/* The names of the command line, or all. */
static bool choose_algorithms(struct mpm *mpm)
{
    const char *given = mpm->bench->algorithms;
    char *rest = mpm->names, *name;

    for (size_t i = 0; given == NULL && algorithm_at(i) != NULL; i++)
        if (!is_in(slow, algorithm_at(i)) && mpm->n_algorithms < ALGORITHMS_MAX)
            mpm->algorithms[mpm->n_algorithms++] = algorithm_at(i);
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

/* What repeats between pieces of files: all but a byte of the longest literal. */
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

    if (!bench_split(&mpm->scan, &mpm->sample, all))
        return false;
    snprintf(text, sizeof text, "half of %.50s, the other half as sample", all->text);
    memcpy(mpm->scan.text, text, sizeof text);
    return true;
}

static bool load_scan(struct mpm *mpm)
{
    const uint16_t overlap = overlap_of(&mpm->literals);
    struct bench_data all = {0};

    if (!mpm->bench->sample)
        return bench_load_payloads(&mpm->scan, mpm->bench, overlap);

    const bool good = bench_load_payloads(&all, mpm->bench, overlap) && load_trained(mpm, &all);
    bench_unload(&all);
    return good;
}

/* How often the payloads come to so many bytes. */
static uint32_t times_for(const struct mpm *mpm, uint64_t bytes)
{
    return (uint32_t)(bytes / mpm->scan.bytes) + (bytes % mpm->scan.bytes != 0);
}

static bool load_cuda(struct mpm *mpm)
{
    const struct bench *bench = mpm->bench;
    struct bench_data whole = {0};
    bool good = true;

    mpm->n_times = times_for(mpm, bench->device_bytes);
    for (int i = 0; i < N_BLOCKS && good; i++) {
        const uint32_t len = blocks[i] << 20;

        mpm->n_pinned[i] = times_for(mpm, (uint64_t)len * PINNED_BATCHES);
        good = bench_repack(&mpm->pinned[i], &mpm->scan, len, true, mpm->n_pinned[i]);
        mpm->link[i] = device_link_rate(bench->device.index, len);
        if (mpm->link[i] > mpm->best_link)
            mpm->best_link = mpm->link[i];
    }
    good = good && bench_repack(&whole, &mpm->scan, 0, false, mpm->n_times) &&
           bench_to_device(&mpm->there, &whole, 0, bench->device.index);
    bench_unload(&whole);
    return good;
}

static void unload(struct mpm *mpm)
{
    bench_unload(&mpm->scan);
    bench_unload(&mpm->sample);
    bench_unload(&mpm->there);
    for (int i = 0; i < N_BLOCKS; i++)
        bench_unload(&mpm->pinned[i]);
    bench_literals_free(&mpm->literals);
}

/* ---- rows ------------------------------------------------------------------------------------ */

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

static bool print_work(struct mpm *mpm, const char *what, const char *variant,
                       const struct bench_work *work, double link, uint32_t n_times)
{
    const struct bench_row row = {.what = what,
                                  .variant = variant,
                                  .unit = 1e9,
                                  .unit_name = "GB/s",
                                  .ceiling = link,
                                  .best_ceiling = link > 0 ? mpm->best_link : 0};
    struct bench_result result;

    return bench_run_row(mpm->bench, work, &row, &result) &&
           (result.why[0] != '\0' || mpm_judge(&mpm->judge, &result, n_times, what, variant));
}

static struct bench_work work_on(const struct mpm *mpm, const struct sl_backend *backend,
                                 const void *table, const struct bench_data *data)
{
    return (struct bench_work){.backend = backend,
                               .table = table,
                               .data = data,
                               .device = mpm->bench->device.index,
                               .n_threads = 1,
                               .units = (double)data->bytes};
}

static bool rows_of_cpu(struct mpm *mpm, const char *what, const struct sl_backend *backend,
                        const void *table)
{
    struct bench_work work = work_on(mpm, backend, table, &mpm->scan);
    char variant[64];

    if (!print_work(mpm, what, backend->name, &work, 0, 1))
        return false;
    if (!mpm->bench->all_cores)
        return true;
    work.n_threads = cpu_cores();
    snprintf(variant, sizeof variant, "%s, %u cores", backend->name, work.n_threads);
    return print_work(mpm, what, variant, &work, 0, 1);
}

/* What the link carries of the same bytes while what the hits take comes back. */
static void print_link_beside(const struct mpm *mpm, const char *what, int block)
{
    const struct bench_data *data = &mpm->pinned[block];
    const size_t len = (size_t)blocks[block] << 20;
    const uint64_t n_hits = mpm->judge.hits * mpm->n_pinned[block] / data->n_batches;
    const size_t back_len = n_hits * sizeof(struct sl_hit);
    char variant[64];

    if (back_len < len / HITS_TOLD || back_len > len)
        return;
    snprintf(variant, sizeof variant, "copies alone, %u MiB, %.2f back", blocks[block],
             (double)back_len / (1 << 20));
    const double rate = device_link_rate_beside(mpm->bench->device.index, len, back_len) *
                        (double)data->bytes / (double)data->crossing;
    const struct bench_row row = {.what = what,
                                  .variant = variant,
                                  .data = data->text,
                                  .rate = {.median = rate, .min = rate, .max = rate},
                                  .unit = 1e9,
                                  .unit_name = "GB/s"};

    bench_print(mpm->bench, &row);
}

static bool rows_of_cuda(struct mpm *mpm, const char *what, const struct sl_backend *backend,
                         const void *table)
{
    struct bench_work work = work_on(mpm, backend, table, &mpm->there);
    char variant[64];

    work.stays = true;
    snprintf(variant, sizeof variant, "%s, on the device, kernels", backend->name);
    bool good = print_work(mpm, what, variant, &work, 0, mpm->n_times);
    work.stays = false;
    snprintf(variant, sizeof variant, "%s, on the device, hits back", backend->name);
    good = good && print_work(mpm, what, variant, &work, 0, mpm->n_times);
    for (int i = 0; i < N_BLOCKS && good; i++) {
        work = work_on(mpm, backend, table, &mpm->pinned[i]);
        snprintf(variant, sizeof variant, "%s, pinned, %u MiB", backend->name, blocks[i]);
        good = print_work(mpm, what, variant, &work, mpm->link[i], mpm->n_pinned[i]);
        if (good && mpm->judge.known)
            print_link_beside(mpm, what, i);
    }
    return good;
}

/* How long a table that was saved takes to be mapped and checked; -1: it could not be. */
static double seconds_to_load(const struct sl_mpm_table *table)
{
    const char *folder = getenv("TMPDIR");
    struct sl_mpm_table *loaded = NULL;
    double seconds = -1;
    char path[64];

    snprintf(path, sizeof path, "%.40s/sluice-table.XXXXXX", folder != NULL ? folder : "/tmp");
    const int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
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
    bench_head(mpm->bench);
    if (mpm->bench->json) {
        json_t *line =
            json_pack("{s:s, s:s, s:s, s:I, s:f, s:I, s:b}", "bench", what, "algorithm",
                      info.algorithm, "device", kind == SL_DEVICE_CUDA ? "cuda" : "cpu", "literals",
                      (json_int_t)info.n_literals, "build_s", seconds, "table_bytes",
                      (json_int_t)info.table_len, "trained", mpm->sample.n_batches != 0);

        if (to_load >= 0)
            json_object_set_new(line, "load_s", json_real(to_load));

        json_dumpf(line, stdout, JSON_REAL_PRECISION(6));
        putchar('\n');
        json_decref(line);
    } else {
        printf("%s: built for the %s in %.3f s, table of %s%s%s\n", what,
               kind == SL_DEVICE_CUDA ? "GPU" : "CPU", seconds,
               cli_bytes((double)info.table_len, bytes), load,
               mpm->sample.n_batches != 0 ? ", with the other half as sample" : "");
    }
}

static bool is_left_out(const struct mpm *mpm, const struct sl_mpm_table *table,
                        const struct sl_backend *backend)
{
    struct sl_mpm_info info;
    char name[64];

    sl_mpm_info(table, &info);
    snprintf(name, sizeof name, "%s.%s", info.algorithm, backend->name);
    return mpm->bench->algorithms == NULL && is_in(slow, name);
}

static bool rows_of_table(struct mpm *mpm, const char *what, const struct sl_mpm_table *table,
                          enum sl_device_kind kind)
{
    const struct sl_backend *const *backends = sl_mpm_engine(table)->backends;
    bool good = true;

    for (; *backends != NULL && good; backends++) {
        char why[SL_WHY_LEN];

        if ((*backends)->device != kind || is_left_out(mpm, table, *backends))
            continue;
        if (!bench_usable(mpm->bench, *backends, why)) {
            if (why[0] != '\0')
                bench_print_why(mpm->bench, what, (*backends)->name, why);
            continue;
        }
        good = kind == SL_DEVICE_CPU ? rows_of_cpu(mpm, what, *backends, table)
                                     : rows_of_cuda(mpm, what, *backends, table);
    }
    return good;
}

/* "ac/1000", and of auto what it took. */
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
    const struct bench_data *sample = mpm->sample.n_batches != 0 ? &mpm->sample : NULL;
    bool good = true, any = false;
    char what[48], why[320];

    snprintf(what, sizeof what, "%s/%zu", algorithm, n);
    for (size_t k = 0; k < 2 && good; k++) {
        if (!runs_on(mpm->bench, algorithm, kinds[k]))
            continue;
        any = true;

        const uint64_t begin = clock_ns();
        struct sl_mpm_table *table =
            mpm_build(algorithm, kinds[k], sample, mpm->literals.literal, n, why);
        if (table == NULL) {
            bench_print_why(mpm->bench, what, "build", why);
            continue;
        }
        name_rows(what, algorithm, table);
        print_table(mpm, what, table, kinds[k], (double)(clock_ns() - begin) / 1e9);
        good = rows_of_table(mpm, what, table, kinds[k]);
        sl_mpm_free(table);
    }
    if (!any && mpm->bench->algorithms != NULL)
        bench_print_why(mpm->bench, what, "any backend", "none is usable here");
    return good;
}

bool mpm_rows_of_tables(const struct bench *bench, const char *what,
                        const struct sl_mpm_table *const tables[2], uint16_t overlap)
{
    struct mpm mpm = {.bench = bench};
    bool good = bench_load_payloads(&mpm.scan, bench, overlap) &&
                (bench->device.kind != SL_DEVICE_CUDA || load_cuda(&mpm));

    for (int kind = SL_DEVICE_CPU; kind <= SL_DEVICE_CUDA && good; kind++)
        if (tables[kind] != NULL)
            good = rows_of_table(&mpm, what, tables[kind], (enum sl_device_kind)kind);
    unload(&mpm);
    return good;
}

static bool bench_counts(struct mpm *mpm)
{
    bool good = true, all = false;

    for (size_t c = 0; c < mpm->bench->n_counts && good; c++) {
        size_t n = mpm->bench->counts[c];

        if (n >= mpm->literals.n && all)
            continue;
        all |= n >= mpm->literals.n;
        n = n < mpm->literals.n ? n : mpm->literals.n;
        mpm->judge.known = false;
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
    struct mpm mpm = {.bench = bench};

    if (bench->study != NULL)
        return bench_study(bench, "mpm");
    const bool good = choose_algorithms(&mpm) &&
                      bench_literals_load(&mpm.literals, bench, most(bench)) && load_scan(&mpm) &&
                      (bench->device.kind != SL_DEVICE_CUDA || load_cuda(&mpm)) &&
                      bench_counts(&mpm);
    unload(&mpm);
    return good;
}

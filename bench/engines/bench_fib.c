/* SPDX-License-Identifier: MIT */
/* Longest-prefix match of names: builds, look-ups of each backend, updates under look-ups. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench_fib.h"
#include "benchmarks.h"

static bool print_backend(const struct fib_bench *fib, const struct sl_fib_backend *backend)
{
    for (int which = 0; which < 2; which++) {
        const struct fib_work work = {.backend = backend,
                                      .table = sl_fib_table(fib->fib),
                                      .data = &fib->trace[which],
                                      .wanted = fib->wanted[which],
                                      .n_lanes = 1};
        struct fib_result result;

        if (!fib_measure(fib->bench, &work, &result))
            return false;
        const struct bench_row row = {.what = fib->plane,
                                      .variant = backend->name,
                                      .data = fib->trace[which].text,
                                      .rate = result.rate,
                                      .unit = 1e6,
                                      .unit_name = "M names/s"};
        bench_print(&fib->bench->frame, &row);
    }
    return true;
}

/* A GPU that the options name has its rows alone. */
static bool is_cuda_alone(const struct bench *bench)
{
    return bench->device.kind == SL_DEVICE_CUDA && strcmp(bench->device_name, "auto") != 0;
}

static bool is_measured(const struct fib_bench *fib, const struct sl_fib_backend *backend,
                        char why[SL_WHY_LEN])
{
    const bool cuda = backend->device == SL_DEVICE_CUDA;

    why[0] = '\0';
    if (cuda ? fib->bench->device.kind != SL_DEVICE_CUDA : is_cuda_alone(fib->bench))
        return false;
    return strncmp(backend->name, "tiled", 5) != 0 && backend->usable(why);
}

/* The last of the tables stays. A GPU's rows need but one. */
static bool bench_build(struct fib_bench *fib)
{
    const uint32_t runs = is_cuda_alone(fib->bench) ? 0 : fib->bench->frame.runs;
    double rates[BENCH_RUNS_MAX + 1];
    struct sl_fib_config config;
    struct sl_fib_info info;
    struct sl_diag diag = {0};
    char variant[96];

    sl_fib_config_init(&config);
    config.plane = fib->plane;
    for (uint32_t r = 0; r <= runs; r++) { /* a warm-up first */
        sl_fib_free(fib->fib);
        fib->fib = NULL;
        const uint64_t begin = clock_thread_ns();
        if (sl_fib_build(&fib->fib, &config, fib->names.entries, fib->names.n, &diag) != SL_OK) {
            bench_print_why(&fib->bench->frame, fib->plane, "build", diag.text);
            return false;
        }
        rates[r] = (double)fib->names.n * 1e9 / (double)(clock_thread_ns() - begin);
    }
    sl_fib_info(fib->fib, &info);
    snprintf(variant, sizeof variant, "build, %.1f B a name, %.0f control",
             (double)info.plane_len / (double)info.n_entries,
             (double)info.control_len / (double)info.n_entries);
    fib_print_rates(fib, variant, rates + (runs > 0), runs > 0 ? runs : 1, "M names/s");
    return true;
}

/* Once for all planes. */
static bool find_wanted(struct fib_bench *fib, int which)
{
    if (fib->wanted[which] == NULL)
        fib->wanted[which] = fib_wanted(fib->fib, &fib->trace[which]);
    return fib->wanted[which] != NULL;
}

static bool bench_backends(struct fib_bench *fib)
{
    const struct sl_fib_engine *engine = sl_fib_engine(sl_fib_table(fib->fib));
    char why[SL_WHY_LEN];
    bool good = true;

    for (size_t i = 0; engine->backends[i] != NULL && good; i++) {
        const struct sl_fib_backend *backend = engine->backends[i];

        if (is_measured(fib, backend, why))
            good = backend->device == SL_DEVICE_CUDA ? fib_cuda_rows(fib, fib->cuda, backend)
                                                     : print_backend(fib, backend);
        else if (why[0] != '\0')
            bench_print_why(&fib->bench->frame, fib->plane, backend->name, why);
    }
    return good;
}

static bool bench_plane(struct fib_bench *fib)
{
    if (!bench_build(fib))
        return true;
    const bool good = find_wanted(fib, 0) && find_wanted(fib, 1) && bench_backends(fib) &&
                      (is_cuda_alone(fib->bench) || (fib_swap_row(fib) && fib_update_rows(fib)));
    sl_fib_free(fib->fib);
    fib->fib = NULL;
    return good;
}

static bool bench_table(const struct bench *bench, size_t n_entries)
{
    struct fib_bench fib = {.bench = bench};
    bool good = bench_names_load(&fib.names, &bench->input, n_entries);

    for (int i = 0; i < 2 && good; i++)
        good = bench_names_trace(&fib.trace[i], &fib.names, i == 1, FIB_CPU_BATCHES, FIB_CPU_BATCH,
                                 false);
    if (good && bench->device.kind == SL_DEVICE_CUDA)
        good = (fib.cuda = fib_cuda_load(&fib)) != NULL;
    for (size_t i = 0; sl_fib_planes()[i] != NULL && good; i++) {
        fib.plane = sl_fib_planes()[i];
        if (fib_is_selected(bench, fib.plane, false)) /* stt: two thousand bytes a state */
            good = bench_plane(&fib);
    }
    fib_cuda_unload(fib.cuda);
    for (int i = 0; i < 2; i++) {
        bench_unload(&fib.trace[i]);
        free(fib.wanted[i]);
    }
    bench_names_free(&fib.names);
    return good;
}

bool bench_fib(const struct bench *bench)
{
    bool good = true;

    for (size_t i = 0; i < bench->n_entries && good; i++)
        good = bench_table(bench, bench->entries[i]);
    return good;
}

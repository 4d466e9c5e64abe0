/* SPDX-License-Identifier: MIT */
/* The studies of name look-up on GPUs (NSDI 2013, section 6.2): throughput and latency over the
 * sizes and the numbers of batches in flight, the limit of the link, kernels alone, and growing
 * tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/engines/bench_fib.h"
#include "cli/console.h"
#include "studies.h"

enum {
    TOTAL = 1 << 19,        /* names of a trace */
    KERNEL_TOTAL = 1 << 21, /* of one that lies on the GPU */
    STT_MAX = 100000        /* entries, as in the paper: a state takes two thousand bytes */
};

/* The paper's methods, and ours. */
struct method {
    const char *text, *plane, *backend;
    enum fib_way way;
};

static const struct method methods[] = {{"stt", "stt", "cuda", FIB_COPIED},
                                        {"ata", "ata", "cuda", FIB_COPIED},
                                        {"mata", "mata", "cuda-direct", FIB_COPIED},
                                        {"mata-nw", "mata", "cuda-interwoven", FIB_COPIED},
                                        {"mata, staged", "mata", "cuda", FIB_COPIED},
                                        {"mata, read", "mata", "cuda", FIB_READ},
                                        {"hash, staged", "hash", "cuda", FIB_COPIED},
                                        {"hash, read", "hash", "cuda", FIB_READ}};
enum { N_METHODS = sizeof methods / sizeof *methods };

static const char *const trace_texts[] = {"average", "heavy"};

struct lookups {
    struct study *study;
    struct bench_names names;
    uint32_t *wanted;
    struct sl_fib *fib, *empty; /* of `plane` */
    const char *plane;
};

static bool is_woven(const struct method *method)
{
    return strstr(method->backend, "interwoven") != NULL;
}

static void free_tables(struct lookups *lookups)
{
    sl_fib_free(lookups->fib);
    sl_fib_free(lookups->empty);
    lookups->fib = NULL;
    lookups->empty = NULL;
}

/* The table in this plane, and an empty one. False: the row's note has the reason. */
static bool build(struct lookups *lookups, const char *plane, size_t n, struct study_row *row)
{
    struct sl_fib_config config;
    struct sl_diag diag = {0};

    if (lookups->fib != NULL && strcmp(lookups->plane, plane) == 0)
        return true;
    free_tables(lookups);
    lookups->plane = plane;
    sl_fib_config_init(&config);
    config.plane = plane;
    if (sl_fib_build(&lookups->empty, &config, NULL, 0, &diag) == SL_OK &&
        sl_fib_build(&lookups->fib, &config, lookups->names.entries, n, &diag) == SL_OK)
        return true;
    free_tables(lookups);
    snprintf(row->note, sizeof row->note, "%.300s", diag.text);
    return false;
}

static const struct sl_fib_backend *find_backend(const struct lookups *lookups, const char *name)
{
    const struct sl_fib_engine *engine = sl_fib_engine(sl_fib_table(lookups->fib));

    for (size_t i = 0; engine->backends[i] != NULL; i++)
        if (strcmp(engine->backends[i]->name, name) == 0)
            return engine->backends[i];
    return NULL;
}

static struct fib_work work_of(const struct lookups *lookups, const struct method *method,
                               const struct bench_data *data)
{
    return (struct fib_work){.backend = find_backend(lookups, method->backend),
                             .table = sl_fib_table(lookups->fib),
                             .data = data,
                             .wanted = lookups->wanted,
                             .way = method->way,
                             .n_lanes = 1,
                             .run_names = 1 << 22,
                             .device = lookups->study->bench->device.index};
}

/* A trace in batches of n names, woven where the method takes them so. */
static bool cut(const struct lookups *lookups, const struct method *method, bool heavy, uint32_t n,
                uint32_t total, bool pinned, struct bench_data *data)
{
    struct bench_data plain = {0};
    double rate;
    bool good = bench_names_trace(&plain, &lookups->names, heavy, total / n, n, pinned);

    if (!good || !is_woven(method)) {
        *data = plain;
        return good;
    }
    good = bench_names_weave(data, &plain, pinned, &rate);
    bench_unload(&plain);
    return good;
}

/* ---- throughput and latency ------------------------------------------------------------------ */

/* The highest rate of all settings that stay below a latency. */
struct best {
    double rate;
    uint32_t batch;
    unsigned n_lanes;
};

struct sweep {
    struct best below_100, below_200, any;
    double least_us;
};

static void improve(struct best *best, const struct fib_result *result, double max_us,
                    uint32_t batch, unsigned n_lanes)
{
    if (result->p99_us <= max_us && result->rate.median > best->rate)
        *best = (struct best){result->rate.median, batch, n_lanes};
}

/* Each size of batches with each number of them under way. */
static bool sweep_settings(struct lookups *lookups, const struct method *method, bool heavy,
                           struct sweep *sweep)
{
    static const uint32_t sizes[] = {1 << 10, 4 << 10, 16 << 10, 64 << 10};
    static const unsigned lanes[] = {1, 2, 4, 8, 16};
    bool good = true;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && good; s++) {
        struct bench_data data = {0};

        good = cut(lookups, method, heavy, sizes[s], TOTAL, true, &data);
        for (size_t l = 0; l < sizeof lanes / sizeof *lanes && good; l++) {
            struct fib_work work = work_of(lookups, method, &data);
            struct fib_result result;

            work.n_lanes = lanes[l];
            good = fib_measure(lookups->study->bench, &work, &result);
            if (!good)
                break;
            improve(&sweep->below_100, &result, 100, sizes[s], lanes[l]);
            improve(&sweep->below_200, &result, 200, sizes[s], lanes[l]);
            improve(&sweep->any, &result, 1e9, sizes[s], lanes[l]);
            if (sweep->least_us == 0 || result.p99_us < sweep->least_us)
                sweep->least_us = result.p99_us;
        }
        bench_unload(&data);
    }
    return good;
}

static void put_best(struct study_row *row, const char *name, const char *batch, const char *lanes,
                     const struct best *best)
{
    const bool there = best->rate > 0;

    study_number(row, name, there ? best->rate / 1e6 : -1, 1);
    study_number(row, batch, there ? (double)best->batch : -1, 0);
    study_number(row, lanes, there ? (double)best->n_lanes : -1, 0);
}

static bool print_latency(struct lookups *lookups, const struct method *method, size_t n,
                          bool heavy)
{
    struct study_row row = {.note = ""};
    struct sweep sweep = {.least_us = 0};

    study_number(&row, "names", (double)n, 0);
    study_text(&row, "trace", trace_texts[heavy]);
    study_text(&row, "method", method->text);
    if (build(lookups, method->plane, n, &row)) {
        struct bench_data whole = {0};
        bool good = bench_names_trace(&whole, &lookups->names, heavy, 1, TOTAL, false);

        lookups->wanted = good ? fib_wanted(lookups->fib, &whole) : NULL;
        good = lookups->wanted != NULL && sweep_settings(lookups, method, heavy, &sweep);
        free(lookups->wanted);
        bench_unload(&whole);
        if (!good)
            return false;
    }
    put_best(&row, "M/s, 100 us", "a batch", "under way", &sweep.below_100);
    put_best(&row, "M/s, 200 us", "batch", "batches", &sweep.below_200);
    study_number(&row, "M/s, any", sweep.any.rate > 0 ? sweep.any.rate / 1e6 : -1, 1);
    study_number(&row, "least us", sweep.least_us > 0 ? sweep.least_us : -1, 1);
    study_print(&lookups->study->table, &row);
    return true;
}

static bool study_latency(struct lookups *lookups, size_t n)
{
    bool good = true;

    study_print_note(
        &lookups->study->table,
        "Figures 9 to 16, a GTX 590: within 100 us mata 29.75 and mata-nw 61.40 M/s on the "
        "average trace (100,000 names; 3 million: mata-nw 63.52), 28.52 and 56.10 on the "
        "heavy one; within 200 us stt 6.59, ata 6.56, mata 52.99, mata-nw 71.12.\n"
        "Here: latency is the 99th percentile of batches, from the copy to the GPU to the "
        "answers on the host; batches of 1,024 to 65,536 names, 1 to 16 under way. staged: "
        "transposed on the device; read: from the host's memory by the kernel.");
    for (size_t m = 0; m < N_METHODS; m++)
        for (int heavy = 0; heavy < 2 && good; heavy++)
            if (fib_is_selected(lookups->study->bench, methods[m].plane, n <= STT_MAX))
                good = print_latency(lookups, &methods[m], n, heavy);
    return good;
}

/* ---- the link -------------------------------------------------------------------------------- */

/* Gigabytes of names and offsets a second. */
static bool measure_link(const struct lookups *lookups, const struct method *method,
                         const struct bench_data *data, struct sl_fib *fib, unsigned n_lanes,
                         double *rate)
{
    struct fib_work work = work_of(lookups, method, data);
    struct fib_result result;

    work.table = sl_fib_table(fib);
    work.wanted = NULL;
    work.n_lanes = n_lanes;
    if (!fib_measure(lookups->study->bench, &work, &result))
        return false;
    *rate = result.rate.median * (double)data->crossing / (double)data->items / 1e9;
    return true;
}

/* 262,144 names divided among the batches under way, as the paper's 16 MB among streams; without a
 * look-up is with an empty table. */
static bool print_link(struct lookups *lookups, const struct method *method, size_t n,
                       unsigned n_lanes)
{
    const uint32_t batch = (1 << 18) / n_lanes;
    struct study_row row = {.note = ""};
    struct bench_data data = {0};
    double link = -1, looked_up = -1;
    bool good = true;

    if (build(lookups, method->plane, n, &row))
        good = cut(lookups, method, false, batch, TOTAL, true, &data) &&
               measure_link(lookups, method, &data, lookups->empty, n_lanes, &link) &&
               measure_link(lookups, method, &data, lookups->fib, n_lanes, &looked_up);
    bench_unload(&data);
    study_number(&row, "names", (double)n, 0);
    study_text(&row, "method", method->text);
    study_number(&row, "under way", n_lanes, 0);
    study_number(&row, "a batch", batch, 0);
    study_number(&row, "link GB/s", link, 2);
    study_number(&row, "look-up GB/s", looked_up, 2);
    study_number(&row, "share %", link > 0 ? looked_up / link * 100 : -1, 1);
    if (good)
        study_print(&lookups->study->table, &row);
    return good;
}

static bool study_link(struct lookups *lookups, size_t n)
{
    bool good = true;

    study_print_note(
        &lookups->study->table,
        "Figures 17 and 18, plots: throughput is bound by PCIe, and falls with very many "
        "streams.\nHere: bytes of names and offsets, with the table empty and full.");
    for (size_t m = 0; m < N_METHODS; m++)
        for (unsigned n_lanes = 1; n_lanes <= FIB_LANES_MAX && good; n_lanes *= 4)
            if (fib_is_selected(lookups->study->bench, methods[m].plane, n <= STT_MAX))
                good = print_link(lookups, &methods[m], n, n_lanes);
    return good;
}

/* ---- kernels alone --------------------------------------------------------------------------- */

/* Traces on the GPU, made when one is first needed. */
struct traces {
    struct bench_data there[2][2]
                           [2]; /* small and large, average and heavy, as they are and woven */
};

static const uint32_t launches[2] = {16 << 10, KERNEL_TOTAL}; /* names of each */

static const struct bench_data *trace_of(const struct lookups *lookups, struct traces *traces,
                                         const struct method *method, bool heavy, int launch)
{
    struct bench_data *there = &traces->there[launch][heavy][is_woven(method)];
    const uint32_t n = launches[launch];
    struct bench_data host = {0};
    bool good = true;

    if (there->n_batches == 0)
        good = cut(lookups, method, heavy, n, n, false, &host) &&
               bench_to_device(there, &host, 0, lookups->study->bench->device.index);
    bench_unload(&host);
    return good ? there : NULL;
}

static bool print_kernel(struct lookups *lookups, struct traces *traces,
                         const struct method *method, size_t n, bool heavy)
{
    double rates[2] = {-1, -1}; /* of a small and of a large launch */
    struct study_row row = {.note = ""};
    bool good = true;

    if (build(lookups, method->plane, n, &row))
        for (int launch = 0; launch < 2 && good; launch++) {
            const struct bench_data *there = trace_of(lookups, traces, method, heavy, launch);
            struct fib_result result;

            if (there == NULL)
                return false;
            struct fib_work work = work_of(lookups, method, there);
            work.way = FIB_THERE;
            work.wanted = NULL;
            good = fib_measure(lookups->study->bench, &work, &result);
            rates[launch] = result.rate.median / 1e6;
        }
    study_number(&row, "names", (double)n, 0);
    study_text(&row, "trace", trace_texts[heavy]);
    study_text(&row, "method", method->text);
    study_number(&row, "M/s, 16K a launch", rates[0], 0);
    study_number(&row, "M/s, 2M a launch", rates[1], 0);
    if (good)
        study_print(&lookups->study->table, &row);
    return good;
}

static bool study_kernel(struct lookups *lookups, size_t n)
{
    struct traces traces = {0};
    bool good = true;

    study_print_note(&lookups->study->table,
                     "Figures 19 and 20: mata-nw on a GTX 590, up to 219.69 M/s.\n"
                     "Here: names and answers on the device, by its clock.");
    for (size_t m = 0; m < N_METHODS; m++)
        for (int heavy = 0; heavy < 2 && good; heavy++)
            if (methods[m].way != FIB_READ &&
                fib_is_selected(lookups->study->bench, methods[m].plane, n <= STT_MAX))
                good = print_kernel(lookups, &traces, &methods[m], n, heavy);
    for (int i = 0; i < 8; i++)
        bench_unload(&traces.there[i / 4][i / 2 % 2][i % 2]);
    return good;
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Memory; kernels alone; batches of 64K names, four under way; one of 16K. */
static bool print_growth(struct lookups *lookups, const struct method *method, size_t n)
{
    enum { SMALL = 16 << 10, LARGE = 64 << 10, N_LARGE = 4 };
    struct study_row row = {.note = ""};
    struct bench_data data[3] = {{0}};
    struct fib_result result[3] = {{.p99_us = -1}};
    struct sl_fib_info info = {0};
    bool good = true;

    if (build(lookups, method->plane, n, &row)) {
        const uint32_t sizes[] = {TOTAL, LARGE, SMALL};
        struct bench_data host = {0};

        sl_fib_info(lookups->fib, &info);
        good = cut(lookups, method, false, TOTAL, TOTAL, false, &host) &&
               bench_to_device(&data[0], &host, 0, lookups->study->bench->device.index);
        bench_unload(&host);
        for (int i = 0; i < 3 && good; i++) {
            good = i == 0 || cut(lookups, method, false, sizes[i], TOTAL, true, &data[i]);
            struct fib_work work = work_of(lookups, method, &data[i]);

            work.wanted = NULL;
            work.way = i == 0 ? FIB_THERE : method->way;
            work.n_lanes = i == 1 ? N_LARGE : 1;
            good = good && fib_measure(lookups->study->bench, &work, &result[i]);
        }
    }
    for (int i = 0; i < 3; i++)
        bench_unload(&data[i]);
    study_number(&row, "names", (double)n, 0);
    study_text(&row, "method", method->text);
    study_number(&row, "MB", info.plane_len > 0 ? (double)info.plane_len / 1e6 : -1, 1);
    study_number(&row, "M/s, kernel alone", result[0].rate.median / 1e6, 0);
    study_number(&row, "M/s, 64K x 4", result[1].rate.median / 1e6, 0);
    study_number(&row, "p99 us, 16K", result[2].p99_us, 1);
    if (good)
        study_print(&lookups->study->table, &row);
    return good;
}

static bool study_growth(struct lookups *lookups, size_t n)
{
    bool good = true;

    study_print_note(
        &lookups->study->table,
        "Figures 21 to 23, plots: throughput and latency settle at 60 M/s and 100 us, memory "
        "is linear.\nHere: average trace, names transposed on the device; --entries "
        "300000,600000,... are the ten tables.");
    for (size_t m = 0; m < N_METHODS && good; m++)
        if (methods[m].way == FIB_COPIED && strcmp(methods[m].backend, "cuda") == 0 &&
            fib_is_selected(lookups->study->bench, methods[m].plane, n <= STT_MAX))
            good = print_growth(lookups, &methods[m], n);
    return good;
}

/* ---- the studies ----------------------------------------------------------------------------- */

static bool run_tables(struct study *study, bool (*run)(struct lookups *lookups, size_t n))
{
    const struct bench *bench = study->bench;
    bool good = true;

    for (size_t i = 0; i < bench->n_entries && good; i++) {
        struct lookups lookups = {.study = study};

        good = bench_names_load(&lookups.names, &bench->input, bench->entries[i]) &&
               run(&lookups, bench->entries[i]);
        free_tables(&lookups);
        bench_names_free(&lookups.names);
    }
    return good;
}

bool study_lookup_latency(struct study *study)
{
    return run_tables(study, study_latency);
}

bool study_lookup_link(struct study *study)
{
    return run_tables(study, study_link);
}

bool study_lookup_kernel(struct study *study)
{
    return run_tables(study, study_kernel);
}

bool study_lookup_growth(struct study *study)
{
    return run_tables(study, study_growth);
}

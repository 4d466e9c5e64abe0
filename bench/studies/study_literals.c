/* SPDX-License-Identifier: MIT */
/* Matching over the number of literals, on one core, on all cores, and on a GPU from pinned and
 * from pageable memory (traffic anomaly detection on GPUs, thesis of 2017, tables 7 to 9, figure
 * 21). */
#include "base/cpu.h"
#include "studies.h"

enum { N_COUNTS = 8, N_ALGORITHMS = 3, BLOCK_LEN = 16 << 20 };

static const size_t counts[N_COUNTS] = {10, 50, 100, 200, 500, 1000, 1500, 1800};

/* The thesis' execution times, in a unit that it does not state; -1: not given. */
struct thesis {
    double cpu, openmp, not_pinned, pinned;
};

static const struct {
    const char *algorithm;
    struct thesis times[N_COUNTS]; /* by counts */
} thesis[N_ALGORITHMS] = {
    /* Table 8, and table 7 for the last column. */
    {"ac",
     {{3005, 7985, 0.105183, 0.222589},
      {2973, 7787, 0.103743, 0.213149},
      {2781, 8132, 0.104735, 0.216893},
      {4420, 12878, 0.101759, 0.217278},
      {5520, 23179, 0.101663, 0.20355},
      {10185, 39891, 0.101151, 0.204189},
      {7081, 51755, 0.103423, 0.204285},
      {8227, 68304, 0.100447, 0.208605}}},
    /* Table 9. */
    {"wm",
     {{213.698, 1452.645, 0.447387, 0.220862},
      {210.193, 1181.612, 0.458107, 0.212749},
      {218.394, 2033.47, 0.452315, 0.211166},
      {3263.717, 1231.181, 0.468123, 0.20659},
      {7188.387, 1296.764, 0.454875, 0.206813},
      {12594.664, 2411.357, 0.465852, 0.240702},
      {18745.097, 2738.667, 0.464059, 0.225118},
      {18564.539, 1307.96, 0.452891, 0.204189}}},
    /* Table 7. */
    {"rk",
     {{-1, -1, -1, 26.297111},
      {-1, -1, -1, 47.350966},
      {-1, -1, -1, 45.577234},
      {-1, -1, -1, 59.012978},
      {-1, -1, -1, 107.944879},
      {-1, -1, -1, 201.787673},
      {-1, -1, -1, 253.685357},
      {-1, -1, -1, 302.226957}}},
};

/* The payloads on the host in batches of 1 MiB, and for a GPU in pinned and in ordinary memory. */
struct sets {
    const struct bench_data *scan;
    struct bench_data pinned, pageable;
};

/* Bytes a second, or -1. */
struct rates {
    double one_core, all_cores, pinned, pageable;
};

static bool measure_cpu(struct study *study, struct study_row *row,
                        const struct sl_mpm_table *table, const struct sets *sets,
                        struct mpm_judge *judge, struct rates *rates)
{
    struct bench_work work = {.backend = mpm_backend(study->bench, table, SL_DEVICE_CPU, NULL),
                              .table = table,
                              .data = sets->scan,
                              .n_threads = 1,
                              .units = (double)sets->scan->bytes};

    if (work.backend == NULL)
        return true;
    if (!study_measure(study, &work, judge, row, &rates->one_core))
        return false;
    work.n_threads = cpu_cores();
    return study_measure(study, &work, judge, row, &rates->all_cores);
}

static bool measure_cuda(struct study *study, struct study_row *row,
                         const struct sl_mpm_table *table, const struct sets *sets,
                         struct mpm_judge *judge, struct rates *rates)
{
    struct bench_work work = {.backend = mpm_backend(study->bench, table, SL_DEVICE_CUDA, NULL),
                              .table = table,
                              .data = &sets->pinned,
                              .device = study->bench->device.index,
                              .units = (double)sets->scan->bytes};

    if (work.backend == NULL || sets->pinned.n_batches == 0)
        return true;
    if (!study_measure(study, &work, judge, row, &rates->pinned))
        return false;
    work.data = &sets->pageable;
    return study_measure(study, &work, judge, row, &rates->pageable);
}

static bool measure(struct study *study, struct study_row *row, const char *algorithm, size_t n,
                    const struct sets *sets, struct mpm_judge *judge, struct rates *rates)
{
    static const enum sl_device_kind kinds[] = {SL_DEVICE_CPU, SL_DEVICE_CUDA};
    bool good = true;

    for (size_t k = 0; k < 2 && good; k++) {
        struct sl_mpm_table *table =
            study_build(row, algorithm, kinds[k], study->literals.literal, n);

        if (table != NULL)
            good = kinds[k] == SL_DEVICE_CPU ? measure_cpu(study, row, table, sets, judge, rates)
                                             : measure_cuda(study, row, table, sets, judge, rates);
        sl_mpm_free(table);
    }
    return good;
}

static void add_rate(struct study_row *row, const char *name, double rate)
{
    study_number(row, name, rate > 0 ? rate / 1e9 : -1, 3);
}

static bool print_row(struct study *study, size_t a, size_t c, const struct sets *sets,
                      struct mpm_judge *judge)
{
    const struct thesis *times = &thesis[a].times[c];
    struct rates rates = {-1, -1, -1, -1};
    struct study_row row = {.note = ""};

    if (!measure(study, &row, thesis[a].algorithm, counts[c], sets, judge, &rates))
        return false;
    study_number(&row, "literals", (double)counts[c], 0);
    study_text(&row, "algorithm", thesis[a].algorithm);
    add_rate(&row, "1 core GB/s", rates.one_core);
    add_rate(&row, "all cores GB/s", rates.all_cores);
    add_rate(&row, "GPU pageable GB/s", rates.pageable);
    add_rate(&row, "GPU pinned GB/s", rates.pinned);
    study_number(&row, "pinned over 1 core",
                 rates.pinned > 0 && rates.one_core > 0 ? rates.pinned / rates.one_core : -1, 1);
    study_number(&row, "thesis: CPU", times->cpu, 1);
    study_number(&row, "OpenMP", times->openmp, 1);
    study_number(&row, "not pinned", times->not_pinned, 3);
    study_number(&row, "pinned", times->pinned, 3);
    study_print(&study->table, &row);
    return true;
}

bool study_literals(struct study *study)
{
    struct sets sets = {.scan = &study->scan};
    bool good = study->bench->device.kind != SL_DEVICE_CUDA ||
                (bench_repack(&sets.pinned, &study->scan, BLOCK_LEN, true, 1) &&
                 bench_repack(&sets.pageable, &study->scan, BLOCK_LEN, false, 1));

    study_print_note(
        &study->table,
        "Thesis, section 6.2: execution times of tables 7 (rk), 8 (ac) and 9 (wm), 100 "
        "packets, a K80, in a unit that it does not state; figure 21 is a plot, of which "
        "the text says 60 times and more.\n"
        "Here: bytes of payload a second, hits back; GPU in batches of 16 MiB.");
    for (size_t c = 0; c < N_COUNTS && good; c++) {
        struct mpm_judge judge = {0};

        if (counts[c] > study->literals.n)
            break;
        for (size_t a = 0; a < N_ALGORITHMS && good; a++)
            good = print_row(study, a, c, &sets, &judge);
    }
    bench_unload(&sets.pinned);
    bench_unload(&sets.pageable);
    return good;
}

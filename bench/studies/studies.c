/* SPDX-License-Identifier: MIT */
/* The studies: of papers, and of our own. */
#include "studies.h"

#include <stdio.h>
#include <string.h>

#include "bench/engines/bench_matcher.h"
#include "cli/console.h"

static const struct {
    const char *bench, *name;
    size_t n_literals; /* to be generated where none are named; 0: it takes none, or its own */
    bool scans, needs_gpu;
    bool (*run)(struct study *study);
    struct study_picture picture;
} studies[] = {
    {"mpm", "packet-size", 1800, true, true, study_packet_size, {NULL, {NULL}}},
    {"mpm", "literals", 1800, true, false, study_literals, {NULL, {NULL}}},
    {"mpm", "match-rate", 50000, false, false, study_match_rate, {NULL, {NULL}}},
    {"mpm", "hostile", 0, false, false, study_hostile, {NULL, {NULL}}},
    {"sampling", "machines", 0, false, false, study_machines, {NULL, {NULL}}},
    {"sampling", "optimisations", 0, false, true, study_optimisations, {NULL, {NULL}}},
    {"sampling", "buffers", 0, false, true, study_buffers, {"bytes", {""}}},
    {"sampling", "word-size", 0, false, true, study_word_size, {"packets", {""}}},
    {"sampling", "shared-memory", 0, false, true, study_shared_memory, {"packets", {""}}},
    {"sampling", "divergence", 0, false, true, study_divergence, {"packets", {""}}},
    {"sampling", "sorting", 0, false, true, study_sorting, {"packets", {""}}},
    {"sampling", "closeness", 0, false, false, study_closeness, {NULL, {NULL}}},
    {"sampling", "streams", 0, false, true, study_streams, {"packets a batch", {""}}},
    {"sampling", "markers", 0, true, false, study_markers, {"k", {"net %", "bytes a sample"}}},
    {"sampling",
     "periods",
     0,
     true,
     false,
     study_periods,
     {"period", {"net %", "bytes a sample", "ms a GB"}}},
    {"sampling",
     "period-change",
     0,
     true,
     false,
     study_period_change,
     {"up to MB", {"bytes a sample", "net %"}}},
    {"fib", "lookup-latency", 0, false, true, study_lookup_latency, {NULL, {NULL}}},
    {"fib", "lookup-link", 0, false, true, study_lookup_link, {NULL, {NULL}}},
    {"fib", "lookup-kernel", 0, false, true, study_lookup_kernel, {NULL, {NULL}}},
    {"fib", "lookup-growth", 0, false, true, study_lookup_growth, {NULL, {NULL}}}};

enum { N_STUDIES = sizeof studies / sizeof *studies };

struct sl_mpm_table *study_build(struct study_row *row, const char *algorithm,
                                 enum sl_device_kind kind, const struct sl_literal *literals,
                                 size_t n_literals)
{
    if (mpm_known(algorithm))
        return mpm_build(algorithm, kind, NULL, literals, n_literals, row->note);
    snprintf(row->note, sizeof row->note, "not in this build");
    return NULL;
}

bool study_measure(const struct study *study, const struct bench_work *work,
                   struct mpm_judge *judge, struct study_row *row, double *rate)
{
    struct bench_result result;

    *rate = -1;
    if (!bench_run(&study->bench->frame, work, &result))
        return false;
    if (result.why[0] != '\0') {
        memcpy(row->note, result.why, sizeof row->note);
        return true;
    }
    *rate = result.rate.median;
    return mpm_judge(judge, &result, 1, study->table.name, work->backend->name);
}

static bool run_study(const struct bench *bench, int i)
{
    const struct study_picture *picture = &studies[i].picture;
    struct study study = {.bench = bench,
                          .table = {.frame = &bench->frame, .name = studies[i].name}};

    if (bench->plot != NULL && picture->axis == NULL) {
        cli_error("--plot '%s': study %s is a table alone", bench->plot, study.table.name);
        return false;
    }
    if (studies[i].needs_gpu && bench->device.kind != SL_DEVICE_CUDA) {
        cli_error("--study %s needs a GPU (sluice devices says why there is none)",
                  studies[i].name);
        return false;
    }
    study.table.rows = bench->plot != NULL ? json_array() : NULL;
    bool good = (studies[i].n_literals == 0 ||
                 bench_literals_load(&study.literals, &bench->input, studies[i].n_literals)) &&
                (!studies[i].scans || bench_load_payloads(&study.scan, &bench->input, 0)) &&
                studies[i].run(&study);
    if (good && bench->plot != NULL)
        good = study_draw(&study.table, picture, bench->plot);
    json_decref(study.table.rows);
    bench_unload(&study.scan);
    bench_literals_free(&study.literals);
    return good;
}

bool bench_study(const struct bench *bench, const char *name)
{
    char known[256] = "";

    for (int i = 0; i < N_STUDIES; i++) {
        const size_t len = strlen(known);

        if (strcmp(name, studies[i].bench) != 0)
            continue;
        if (strcmp(bench->study, studies[i].name) == 0)
            return run_study(bench, i);
        snprintf(known + len, sizeof known - len, "%s%s", len > 0 ? ", " : "", studies[i].name);
    }
    cli_error("--study '%s' is no study of %s (expected one of %s)", bench->study, name, known);
    return false;
}

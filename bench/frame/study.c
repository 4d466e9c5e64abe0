/* SPDX-License-Identifier: MIT */
/* The studies, of papers and our own: their tables, and what they share. */
#include "study.h"

#include <stdio.h>
#include <string.h>

#include "cli/console.h"

enum { NUMBER_WIDTH = 8, TEXT_WIDTH = 20 /* columns, at least */ };

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
     {"up to MB", {"bytes a sample", "net %"}}}};

enum { N_STUDIES = sizeof studies / sizeof *studies };

/* ---- rows ------------------------------------------------------------------------------------ */

void study_number(struct study_row *row, const char *name, double number, int decimals)
{
    row->cells[row->n_cells].name = name;
    row->cells[row->n_cells].kind = number < 0 ? STUDY_NONE : STUDY_NUMBER;
    row->cells[row->n_cells].number = number;
    row->cells[row->n_cells++].decimals = decimals;
}

void study_text(struct study_row *row, const char *name, const char *text)
{
    row->cells[row->n_cells].name = name;
    row->cells[row->n_cells].kind = text == NULL ? STUDY_NONE : STUDY_TEXT;
    row->cells[row->n_cells++].text = text;
}

static json_t *json_of(const struct study *study, const struct study_row *row)
{
    json_t *line = json_pack("{s:s}", "study", study->name);

    for (unsigned i = 0; i < row->n_cells; i++) {
        json_t *value = json_null();

        if (row->cells[i].kind == STUDY_NUMBER)
            value = row->cells[i].decimals == 0 ? json_integer((json_int_t)row->cells[i].number)
                                                : json_real(row->cells[i].number);
        if (row->cells[i].kind == STUDY_TEXT)
            value = json_string(row->cells[i].text);
        json_object_set_new(line, row->cells[i].name, value);
    }
    if (row->note[0] != '\0')
        json_object_set_new(line, "note", json_string(row->note));
    return line;
}

static int width_of(const struct study_row *row, unsigned i)
{
    const size_t len = strlen(row->cells[i].name);
    const size_t least = row->cells[i].kind == STUDY_TEXT ? TEXT_WIDTH : NUMBER_WIDTH;

    return (int)(len > least ? len : least);
}

static void print_text(const struct study_row *row)
{
    for (unsigned i = 0; i < row->n_cells; i++) {
        const int width = width_of(row, i);

        if (row->cells[i].kind == STUDY_NUMBER)
            printf("%*.*f  ", width, row->cells[i].decimals, row->cells[i].number);
        else
            printf("%*s  ", width, row->cells[i].kind == STUDY_TEXT ? row->cells[i].text : "-");
    }
    puts(row->note);
}

void study_print(struct study *study, const struct study_row *row)
{
    json_t *line = json_of(study, row);

    bench_head(study->bench);
    if (study->rows != NULL)
        json_array_append(study->rows, line);
    if (study->bench->json) {
        json_dumpf(line, stdout, JSON_REAL_PRECISION(6));
        putchar('\n');
    } else {
        for (unsigned i = 0; i < row->n_cells && !study->has_heading; i++)
            printf("%*s  ", width_of(row, i), row->cells[i].name);
        if (!study->has_heading)
            putchar('\n');
        study->has_heading = true;
        print_text(row);
    }
    json_decref(line);
    fflush(stdout);
}

void study_say(const struct study *study, const char *text)
{
    bench_head(study->bench);
    if (!study->bench->json)
        puts(text);
}

/* ---- measuring ------------------------------------------------------------------------------- */

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
    if (!bench_run(study->bench, work, &result))
        return false;
    if (result.why[0] != '\0') {
        memcpy(row->note, result.why, sizeof row->note);
        return true;
    }
    *rate = result.rate.median;
    return mpm_judge(judge, &result, 1, study->name, work->backend->name);
}

static bool run_study(const struct bench *bench, int i)
{
    const struct study_picture *picture = &studies[i].picture;
    struct study study = {.bench = bench, .name = studies[i].name};

    if (bench->plot != NULL && picture->axis == NULL) {
        cli_error("--plot '%s': study %s is a table alone", bench->plot, study.name);
        return false;
    }
    if (studies[i].needs_gpu && bench->device.kind != SL_DEVICE_CUDA) {
        cli_error("--study %s needs a GPU (sluice devices says why there is none)",
                  studies[i].name);
        return false;
    }
    study.rows = bench->plot != NULL ? json_array() : NULL;
    bool good = (studies[i].n_literals == 0 ||
                 bench_literals_load(&study.literals, bench, studies[i].n_literals)) &&
                (!studies[i].scans || bench_load_payloads(&study.scan, bench, 0)) &&
                studies[i].run(&study);
    if (good && bench->plot != NULL)
        good = study_draw(&study, picture, bench->plot);
    json_decref(study.rows);
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

/* SPDX-License-Identifier: MIT */
/* sluice bench: rates of this machine, beside its ceilings. */
#include "bench.h"

#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "cli.h"

static const char usage[] =
    "usage: sluice bench [BENCH...] [OPTION...]\n\n"
    "  capture  a capture file to dissected batches with flows, one core\n"
    "  header   header checks, each backend on one core, and on the GPU\n"
    "  mpm      multi-pattern matching, each algorithm on one core, and on the GPU\n\n"
    "  -r FILE...       captures to run on (a generated one of 800-byte packets where not given)\n"
    "  --rules FILE...  rule files whose fast patterns are the literals (generated where not "
    "given)\n"
    "  --literals FILE... files of literals instead: one a line, as contents in rules, with\n"
    "                   ;nocase behind it or not (tools/literals writes them)\n"
    "  --runs N         counted runs of each row, after one warm-up (11)\n"
    "  --device D       auto, cpu, cuda or cuda:N\n"
    "  --json           one JSON object a row\n";

static const struct {
    const char *name;
    bool (*run)(const struct bench *bench);
} benches[] = {{"capture", bench_capture}, {"header", bench_header}, {"mpm", bench_mpm}};

enum { N_BENCHES = sizeof benches / sizeof *benches, MAX_RUNS = 101 };

static int compare_rates(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

struct bench_rate bench_measure(uint32_t runs, double (*once)(void *user), void *user)
{
    double rates[MAX_RUNS];

    once(user);
    for (uint32_t i = 0; i < runs; i++) {
        const uint64_t begin = clock_ns();
        const double units = once(user);

        rates[i] = units / ((double)(clock_ns() - begin) / 1e9);
    }
    qsort(rates, runs, sizeof *rates, compare_rates);
    return (struct bench_rate){rates[runs / 2], rates[0], rates[runs - 1]};
}

void bench_row(const struct bench *bench, const char *what, const char *variant, const char *data,
               const struct bench_rate *rate, double unit, const char *unit_name, double ceiling)
{
    if (bench->json) {
        json_t *row = json_pack(
            "{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:i, s:f}", "bench", what, "variant", variant,
            "data", data, "unit", unit_name, "median", rate->median / unit, "min", rate->min / unit,
            "max", rate->max / unit, "runs", (int)bench->runs, "ceiling", ceiling / unit);
        json_dumpf(row, stdout, JSON_REAL_PRECISION(6));
        putchar('\n');
        json_decref(row);
    } else {
        printf("%-18s %-32s %8.3f %-12s (%.3f to %.3f)", what, variant, rate->median / unit,
               unit_name, rate->min / unit, rate->max / unit);
        if (ceiling > 0)
            printf("  %.0f %% of %.2f", rate->median / ceiling * 100, ceiling / unit);
        printf("  %s\n", data);
    }
    fflush(stdout);
}

enum { OPTION_RULES = 256, OPTION_LITERALS, OPTION_RUNS, OPTION_DEVICE, OPTION_JSON };

static bool parse_runs(struct bench *bench, const char *text)
{
    char *end;
    const long runs = strtol(text, &end, 10);

    if (*text == '\0' || *end != '\0' || runs < 1 || runs > MAX_RUNS) {
        cli_error("--runs '%s' (expected 1 to %d)", text, MAX_RUNS);
        return false;
    }
    bench->runs = (uint32_t)runs;
    return true;
}

static bool select_bench(bool *selected, const char *name)
{
    for (int i = 0; i < N_BENCHES; i++) {
        if (strcmp(benches[i].name, name) == 0) {
            selected[i] = true;
            return true;
        }
    }
    cli_error("'%s' is no benchmark (expected capture, header or mpm)", name);
    return false;
}

/* -1: go on; otherwise the exit status. */
static int parse_options(struct bench *bench, bool *selected, int argc, char **argv)
{
    static const struct option options[] = {{"rules", required_argument, NULL, OPTION_RULES},
                                            {"literals", required_argument, NULL, OPTION_LITERALS},
                                            {"runs", required_argument, NULL, OPTION_RUNS},
                                            {"device", required_argument, NULL, OPTION_DEVICE},
                                            {"json", no_argument, NULL, OPTION_JSON},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option, list = 0;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "-r:h", options, NULL)) != -1) {
        if (option == 1 && list != 0)
            option = list; /* a bare argument goes on with the list before it */
        switch (option) {
        case 1:
            if (!select_bench(selected, optarg))
                return EXIT_FAILED;
            break;
        case 'r':
            list = option;
            bench->paths[bench->n_paths++] = optarg;
            break;
        case OPTION_RULES:
            list = option;
            bench->rule_files.paths[bench->rule_files.n_paths++] = optarg;
            break;
        case OPTION_LITERALS:
            list = option;
            bench->literal_paths[bench->n_literal_paths++] = optarg;
            break;
        case OPTION_RUNS:
            if (!parse_runs(bench, optarg))
                return EXIT_FAILED;
            break;
        case OPTION_DEVICE:
            bench->device = optarg;
            break;
        case OPTION_JSON:
            bench->json = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_DONE;
        default:
            return cli_bad_option(argv, "bench");
        }
    }
    return -1;
}

static bool run_benches(struct bench *bench, const bool *selected)
{
    bool any = false, good = true;
    struct sl_device device;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];

    if (sl_device_choose(&device, bench->device, why, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    if (bench->n_paths == 0 && !bench_generate(bench))
        return false;
    if (!bench->json)
        printf("sluice bench: %s, %u cores%s%s; median (minimum to maximum) of %u runs\n",
               cpu_level_name(cpu_level()), cpu_cores(), device.kind == SL_DEVICE_CUDA ? ", " : "",
               device.kind == SL_DEVICE_CUDA ? device.name : "", bench->runs);
    for (int i = 0; i < N_BENCHES; i++)
        any |= selected[i];
    for (int i = 0; i < N_BENCHES && good; i++)
        if (!any || selected[i])
            good = benches[i].run(bench);
    return good;
}

int command_bench(int argc, char **argv)
{
    struct bench bench = {.device = "auto", .runs = 11};
    bool selected[N_BENCHES] = {false};
    int exit_status = EXIT_FAILED;

    bench.paths = calloc((size_t)argc + 2, sizeof *bench.paths);
    bench.literal_paths = calloc((size_t)argc + 1, sizeof *bench.literal_paths);
    if (bench.paths != NULL && bench.literal_paths != NULL &&
        rule_files_init(&bench.rule_files, argc))
        exit_status = parse_options(&bench, selected, argc, argv);
    if (exit_status == -1)
        exit_status = run_benches(&bench, selected) ? EXIT_DONE : EXIT_FAILED;
    if (bench.generated[0] != '\0')
        unlink(bench.generated);
    rule_files_free(&bench.rule_files);
    free(bench.literal_paths);
    free(bench.paths);
    return exit_status;
}

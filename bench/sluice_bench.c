/* SPDX-License-Identifier: MIT */
/* sluice bench: rates of this machine, beside its ceilings. */
#include "bench/engines/bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/frame/machine.h"
#include "bench/frame/results.h"
#include "bench/peers/vectorscan.h"
#include "cli/console.h"
#include "sluice/device.h"
#include "sluice/mpm.h"

static const char usage[] =
    "usage: sluice bench [BENCH...] [OPTION...]\n\n"
    "Without a name: this machine's ceilings, every engine alone on one core up to all and on the\n"
    "GPU, all of them on one transfer, and peers that are installed. Or, in detail:\n\n"
    "  capture  capture files to dissected batches with flows, on one core and as a run does it\n"
    "  header   header checks, each backend on one core, and on the GPU\n"
    "  mpm      multi-pattern matching, each algorithm on one core, and on the GPU\n"
    "  scan     virus scan of files: the filter alone, and the scanner from the page cache\n"
    "  sampling [SAMPLER...]  content-defined positions, each backend, as mpm's\n"
    "  redundancy  payloads to frames without what they repeat, and back, one core\n"
    "  fib      longest-prefix match of names, each plane and backend, builds and updates\n"
    "  names    names in packets, found and looked up, one core and the GPU\n"
    "  together all engines on one transfer, and each alone, as without a name; with a GPU its\n"
    "           rows alone\n\n"
    "  -r FILE...       captures to run on (a generated one of 800-byte packets where not given)\n"
    "  --runs N         counted runs of each row, after one warm-up (11)\n"
    "  --device D       auto, cpu, cuda, cuda:N or cuda:N,M,...: the first of several GPUs, and "
    "all\n"
    "                   of them in the bench without a name\n"
    "  --json           one JSON object a row, and the timeline of batches\n"
    "  --save FILE      the rows, the machine and the timelines as one JSON file\n"
    "  --against FILE   what became slower or faster since that was saved, beyond the noise\n"
    "  --from FILE      the rows of a saved file, instead of measuring\n"
    "  --plot FILE.svg  rates on one core up to all and on the GPU beside the ceilings (gnuplot)\n"
    "  --variants LIST  of the bench without a name: variants beside the defaults, as mpm:ac,\n"
    "                   header:scalar, sampling:maxp, virus:ac, names:mata; --counts are its\n"
    "                   literals and virus signatures (18000,86000), --entries its names\n\n"
    "Of mpm, whose rates are those of payload alone, every occurrence found and counted:\n"
    "  --files FILE...      scan these files in pieces, not captures; of sampling and scan too\n"
    "  --literals FILE...   files of literals: one a line, as contents in rules, with ;nocase\n"
    "                       behind it or not (tools/literals writes them; generated where none)\n"
    "  --rules FILE...      rule files whose fast patterns are the literals instead\n"
    "  --counts N,...       sets of the first N literals (1000,5000,18000,30000)\n"
    "  --algorithms A,...   these alone (all but the slow ones); auto says what it took\n"
    "  --sample             train tables on half of the data, measure on the other half\n"
    "  --all-cores          rows on all cores too, a context each; of sampling and scan too\n"
    "  --device-bytes N     payload of the batch on the GPU, at least: 100M, 2G (640M)\n"
    "  --study NAME         a study instead: packet-size, literals, match-rate or hostile; of\n"
    "                       sampling: machines, optimisations, buffers, word-size, shared-memory,\n"
    "                       divergence, sorting, closeness, streams, markers, periods or\n"
    "                       period-change, all but the first two and closeness drawn by --plot\n\n"
    "Of scan, with --files and --device-bytes as of mpm:\n"
    "  --database PATH...   ClamAV's databases\n\n"
    "Of fib, whose traces are random names, or of the longest 10 %, with a random path behind, and "
    "of\n"
    "names, whose packets ask for random names (or are those of -r):\n"
    "  --names FILE         names of the tables, /com/parc/www or www.parc.com one a line; beyond\n"
    "                       them their labels are recombined (generated where not given)\n"
    "  --entries N,...      names of each table (1000000)\n"
    "  --algorithms A,...   of fib: these planes alone: hash, mata, ata, stt (all; stt up to\n"
    "                       100,000 names)\n"
    "  --study NAME         of fib: lookup-latency, lookup-link, lookup-kernel or lookup-growth\n"
    "With a GPU that --device names fib has its rows alone.\n";

enum {
    OPTION_CAPTURES = 256,
    OPTION_RULES,
    OPTION_LITERALS,
    OPTION_DATABASE,
    OPTION_FILES,
    OPTION_COUNTS,
    OPTION_ALGORITHMS,
    OPTION_SAMPLE,
    OPTION_ALL_CORES,
    OPTION_DEVICE_BYTES,
    OPTION_STUDY,
    OPTION_NAMES,
    OPTION_ENTRIES,
    OPTION_RUNS,
    OPTION_DEVICE,
    OPTION_SAVE,
    OPTION_AGAINST,
    OPTION_FROM,
    OPTION_PLOT,
    OPTION_VARIANTS,
    OPTION_JSON
};

static const struct option long_options[] = {
    {"rules", required_argument, NULL, OPTION_RULES},
    {"literals", required_argument, NULL, OPTION_LITERALS},
    {"database", required_argument, NULL, OPTION_DATABASE},
    {"files", required_argument, NULL, OPTION_FILES},
    {"counts", required_argument, NULL, OPTION_COUNTS},
    {"algorithms", required_argument, NULL, OPTION_ALGORITHMS},
    {"sample", no_argument, NULL, OPTION_SAMPLE},
    {"all-cores", no_argument, NULL, OPTION_ALL_CORES},
    {"device-bytes", required_argument, NULL, OPTION_DEVICE_BYTES},
    {"study", required_argument, NULL, OPTION_STUDY},
    {"names", required_argument, NULL, OPTION_NAMES},
    {"entries", required_argument, NULL, OPTION_ENTRIES},
    {"runs", required_argument, NULL, OPTION_RUNS},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"save", required_argument, NULL, OPTION_SAVE},
    {"against", required_argument, NULL, OPTION_AGAINST},
    {"from", required_argument, NULL, OPTION_FROM},
    {"plot", required_argument, NULL, OPTION_PLOT},
    {"variants", required_argument, NULL, OPTION_VARIANTS},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, 'h'},
    {0}};

/* Sets of options. */
#define SET(option) (1u << ((option)-OPTION_CAPTURES))
#define LITERALS (SET(OPTION_RULES) | SET(OPTION_LITERALS) | SET(OPTION_COUNTS))
#define NAMES (SET(OPTION_NAMES) | SET(OPTION_ENTRIES))
#define STUDY (SET(OPTION_STUDY) | SET(OPTION_PLOT))
#define EVERY                                                                         \
    (SET(OPTION_RUNS) | SET(OPTION_DEVICE) | SET(OPTION_SAVE) | SET(OPTION_AGAINST) | \
     SET(OPTION_JSON))

/* What all benchmarks that are named beside each other must take. */
#define OF_ALL (SET(OPTION_FILES) | SET(OPTION_STUDY))

/* What the bench without a name takes. */
#define UNNAMED                                                                              \
    (EVERY | SET(OPTION_CAPTURES) | LITERALS | NAMES | SET(OPTION_FROM) | SET(OPTION_PLOT) | \
     SET(OPTION_VARIANTS))

static const struct {
    const char *name;
    bool (*run)(const struct bench *bench);
    bool traffic;     /* runs on captures, of which one is generated where none was named */
    unsigned options; /* that it takes, beside those of every one */
} benches[] = {
    {"capture", bench_capture, true, SET(OPTION_CAPTURES)},
    {"header", bench_header, true, SET(OPTION_CAPTURES)},
    {"mpm", bench_mpm, true,
     SET(OPTION_CAPTURES) | SET(OPTION_FILES) | LITERALS | SET(OPTION_ALGORITHMS) |
         SET(OPTION_SAMPLE) | SET(OPTION_ALL_CORES) | SET(OPTION_DEVICE_BYTES) | STUDY},
    {"scan", bench_scan, false,
     SET(OPTION_DATABASE) | SET(OPTION_FILES) | SET(OPTION_ALL_CORES) | SET(OPTION_DEVICE_BYTES)},
    {"sampling", bench_sampling, true,
     SET(OPTION_CAPTURES) | SET(OPTION_FILES) | SET(OPTION_ALL_CORES) | STUDY},
    {"redundancy", bench_redundancy, true, SET(OPTION_CAPTURES)},
    {"fib", bench_fib, false, NAMES | SET(OPTION_ALGORITHMS) | STUDY},
    {"names", bench_packet_names, false, SET(OPTION_CAPTURES) | NAMES},
    {"together", bench_all_together, true, SET(OPTION_CAPTURES) | LITERALS | NAMES}};

enum { N_BENCHES = sizeof benches / sizeof *benches, SAMPLING = 4, TOGETHER = 8 };

enum { ENTRIES_MAX = 100000000 };

static bool parse_runs(struct bench *bench, const char *text)
{
    char *end;
    const long runs = strtol(text, &end, 10);

    if (*text == '\0' || *end != '\0' || runs < 1 || runs > BENCH_RUNS_MAX) {
        cli_error("--runs '%s' (expected 1 to %d)", text, BENCH_RUNS_MAX);
        return false;
    }
    bench->runs = (uint32_t)runs;
    return true;
}

static bool parse_counts(const char *option, size_t counts[BENCH_COUNTS_MAX], size_t *n_counts,
                         long max, const char *text)
{
    const char *at = text;
    char *end;

    for (*n_counts = 0; *n_counts < BENCH_COUNTS_MAX; at = end + 1) {
        const long count = strtol(at, &end, 10);

        if (end == at || (*end != ',' && *end != '\0') || count < 1 || count > max)
            break;
        counts[(*n_counts)++] = (size_t)count;
        if (*end == '\0')
            return true;
    }
    cli_error("%s '%s' (expected at most %d numbers of 1 to %ld with commas between)", option, text,
              BENCH_COUNTS_MAX, max);
    return false;
}

static bool parse_device_bytes(struct bench *bench, const char *text)
{
    static const struct {
        const char *suffix;
        double unit;
    } units[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
    char *end;
    const long number = strtol(text, &end, 10);

    for (size_t i = 0; i < sizeof units / sizeof *units && end != text; i++) {
        const double bytes = (double)number * units[i].unit;

        if (strcmp(end, units[i].suffix) == 0 && bytes >= 1 && bytes < 4e9) {
            bench->device_bytes = (uint32_t)bytes;
            return true;
        }
    }
    cli_error("--device-bytes '%s' (expected 1 to less than 4G, as 640M)", text);
    return false;
}

static bool select_bench(struct bench *bench, bool *selected, const char *name)
{
    for (int i = 0; i < N_BENCHES; i++) {
        if (strcmp(benches[i].name, name) == 0) {
            selected[i] = true;
            return true;
        }
    }
    if (selected[SAMPLING] && bench_is_sampler(name)) {
        bench->samplers[bench->n_samplers++] = name;
        return true;
    }
    cli_error("'%s' is no benchmark (sluice bench --help lists them)", name);
    return false;
}

/* Options that name several files: where the next one goes. */
static bool add_path(struct bench *bench, int option, const char *path)
{
    switch (option) {
    case OPTION_CAPTURES:
        bench->paths[bench->n_paths++] = path;
        return true;
    case OPTION_FILES:
        bench->file_paths[bench->n_file_paths++] = path;
        return true;
    case OPTION_RULES:
        bench->rule_files.paths[bench->rule_files.n_paths++] = path;
        return true;
    case OPTION_LITERALS:
        bench->literal_paths[bench->n_literal_paths++] = path;
        return true;
    case OPTION_DATABASE:
        bench->database_paths[bench->n_database_paths++] = path;
        return true;
    default:
        return false;
    }
}

/* Where an option's text goes as it is, or NULL. */
static const char **text_for(struct bench *bench, int option)
{
    switch (option) {
    case OPTION_NAMES:
        return &bench->names_path;
    case OPTION_ALGORITHMS:
        return &bench->algorithms;
    case OPTION_VARIANTS:
        return &bench->variants;
    case OPTION_STUDY:
        return &bench->study;
    case OPTION_DEVICE:
        return &bench->device_name;
    case OPTION_SAVE:
        return &bench->save;
    case OPTION_AGAINST:
        return &bench->against;
    case OPTION_FROM:
        return &bench->from;
    case OPTION_PLOT:
        return &bench->plot;
    default:
        return NULL;
    }
}

/* Options with one value or none. -1: go on; otherwise the exit status. */
static int take_option(struct bench *bench, int option, char **argv)
{
    const char **text = text_for(bench, option);

    if (text != NULL) {
        *text = optarg;
        return -1;
    }
    switch (option) {
    case OPTION_COUNTS:
        return parse_counts("--counts", bench->counts, &bench->n_counts, SL_LITERAL_COUNT_MAX,
                            optarg)
                   ? -1
                   : EXIT_FAILED;
    case OPTION_ENTRIES:
        return parse_counts("--entries", bench->entries, &bench->n_entries, ENTRIES_MAX, optarg)
                   ? -1
                   : EXIT_FAILED;
    case OPTION_DEVICE_BYTES:
        return parse_device_bytes(bench, optarg) ? -1 : EXIT_FAILED;
    case OPTION_RUNS:
        return parse_runs(bench, optarg) ? -1 : EXIT_FAILED;
    case OPTION_SAMPLE:
        bench->sample = true;
        return -1;
    case OPTION_ALL_CORES:
        bench->all_cores = true;
        return -1;
    case OPTION_JSON:
        bench->json = true;
        return -1;
    case 'h':
        fputs(usage, stdout);
        return EXIT_DONE;
    default:
        return cli_bad_option(argv, "bench");
    }
}

/* -1: go on; otherwise the exit status. */
static int parse_options(struct bench *bench, bool *selected, int argc, char **argv)
{
    int option, list = 0, exit_status = -1;

    opterr = 0;
    while (exit_status == -1 &&
           (option = getopt_long(argc, argv, "-r:h", long_options, NULL)) != -1) {
        if (option == 1 && list == 0) {
            if (!select_bench(bench, selected, optarg))
                return EXIT_FAILED;
            continue;
        }
        if (option == 1)
            option = list; /* a bare argument goes on with the list before it */
        if (option == 'r')
            option = OPTION_CAPTURES;
        if (option >= OPTION_CAPTURES)
            bench->given |= SET(option);
        if (add_path(bench, option, optarg))
            list = option;
        else
            exit_status = take_option(bench, option, argv);
    }
    return exit_status;
}

/* One of these options, as it is written. */
static const char *option_of(unsigned options, char text[32])
{
    for (const struct option *option = long_options; option->val != 'h'; option++)
        if ((SET(option->val) & options) != 0) {
            snprintf(text, 32, "--%s", option->name);
            return text;
        }
    return "-r";
}

static bool check_named(const struct bench *bench, const bool *selected)
{
    unsigned taken = EVERY;
    char text[32];

    for (int i = 0; i < N_BENCHES; i++)
        taken |= selected[i] ? benches[i].options : 0;
    for (int i = 0; i < N_BENCHES; i++) {
        const unsigned bad = bench->given & ~benches[i].options & (OF_ALL | ~taken);

        if (selected[i] && bad != 0) {
            cli_error("%s is no option of %s", option_of(bad, text), benches[i].name);
            return false;
        }
    }
    if (bench->plot == NULL || bench->study != NULL)
        return true;
    cli_error("--plot goes with --study, or with no name of a benchmark");
    return false;
}

static bool check_unnamed(const struct bench *bench)
{
    const unsigned bad = bench->given & ~UNNAMED;
    char text[32];

    if (bad != 0)
        cli_error("%s needs the name of a benchmark (sluice bench --help lists them)",
                  option_of(bad, text));
    return bad == 0 && bench_whole_check(bench);
}

/* An option that would do nothing is a misunderstanding. */
static bool check_selection(const struct bench *bench, const bool *selected)
{
    bool any = false;

    for (int i = 0; i < N_BENCHES; i++)
        any |= selected[i];
    return any ? check_named(bench, selected) : check_unnamed(bench);
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool run_named(const struct bench *bench, const bool *selected)
{
    bool good = true;

    for (int i = 0; i < N_BENCHES && good; i++)
        if (selected[i])
            good = benches[i].run(bench);
    return good;
}

void bench_head(const struct bench *bench)
{
    static bool done;
    json_t *machine = json_object_get(bench->results, "machine");
    char text[512];

    if (done)
        return;
    done = true;
    bench_machine_text(machine, text, sizeof text);
    if (bench->json) {
        json_t *line = json_pack("{s:O}", "machine", machine);

        bench_print_line(bench, line);
        json_decref(line);
    } else if (bench->from != NULL)
        printf("sluice bench: %s, as saved\n", text);
    else
        printf("sluice bench: %s; median (minimum to maximum) of %u runs\n", text, bench->runs);
}

static void default_counts(struct bench *bench, bool named)
{
    static const size_t sets[] = {1000, 5000, 18000, 30000}, whole[] = {18000, 86000};

    bench->n_counts = named ? 4 : 2;
    memcpy(bench->counts, named ? sets : whole, bench->n_counts * sizeof *bench->counts);
}

/* A word that is no UTF-8 cannot be said in JSON. */
static void note_command(const struct bench *bench)
{
    json_t *words = json_array();

    for (char *const *word = bench->words; *word != NULL; word++) {
        json_t *said = json_string(*word);

        json_array_append_new(words, said != NULL ? said : json_string("?"));
    }
    json_object_set_new(bench->results, "command", words);
}

/* On a machine that others use too, rates are what was left. */
static void note_others(const struct bench *bench, double percent)
{
    json_object_set_new(bench->results, "others_percent", json_real(percent));
    if (bench->json) {
        json_t *line = json_pack("{s:f}", "others_percent", percent);

        bench_print_line(bench, line);
        json_decref(line);
    } else if (percent >= BENCH_OTHERS_SAID) {
        printf("NOT ALONE: other work took %.0f %% of all cores meanwhile, and rates are lower for "
               "it\n",
               percent);
    }
}

/* Benchmarks are of one device; of several GPUs only all engines together are measured. */
static bool choose_device(struct bench *bench)
{
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];

    if (sl_device_choose_list(bench->gpus, BENCH_GPUS_MAX, &bench->n_gpus, bench->device_name, why,
                              &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    bench->device = bench->gpus[0];
    while (bench->n_gpus > 0 && bench->gpus[bench->n_gpus - 1].kind == SL_DEVICE_CPU)
        bench->n_gpus--;
    return true;
}

static bool measure(struct bench *bench, const bool *selected)
{
    bool any = false, traffic = false;

    for (int i = 0; i < N_BENCHES; i++) {
        any |= selected[i];
        traffic |= selected[i] && benches[i].traffic;
    }
    if (!choose_device(bench))
        return false;
    if ((traffic || !any) && bench->n_paths == 0 && bench->n_file_paths == 0 &&
        !bench_generate(bench))
        return false;
    bench->results = bench_results_new(bench_machine(bench));
    note_command(bench);
    if (bench->n_counts == 0)
        default_counts(bench, any && !selected[TOGETHER]);
    const struct bench_load begin = bench_load_now();
    const bool good = any ? run_named(bench, selected) : bench_whole(bench);
    if (good) {
        bench_head(bench);
        note_others(bench, bench_load_of_others(&begin));
    }
    return good;
}

/* The rows of a file as if they had been measured. */
static bool replay(struct bench *bench)
{
    bench->results = bench_results_load(bench->from);
    if (bench->results == NULL)
        return false;
    bench_head(bench);
    const json_t *rows = json_object_get(bench->results, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++)
        bench_print_line(bench, json_array_get(rows, i));
    return true;
}

static bool run_benches(struct bench *bench, const bool *selected)
{
    json_t *before = NULL;
    bool good = check_selection(bench, selected);

    /* What cannot be used is said before minutes are spent. */
    if (good && bench->against != NULL)
        good = (before = bench_results_load(bench->against)) != NULL;
    if (good && bench->save != NULL)
        good = bench_results_writable(bench->save);
    good = good && (bench->from != NULL ? replay(bench) : measure(bench, selected));
    if (good && bench->save != NULL)
        good = bench_results_save(bench->results, bench->save);
    if (good && bench->plot != NULL && bench->study == NULL)
        good = bench_draw(bench->results, bench->plot);
    if (good && before != NULL)
        bench_results_compare(before, bench->results, bench->against, bench->json);
    json_decref(before);
    json_decref(bench->results);
    return good;
}

/* No command line names more of any kind than it has arguments. */
static bool take_memory(struct bench *bench, int argc)
{
    const size_t n = (size_t)argc + 2;

    bench->paths = calloc(n, sizeof *bench->paths);
    bench->file_paths = calloc(n, sizeof *bench->file_paths);
    bench->literal_paths = calloc(n, sizeof *bench->literal_paths);
    bench->database_paths = calloc(n, sizeof *bench->database_paths);
    bench->samplers = calloc(n, sizeof *bench->samplers);
    return rule_files_init(&bench->rule_files, argc) && bench->paths != NULL &&
           bench->file_paths != NULL && bench->literal_paths != NULL &&
           bench->database_paths != NULL && bench->samplers != NULL;
}

static int run(int argc, char **argv)
{
    struct bench bench = {.words = argv,
                          .device_name = "auto",
                          .runs = 11,
                          .entries = {1000000},
                          .n_entries = 1,
                          .device_bytes = 640000000};
    bool selected[N_BENCHES] = {false};
    int exit_status = EXIT_FAILED;

    if (take_memory(&bench, argc))
        exit_status = parse_options(&bench, selected, argc, argv);
    if (exit_status == -1)
        exit_status = run_benches(&bench, selected) ? EXIT_DONE : EXIT_FAILED;
    if (bench.generated[0] != '\0')
        unlink(bench.generated);
    rule_files_free(&bench.rule_files);
    free(bench.samplers);
    free(bench.literal_paths);
    free(bench.database_paths);
    free(bench.file_paths);
    free(bench.paths);
    return exit_status;
}

int main(int argc, char **argv)
{
    static char name[] = "bench"; /* as `sluice bench` has it */
    struct sl_diag diag = {0};

    if (!cli_hold_descriptors())
        return EXIT_FAILED;
    const enum sl_status environment = sl_device_prepare(&diag);
    if (environment != SL_OK)
        cli_diag(&diag);
    if (environment == SL_EINVAL)
        return EXIT_FAILED;
    vectorscan_add();
    if (argc > 0)
        argv[0] = name;
    return cli_finish(run(argc, argv));
}

/* SPDX-License-Identifier: MIT */
#include "bench_options.h"

#include <stdlib.h>
#include <string.h>

#include "bench/engines/benchmarks.h"
#include "bench/frame/rate.h"
#include "cli/console.h"
#include "cli/options.h"
#include "sluice/mpm.h"

static const char usage[] =
    "usage: sluice bench [BENCH...] [OPTION...]\n\n"
    "Without a name: this machine's ceilings, every engine alone on one core up to all and on the\n"
    "GPU, all of them on one transfer, and peers that are installed. Or, in detail:\n\n"
    "  capture  capture files to dissected batches with flows, on one core and as a run does it\n"
    "  flow     packets and new flows a second through the flow table, on one core and on all\n"
    "  stream   segments of TCP a second, in order and not, through reassembly on one core; and\n"
    "           runs: -r with --rules (one where none) with and without it, one flow alone\n"
    "  run      whole runs with no engine, each, four and all five, on one core up to all and "
    "each\n"
    "           GPU, beside page cache, link and the GPU's memory; each stage's time a packet\n"
    "  app      runs over HTTP with --rules, beside Suricata where it is installed, and beside "
    "zlib\n"
    "           alone where bodies are packed; the memory of an open flow\n"
    "  start    the start of a run with --rules, part by part, beside a bare context of the GPU\n"
    "  header   header checks, each backend on one core, and on the GPU\n"
    "  mpm      multi-pattern matching, each algorithm on one core, and on the GPU\n"
    "  scan     virus scan of --files: the filter alone, and the scanner from the page cache; or "
    "of\n"
    "           documents in containers, generated, beside clamscan and the unpacker alone\n"
    "  sampling [SAMPLER...]  content-defined positions, each backend, as mpm's\n"
    "  redundancy  payloads to frames without what they repeat, and back, one core\n"
    "  tunnel   two boxes and TCP through them, by each box's own CPU time (needs root and ip)\n"
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
    "  --force          with --save or --plot: overwrite FILE; without it you are asked, or it is\n"
    "                   kept\n"
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
    "  --database PATH...   ClamAV's databases (without --files: 40,000 generated signatures)\n\n"
    "Of run, with -r, --rules, --database, --names and --entries; files that it does not "
    "name are\n"
    "those of SLUICE_TEST_DATA, or captures and names are generated; of app, whose HTTP is\n"
    "generated without -r:\n"
    "  --bytes N            of the capture that the others are repeated into (500M)\n\n"
    "Of tunnel:\n"
    "  --bytes N            of the file that crosses a thin link (60M), and of 40 that cross a "
    "bad\n"
    "                       one\n\n"
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
    OPTION_BYTES,
    OPTION_STUDY,
    OPTION_NAMES,
    OPTION_ENTRIES,
    OPTION_RUNS,
    OPTION_DEVICE,
    OPTION_SAVE,
    OPTION_AGAINST,
    OPTION_FROM,
    OPTION_PLOT,
    OPTION_FORCE,
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
    {"bytes", required_argument, NULL, OPTION_BYTES},
    {"study", required_argument, NULL, OPTION_STUDY},
    {"names", required_argument, NULL, OPTION_NAMES},
    {"entries", required_argument, NULL, OPTION_ENTRIES},
    {"runs", required_argument, NULL, OPTION_RUNS},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"save", required_argument, NULL, OPTION_SAVE},
    {"against", required_argument, NULL, OPTION_AGAINST},
    {"from", required_argument, NULL, OPTION_FROM},
    {"plot", required_argument, NULL, OPTION_PLOT},
    {"force", no_argument, NULL, OPTION_FORCE},
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
     SET(OPTION_FORCE) | SET(OPTION_JSON))

/* The options that all benchmarks named beside each other must take. */
#define OF_ALL (SET(OPTION_FILES) | SET(OPTION_STUDY))

/* The options of the bench without a name. */
#define UNNAMED                                                                              \
    (EVERY | SET(OPTION_CAPTURES) | LITERALS | NAMES | SET(OPTION_FROM) | SET(OPTION_PLOT) | \
     SET(OPTION_VARIANTS))

const struct benchmark benchmarks[N_BENCHMARKS] = {
    {"capture", bench_capture, true, false, SET(OPTION_CAPTURES)},
    {"flow", bench_flow, true, false, SET(OPTION_CAPTURES)},
    {"stream", bench_stream, false, false, SET(OPTION_CAPTURES) | SET(OPTION_RULES)},
    {"run", bench_runs, false, false,
     SET(OPTION_CAPTURES) | SET(OPTION_RULES) | SET(OPTION_DATABASE) | NAMES | SET(OPTION_BYTES)},
    {"app", bench_app, false, false, SET(OPTION_CAPTURES) | SET(OPTION_RULES) | SET(OPTION_BYTES)},
    {"start", bench_start, false, false, SET(OPTION_RULES)},
    {"header", bench_header, true, false, SET(OPTION_CAPTURES)},
    {"mpm", bench_mpm, true, false,
     SET(OPTION_CAPTURES) | SET(OPTION_FILES) | LITERALS | SET(OPTION_ALGORITHMS) |
         SET(OPTION_SAMPLE) | SET(OPTION_ALL_CORES) | SET(OPTION_DEVICE_BYTES) | STUDY},
    {"scan", bench_scan, false, false,
     SET(OPTION_DATABASE) | SET(OPTION_FILES) | SET(OPTION_ALL_CORES) | SET(OPTION_DEVICE_BYTES)},
    {"sampling", bench_sampling, true, false,
     SET(OPTION_CAPTURES) | SET(OPTION_FILES) | SET(OPTION_ALL_CORES) | STUDY},
    {"redundancy", bench_redundancy, true, false, SET(OPTION_CAPTURES)},
    {"tunnel", bench_tunnel, false, false, SET(OPTION_BYTES)},
    {"fib", bench_fib, false, false, NAMES | SET(OPTION_ALGORITHMS) | STUDY},
    {"names", bench_packet_names, false, false, SET(OPTION_CAPTURES) | NAMES},
    {"together", bench_all_together, true, true, SET(OPTION_CAPTURES) | LITERALS | NAMES}};

enum { ENTRIES_MAX = 100000000 };

static bool parse_runs(struct bench *bench, const char *text)
{
    uint64_t runs;

    if (!cli_parse_number_of("--runs", text, 1, BENCH_RUNS_MAX, "", &runs))
        return false;
    bench->frame.runs = (uint32_t)runs;
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

static bool parse_bytes(const char *option, const char *text, uint32_t *out)
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
            *out = (uint32_t)bytes;
            return true;
        }
    }
    cli_error("%s '%s' (expected 1 to less than 4G, as 640M)", option, text);
    return false;
}

static bool select_benchmark(struct bench_options *options, const char *name)
{
    struct bench *bench = &options->bench;
    bool samples = false;

    for (int i = 0; i < N_BENCHMARKS; i++) {
        if (strcmp(benchmarks[i].name, name) == 0) {
            options->selected[i] = true;
            return true;
        }
        samples |= options->selected[i] && benchmarks[i].run == bench_sampling;
    }
    if (samples && bench_is_sampler(name)) {
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
        bench->input.paths[bench->input.n_paths++] = path;
        return true;
    case OPTION_FILES:
        bench->input.file_paths[bench->input.n_file_paths++] = path;
        return true;
    case OPTION_RULES:
        bench->input.rule_files.paths[bench->input.rule_files.n_paths++] = path;
        return true;
    case OPTION_LITERALS:
        bench->input.literal_paths[bench->input.n_literal_paths++] = path;
        return true;
    case OPTION_DATABASE:
        bench->database_paths[bench->n_database_paths++] = path;
        return true;
    default:
        return false;
    }
}

/* Where an option's text goes as it is, or NULL. */
static const char **text_for(struct bench_options *options, int option)
{
    struct bench *bench = &options->bench;

    switch (option) {
    case OPTION_NAMES:
        return &bench->input.names_path;
    case OPTION_ALGORITHMS:
        return &bench->algorithms;
    case OPTION_VARIANTS:
        return &bench->variants;
    case OPTION_STUDY:
        return &bench->study;
    case OPTION_DEVICE:
        return &bench->device_name;
    case OPTION_SAVE:
        return &options->save;
    case OPTION_AGAINST:
        return &options->against;
    case OPTION_FROM:
        return &options->from;
    case OPTION_PLOT:
        return &bench->plot;
    default:
        return NULL;
    }
}

/* Options with one value or none. -1: go on; otherwise the exit status. */
static int read_option(struct bench_options *options, int option)
{
    const char **text = text_for(options, option);
    struct bench *bench = &options->bench;

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
        return parse_bytes("--device-bytes", optarg, &bench->device_bytes) ? -1 : EXIT_FAILED;
    case OPTION_BYTES:
        return parse_bytes("--bytes", optarg, &bench->bytes) ? -1 : EXIT_FAILED;
    case OPTION_RUNS:
        return parse_runs(bench, optarg) ? -1 : EXIT_FAILED;
    case OPTION_SAMPLE:
        bench->sample = true;
        return -1;
    case OPTION_ALL_CORES:
        bench->all_cores = true;
        return -1;
    case OPTION_FORCE:
        options->force = true;
        return -1;
    case OPTION_JSON:
        bench->frame.json = true;
        return -1;
    default:
        return cli_end(option, usage);
    }
}

/* -1: go on; otherwise the exit status. */
static int read_options(struct bench_options *options, int argc, char **argv)
{
    static const int repeated[] = {
        'r', OPTION_CAPTURES, OPTION_FILES, OPTION_RULES, OPTION_LITERALS, OPTION_DATABASE, 0};
    struct cli_options known = {
        .command = "bench", .letters = "-r:h", .names = long_options, .repeated = repeated};
    int option, list = 0, exit_status = -1;

    while (exit_status == -1 && (option = cli_next_option(&known, argc, argv)) != -1) {
        if (option == 1 && list == 0) {
            if (!select_benchmark(options, optarg))
                return EXIT_FAILED;
            continue;
        }
        if (option == 1)
            option = list; /* a bare argument goes on with the list before it */
        if (option == 'r')
            option = OPTION_CAPTURES;
        if (option >= OPTION_CAPTURES)
            options->given |= SET(option);
        if (add_path(&options->bench, option, optarg))
            list = option;
        else
            exit_status = read_option(options, option);
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

static bool check_named(const struct bench_options *options)
{
    unsigned taken = EVERY;
    char text[32];

    for (int i = 0; i < N_BENCHMARKS; i++)
        taken |= options->selected[i] ? benchmarks[i].options : 0;
    for (int i = 0; i < N_BENCHMARKS; i++) {
        const unsigned bad = options->given & ~benchmarks[i].options & (OF_ALL | ~taken);

        if (options->selected[i] && bad != 0) {
            cli_error("%s is no option of %s", option_of(bad, text), benchmarks[i].name);
            return false;
        }
    }
    if (options->bench.plot == NULL || options->bench.study != NULL)
        return true;
    cli_error("--plot goes with --study, or with no name of a benchmark");
    return false;
}

static bool check_unnamed(const struct bench_options *options)
{
    const unsigned bad = options->given & ~UNNAMED;
    char text[32];

    if (bad != 0)
        cli_error("%s needs the name of a benchmark (sluice bench --help lists them)",
                  option_of(bad, text));
    return bad == 0 && bench_whole_check(&options->bench);
}

/* An option that would do nothing is a misunderstanding. */
bool bench_options_check(const struct bench_options *options)
{
    bool any = false;

    for (int i = 0; i < N_BENCHMARKS; i++)
        any |= options->selected[i];
    return any ? check_named(options) : check_unnamed(options);
}

/* No command line names more of any kind than it has arguments. */
static bool allocate(struct bench *bench, int argc)
{
    const size_t n = (size_t)argc + 2;

    bench->input.paths = calloc(n, sizeof *bench->input.paths);
    bench->input.file_paths = calloc(n, sizeof *bench->input.file_paths);
    bench->input.literal_paths = calloc(n, sizeof *bench->input.literal_paths);
    bench->database_paths = calloc(n, sizeof *bench->database_paths);
    bench->samplers = calloc(n, sizeof *bench->samplers);
    return rule_files_init(&bench->input.rule_files, argc) && bench->input.paths != NULL &&
           bench->input.file_paths != NULL && bench->input.literal_paths != NULL &&
           bench->database_paths != NULL && bench->samplers != NULL;
}

int bench_options_parse(struct bench_options *options, int argc, char **argv)
{
    *options = (struct bench_options){.bench = {.frame = {.runs = 11},
                                                .device_name = "auto",
                                                .entries = {1000000},
                                                .n_entries = 1,
                                                .device_bytes = 640000000},
                                      .words = argv};
    return allocate(&options->bench, argc) ? read_options(options, argc, argv) : EXIT_FAILED;
}

void bench_options_free(struct bench_options *options)
{
    struct bench *bench = &options->bench;

    rule_files_free(&bench->input.rule_files);
    free(bench->samplers);
    free(bench->input.literal_paths);
    free(bench->database_paths);
    free(bench->input.file_paths);
    free(bench->input.paths);
}

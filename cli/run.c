/* SPDX-License-Identifier: MIT */
/* sluice run: all that is switched on, over captures or an interface, in one pass. */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"
#include "rule_files.h"
#include "run/run_redundancy.h"
#include "run/run_sinks.h"
#include "run/run_source.h"
#include "run/stats_clock.h"
#include "run/traffic_sample.h"
#include "run_report.h"
#include "sluice/sluice.h"

static const char usage[] =
    "usage: sluice run -r FILE... | -i IFACE [OPTION...]\n\n"
    "  -r FILE...             capture files: pcap, pcapng, plain, gzip or zstd; - is standard "
    "input\n"
    "  -i IFACE               an interface, until Ctrl-C\n"
    "  -f 'FILTER'            with -i: a BPF filter, as for tcpdump\n"
    "  --rules FILE...        signature rules of Suricata, Snort 2 or Snort 3\n"
    "  --set NAME=VALUE       set a variable of the rules\n"
    "  --compiled FILE        what sluice rules --compile made of the same rules\n"
    "  --header-checks[=LIST] check headers: all, or a list of names (all,-checksums; help lists\n"
    "                         them)\n"
    "  -k all|none            checksums among the header checks\n"
    "  --scan DB              ClamAV's signatures in payloads: a database file, a directory of "
    "them,\n"
    "                         or what sluice scan --compile made; may be given several times\n"
    "  --home NETS            your own networks, comma separated (also HOME_NET of the rules)\n"
    "  --names FILE...        names of DNS, HTTP, TLS and NDN packets are looked up in these "
    "tables:\n"
    "                         routes, block lists, zones, categories, or what sluice lookup "
    "--build made\n"
    "  --names-format FORMAT  of the tables behind it (auto: found out; sluice lookup --format "
    "help)\n"
    "  --alerts SINK          console, eve:FILE (EVE JSON lines; eve:- is standard output) or\n"
    "                         sqlite:FILE; may be given several times; console where it is not\n"
    "  --redundancy SPEC      what eliminating redundancy would save: "
    "SAMPLER[,p=N][,w=N][,cache=N]\n"
    "                         [,interval=N|Ns][,chunks][,no-raise], such as "
    "dynabyte,p=32,w=64,cache=512M;\n"
    "                         no-raise: dynabyte corrects over-sampling alone\n"
    "  --compare              with --redundancy: all samplers, every position among them\n"
    "  --plot FILE.svg        with --redundancy: savings and sampling over the traffic (gnuplot)\n"
    "  --train FILE           with samplebyte: learn its markers from this capture\n"
    "  --device D             auto, cpu, cuda (all GPUs), cuda:N or cuda:N,M,...\n"
    "  --max-latency US       packets of an interface or a pipe wait so many microseconds for\n"
    "                         others, not for a full batch; the summary says how long results "
    "took\n"
    "  --stats[=SECONDS]      where the time went, and every signature that alerted; with SECONDS\n"
    "                         also the counters so far, each so often and at the end, to EVE and\n"
    "                         console sinks\n"
    "  --metrics ADDR:PORT    the counters so far for Prometheus, at http://ADDR:PORT/metrics;\n"
    "                         [ADDR]:PORT for IPv6, PORT alone for 127.0.0.1\n"
    "  --json                 the summary as one JSON object; alerts only where --alerts says\n";

enum { MAX_HOME = 64 };

struct options {
    struct source source;
    struct rule_files rule_files;
    struct findings findings;
    struct redundancy redundancy;
    struct run_names names;
    struct observe observe;
    const char *device;
    const char *compiled;    /* NULL: the rules' literals are compiled */
    const char *header_list; /* NULL: no header checks */
    bool no_checksums;
    struct sl_net home[MAX_HOME];
    uint32_t n_home;
    bool json, stats;
    bool started; /* a batch was asked for: what was read from the source is gone from it */
    struct progress progress;
};

/* ---- the command line ------------------------------------------------------------------------ */

static bool parse_home(struct options *options, const char *list)
{
    while (*list != '\0') {
        const size_t len = strcspn(list, ",");

        if (options->n_home == MAX_HOME ||
            sl_net_parse(&options->home[options->n_home], list, len) != SL_OK) {
            cli_error("--home '%.*s' is no network (expected up to %d like 192.0.2.0/24, "
                      "comma separated)",
                      (int)len, list, MAX_HOME);
            return false;
        }
        options->n_home++;
        list += len + (list[len] == ',');
    }
    return true;
}

static bool parse_latency(struct options *options, const char *us)
{
    enum { MAX_US = 60000000 };
    char *end;
    const unsigned long value = strtoul(us, &end, 10);

    if (us[0] < '0' || us[0] > '9' || *end != '\0' || value < 1 || value > MAX_US) {
        cli_error("--max-latency '%s' (expected 1 to %d microseconds)", us, MAX_US);
        return false;
    }
    options->source.max_latency_ns = value * 1000;
    return true;
}

static bool parse_checksums(struct options *options, const char *which)
{
    options->no_checksums = strcmp(which, "none") == 0;
    if (options->no_checksums || strcmp(which, "all") == 0)
        return true;
    cli_error("-k '%s' (expected all or none)", which);
    return false;
}

static void print_checks(void)
{
    puts("header checks (sets: all, none, checksums; -NAME takes away):");
    for (int c = 0; c < SL_N_HEADER_CHECKS; c++)
        printf("  %-22s %s\n", sl_header_check_name((enum sl_header_check)c),
               sl_header_check_text((enum sl_header_check)c));
}

static bool add_sink(struct options *options, const char *spec)
{
    if (options->findings.n_sinks == MAX_SINKS) {
        cli_error("--alerts '%s': more than %d sinks", spec, MAX_SINKS);
        return false;
    }
    options->findings.sinks[options->findings.n_sinks++].spec = spec;
    return true;
}

static bool add_database(struct virus *virus, const char *path)
{
    if (virus->n_databases == MAX_DATABASES) {
        cli_error("--scan '%s': more than %d databases", path, MAX_DATABASES);
        return false;
    }
    virus->databases[virus->n_databases++] = path;
    return true;
}

enum {
    OPTION_RULES = 256,
    OPTION_SET,
    OPTION_COMPILED,
    OPTION_HEADER,
    OPTION_SCAN,
    OPTION_HOME,
    OPTION_NAMES,
    OPTION_NAMES_FORMAT,
    OPTION_ALERTS,
    OPTION_REDUNDANCY,
    OPTION_COMPARE,
    OPTION_PLOT,
    OPTION_TRAIN,
    OPTION_DEVICE,
    OPTION_JSON,
    OPTION_STATS,
    OPTION_METRICS,
    OPTION_MAX_LATENCY
};

static const struct option long_options[] = {
    {"rules", required_argument, NULL, OPTION_RULES},
    {"set", required_argument, NULL, OPTION_SET},
    {"compiled", required_argument, NULL, OPTION_COMPILED},
    {"header-checks", optional_argument, NULL, OPTION_HEADER},
    {"scan", required_argument, NULL, OPTION_SCAN},
    {"home", required_argument, NULL, OPTION_HOME},
    {"names", required_argument, NULL, OPTION_NAMES},
    {"names-format", required_argument, NULL, OPTION_NAMES_FORMAT},
    {"alerts", required_argument, NULL, OPTION_ALERTS},
    {"redundancy", required_argument, NULL, OPTION_REDUNDANCY},
    {"compare", no_argument, NULL, OPTION_COMPARE},
    {"plot", required_argument, NULL, OPTION_PLOT},
    {"train", required_argument, NULL, OPTION_TRAIN},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"stats", optional_argument, NULL, OPTION_STATS},
    {"metrics", required_argument, NULL, OPTION_METRICS},
    {"max-latency", required_argument, NULL, OPTION_MAX_LATENCY},
    {"help", no_argument, NULL, 'h'},
    {0}};

/* --stats, --stats=SECONDS or --stats SECONDS: a number behind it is its value, no capture's name.
 */
static bool parse_stats(struct options *options, char **argv)
{
    const char *next = argv[optind];

    options->stats = true;
    if (optarg == NULL && next != NULL && *next != '\0' &&
        next[strspn(next, "0123456789")] == '\0') {
        optarg = argv[optind];
        optind++;
    }
    return optarg == NULL || observe_parse(&options->observe, optarg);
}

/* Where the argument of an option lies that is kept as it is; NULL: the option is another. */
static const char **argument_of(struct options *options, int option)
{
    switch (option) {
    case 'i':
        return &options->source.interface;
    case 'f':
        return &options->source.filter;
    case OPTION_COMPILED:
        return &options->compiled;
    case OPTION_REDUNDANCY:
        return &options->redundancy.spec;
    case OPTION_PLOT:
        return &options->redundancy.plot;
    case OPTION_TRAIN:
        return &options->redundancy.train;
    case OPTION_DEVICE:
        return &options->device;
    case OPTION_METRICS:
        return &options->observe.address;
    default:
        return NULL;
    }
}

/* One option; `list` is the one that bare arguments continue ('r', OPTION_RULES or OPTION_NAMES).
 */
static int parse_option(struct options *options, int option, int *list, char **argv)
{
    const char **argument = argument_of(options, option);

    if (argument != NULL) {
        *argument = optarg;
        return 0;
    }
    switch (option) {
    case 'r':
        *list = 'r';
        options->source.paths[options->source.n_paths++] = optarg;
        return 0;
    case OPTION_RULES:
        *list = OPTION_RULES;
        options->rule_files.paths[options->rule_files.n_paths++] = optarg;
        return 0;
    case OPTION_NAMES:
        *list = OPTION_NAMES;
        return name_tables_add(&options->names.tables, "--names", optarg) ? 0 : EXIT_FAILED;
    case OPTION_NAMES_FORMAT:
        return name_tables_set_format(&options->names.tables, "--names-format", optarg)
                   ? 0
                   : EXIT_FAILED;
    case 1: /* a bare argument goes on with the list before it */
        if (*list != 0)
            return parse_option(options, *list, list, argv);
        cli_error("'%s' was not expected (captures go behind -r, rule files behind --rules, tables "
                  "behind --names)",
                  optarg);
        return EXIT_FAILED;
    case OPTION_SET:
        options->rule_files.sets[options->rule_files.n_sets++] = optarg;
        return 0;
    case OPTION_HEADER:
        options->header_list = optarg != NULL ? optarg : "all";
        return 0;
    case 'k':
        return parse_checksums(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_SCAN:
        return add_database(&options->findings.virus, optarg) ? 0 : EXIT_FAILED;
    case OPTION_HOME:
        options->rule_files.home = optarg;
        return parse_home(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_ALERTS:
        return add_sink(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_COMPARE:
        options->redundancy.compare = true;
        return 0;
    case OPTION_JSON:
        options->json = true;
        return 0;
    case OPTION_STATS:
        return parse_stats(options, argv) ? 0 : EXIT_FAILED;
    case OPTION_MAX_LATENCY:
        return parse_latency(options, optarg) ? 0 : EXIT_FAILED;
    default:
        return cli_bad_option(argv, "run");
    }
}

/* Behind the colon of a sink that is emptied when it is opened. */
static bool writes_input(const struct options *options, const char *spec)
{
    static const char eve[] = "eve:";
    const char *path = spec + sizeof eve - 1;

    if (strncmp(spec, eve, sizeof eve - 1) != 0)
        return false;
    for (size_t i = 0; i < options->source.n_paths; i++)
        if (cli_is_input(path, options->source.paths[i]))
            return true;
    for (size_t i = 0; i < options->rule_files.n_paths; i++)
        if (cli_is_input(path, options->rule_files.paths[i]))
            return true;
    for (int i = 0; i < options->names.tables.n; i++)
        if (cli_is_input(path, options->names.tables.file[i].path))
            return true;
    return false;
}

static int check_options(struct options *options)
{
    const bool live = options->source.interface != NULL;

    if (live == (options->source.n_paths != 0)) {
        cli_error("%s (sluice run --help)",
                  live ? "-r and -i exclude one another"
                       : "nothing to read: name captures with -r, or an interface with -i");
        return EXIT_FAILED;
    }
    if (options->source.filter != NULL && !live) {
        cli_error("-f '%s' needs -i", options->source.filter);
        return EXIT_FAILED;
    }
    if (options->compiled != NULL && options->rule_files.n_paths == 0) {
        cli_error("--compiled '%s' needs --rules: the rules that it was compiled from",
                  options->compiled);
        return EXIT_FAILED;
    }
    if (options->source.n_paths > UINT16_MAX) {
        cli_error("%zu captures (expected at most %d a run)", options->source.n_paths, UINT16_MAX);
        return EXIT_FAILED;
    }
    if (!redundancy_parse(&options->redundancy))
        return EXIT_FAILED;
    for (uint32_t i = 0; i < options->findings.n_sinks; i++)
        if (writes_input(options, options->findings.sinks[i].spec))
            return EXIT_FAILED;
    if (options->findings.n_sinks == 0 && !options->json)
        options->findings.sinks[options->findings.n_sinks++].spec = "console";
    return 0;
}

/* -1: go on; otherwise the exit status. */
static int parse_options(struct options *options, int argc, char **argv)
{
    int option, list = 0;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "-r:i:f:k:h", long_options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            print_checks();
            return EXIT_DONE;
        }
        const int status = parse_option(options, option, &list, argv);
        if (status != 0)
            return status;
    }
    const int status = check_options(options);
    return status != 0 ? status : -1;
}

/* ---- the run --------------------------------------------------------------------------------- */

struct tables {
    struct sl_header_table *header;
    struct sl_rules *rules;
    const struct sl_literal *literals; /* of the rules */
    size_t n_literals;
    struct sl_mpm_table *matcher;
};

static int add_engine(struct sl_pipeline_config *config, const struct sl_engine *engine,
                      const void *table)
{
    config->engines[config->n_engines].engine = engine;
    config->engines[config->n_engines].table = table;
    return (int)config->n_engines++;
}

static bool build_header_checks(struct options *options, struct tables *tables,
                                struct sl_pipeline_config *config)
{
    struct sl_header_config header;
    struct sl_diag diag = {0};

    options->findings.header_engine = -1;
    if (options->header_list == NULL)
        return true;
    sl_header_config_init(&header);
    header.home = options->home;
    header.n_home = options->n_home;
    if (sl_header_parse_checks(&header.checks, options->header_list, &diag) != SL_OK) {
        cli_error("--header-checks: %s", diag.text);
        return false;
    }
    if (options->no_checksums)
        header.checks &= ~SL_HEADER_CHECKSUMS;
    if (sl_header_build(&tables->header, &header, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    options->findings.header_engine = add_engine(config, sl_header_engine(), tables->header);
    return true;
}

static void warn_of_rules(const struct sl_rules *rules)
{
    struct sl_rules_count count;
    const struct sl_diag *bad;

    sl_rules_count(rules, &count);
    for (size_t i = 0; i < 5 && (bad = sl_rules_bad_line(rules, i)) != NULL; i++)
        cli_diag(bad);
    if (count.bad > 5)
        cli_error("and %zu more bad rules (sluice rules FILE... lists them)", count.bad - 5);
}

/* A table from a file is good for the literals that it was compiled from alone: hits carry their
 * indices. */
static bool load_matcher(struct tables *tables, const char *path)
{
    struct sl_mpm_info info;
    struct sl_diag diag = {0};

    if (sl_mpm_load(&tables->matcher, path, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    sl_mpm_info(tables->matcher, &info);
    if (info.literals_check == sl_mpm_literals_check(tables->literals, tables->n_literals))
        return true;
    cli_error("%s: was compiled from other rules or another version of them (sluice rules "
              "--compile makes it anew)",
              path);
    return false;
}

/* For the devices that are chosen, as what a GPU can use CPUs can use as well; and for what the
 * captures begin with. */
static bool compile_matcher(struct tables *tables, const struct source *source,
                            enum sl_device_kind device)
{
    struct sl_batch *sample = sample_read(source->paths, source->n_paths);
    struct sl_mpm_config mpm;
    struct sl_diag diag = {0};

    sl_mpm_config_init(&mpm);
    mpm.device = device;
    mpm.sample = sample;
    const enum sl_status status =
        sl_mpm_build(&tables->matcher, &mpm, tables->literals, tables->n_literals, &diag);
    sl_batch_free(sample);
    if (status != SL_OK)
        cli_diag(&diag);
    return status == SL_OK;
}

static bool build_matcher(struct options *options, struct tables *tables,
                          struct sl_pipeline_config *config)
{
    const bool made = options->compiled != NULL
                          ? load_matcher(tables, options->compiled)
                          : compile_matcher(tables, &options->source, config->devices[0].kind);

    if (made && tables->n_literals > 0)
        options->findings.matcher_engine =
            add_engine(config, sl_mpm_engine(tables->matcher), tables->matcher);
    return made;
}

static bool build_signatures(struct options *options, struct tables *tables,
                             struct sl_pipeline_config *config)
{
    struct sl_diag diag = {0};

    options->findings.matcher_engine = -1;
    if (options->rule_files.n_paths == 0)
        return true;
    if (!rule_files_load(&options->rule_files, &tables->rules))
        return false;
    warn_of_rules(tables->rules);
    if (!rule_files_check(&options->rule_files, tables->rules))
        return false;
    if (sl_rules_compile(tables->rules, &tables->literals, &tables->n_literals, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    options->findings.rules = tables->rules;
    return build_matcher(options, tables, config);
}

/* The pipeline's steps but the engines. */
static enum sl_status fill(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    struct options *options = user;

    options->started = true;
    return source_fill(&options->source, batch, diag);
}

static enum sl_status prepare(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    (void)diag;
    return source_prepare(&((struct options *)user)->source, batch);
}

static enum sl_status order(void *user, struct sl_batch *batch, struct sl_diag *diag)
{
    (void)diag;
    return source_order(&((struct options *)user)->source, batch);
}

static void apply(void *user, struct sl_batch *batch)
{
    (void)user;
    source_apply(batch);
}

static enum sl_status digest(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                             struct sl_diag *diag)
{
    return findings_digest(&((struct options *)user)->findings, batch, hits, diag);
}

static enum sl_status drain(void *user, const struct sl_batch *batch, const struct sl_hits *hits,
                            struct sl_diag *diag)
{
    struct options *options = user;

    progress_add(&options->progress, batch);
    const enum sl_status status = redundancy_drain(&options->redundancy, batch, hits, diag);
    return status == SL_OK ? findings_drain(&options->findings, batch, hits, diag) : status;
}

/* A GPU failed while the run went on: others do again what it had not finished. */
static void say_dropped(void *user, const struct sl_pipeline_device *device)
{
    char n[32];

    (void)user;
    cli_error("cuda:%d is dropped: %s; batches to be done again elsewhere: %s",
              device->device.index, device->why, cli_count(device->redone, n));
}

static void set_steps(struct sl_pipeline_config *config, struct options *options)
{
    config->fill = fill;
    config->prepare = prepare;
    config->order = order;
    config->apply = apply;
    config->digest = digest;
    config->drain = drain;
    config->dropped = say_dropped;
    config->user = options;
    config->latency = options->source.max_latency_ns != 0;
}

static bool writes_stdout(const struct findings *findings)
{
    for (uint32_t i = 0; i < findings->n_sinks; i++)
        if (strcmp(findings->sinks[i].spec, "eve:-") == 0)
            return true;
    return false;
}

/* Alerts on the user's terminal are progress enough. */
static bool writes_terminal(const struct findings *findings)
{
    for (uint32_t i = 0; i < findings->n_sinks; i++)
        if (findings_is_stdout(findings->sinks[i].spec))
            return isatty(STDOUT_FILENO);
    return false;
}

/* For the CPU its own matcher, the last engine, unless the user has compiled one. */
static bool match_on_cpu(struct options *options, struct tables *tables,
                         struct sl_pipeline_config *config)
{
    if (options->compiled != NULL)
        return true;
    if (options->findings.matcher_engine >= 0)
        config->n_engines--;
    sl_mpm_free(tables->matcher);
    tables->matcher = NULL;
    return tables->rules == NULL || build_matcher(options, tables, config);
}

/* Where --device left the choice: what is faster. */
static bool choose_devices(struct options *options, struct tables *tables,
                           struct sl_pipeline_config *config, char why[SL_WHY_LEN])
{
    struct sl_diag diag = {0};

    if (strcmp(options->device, "auto") != 0 || config->n_devices == 1)
        return true;
    if (sl_pipeline_choose(config, why, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    return config->devices[0].kind == SL_DEVICE_CUDA || match_on_cpu(options, tables, config);
}

/* `reason` is of the GPU. */
static bool fall_to_cpu(struct options *options, struct tables *tables,
                        struct sl_pipeline_config *config, char why[SL_WHY_LEN],
                        const struct sl_diag *reason)
{
    struct sl_diag diag = {0};

    cli_error("%s; the CPU takes over", reason->text);
    config->n_devices = 1;
    if (sl_device_choose(&config->devices[0], "cpu", why, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    snprintf(why, SL_WHY_LEN, "%.150s", reason->text);
    return match_on_cpu(options, tables, config);
}

/* A GPU that was only preferred is given up if it cannot be used for these tables and batches. */
static enum sl_status run_pipeline(struct options *options, struct tables *tables,
                                   struct sl_pipeline_config *config, char why[SL_WHY_LEN],
                                   struct sl_pipeline_stats *stats)
{
    struct sl_diag diag = {0};
    enum sl_status status = sl_pipeline_run(config, stats, &diag);

    if ((status == SL_ENOMEM || status == SL_EUNSUPPORTED || status == SL_EDEVICE) &&
        !options->started && config->devices[0].kind == SL_DEVICE_CUDA &&
        strcmp(options->device, "auto") == 0) {
        if (!fall_to_cpu(options, tables, config, why, &diag))
            return status;
        status = sl_pipeline_run(config, stats, &diag);
    }
    if (status != SL_OK && !findings_reader_left(&options->findings))
        cli_diag(&diag);
    return status;
}

/* A pipe that nobody reads any more ends the command as it does others, without a word: by the
 * signal. Until all else is complete, other sinks above all, it is a write that fails. */
static void end_by_closed_pipes(const struct findings *findings)
{
    signal(SIGPIPE, SIG_DFL);
    if (findings_reader_left(findings))
        raise(SIGPIPE);
}

static int run(struct options *options, struct tables *tables)
{
    struct sl_pipeline_config config;
    struct sl_pipeline_stats stats;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];

    sl_pipeline_config_init(&config);
    source_batches(&config);
    if (sl_device_choose_list(config.devices, SL_PIPELINE_DEVICES_MAX, &config.n_devices,
                              options->device, why, &diag) != SL_OK) {
        cli_diag(&diag);
        return EXIT_FAILED;
    }
    if (options->redundancy.train != NULL && !redundancy_train(&options->redundancy))
        return EXIT_FAILED;
    source_take_signals(); /* until here a signal ends the process: nothing was begun */
    options->observe.source = &options->source;
    options->observe.findings = &options->findings;
    if (!observe_open(&options->observe) || !source_open(&options->source) ||
        !build_header_checks(options, tables, &config) ||
        !redundancy_open(&options->redundancy, &config) ||
        !virus_open(&options->findings.virus, &config) ||
        !run_names_open(&options->names, &config) || !build_signatures(options, tables, &config))
        return EXIT_FAILED;
    options->findings.source = &options->source;
    options->findings.names = &options->names;
    options->findings.flush_each_batch =
        options->source.interface != NULL || options->source.max_latency_ns != 0;
    set_steps(&config, options);
    if (!findings_open(&options->findings) || !choose_devices(options, tables, &config, why) ||
        !observe_begin(&options->observe, &config))
        return EXIT_FAILED;

    progress_begin(&options->progress, writes_terminal(&options->findings));
    const enum sl_status status = run_pipeline(options, tables, &config, why, &stats);
    progress_end(&options->progress);
    source_end(&options->source);
    observe_end(&options->observe);
    const bool complete = findings_close(&options->findings);

    struct report report = {.source = &options->source,
                            .findings = &options->findings,
                            .rules = tables->rules,
                            .redundancy = &options->redundancy,
                            .names = &options->names,
                            .why = why,
                            .config = &config,
                            .stats = &stats,
                            .details = options->stats};
    if (tables->matcher != NULL)
        sl_mpm_info(tables->matcher, &report.matcher);
    FILE *out = writes_stdout(&options->findings) ? stderr : stdout;
    const bool drawn = redundancy_plot(&options->redundancy);
    end_by_closed_pipes(&options->findings);
    if (source_was_capture(&options->source))
        (options->json ? report_json : report_text)(&report, out);
    return status == SL_OK && drawn && complete && options->source.n_failed == 0 ? EXIT_DONE
                                                                                 : EXIT_FAILED;
}

int command_run(int argc, char **argv)
{
    struct options options = {.device = "auto"};
    struct tables tables = {0};
    int exit_status = EXIT_FAILED;

    signal(SIGPIPE, SIG_IGN); /* until end_by_closed_pipes */
    options.source.paths = calloc((size_t)argc + 1, sizeof *options.source.paths);
    if (options.source.paths != NULL && rule_files_init(&options.rule_files, argc))
        exit_status = parse_options(&options, argc, argv);
    if (exit_status == -1)
        exit_status = run(&options, &tables);

    observe_end(&options.observe);
    findings_free(&options.findings);
    redundancy_close(&options.redundancy);
    run_names_close(&options.names);
    sl_mpm_free(tables.matcher);
    sl_rules_free(tables.rules);
    sl_header_free(tables.header);
    source_close(&options.source);
    rule_files_free(&options.rule_files);
    free(options.source.paths);
    return exit_status;
}

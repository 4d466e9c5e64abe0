/* SPDX-License-Identifier: MIT */
#include "run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "run_report.h"

static const char usage[] =
    "usage: sluice run -r FILE... | -i IFACE [OPTION...] [-- FILTER]\n\n"
    "  -r FILE...             capture files: pcap, pcapng, plain or packed by gzip, xz or zstd; - "
    "is\n"
    "                         standard input; of a folder its captures, in the order of time,\n"
    "                         but not those of its folders\n"
    "  -i IFACE               an interface, until Ctrl-C\n"
    "  -f FILTER              a BPF filter, as for tcpdump; also as words at the end: behind --, "
    "and\n"
    "                         with -i without it\n"
    "  --rules FILE...        signature rules of Suricata, Snort 2 or Snort 3; a folder stands "
    "for\n"
    "                         its files *.rules, but not those of its folders; a pattern in "
    "quotes\n"
    "                         for what it matches\n"
    "  --set NAME=VALUE       set a variable of the rules; of Suricata's settings vars.*.NAME is\n"
    "                         one, and the others have no effect\n"
    "  --from-config FILE     variables, rule files and their configuration from suricata.yaml or\n"
    "                         snort.lua\n"
    "  --classification-file FILE, --reference-config-file FILE, --threshold-file FILE\n"
    "                         configuration of rules as Suricata and Snort have it, in place of "
    "the\n"
    "                         files beside the rules\n"
    "  --data-dir FOLDER      where sets of data are that rules load and save by state or save\n"
    "  --compiled FILE        what sluice rules --compile made of the same rules\n"
    "  --profile-rules[=N]    checks, matches and time of the N rules (10) that took most; with "
    "=FILE\n"
    "                         of all, as JSON, besides\n"
    "  --header-checks[=LIST] check headers: all, or a list of names (all,-checksums; help lists\n"
    "                         them)\n"
    "  -k all|none            checksums among the header checks, whatever their list says: none "
    "where\n"
    "                         this host's interface writes them behind the capture; without\n"
    "                         --header-checks nothing checks them, and -k all says so\n"
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
    "  --events LIST          types of events for these: alert, anomaly, dns, http, tls, ndn, "
    "flow,\n"
    "                         quic, fileinfo, packet, smtp, ssh, ftp, stats, comma separated, or\n"
    "                         all; without it\n"
    "                         alerts, packets that rules tag, anomalies and names\n"
    "  --file-info LIST       what events of files have beside sha256: md5, sha1, magic\n"
    "  --pcap-of-alerts DIR   a capture of each flow that raises an alert, from its begin on\n"
    "  --filestore DIR        the files that pass, as DIR/XX/SHA256: those that rules with "
    "filestore\n"
    "                         alert on; without --rules all\n"
    "  --redundancy SPEC      what eliminating redundancy would save: "
    "SAMPLER[,p=N][,w=N][,cache=N]\n"
    "                         [,interval=N|Ns][,rtt=MS][,chunks][,no-raise], such as\n"
    "                         dynabyte,p=32,w=64,cache=512M;\n"
    "                         rtt=MS: in a tunnel over a link of that round trip;\n"
    "                         no-raise: dynabyte corrects over-sampling alone\n"
    "  --compare              with --redundancy: all samplers, every position among them\n"
    "  --plot FILE.svg        with --redundancy: savings and sampling over the traffic (gnuplot)\n"
    "  --force                with --plot or --profile-rules=FILE: overwrite FILE; without it you "
    "are asked, or it is "
    "kept\n"
    "  --train FILE           with samplebyte: learn its markers from this capture\n"
    "  --variant LIST         algorithms in place of the defaults, as the papers have them:\n"
    "                         mpm:ALGORITHM, sampling:VARIANT, names:PLANE, such as\n"
    "                         mpm:wm,sampling:rabin-textbook,names:mata\n"
    "  --flow-memory BYTES    of the flow table (35M), such as 512M; in a full one the flow that "
    "was\n"
    "                         silent for longest gives way\n"
    "  --stream-memory BYTES  that TCP streams keep at most (256M); 0: rules look at packets "
    "alone\n"
    "  --host-policy NET=NAME how hosts of a network decide between bytes that overlap: bsd (the\n"
    "                         default), first, last, linux, old-linux, windows, windows2k3,\n"
    "                         solaris, hpux10, hpux11, irix or macos; may be given several times\n"
    "  --min-ttl N            segments of TCP with a lower TTL are in no stream (0)\n"
    "  --seed N               fixes the key of the flow table, which is random: the same flows "
    "give way\n"
    "  --sensor-id N          of this sensor: sensors with other numbers give other flow ids (0)\n"
    "  --device D             auto, cpu, cuda (all GPUs), cuda:N or cuda:N,M,...\n"
    "  --max-latency US       packets of an interface or a pipe wait so many microseconds for\n"
    "                         others, not for a full batch; the summary says how long results "
    "took\n"
    "  --stats[=SECONDS]      where the time went, and every signature that alerted; with SECONDS\n"
    "                         also the counters so far, each so often and at the end, to EVE and\n"
    "                         console sinks\n"
    "  --metrics ADDR:PORT    the counters so far for Prometheus, at http://ADDR:PORT/metrics;\n"
    "                         [ADDR]:PORT for IPv6, PORT alone for 127.0.0.1\n"
    "  -q, --quiet            no progress and no summary: events and errors alone\n"
    "  --json                 the summary as one JSON object; alerts only where --alerts says\n\n"
    "Exit status: 0 done, also by SIGINT or SIGTERM, 2 an error.\n\n";

static bool parse_home(struct run_options *options, const char *list)
{
    while (*list != '\0') {
        const size_t len = strcspn(list, ",");

        if (options->config.header.n_home == RUN_HOME_MAX ||
            sl_net_parse(&options->home[options->config.header.n_home], list, len) != SL_OK) {
            cli_error("--home '%.*s' is no network (expected up to %d like 192.0.2.0/24, "
                      "comma separated)",
                      (int)len, list, RUN_HOME_MAX);
            return false;
        }
        options->config.header.n_home++;
        list += len + (list[len] == ',');
    }
    return true;
}

static bool parse_latency(struct run_options *options, const char *us)
{
    uint64_t value;

    if (!cli_parse_number_of("--max-latency", us, 1, 60000000, " microseconds", &value))
        return false;
    options->config.max_latency_ns = value * 1000;
    return true;
}

static bool parse_sensor(struct run_options *options, const char *text)
{
    uint64_t value;

    if (!cli_parse_number_of("--sensor-id", text, 0, UINT32_MAX, "", &value))
        return false;
    options->config.sensor_id = (uint32_t)value;
    options->has_sensor_id = true;
    return true;
}

static bool parse_flow_memory(struct run_options *options, const char *text)
{
    if (cli_parse_bytes(text, &options->config.flow_memory) && options->config.flow_memory != 0)
        return true;
    cli_error("--flow-memory '%s' (expected bytes, such as 512M)", text);
    return false;
}

static bool parse_stream_memory(struct run_options *options, const char *text)
{
    if (cli_parse_bytes(text, &options->config.stream_memory))
        return true;
    cli_error("--stream-memory '%s' (expected bytes, such as 512M, or 0)", text);
    return false;
}

static bool add_host_policy(struct run_options *options, const char *text)
{
    if (options->config.n_host_policies == RUN_POLICIES_MAX) {
        cli_error("more than %d of --host-policy", RUN_POLICIES_MAX);
        return false;
    }
    options->host_policies[options->config.n_host_policies++] = text;
    options->config.host_policies = options->host_policies;
    return true;
}

static bool parse_min_ttl(struct run_options *options, const char *text)
{
    uint64_t value;

    if (!cli_parse_number_of("--min-ttl", text, 0, UINT8_MAX, "", &value))
        return false;
    options->config.min_ttl = (uint8_t)value;
    return true;
}

static bool parse_seed(struct run_options *options, const char *text)
{
    if (!cli_parse_number_of("--seed", text, 0, UINT64_MAX, "", &options->flow_seed[0]))
        return false;
    options->config.flow_seed = options->flow_seed;
    return true;
}

static bool parse_checksums(struct run_options *options, const char *which)
{
    options->checksums = which;
    if (strcmp(which, "none") == 0 || strcmp(which, "all") == 0)
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

static bool add_sink(struct run_options *options, const char *spec)
{
    if (options->config.n_sinks == SL_RUN_SINKS_MAX) {
        cli_error("--alerts '%s': more than %d sinks", spec, SL_RUN_SINKS_MAX);
        return false;
    }
    options->sinks[options->config.n_sinks++] = spec;
    return true;
}

static bool add_database(struct run_options *options, const char *path)
{
    if (options->config.n_databases == SL_RUN_DATABASES_MAX) {
        cli_error("--scan '%s': more than %d databases", path, SL_RUN_DATABASES_MAX);
        return false;
    }
    options->databases[options->config.n_databases++] = path;
    return true;
}

enum {
    OPTION_RULES = 256,
    OPTION_SET,
    OPTION_FROM_CONFIG,
    OPTION_CONFIGURATION,
    OPTION_DATA_DIR,
    OPTION_COMPILED,
    OPTION_PROFILE,
    OPTION_HEADER,
    OPTION_SCAN,
    OPTION_HOME,
    OPTION_NAMES,
    OPTION_NAMES_FORMAT,
    OPTION_ALERTS,
    OPTION_EVENTS,
    OPTION_FILE_INFO,
    OPTION_PCAP_OF_ALERTS,
    OPTION_FILESTORE,
    OPTION_REDUNDANCY,
    OPTION_COMPARE,
    OPTION_PLOT,
    OPTION_FORCE,
    OPTION_TRAIN,
    OPTION_VARIANT,
    OPTION_DEVICE,
    OPTION_JSON,
    OPTION_STATS,
    OPTION_METRICS,
    OPTION_MAX_LATENCY,
    OPTION_SENSOR_ID,
    OPTION_FLOW_MEMORY,
    OPTION_STREAM_MEMORY,
    OPTION_SEED,
    OPTION_HOST_POLICY,
    OPTION_MIN_TTL
};

static const struct option long_options[] = {
    {"rules", required_argument, NULL, OPTION_RULES},
    {"set", required_argument, NULL, OPTION_SET},
    {"from-config", required_argument, NULL, OPTION_FROM_CONFIG},
    {"classification-file", required_argument, NULL, OPTION_CONFIGURATION},
    {"reference-config-file", required_argument, NULL, OPTION_CONFIGURATION},
    {"threshold-file", required_argument, NULL, OPTION_CONFIGURATION},
    {"data-dir", required_argument, NULL, OPTION_DATA_DIR},
    {"compiled", required_argument, NULL, OPTION_COMPILED},
    {"profile-rules", optional_argument, NULL, OPTION_PROFILE},
    {"header-checks", optional_argument, NULL, OPTION_HEADER},
    {"scan", required_argument, NULL, OPTION_SCAN},
    {"home", required_argument, NULL, OPTION_HOME},
    {"names", required_argument, NULL, OPTION_NAMES},
    {"names-format", required_argument, NULL, OPTION_NAMES_FORMAT},
    {"alerts", required_argument, NULL, OPTION_ALERTS},
    {"events", required_argument, NULL, OPTION_EVENTS},
    {"file-info", required_argument, NULL, OPTION_FILE_INFO},
    {"pcap-of-alerts", required_argument, NULL, OPTION_PCAP_OF_ALERTS},
    {"filestore", required_argument, NULL, OPTION_FILESTORE},
    {"redundancy", required_argument, NULL, OPTION_REDUNDANCY},
    {"compare", no_argument, NULL, OPTION_COMPARE},
    {"plot", required_argument, NULL, OPTION_PLOT},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"train", required_argument, NULL, OPTION_TRAIN},
    {"variant", required_argument, NULL, OPTION_VARIANT},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"json", no_argument, NULL, OPTION_JSON},
    {"stats", optional_argument, NULL, OPTION_STATS},
    {"metrics", required_argument, NULL, OPTION_METRICS},
    {"max-latency", required_argument, NULL, OPTION_MAX_LATENCY},
    {"sensor-id", required_argument, NULL, OPTION_SENSOR_ID},
    {"flow-memory", required_argument, NULL, OPTION_FLOW_MEMORY},
    {"stream-memory", required_argument, NULL, OPTION_STREAM_MEMORY},
    {"host-policy", required_argument, NULL, OPTION_HOST_POLICY},
    {"min-ttl", required_argument, NULL, OPTION_MIN_TTL},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {0}};

static bool parse_interval(struct run_options *options, const char *seconds)
{
    uint64_t value;

    if (!cli_parse_number_of("--stats", seconds, 1, 86400, " seconds", &value))
        return false;
    options->config.stats_seconds = (uint32_t)value;
    return true;
}

/* --stats, --stats=SECONDS or --stats SECONDS: a number behind it is its value, no capture's name.
 */
static bool parse_stats(struct run_options *options, char **argv)
{
    const char *next = argv[optind];

    options->stats = true;
    if (optarg == NULL && next != NULL && *next != '\0' &&
        next[strspn(next, "0123456789")] == '\0') {
        optarg = argv[optind];
        optind++;
    }
    return optarg == NULL || parse_interval(options, optarg);
}

/* Where the argument of an option lies that is kept as it is; NULL: the option is another. */
static const char **argument_of(struct run_options *options, int option)
{
    switch (option) {
    case 'i':
        return &options->config.interface;
    case 'f':
        return &options->config.filter;
    case OPTION_FROM_CONFIG:
        return &options->rule_files.from_config;
    case OPTION_COMPILED:
        return &options->config.compiled;
    case OPTION_EVENTS:
        return &options->events.list;
    case OPTION_FILE_INFO:
        return &options->file_info;
    case OPTION_REDUNDANCY:
        return &options->redundancy.spec;
    case OPTION_PLOT:
        return &options->redundancy.plot;
    case OPTION_TRAIN:
        return &options->redundancy.train;
    case OPTION_VARIANT:
        return &options->config.variants;
    case OPTION_DEVICE:
        return &options->config.devices;
    case OPTION_METRICS:
        return &options->metrics;
    default:
        return NULL;
    }
}

/* Arguments behind "--", and those that continue no list, are words of a filter. */
static bool add_filter_word(struct run_options *options, const char *word)
{
    const size_t len = strlen(options->filter);

    if (len + strlen(word) + 2 > sizeof options->filter) {
        cli_error("a filter of more than %zu bytes", sizeof options->filter);
        return false;
    }
    snprintf(options->filter + len, sizeof options->filter - len, "%s%s", len > 0 ? " " : "", word);
    return true;
}

/* One option. `list` is the one that bare arguments continue: 'r', OPTION_RULES or OPTION_NAMES. */
static int parse_option(struct run_options *options, int option, int *list, char **argv)
{
    const char **argument = argument_of(options, option);

    if (argument != NULL) {
        *argument = optarg;
        return 0;
    }
    switch (option) {
    case 'r':
        *list = 'r';
        return capture_files_add(&options->captures, optarg) ? 0 : EXIT_FAILED;
    case OPTION_RULES:
        *list = OPTION_RULES;
        options->rule_files.paths[options->rule_files.n_paths++] = optarg;
        return 0;
    case OPTION_NAMES:
        *list = OPTION_NAMES;
        return name_tables_add(&options->tables, "--names", optarg) ? 0 : EXIT_FAILED;
    case OPTION_NAMES_FORMAT:
        return name_tables_set_format(&options->tables, "--names-format", optarg) ? 0 : EXIT_FAILED;
    case OPTION_CONFIGURATION:
        options->rule_files.configurations[options->rule_files.n_configurations++] = optarg;
        return 0;
    case OPTION_SET:
        rule_files_set(&options->rule_files, optarg);
        return 0;
    case OPTION_PROFILE:
        run_profile_option_set(&options->profile, optarg);
        return 0;
    case OPTION_PCAP_OF_ALERTS:
        options->config.evidence_folder = optarg;
        return 0;
    case OPTION_FILESTORE:
        options->config.filestore_folder = optarg;
        return 0;
    case OPTION_DATA_DIR:
        options->config.data_folder = optarg;
        return 0;
    case OPTION_HEADER:
        options->header_list = optarg != NULL ? optarg : "all";
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case 'k':
        return parse_checksums(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_SCAN:
        return add_database(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_HOME:
        options->rule_files.home = optarg;
        return parse_home(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_ALERTS:
        return add_sink(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_COMPARE:
        options->config.redundancy.compare = true;
        return 0;
    case OPTION_FORCE:
        options->redundancy.force = true;
        return 0;
    case OPTION_JSON:
        options->json = true;
        return 0;
    case OPTION_STATS:
        return parse_stats(options, argv) ? 0 : EXIT_FAILED;
    case OPTION_SENSOR_ID:
        return parse_sensor(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_STREAM_MEMORY:
        return parse_stream_memory(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_HOST_POLICY:
        return add_host_policy(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_MIN_TTL:
        return parse_min_ttl(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_FLOW_MEMORY:
        return parse_flow_memory(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_SEED:
        return parse_seed(options, optarg) ? 0 : EXIT_FAILED;
    case OPTION_MAX_LATENCY:
        return parse_latency(options, optarg) ? 0 : EXIT_FAILED;
    default:
        return EXIT_FAILED;
    }
}

/* The config borrows from the options. */
static bool set_config(struct run_options *options)
{
    struct sl_run_config *config = &options->config;

    if (options->header_list == NULL && options->checksums != NULL &&
        strcmp(options->checksums, "all") == 0)
        cli_error("-k all has no effect without --header-checks: no checksum is checked");
    config->paces = pace_file(options->pace_file);
    config->rule_files = options->rule_files.paths;
    config->n_rule_files = options->rule_files.n_paths;
    if (config->n_rule_files != 0) {
        config->rule_variables = options->rule_files.variables;
        config->n_rule_variables = options->rule_files.n_variables;
        config->rule_configurations = options->rule_files.configurations;
        config->n_rule_configurations = options->rule_files.n_configurations;
        config->rule_actions = options->rule_files.actions;
    }
    config->profile_rules = options->profile.on;
    config->databases = options->databases;
    config->names.files = options->tables.file;
    config->names.n_files = (size_t)options->tables.n;
    config->sinks = options->sinks;
    config->header.home = options->home;
    return name_tables_check(&options->tables, "--names-format");
}

static bool is_value(int option, const char *text)
{
    uint64_t checks, n;

    if (option == OPTION_PROFILE)
        return cli_parse_number(text, UINT32_MAX, &n);
    return option == OPTION_HEADER && *text != '\0' &&
           sl_header_parse_checks(&checks, text, NULL) == SL_OK;
}

/* -1: go on; otherwise the exit status. */
int run_options_parse(struct run_options *options, int argc, char **argv)
{
    static const int repeated[] = {'r',
                                   OPTION_RULES,
                                   OPTION_SET,
                                   OPTION_CONFIGURATION,
                                   OPTION_SCAN,
                                   OPTION_NAMES,
                                   OPTION_ALERTS,
                                   OPTION_NAMES_FORMAT,
                                   0};
    struct cli_options known = {.command = "run",
                                .letters = "-r:i:f:k:qh",
                                .names = long_options,
                                .repeated = repeated,
                                .is_value = is_value};
    int option, list = 0;

    sl_run_config_init(&options->config);
    if (!rule_files_init(&options->rule_files, argc))
        return EXIT_FAILED;

    while ((option = cli_next_option(&known, argc, argv)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            print_checks();
            run_left_out_help(stdout);
            return EXIT_DONE;
        }
        if (option == CLI_OPTION_BARE && (known.ended || list == 0)) {
            options->n_bare += !known.ended;
            if (!add_filter_word(options, optarg))
                return EXIT_FAILED;
            continue;
        }
        if (option == CLI_OPTION_BARE)
            option = list;
        const int status = parse_option(options, option, &list, argv);
        if (status != 0)
            return status;
    }
    if (!rule_files_finish(&options->rule_files))
        return EXIT_FAILED;
    return run_options_check(options) && set_config(options) ? -1 : EXIT_FAILED;
}

void run_options_free(struct run_options *options)
{
    rule_files_free(&options->rule_files);
    capture_files_free(&options->captures);
}

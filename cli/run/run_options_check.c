/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/overwrite.h"
#include "run_options.h"

/* Whether the file is read. True: the error was printed. */
static bool is_input(const struct run_options *options, const char *path)
{
    const char *const lone[] = {options->config.compiled, options->redundancy.train};

    for (size_t i = 0; i < options->captures.n; i++)
        if (cli_is_input(path, options->captures.paths[i]))
            return true;
    for (int i = 0; i < options->tables.n; i++)
        if (cli_is_input(path, options->tables.file[i].path))
            return true;
    for (uint32_t i = 0; i < options->config.n_databases; i++)
        if (cli_is_input(path, options->databases[i]))
            return true;
    for (size_t i = 0; i < sizeof lone / sizeof *lone; i++)
        if (lone[i] != NULL && cli_is_input(path, lone[i]))
            return true;
    return rule_files_have(&options->rule_files, path);
}

/* The file of a sink. NULL: it has none. */
static const char *file_of(const char *sink)
{
    const char *const colon = strchr(sink, ':');

    return colon == NULL || strcmp(sink, "eve:-") == 0 ? NULL : colon + 1;
}

/* Whether sinks would write behind an input, or twice into one file. */
static bool check_sinks(const struct run_options *options)
{
    for (uint32_t i = 0; i < options->config.n_sinks; i++) {
        const char *const path = file_of(options->sinks[i]);

        for (uint32_t k = 0; k < i; k++) {
            const char *const other = file_of(options->sinks[k]);

            if (strcmp(options->sinks[i], options->sinks[k]) == 0 ||
                (path != NULL && other != NULL && cli_is_one_file(path, other))) {
                cli_error("--alerts '%s' and '%s' are one file (expected two)", options->sinks[k],
                          options->sinks[i]);
                return false;
            }
        }
        if (path != NULL && is_input(options, path))
            return false;
    }
    return true;
}

/* Whether the file of an option may be written. Standard input is not asked where it is a capture.
 */
static bool may_write(const struct run_options *options, const char *option, const char *path)
{
    bool may_prompt = true;

    if (path == NULL)
        return true;
    for (size_t i = 0; i < options->captures.n; i++)
        may_prompt = may_prompt && strcmp(options->captures.paths[i], "-") != 0;
    for (uint32_t i = 0; i < options->config.n_sinks; i++) {
        const char *const sink = file_of(options->sinks[i]);

        if (sink != NULL && cli_is_one_file(sink, path)) {
            cli_error("%s '%s' and --alerts '%s' are one file (expected two)", option, path,
                      options->sinks[i]);
            return false;
        }
    }
    return !is_input(options, path) && cli_may_write(path, options->redundancy.force, may_prompt);
}

/* Whether the picture and the profile may be written. */
static bool may_write_both(const struct run_options *options)
{
    const char *plot = options->redundancy.plot, *profile = options->profile.file;

    if (plot == NULL && profile == NULL && options->redundancy.force)
        cli_error("--force needs --plot or --profile-rules=FILE");
    else if (plot != NULL && profile != NULL && cli_is_one_file(plot, profile))
        cli_error("--plot '%s' and --profile-rules '%s' are one file (expected two)", plot,
                  profile);
    else
        return may_write(options, "--plot", plot) && may_write(options, "--profile-rules", profile);
    return false;
}

/* Whether all captures are files on disk, whose packets do not wait for others. */
static bool reads_files_alone(const struct run_options *options)
{
    for (size_t i = 0; i < options->captures.n; i++) {
        const char *const path = options->captures.paths[i];
        struct stat found;

        if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &found) : stat(path, &found)) != 0 ||
            !S_ISREG(found.st_mode))
            return false;
    }
    return options->captures.n > 0;
}

/* Whether a sink shows flow ids: a line of the console has none. */
static bool shows_flow_ids(const struct run_options *options)
{
    for (uint32_t i = 0; i < options->config.n_sinks; i++)
        if (strcmp(options->sinks[i], "console") != 0)
            return true;
    return false;
}

static bool is_checksums(const struct run_options *options, const char *which)
{
    return options->checksums != NULL && strcmp(options->checksums, which) == 0;
}

static bool parse_header_checks(struct run_options *options)
{
    uint64_t *const checks = &options->config.header.checks;
    struct sl_diag diag = {0};

    options->config.check_headers = options->header_list != NULL;
    if (options->header_list == NULL)
        return true;
    if (sl_header_parse_checks(checks, options->header_list, &diag) != SL_OK) {
        cli_error("--header-checks: %s", diag.text);
        return false;
    }
    if (is_checksums(options, "all"))
        *checks |= SL_HEADER_CHECKSUMS;
    else if (is_checksums(options, "none"))
        *checks &= ~SL_HEADER_CHECKSUMS;
    return true;
}

/* Whether each option can have an effect beside the others. */
static bool check_effects(const struct run_options *options)
{
    const bool rules = options->rule_files.n_paths != 0;

    if (!rules && options->rule_files.from_config != NULL)
        cli_error("--from-config '%s' names no rule file, and --rules neither",
                  options->rule_files.from_config);
    else if (!rules && options->rule_files.n_configurations != 0)
        cli_error("the configuration '%s' needs --rules", options->rule_files.configurations[0]);
    else if (!rules && options->config.compiled != NULL)
        cli_error("--compiled '%s' needs --rules: the rules that it was compiled from",
                  options->config.compiled);
    else if (!rules && options->profile.on)
        cli_error("--profile-rules needs --rules: nothing else is measured");
    else if (!rules && options->config.data_folder != NULL)
        cli_error("--data-dir '%s' needs --rules: the rules whose sets of data it has",
                  options->config.data_folder);
    else if (!rules && options->header_list == NULL && options->rule_files.home != NULL)
        cli_error("--home '%s' needs --rules or --header-checks: nothing else asks for it",
                  options->rule_files.home);
    else if (!rules && options->rule_files.home != NULL &&
             (options->config.header.checks & SL_HEADER_HOME) == 0)
        cli_error("--home '%s' has no effect: of --header-checks only %s, %s and %s ask for it",
                  options->rule_files.home, sl_header_check_name(SL_HEADER_PRIVATE_SOURCE),
                  sl_header_check_name(SL_HEADER_PRIVATE_DESTINATION),
                  sl_header_check_name(SL_HEADER_TCP_BROADCAST));
    else if (!rules && options->config.n_databases == 0 && options->config.evidence_folder != NULL)
        cli_error("--pcap-of-alerts '%s' needs --rules or --scan: they raise alerts",
                  options->config.evidence_folder);
    else if (options->config.filestore_folder != NULL && options->config.stream_memory == 0)
        cli_error("--filestore '%s' needs --stream-memory above 0",
                  options->config.filestore_folder);
    else if (options->has_sensor_id && !shows_flow_ids(options))
        cli_error("--sensor-id %u needs --alerts eve:FILE or sqlite:FILE: nothing else shows flow "
                  "ids",
                  options->config.sensor_id);
    else if (options->config.max_latency_ns != 0 && reads_files_alone(options))
        cli_error("--max-latency needs an interface or a pipe: packets of files do not wait");
    else
        return true;
    return false;
}

/* Whether each type that --events names has something that makes it. DNS messages, flows and
 * counters need nothing. */
static bool check_events(const struct run_options *options)
{
    const bool names = options->tables.n != 0, streams = options->config.stream_memory != 0;
    const bool messages =
        (options->config.events & (1u << SL_EVENT_HTTP_MESSAGE | 1u << SL_EVENT_TLS_MESSAGE)) != 0;
    const struct {
        enum sl_event_kind kind;
        bool is_made;
        const char *needs;
    } types[] = {
        {SL_EVENT_ALERT, options->rule_files.n_paths + options->config.n_databases != 0,
         "--rules or --scan"},
        {SL_EVENT_ANOMALY, options->header_list != NULL || (streams && messages),
         "--header-checks, or events of HTTP or TLS"},
        {SL_EVENT_NDN, names, "--names"},
        {SL_EVENT_HTTP_MESSAGE, names || streams, "--stream-memory above 0"},
        {SL_EVENT_TLS_MESSAGE, names || streams, "--stream-memory above 0"},
        {SL_EVENT_QUIC_MESSAGE, streams, "--stream-memory above 0"},
        {SL_EVENT_PACKET, options->rule_files.n_paths != 0, "--rules"},
        {SL_EVENT_FILE, streams, "--stream-memory above 0"},
        {SL_EVENT_SMTP_MESSAGE, streams, "--stream-memory above 0"},
        {SL_EVENT_SSH_MESSAGE, streams, "--stream-memory above 0"},
        {SL_EVENT_FTP_MESSAGE, streams, "--stream-memory above 0"},
    };

    if (options->events.list == NULL)
        return true;
    if (options->config.n_sinks == 0 && options->json) {
        cli_error("--events needs --alerts: with --json no sink takes events");
        return false;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types && !options->events.all; i++)
        if (options->config.events >> types[i].kind & 1 && !types[i].is_made) {
            cli_error("--events %s needs %s: nothing else makes them", sl_event_type(types[i].kind),
                      types[i].needs);
            return false;
        }
    return true;
}

static bool check_inputs(struct run_options *options)
{
    const bool live = options->config.interface != NULL;

    options->config.files = options->captures.paths;
    options->config.n_files = options->captures.n;
    if (!live && options->n_bare > 0)
        cli_error("'%s' was not expected (captures go behind -r, rule files behind --rules, tables "
                  "behind --names, a filter behind --)",
                  options->filter);
    else if (live == (options->config.n_files != 0))
        cli_error("%s (sluice run --help)",
                  live ? "-r and -i exclude one another"
                       : "nothing to read: name captures with -r, or an interface with -i");
    else if (options->filter[0] != '\0' && options->config.filter != NULL)
        cli_error("two filters: -f '%s', and '%s' (expected one)", options->config.filter,
                  options->filter);
    else if (options->config.n_files > SL_RUN_FILES_MAX)
        cli_error("%zu captures (expected at most %d a run)", options->config.n_files,
                  SL_RUN_FILES_MAX);
    else
        return true;
    return false;
}

static bool check_summary(const struct run_options *options)
{
    if (options->quiet && options->profile.on && options->profile.file == NULL)
        cli_error("-q and --profile-rules exclude one another, but for --profile-rules=FILE");
    else if (options->quiet && options->json)
        cli_error("-q and --json exclude one another");
    else if (options->quiet && options->stats && options->config.stats_seconds == 0)
        cli_error("-q and --stats exclude one another");
    else
        return true;
    return false;
}

bool run_options_check(struct run_options *options)
{
    if (!check_summary(options) || !check_inputs(options) ||
        !run_events_option_parse(&options->events, &options->config.events,
                                 options->config.stats_seconds) ||
        !run_files_option_parse(options->file_info, &options->config) ||
        !run_redundancy_option_parse(&options->redundancy, &options->config.redundancy) ||
        !parse_header_checks(options) || !check_effects(options) || !check_events(options) ||
        !check_sinks(options) || !may_write_both(options))
        return false;
    if (options->filter[0] != '\0')
        options->config.filter = options->filter;
    if (options->config.n_sinks == 0 && !options->json)
        options->sinks[options->config.n_sinks++] = "console";
    return true;
}

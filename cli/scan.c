/* SPDX-License-Identifier: MIT */
/* sluice scan: a virus scan with ClamAV's databases; options, lines and exit statuses are
 * clamscan's where it has them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "options.h"
#include "scan_report.h"
#include "sluice/clamav.h"
#include "sluice/device.h"

enum { EXIT_FOUND = 1 };

static const char usage[] =
    "usage: sluice scan -d DATABASE [OPTION...] [FILE|DIRECTORY|-...]\n\n"
    "Scans files for ClamAV's signatures. Options are clamscan's where it has them.\n\n"
    "  -d, --database PATH      database file or directory of them: ClamAV's (.ndb, .ldb, .hdb,\n"
    "                           .cvd, ...), or compiled ones of any name; may be repeated. A\n"
    "                           database whose lines are all wrong is an error\n"
    "      --compile OUT        compile the databases into the file OUT (SET.sluicedb), say what\n"
    "                           of them is supported, and end\n"
    "      --debug              list each signature that is not supported, and each wrong line\n"
    "  -r, --recursive          scan directories below\n"
    "  -i, --infected           print only files with matches\n"
    "  -o, --suppress-ok-results  do not print plain OK\n"
    "  -z, --allmatch           report all signatures that match, not only the first\n"
    "  -f, --file-list FILE     scan the files that FILE names, one a line\n"
    "  -l, --log FILE           append the lines to FILE as well\n"
    "      --exclude REGEX, --include REGEX          of files' paths\n"
    "      --exclude-dir REGEX, --include-dir REGEX  of directories' paths\n"
    "      --max-filesize SIZE  files above are not scanned (bytes, or with K, M, G)\n"
    "      --max-scansize SIZE  bytes of each file that are scanned\n"
    "      --max-scantime MS    ms of each file's scan (120000); 0: no limit\n"
    "      --alert-exceeds-max  a limit that a file exceeds is found in it, as clamscan has it:\n"
    "                           Heuristics.Limits.Exceeded.MaxScanTime (MaxFileSize, MaxScanSize)\n"
    "      --max-dir-recursion N\n"
    "      --follow-file-symlinks N, --follow-dir-symlinks N  0 never, 1 named ones, 2 always\n"
    "      --cross-fs yes|no    scan other file systems below (yes)\n"
    "      --stop-batch N       with more than N candidates in a batch verify none: SUSPECT\n"
    "      --stop-object N      verify no more than N candidates of a file: SUSPECT\n"
    "      --threads N          that scan, 0: one a core (1)\n"
    "      --device D           auto, cpu, cuda or cuda:N (cpu)\n"
    "      --json               print a JSON object a line\n"
    "      --no-summary, --quiet\n\n"
    "A file above a limit has it in its line (OK (Heuristics.Limits.Exceeded.MaxScanTime: ...)).\n"
    "Archives, mail and documents are scanned as they are, and not opened. Such a file's line "
    "says\n"
    "so (OK (zip: not opened)), and the summary counts them (Files not opened: 12).\n\n"
    "Exit status: 0 nothing found, 1 found, 2 an error (some file could not be scanned).\n";

struct scan_options {
    const char **databases;
    size_t n_databases;
    const char *compile; /* write the compiled database here and end */
    const char *device;
    bool debug;
    struct sl_scan_config config;
    struct scan_report report;
};

/* ---- options --------------------------------------------------------------------------------- */

/* The scan checks the expressions. */
static bool add_pattern(struct sl_scan_patterns *patterns, const char *text)
{
    const char **more =
        realloc((void *)(uintptr_t)patterns->text, (patterns->n + 1) * sizeof *more);

    if (more == NULL) {
        cli_error("out of memory");
        return false;
    }
    more[patterns->n++] = text;
    patterns->text = more;
    return true;
}

/* "10", "10K", "10M", "10G". */
static bool parse_size(const char *text, uint64_t *size)
{
    char *end;
    unsigned shift = 0;

    errno = 0;
    *size = strtoull(text, &end, 10);
    if (*end != '\0' && end[1] == '\0')
        shift = tolower(*end) == 'k'   ? 10
                : tolower(*end) == 'm' ? 20
                : tolower(*end) == 'g' ? 30
                                       : 0;
    if (!isdigit((unsigned char)text[0]) || errno != 0 || (shift == 0 && *end != '\0') ||
        *size > (uint64_t)INT64_MAX >> shift)
        return false;
    *size <<= shift;
    return true;
}

static bool read_size(const char *text, const char *option, uint64_t *size)
{
    if (parse_size(text, size))
        return true;
    cli_error("--%s '%s' is no size (expected bytes, or a number with K, M or G)", option, text);
    return false;
}

static bool read_count(const char *text, const char *option, uint64_t max, uint64_t *value)
{
    if (parse_size(text, value) && *value <= max)
        return true;
    cli_error("--%s '%s' (expected a number of at most %" PRIu64 ")", option, text, max);
    return false;
}

static bool read_yes(const char *text, const char *option, bool *value)
{
    *value = text == NULL || strcmp(text, "yes") == 0;
    if (*value || strcmp(text, "no") == 0)
        return true;
    cli_error("--%s '%s' is neither yes nor no", option, text);
    return false;
}

static bool read_no(const char *text, const char *option, bool *value)
{
    const bool good = read_yes(text, option, value);

    *value = !*value;
    return good;
}

enum {
    OPT_COMPILE = 256,
    OPT_DEBUG,
    OPT_EXCLUDE,
    OPT_INCLUDE,
    OPT_EXCLUDE_DIR,
    OPT_INCLUDE_DIR,
    OPT_MAX_FILESIZE,
    OPT_MAX_SCANSIZE,
    OPT_MAX_SCANTIME,
    OPT_ALERT_EXCEEDS,
    OPT_MAX_DEPTH,
    OPT_FOLLOW_FILES,
    OPT_FOLLOW_DIRS,
    OPT_CROSS_FS,
    OPT_STOP_BATCH,
    OPT_STOP_OBJECT,
    OPT_THREADS,
    OPT_DEVICE,
    OPT_JSON,
    OPT_NO_SUMMARY,
    OPT_QUIET
};

static const struct option long_options[] = {
    {"database", required_argument, NULL, 'd'},
    {"compile", required_argument, NULL, OPT_COMPILE},
    {"debug", no_argument, NULL, OPT_DEBUG},
    {"recursive", optional_argument, NULL, 'r'},
    {"infected", no_argument, NULL, 'i'},
    {"suppress-ok-results", no_argument, NULL, 'o'},
    {"allmatch", optional_argument, NULL, 'z'},
    {"file-list", required_argument, NULL, 'f'},
    {"log", required_argument, NULL, 'l'},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"include", required_argument, NULL, OPT_INCLUDE},
    {"exclude-dir", required_argument, NULL, OPT_EXCLUDE_DIR},
    {"include-dir", required_argument, NULL, OPT_INCLUDE_DIR},
    {"max-filesize", required_argument, NULL, OPT_MAX_FILESIZE},
    {"max-scansize", required_argument, NULL, OPT_MAX_SCANSIZE},
    {"max-scantime", required_argument, NULL, OPT_MAX_SCANTIME},
    {"alert-exceeds-max", optional_argument, NULL, OPT_ALERT_EXCEEDS},
    {"max-dir-recursion", required_argument, NULL, OPT_MAX_DEPTH},
    {"follow-file-symlinks", required_argument, NULL, OPT_FOLLOW_FILES},
    {"follow-dir-symlinks", required_argument, NULL, OPT_FOLLOW_DIRS},
    {"cross-fs", required_argument, NULL, OPT_CROSS_FS},
    {"stop-batch", required_argument, NULL, OPT_STOP_BATCH},
    {"stop-object", required_argument, NULL, OPT_STOP_OBJECT},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"json", no_argument, NULL, OPT_JSON},
    {"no-summary", no_argument, NULL, OPT_NO_SUMMARY},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, 'h'},
    {0}};

static bool take_number(struct sl_scan_config *config, int option)
{
    uint64_t value = 0;
    bool good = true;

    switch (option) {
    case OPT_MAX_FILESIZE:
        return read_size(optarg, "max-filesize", &config->file_len_max);
    case OPT_MAX_SCANSIZE:
        return read_size(optarg, "max-scansize", &config->scan_len_max);
    case OPT_MAX_SCANTIME:
        good = read_count(optarg, "max-scantime", UINT32_MAX, &value);
        config->time_max_ms = (uint32_t)value;
        return good;
    case OPT_MAX_DEPTH:
        good = read_count(optarg, "max-dir-recursion", SL_SCAN_DEPTH_MAX, &value);
        config->depth_max = (uint32_t)value;
        return good;
    case OPT_FOLLOW_FILES:
        good = read_count(optarg, "follow-file-symlinks", 2, &value);
        config->follow_files = (enum sl_scan_follow)value;
        return good;
    case OPT_FOLLOW_DIRS:
        good = read_count(optarg, "follow-dir-symlinks", 2, &value);
        config->follow_directories = (enum sl_scan_follow)value;
        return good;
    case OPT_STOP_BATCH:
        good = read_count(optarg, "stop-batch", UINT32_MAX, &value);
        config->max_batch_hits = (uint32_t)value;
        return good;
    case OPT_STOP_OBJECT:
        good = read_count(optarg, "stop-object", UINT32_MAX, &value);
        config->max_object_hits = (uint32_t)value;
        return good;
    default:
        good = read_count(optarg, "threads", SL_SCAN_THREADS_MAX, &value);
        config->n_threads = (uint32_t)value;
        return good;
    }
}

static bool take_option(struct scan_options *options, int option)
{
    switch (option) {
    case 'd':
        options->databases[options->n_databases++] = optarg;
        return true;
    case OPT_COMPILE:
        options->compile = optarg;
        return true;
    case OPT_DEBUG:
        options->debug = true;
        return true;
    case 'r':
        return read_yes(optarg, "recursive", &options->config.recursive);
    case 'i':
        options->report.infected_only = true;
        return true;
    case 'o':
        options->report.suppress_ok = true;
        return true;
    case 'z':
        return read_yes(optarg, "allmatch", &options->config.all_matches);
    case 'f':
        options->config.list = optarg;
        return true;
    case 'l':
        options->report.log_path = optarg;
        return true;
    case OPT_EXCLUDE:
        return add_pattern(&options->config.exclude, optarg);
    case OPT_INCLUDE:
        return add_pattern(&options->config.include, optarg);
    case OPT_EXCLUDE_DIR:
        return add_pattern(&options->config.exclude_directories, optarg);
    case OPT_INCLUDE_DIR:
        return add_pattern(&options->config.include_directories, optarg);
    case OPT_ALERT_EXCEEDS:
        return read_yes(optarg, "alert-exceeds-max", &options->config.alert_exceeds);
    case OPT_CROSS_FS:
        return read_no(optarg, "cross-fs", &options->config.stays);
    case OPT_DEVICE:
        options->device = optarg;
        return true;
    case OPT_JSON:
        options->report.json = true;
        return true;
    case OPT_NO_SUMMARY:
        options->report.summary = false;
        return true;
    case OPT_QUIET:
        options->report.quiet = true;
        return true;
    default:
        return take_number(&options->config, option);
    }
}

static void options_init(struct scan_options *options)
{
    sl_scan_config_init(&options->config);
    options->report.summary = true;
    options->device = "cpu";
}

static void options_free(struct scan_options *options)
{
    free((void *)(uintptr_t)options->config.exclude.text);
    free((void *)(uintptr_t)options->config.include.text);
    free((void *)(uintptr_t)options->config.exclude_directories.text);
    free((void *)(uintptr_t)options->config.include_directories.text);
    free(options->databases);
    free(options);
}

/* ---- databases ------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Compiles also what is compiled: the set says what of the databases is supported. */
static enum sl_status compile_database(const struct scan_options *options,
                                       enum sl_device_kind device, struct sl_clamav_db **db,
                                       struct sl_clamav_set **set, struct sl_diag *diag)
{
    enum sl_status status = sl_clamav_set_create(set, diag);

    if (status == SL_OK)
        status = sl_clamav_set_read(*set, options->databases, options->n_databases, diag);
    return status == SL_OK ? sl_clamav_compile(db, *set, device, diag) : status;
}

static enum sl_status open_database(const struct scan_options *options, enum sl_device_kind device,
                                    struct sl_clamav_db **db, struct sl_diag *diag)
{
    const double begin = seconds_now();
    struct sl_clamav_set *set = NULL;
    enum sl_status status = options->compile != NULL
                                ? compile_database(options, device, db, &set, diag)
                                : sl_clamav_load_paths(db, &set, options->databases,
                                                       options->n_databases, device, diag);

    if (set != NULL && options->debug)
        scan_report_notes(set);
    if (set != NULL && status == SL_OK) {
        if (options->compile != NULL)
            scan_report_database(set, *db, seconds_now() - begin);
        else if (!options->debug && !options->report.quiet)
            scan_report_left_out(set);
    }
    sl_clamav_set_free(set);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int compile(const struct scan_options *options)
{
    struct sl_clamav_db *db = NULL;
    struct sl_diag diag = {0};

    enum sl_status status = open_database(options, options->config.device.kind, &db, &diag);
    if (status == SL_OK)
        status = sl_clamav_save(db, options->compile, &diag);
    if (status != SL_OK)
        cli_diag(&diag);
    sl_clamav_free(db);
    return status == SL_OK ? EXIT_DONE : EXIT_FAILED;
}

static int exit_status_of(const struct sl_scan_counts *counts, bool good)
{
    if (counts->found > 0 && good)
        return EXIT_FOUND;
    return good && counts->failed == 0 ? EXIT_DONE : EXIT_FAILED;
}

static int execute(struct scan_options *options, struct sl_scan *scan, double begin, time_t date)
{
    struct scan_report *report = &options->report;
    struct sl_clamav_db *db = NULL;
    struct sl_scan_counts counts;
    struct sl_diag diag = {0};
    bool good;

    if (open_database(options, options->config.device.kind, &db, &diag) != SL_OK) {
        cli_diag(&diag);
        return EXIT_FAILED;
    }
    report->scan = options->config.count ? scan : NULL;
    good = scan_report_begin(report);
    if (good) {
        good = sl_scan_execute(scan, db, &diag) == SL_OK;
        good &= scan_report_end(report, good ? NULL : &diag);
    }
    sl_scan_snapshot(scan, &counts);
    scan_report_summary(report, db, &counts, seconds_now() - begin, date);
    sl_clamav_free(db);
    return exit_status_of(&counts, good);
}

static int scan(struct scan_options *options, char **paths, int n_paths)
{
    static const char *const here[] = {"."};
    struct sl_scan_config *config = &options->config;
    const double begin = seconds_now();
    const time_t date = time(NULL);
    struct sl_scan *scan = NULL;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];

    for (size_t i = 0; options->compile != NULL && i < options->n_databases; i++)
        if (cli_is_input(options->compile, options->databases[i]))
            return EXIT_FAILED;
    config->paths = (const char *const *)paths;
    config->n_paths = (size_t)n_paths;
    if (n_paths == 0 && config->list == NULL) {
        config->paths = here;
        config->n_paths = 1;
    }
    config->count = scan_report_wants_progress(&options->report);
    config->file = scan_report_file;
    config->user = &options->report;
    if (sl_device_choose(&config->device, options->device, why, &diag) != SL_OK ||
        sl_scan_open(&scan, config, &diag) != SL_OK) {
        cli_diag(&diag);
        return EXIT_FAILED;
    }
    const int exit_status =
        options->compile != NULL ? compile(options) : execute(options, scan, begin, date);
    sl_scan_close(scan);
    return exit_status;
}

int command_scan(int argc, char **argv)
{
    static const int repeated[] = {'d', OPT_EXCLUDE, OPT_INCLUDE, OPT_EXCLUDE_DIR, OPT_INCLUDE_DIR,
                                   0};
    struct cli_options known = {
        .command = "scan", .letters = "d:riozf:l:h", .names = long_options, .repeated = repeated};
    struct scan_options *options = calloc(1, sizeof *options);
    int option, exit_status = EXIT_FAILED;

    if (options == NULL ||
        (options->databases = calloc((size_t)argc, sizeof *options->databases)) == NULL) {
        cli_error("out of memory");
        free(options);
        return EXIT_FAILED;
    }
    options_init(options);
    while ((option = cli_next_option(&known, argc, argv)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            exit_status = EXIT_DONE;
            goto out;
        }
        if (option == CLI_OPTION_BAD || !take_option(options, option))
            goto out;
    }
    if (options->n_databases == 0)
        cli_error("no database was named (usage: sluice scan -d DATABASE FILE...)");
    else
        exit_status = scan(options, argv + optind, argc - optind);
out:
    options_free(options);
    return exit_status;
}

/* SPDX-License-Identifier: MIT */
/* sluice scan: a virus scan with ClamAV's databases; options, lines and exit statuses are
 * clamscan's where it has them. */
#include "scan.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "cli.h"
#include "version.h"

enum { EXIT_FOUND = 1 };

static const char usage[] =
    "usage: sluice scan -d DATABASE [OPTION...] [FILE|DIRECTORY|-...]\n\n"
    "Scans files for ClamAV's signatures. Options are clamscan's where it has them.\n\n"
    "  -d, --database PATH      database file or directory of them (.ndb, .ldb, .hdb, .cvd, ...),\n"
    "                           or one compiled by --compile; may be repeated\n"
    "      --compile OUT        compile the databases into the file OUT, say what of them is\n"
    "                           supported, and end\n"
    "      --debug              list each signature that is not supported, and each wrong line\n"
    "  -r, --recursive          scan directories below\n"
    "  -i, --infected           print only files with matches\n"
    "  -o, --suppress-ok-results  do not print OK\n"
    "  -z, --allmatch           report all signatures that match, not only the first\n"
    "  -f, --file-list FILE     scan the files that FILE names, one a line\n"
    "  -l, --log FILE           append the lines to FILE as well\n"
    "      --exclude REGEX, --include REGEX          of files' paths\n"
    "      --exclude-dir REGEX, --include-dir REGEX  of directories' paths\n"
    "      --max-filesize SIZE  files above are not scanned (bytes, or with K, M, G)\n"
    "      --max-scansize SIZE  bytes of each file that are scanned\n"
    "      --max-dir-recursion N\n"
    "      --follow-file-symlinks N, --follow-dir-symlinks N  0 never, 1 named ones, 2 always\n"
    "      --cross-fs yes|no    scan other file systems below (yes)\n"
    "      --stop-batch N       with more than N candidates in a batch verify none: SUSPECT\n"
    "      --stop-object N      verify no more than N candidates of a file: SUSPECT\n"
    "      --threads N          that scan, 0: one a core (1)\n"
    "      --device D           auto, cpu, cuda or cuda:N (cpu)\n"
    "      --json               print a JSON object a line\n"
    "      --no-summary, --quiet\n\n"
    "Exit status: 0 nothing found, 1 found, 2 an error (some file could not be scanned).\n";

/* ---- the summary ----------------------------------------------------------------------------- */

static void print_text_summary(FILE *out, const struct sl_clamav_info *info,
                               const struct scan_totals *totals, double seconds, time_t begin)
{
    const time_t end = time(NULL);
    char text[32];
    struct tm broken;

    fprintf(out, "\n----------- SCAN SUMMARY -----------\n");
    fprintf(out, "Known viruses: %zu\n", info->signatures);
    fprintf(out, "Engine version: sluice " SLUICE_VERSION "\n");
    fprintf(out, "Scanned directories: %" PRIu64 "\n", totals->directories);
    fprintf(out, "Scanned files: %" PRIu64 "\n", totals->files);
    fprintf(out, "Infected files: %" PRIu64 "\n", totals->infected);
    if (totals->suspect > 0)
        fprintf(out, "Suspect files: %" PRIu64 "\n", totals->suspect);
    if (totals->errors > 0)
        fprintf(out, "Total errors: %" PRIu64 "\n", totals->errors);
    fprintf(out, "Data scanned: %.2f MB\n", (double)totals->scanned_bytes / 1048576);
    fprintf(out, "Data read: %.2f MB (ratio %.2f:1)\n", (double)totals->bytes / 1048576,
            totals->bytes > 0 ? (double)totals->scanned_bytes / (double)totals->bytes : 0.0);
    fprintf(out, "Time: %.3f sec (%d m %d s)\n", seconds, (int)seconds / 60, (int)seconds % 60);
    strftime(text, sizeof text, "%Y:%m:%d %H:%M:%S", localtime_r(&begin, &broken));
    fprintf(out, "Start Date: %s\n", text);
    strftime(text, sizeof text, "%Y:%m:%d %H:%M:%S", localtime_r(&end, &broken));
    fprintf(out, "End Date:   %s\n", text);
}

static void print_json_summary(const struct sl_clamav_info *info, const struct scan_totals *totals,
                               double seconds)
{
    json_t *root =
        json_pack("{s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}}", "summary", "signatures",
                  (json_int_t)info->signatures, "directories", (json_int_t)totals->directories,
                  "files", (json_int_t)totals->files, "infected", (json_int_t)totals->infected,
                  "suspect", (json_int_t)totals->suspect, "errors", (json_int_t)totals->errors,
                  "bytes", (json_int_t)totals->bytes, "scanned_bytes",
                  (json_int_t)totals->scanned_bytes, "seconds", seconds);

    json_dumpf(root, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(root);
}

static void print_summary(const struct scan_options *options, const struct sl_clamav_db *db,
                          const struct scan_totals *totals, double seconds, time_t begin)
{
    struct sl_clamav_info info;
    FILE *log;

    if (!options->summary)
        return;
    sl_clamav_info(db, &info);
    if (options->json)
        print_json_summary(&info, totals, seconds);
    else if (!options->quiet)
        print_text_summary(stdout, &info, totals, seconds, begin);
    if (options->log != NULL && (log = fopen(options->log, "ae")) != NULL) {
        print_text_summary(log, &info, totals, seconds, begin);
        (void)fclose(log);
    }
}

/* ---- options --------------------------------------------------------------------------------- */

static bool add_pattern(struct scan_patterns *patterns, const char *text)
{
    char why[256];
    int error;

    if (patterns->n == SCAN_PATTERNS_MAX) {
        cli_error("more than %d expressions for paths", SCAN_PATTERNS_MAX);
        return false;
    }
    error = regcomp(&patterns->regex[patterns->n], text, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        regerror(error, &patterns->regex[patterns->n], why, sizeof why);
        cli_error("'%s' is no regular expression: %s", text, why);
        return false;
    }
    patterns->n++;
    return true;
}

static void free_patterns(struct scan_patterns *patterns)
{
    for (size_t i = 0; i < patterns->n; i++)
        regfree(&patterns->regex[i]);
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

enum {
    OPT_COMPILE = 256,
    OPT_DEBUG,
    OPT_EXCLUDE,
    OPT_INCLUDE,
    OPT_EXCLUDE_DIR,
    OPT_INCLUDE_DIR,
    OPT_MAX_FILESIZE,
    OPT_MAX_SCANSIZE,
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

static bool take_number(struct scan_options *options, int option)
{
    uint64_t value = 0;
    bool good = true;

    switch (option) {
    case OPT_MAX_FILESIZE:
        return read_size(optarg, "max-filesize", &options->max_file_len);
    case OPT_MAX_SCANSIZE:
        return read_size(optarg, "max-scansize", &options->max_scan_len);
    case OPT_MAX_DEPTH:
        good = read_count(optarg, "max-dir-recursion", 1000, &value);
        options->depth_max = (int)value;
        return good;
    case OPT_FOLLOW_FILES:
        good = read_count(optarg, "follow-file-symlinks", 2, &value);
        options->follow_files = (int)value;
        return good;
    case OPT_FOLLOW_DIRS:
        good = read_count(optarg, "follow-dir-symlinks", 2, &value);
        options->follow_dirs = (int)value;
        return good;
    case OPT_STOP_BATCH:
        good = read_count(optarg, "stop-batch", UINT32_MAX, &value);
        options->max_batch_hits = (uint32_t)value;
        return good;
    case OPT_STOP_OBJECT:
        good = read_count(optarg, "stop-object", UINT32_MAX, &value);
        options->max_object_hits = (uint32_t)value;
        return good;
    default:
        good = read_count(optarg, "threads", 1024, &value);
        options->n_threads = value > 0 ? (unsigned)value : cpu_cores();
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
        return read_yes(optarg, "recursive", &options->recursive);
    case 'i':
        options->infected_only = true;
        return true;
    case 'o':
        options->suppress_ok = true;
        return true;
    case 'z':
        return read_yes(optarg, "allmatch", &options->all_matches);
    case 'f':
        options->file_list = optarg;
        return true;
    case 'l':
        options->log = optarg;
        return true;
    case OPT_EXCLUDE:
        return add_pattern(&options->exclude, optarg);
    case OPT_INCLUDE:
        return add_pattern(&options->include, optarg);
    case OPT_EXCLUDE_DIR:
        return add_pattern(&options->exclude_dir, optarg);
    case OPT_INCLUDE_DIR:
        return add_pattern(&options->include_dir, optarg);
    case OPT_CROSS_FS:
        return read_yes(optarg, "cross-fs", &options->cross_fs);
    case OPT_DEVICE:
        options->device = optarg;
        return true;
    case OPT_JSON:
        options->json = true;
        return true;
    case OPT_NO_SUMMARY:
        options->summary = false;
        return true;
    case OPT_QUIET:
        options->quiet = true;
        return true;
    default:
        return take_number(options, option);
    }
}

static void options_init(struct scan_options *options)
{
    options->cross_fs = options->summary = true;
    options->follow_files = options->follow_dirs = 1;
    options->depth_max = SCAN_DEPTH_MAX;
    options->n_threads = 1;
    options->device = "cpu";
}

static void options_free(struct scan_options *options)
{
    free_patterns(&options->exclude);
    free_patterns(&options->include);
    free_patterns(&options->exclude_dir);
    free_patterns(&options->include_dir);
    free(options->databases);
    free(options);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int scan(const struct scan_options *options, char **paths, int n_paths)
{
    static char here[] = ".", *here_paths[] = {here};
    struct scan_totals totals = {0};
    struct sl_diag diag = {0};
    struct sl_device device;
    struct sl_clamav_db *db = NULL;
    char why[SL_WHY_LEN];
    const time_t begin = time(NULL);
    const uint64_t begin_ns = clock_ns();

    for (size_t i = 0; options->compile != NULL && i < options->n_databases; i++)
        if (cli_is_input(options->compile, options->databases[i]))
            return EXIT_FAILED;
    enum sl_status status = sl_device_choose(&device, options->device, why, &diag);
    if (status == SL_OK)
        status = scan_open_database(options, &device, &db, &diag);
    if (status == SL_OK && options->compile != NULL)
        status = sl_clamav_save(db, options->compile, &diag);
    if (status != SL_OK) {
        cli_diag(&diag);
        sl_clamav_free(db);
        return EXIT_FAILED;
    }
    if (options->compile != NULL) {
        sl_clamav_free(db);
        return EXIT_DONE;
    }
    if (n_paths == 0 && options->file_list == NULL) {
        paths = here_paths;
        n_paths = 1;
    }
    const bool good = scan_run(options, db, &device, paths, n_paths, &totals);
    print_summary(options, db, &totals, (double)(clock_ns() - begin_ns) / 1e9, begin);
    sl_clamav_free(db);
    if (totals.infected > 0 && good)
        return EXIT_FOUND;
    return good && totals.errors == 0 ? EXIT_DONE : EXIT_FAILED;
}

int command_scan(int argc, char **argv)
{
    struct scan_options *options = calloc(1, sizeof *options);
    int option, exit_status = EXIT_FAILED;

    if (options == NULL ||
        (options->databases = calloc((size_t)argc, sizeof *options->databases)) == NULL) {
        cli_error("out of memory");
        free(options);
        return EXIT_FAILED;
    }
    options_init(options);
    opterr = 0;
    while ((option = getopt_long(argc, argv, "d:riozf:l:h", long_options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            exit_status = EXIT_DONE;
            goto out;
        }
        if (option == '?') {
            exit_status = cli_bad_option(argv, "scan");
            goto out;
        }
        if (!take_option(options, option))
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

/* SPDX-License-Identifier: MIT */
/* sluice scan: a virus scan with ClamAV's databases; options, lines and exit statuses are
 * clamscan's where it has them. */
#include <ftw.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/overwrite.h"
#include "scan_options.h"
#include "scan_report.h"
#include "sluice/clamav.h"
#include "sluice/device.h"

enum { EXIT_FOUND = 1 };

/* ---- databases ------------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Compiles a compiled database, too, for the report on signatures. Its tables are those of GPUs:
 * CPUs run them as fast as their own. */
static enum sl_status compile_database(const struct scan_options *options, struct sl_clamav_db **db,
                                       struct sl_clamav_set **set, struct sl_diag *diag)
{
    enum sl_status status = sl_clamav_set_create(set, diag);

    if (status == SL_OK) {
        sl_clamav_set_detect_pua(*set, scan_options_pua(options));
        status = sl_clamav_set_read(*set, options->databases, options->n_databases, diag);
    }
    return status == SL_OK ? sl_clamav_compile(db, *set, SL_DEVICE_CUDA, diag) : status;
}

static enum sl_status open_database(const struct scan_options *options, enum sl_device_kind device,
                                    struct sl_clamav_db **db, struct sl_diag *diag)
{
    const double begin = seconds_now();
    struct sl_clamav_set *set = NULL;
    enum sl_status status =
        options->compile != NULL
            ? compile_database(options, db, &set, diag)
            : sl_clamav_load_paths(db, &set, options->databases, options->n_databases,
                                   scan_options_pua(options), device, diag);

    if (set != NULL && options->debug)
        scan_report_notes(set);
    else if (status == SL_OK && options->debug)
        fputs("sluice: a compiled database does not list what was left out (--compile with --debug "
              "lists it)\n",
              stderr);
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
    return exit_status_of(&counts, good && !report->kept);
}

/* A core scans about so many bytes before a GPU has started. */
static const uint64_t gpu_start_len = UINT64_C(512) << 20;

/* nftw hands its function nothing of the caller's. */
static uint64_t walked_len;
static bool walks_below;

static int add_len(const char *path, const struct stat *file, int type, struct FTW *at)
{
    (void)path;
    if (type == FTW_D && at->level > 0 && !walks_below)
        return FTW_SKIP_SUBTREE;
    if (type == FTW_F && S_ISREG(file->st_mode))
        walked_len += (uint64_t)file->st_size;
    return walked_len > gpu_start_len ? FTW_STOP : FTW_CONTINUE;
}

/* While a GPU starts, a few cores scan what it would, and one core what is short. Bytes of standard
 * input and of a list are not known to be many. */
static bool is_for_gpu(const struct sl_scan_config *config)
{
    enum { FOLDERS_OPEN = 16 };

    walked_len = 0;
    walks_below = config->recursive;
    for (size_t i = 0; config->n_threads == 1 && i < config->n_paths; i++)
        if (nftw(config->paths[i], add_len, FOLDERS_OPEN, FTW_PHYS | FTW_ACTIONRETVAL) == FTW_STOP)
            return true;
    return false;
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

    if (options->compile != NULL && !cli_may_write(options->compile, options->force, true))
        return EXIT_FAILED;
    if (!scan_options_check_paths(options, paths, n_paths))
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
    const bool on_cpu = strcmp(options->device, "auto") == 0 && !is_for_gpu(config);
    if (sl_device_choose(&config->device, on_cpu ? "cpu" : options->device, why, &diag) != SL_OK ||
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
    struct scan_options options;
    int exit_status = EXIT_FAILED;

    switch (scan_options_read(&options, argc, argv)) {
    case SCAN_WISH_SCAN:
        exit_status = scan(&options, argv + optind, argc - optind);
        break;
    case SCAN_WISH_DONE:
        exit_status = EXIT_DONE;
        break;
    default:
        break;
    }
    scan_options_free(&options);
    return exit_status;
}

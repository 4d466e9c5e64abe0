/* SPDX-License-Identifier: MIT */
/* The virus scan: the filter alone, on a core and on the GPU, and the whole scanner from opening
 * files to names, over files in the page cache. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "bench/frame/team.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "mpm_rows.h"
#include "sluice/clamav.h"

enum {
    OVERLAP = 255,     /* of pieces, when the filter runs alone: anchors are shorter */
    SCANNERS_MAX = 256 /* threads */
};

struct file {
    const char *path;
    uint64_t len;
};

struct scan {
    const struct bench *bench;
    struct sl_clamav_db *db[2]; /* by enum sl_device_kind; NULL: not to be measured */
    struct file *files;         /* the largest first, so that all threads end at about one time */
    size_t n_files;
    uint64_t len; /* bytes of all */
    char data[64];

    struct sl_clamav_scanner *scanners[SCANNERS_MAX];
    unsigned n_scanners;
    struct bench_team *team;
    atomic_size_t next;    /* file to be taken */
    atomic_uint n_matches; /* files of this run with a name */
    unsigned expected;     /* of the first run */
    bool counted, failed;
};

/* ---- the data -------------------------------------------------------------------------------- */

static bool read_databases(struct scan *scan)
{
    const struct bench *bench = scan->bench;
    struct sl_clamav_set *set;
    struct sl_diag diag = {0};
    enum sl_status status = sl_clamav_set_create(&set, &diag);

    if (status != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    status = sl_clamav_set_read(set, bench->database_paths, bench->n_database_paths, &diag);
    if (status == SL_OK)
        status = sl_clamav_compile(&scan->db[SL_DEVICE_CPU], set, SL_DEVICE_CPU, &diag);
    if (status == SL_OK && bench->device.kind == SL_DEVICE_CUDA)
        status = sl_clamav_compile(&scan->db[SL_DEVICE_CUDA], set, SL_DEVICE_CUDA, &diag);
    if (status != SL_OK)
        cli_diag(&diag);
    sl_clamav_set_free(set);
    return status == SL_OK;
}

static int compare_files(const void *left, const void *right)
{
    const struct file *a = left, *b = right;

    if (a->len != b->len)
        return a->len < b->len ? 1 : -1;
    return strcmp(a->path, b->path);
}

static bool list_files(struct scan *scan)
{
    const struct bench *bench = scan->bench;
    char text[32];

    scan->files = calloc(bench->input.n_file_paths + 1, sizeof *scan->files);
    if (scan->files == NULL) {
        cli_error("out of memory");
        return false;
    }
    for (size_t i = 0; i < bench->input.n_file_paths; i++) {
        struct stat file;

        if (stat(bench->input.file_paths[i], &file) != 0 || !S_ISREG(file.st_mode))
            continue;
        scan->files[scan->n_files++] =
            (struct file){bench->input.file_paths[i], (uint64_t)file.st_size};
        scan->len += (uint64_t)file.st_size;
    }
    if (scan->n_files == 0) {
        cli_error("bench scan: no file to scan (--files names them)");
        return false;
    }
    qsort(scan->files, scan->n_files, sizeof *scan->files, compare_files);
    snprintf(scan->data, sizeof scan->data, "%zu files, %s", scan->n_files,
             cli_bytes((double)scan->len, text));
    return true;
}

/* ---- the filter ------------------------------------------------------------------------------ */

static bool rows_of_filter(const struct scan *scan)
{
    const struct sl_mpm_table *tables[2] = {NULL};
    struct sl_clamav_info info;
    char what[48];

    for (int kind = SL_DEVICE_CPU; kind <= SL_DEVICE_CUDA; kind++) {
        const struct sl_engine *engine;
        const void *table;

        if (scan->db[kind] == NULL)
            continue;
        sl_clamav_engine(scan->db[kind], &engine, &table);
        tables[kind] = table;
    }
    sl_clamav_info(scan->db[SL_DEVICE_CPU], &info);
    snprintf(what, sizeof what, "anchors (%s)/%zu", info.algorithm, info.literals);
    return mpm_rows_of_tables(scan->bench, what, tables, OVERLAP);
}

/* ---- the scanner ----------------------------------------------------------------------------- */

static void on_match(void *user, void *token, const struct sl_clamav_match *match)
{
    struct scan *scan = user;

    (void)token;
    (void)match;
    atomic_fetch_add(&scan->n_matches, 1);
}

static void scan_files(void *user, unsigned member)
{
    struct scan *scan = user;
    struct sl_clamav_scanner *scanner = scan->scanners[member];
    enum sl_status status = SL_OK;

    for (size_t i; status == SL_OK && (i = atomic_fetch_add(&scan->next, 1)) < scan->n_files;) {
        const int fd = open(scan->files[i].path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
            continue;
        status = sl_clamav_scan_fd(scanner, fd, NULL);
        (void)close(fd);
    }
    if (status != SL_OK || sl_clamav_flush(scanner) != SL_OK)
        scan->failed = true;
}

static double scan_once(void *user)
{
    struct scan *scan = user;

    atomic_store(&scan->next, 0);
    atomic_store(&scan->n_matches, 0);
    bench_team_run(scan->team);
    if (!scan->counted)
        scan->expected = scan->n_matches;
    scan->counted = true;
    scan->failed |= scan->n_matches != scan->expected;
    return (double)scan->len;
}

static bool open_scanners(struct scan *scan, enum sl_device_kind kind, unsigned n)
{
    struct sl_clamav_scan_config config;
    struct sl_diag diag = {0};
    enum sl_status status = SL_OK;

    sl_clamav_scan_config_init(&config);
    if (kind == SL_DEVICE_CUDA)
        config.device = scan->bench->device;
    config.match = on_match;
    config.user = scan;
    for (scan->n_scanners = 0; scan->n_scanners < n && status == SL_OK;) {
        status = sl_clamav_open(&scan->scanners[scan->n_scanners], scan->db[kind], &config, &diag);
        scan->n_scanners += status == SL_OK;
    }
    if (status != SL_OK)
        cli_diag(&diag);
    return status == SL_OK;
}

static void close_scanners(struct scan *scan)
{
    while (scan->n_scanners > 0)
        sl_clamav_close(scan->scanners[--scan->n_scanners]);
}

static bool row_of_scanner(struct scan *scan, enum sl_device_kind kind, unsigned n_threads)
{
    char variant[64];
    struct bench_row row = {.what = "scan",
                            .variant = variant,
                            .data = scan->data,
                            .unit = 1e9,
                            .unit_name = "GB/s",
                            .cores = n_threads};

    snprintf(variant, sizeof variant, "%s, %u thread%s", kind == SL_DEVICE_CUDA ? "cuda" : "cpu",
             n_threads, n_threads == 1 ? "" : "s");
    bool good = open_scanners(scan, kind, n_threads);
    scan->team = good ? bench_team_start(n_threads, scan_files, scan) : NULL;
    good = scan->team != NULL;
    if (good) {
        row.rate = bench_measure(scan->bench->frame.runs, scan_once, scan);
        bench_team_stop(scan->team);
        bench_print(&scan->bench->frame, &row);
    }
    close_scanners(scan);
    if (scan->failed)
        cli_error("bench: a scan failed, or found what no other did");
    return good && !scan->failed;
}

static bool rows_of_scanners(struct scan *scan)
{
    const unsigned cores = cpu_cores() < SCANNERS_MAX ? cpu_cores() : SCANNERS_MAX;
    bool good = true;

    for (unsigned n = 1; n <= cores && good; n = n < cores ? cores : cores + 1)
        for (int kind = SL_DEVICE_CPU; kind <= SL_DEVICE_CUDA && good; kind++)
            if (scan->db[kind] != NULL)
                good = row_of_scanner(scan, (enum sl_device_kind)kind, n);
    return good;
}

bool bench_scan(const struct bench *bench)
{
    struct scan *scan;

    if (bench->input.n_file_paths == 0)
        return bench_scan_trees(bench);
    scan = calloc(1, sizeof *scan);
    if (scan == NULL || bench->n_database_paths == 0) {
        cli_error(scan == NULL ? "out of memory"
                               : "bench scan: no database was named (--database names them)");
        free(scan);
        return false;
    }
    scan->bench = bench;
    const bool good =
        read_databases(scan) && list_files(scan) && rows_of_filter(scan) && rows_of_scanners(scan);
    sl_clamav_free(scan->db[SL_DEVICE_CPU]);
    sl_clamav_free(scan->db[SL_DEVICE_CUDA]);
    free(scan->files);
    free(scan);
    return good;
}

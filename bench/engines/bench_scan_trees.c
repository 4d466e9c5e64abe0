/* SPDX-License-Identifier: MIT */
/* Documents in containers: the command beside clamscan, one process with one thread each, by their
 * CPU time less that of a start, and beside the unpacker alone. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/data/scanned_trees.h"
#include "bench/data/temporary.h"
#include "bench/data/virus_database.h"
#include "bench/frame/row.h"
#include "bench/peers/process.h"
#include "benchmarks.h"
#include "cli/console.h"

enum {
    SIGNATURES = 40000, /* where no database is named */
    DATABASES_MAX = 16,
    ARGUMENTS_MAX = 2 * DATABASES_MAX + 64,
    OURS = 12,     /* times that the command scans what clamscan scans once, */
    OURS_SLOW = 2, /* and what is slow to unpack */
    PEER_RUNS = 3,
    PATH_LEN = 128
};

struct trees {
    const struct bench *bench;
    char folder[64], command[PATH_MAX], database[PATH_LEN], compiled[PATH_LEN], nothing[PATH_LEN];
    char paths[SCANNED_TREES][PATH_LEN];
    uint64_t len; /* bytes of the documents of one */

    /* What is measured. */
    bool is_clamscan;
    unsigned first, n; /* trees */
    uint64_t memory;   /* at the peak */
    bool failed;
};

static char word_scan[] = "scan", word_database[] = "-d", word_recursive[] = "-r",
            word_infected[] = "-i", word_no_summary[] = "--no-summary",
            word_no_cache[] = "--disable-cache", word_threads[] = "--threads=1",
            word_compile[] = "--compile", word_clamscan[] = "clamscan";

static unsigned add_databases(struct trees *trees, char **arguments)
{
    const struct bench *bench = trees->bench;
    unsigned n = 0;

    for (size_t i = 0; i < bench->n_database_paths && i < DATABASES_MAX; i++) {
        arguments[n++] = word_database;
        arguments[n++] = (char *)(uintptr_t)bench->database_paths[i];
    }
    if (n == 0) {
        arguments[n++] = word_database;
        arguments[n++] = trees->database;
    }
    return n;
}

static bool compile(struct trees *trees)
{
    char *arguments[ARGUMENTS_MAX] = {trees->command, word_scan};
    struct process_cost cost;
    unsigned n = 2 + add_databases(trees, arguments + 2);

    arguments[n++] = word_compile;
    arguments[n] = trees->compiled;
    return process_run(arguments, NULL, &cost);
}

/* CPU seconds for so many trees, each `times` over; below 0: it failed. */
static double seconds_for(struct trees *trees, unsigned n_trees, unsigned times)
{
    char *arguments[ARGUMENTS_MAX] = {trees->command, word_scan, word_threads, word_database,
                                      trees->compiled};
    struct process_cost cost;
    unsigned n = 5;

    if (trees->is_clamscan) {
        memset(arguments, 0, sizeof arguments);
        arguments[0] = word_clamscan;
        n = 1 + add_databases(trees, arguments + 1);
    }
    arguments[n++] = word_recursive;
    arguments[n++] = word_infected;
    arguments[n++] = word_no_summary;
    arguments[n++] = word_no_cache;
    if (n_trees == 0)
        arguments[n++] = trees->nothing;
    for (unsigned i = 0; i < times * n_trees; i++)
        arguments[n++] = trees->paths[trees->first + i % n_trees];
    if (!process_run(arguments, NULL, &cost))
        return -1;
    if (cost.memory > trees->memory)
        trees->memory = cost.memory;
    return cost.cpu_seconds;
}

static double rate_of_scan(void *user)
{
    struct trees *trees = user;
    const unsigned times = trees->is_clamscan                         ? 1
                           : trees->n > 1 || trees->first >= TREE_BZ2 ? OURS_SLOW
                                                                      : OURS;
    const double start = seconds_for(trees, 0, 0);
    const double whole = start < 0 ? -1 : seconds_for(trees, trees->n, times);

    trees->failed |= whole <= start;
    return whole <= start ? 0 : (double)trees->len * trees->n * times / (whole - start);
}

static double unpack_once(void *user)
{
    struct trees *trees = user;
    const uint64_t len = scanned_tree_unpack(trees->paths[trees->first]);

    trees->failed |= len != trees->len;
    return (double)len;
}

static void print(const struct trees *trees, const struct bench_row *like, const char *name)
{
    char what[32], data[96], bytes[32];
    struct bench_row row = *like;

    snprintf(what, sizeof what, "scan %.20s", name);
    snprintf(data, sizeof data, "documents of %s, CPU time less a start",
             cli_bytes((double)trees->len * trees->n, bytes));
    row.what = what;
    row.data = data;
    row.unit = 1e6;
    row.unit_name = "MB/s";
    row.cores = 1;
    bench_print(&trees->bench->frame, &row);
}

/* The unpacker's rate; 0: there is none of this kind. */
static double row_of_unpacker(struct trees *trees, const char *name)
{
    struct bench_row row = {.variant = "the unpacker alone", .role = BENCH_CEILING};

    if (trees->n > 1 || trees->first < TREE_BZ2)
        return 0;
    row.rate = bench_measure_thread(trees->bench->frame.runs, unpack_once, trees);
    print(trees, &row, name);
    return row.rate.median;
}

static void rows_of_tree(struct trees *trees, const char *name, bool has_clamscan)
{
    const uint32_t runs = trees->bench->frame.runs;
    struct bench_row row = {.variant = "clamscan, one process", .role = BENCH_PEER};
    double peer = 0;

    const double unpacker = row_of_unpacker(trees, name);
    trees->is_clamscan = true;
    if (has_clamscan) {
        row.rate = bench_rates(runs < PEER_RUNS ? runs : PEER_RUNS, rate_of_scan, trees);
        print(trees, &row, name);
        peer = row.rate.median;
    }
    trees->is_clamscan = false;
    row = (struct bench_row){.variant = "sluice, one thread",
                             .role = BENCH_ENGINE,
                             .ceiling = unpacker,
                             .ceiling_of = "the unpacker",
                             .peer = peer,
                             .peer_name = "clamscan"};
    row.rate = bench_rates(runs, rate_of_scan, trees);
    print(trees, &row, name);
}

static uint64_t memory_of_start(struct trees *trees, bool is_clamscan)
{
    trees->is_clamscan = is_clamscan;
    trees->memory = 0;
    trees->n = SCANNED_TREES;
    trees->first = 0;
    return seconds_for(trees, trees->n, 1) < 0 ? 0 : trees->memory;
}

static void print_memory(struct trees *trees, bool has_clamscan)
{
    const double own = (double)memory_of_start(trees, false);
    const double peer = has_clamscan ? (double)memory_of_start(trees, true) : 0;

    if (trees->bench->frame.json)
        return;
    printf("%-18s %.1f MB at the peak with a compiled database", "scan memory", own / 1e6);
    if (peer > 0)
        printf(", clamscan %.1f MB: %.2f of it", peer / 1e6, own / peer);
    printf("\n");
}

static bool find_command(struct trees *trees)
{
    char own[PATH_MAX];
    const ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);

    if (len < 0)
        return false;
    own[len] = '\0';
    return snprintf(trees->command, sizeof trees->command, "%.4000s/sluice", dirname(own)) > 0 &&
           access(trees->command, X_OK) == 0;
}

static bool write_database(const struct trees *trees)
{
    size_t len;
    char *text = virus_database_make(SIGNATURES, &len);
    const bool good = text != NULL && bench_write_file(trees->database, text, len);

    free(text);
    return good;
}

static bool prepare(struct trees *trees)
{
    if (!find_command(trees)) {
        cli_error("bench scan: the command does not lie beside this program");
        return false;
    }
    if (!bench_make_folder(trees->folder) || !scanned_trees_make(trees->folder, &trees->len))
        return false;
    snprintf(trees->database, PATH_LEN, "%s/virus.ndb", trees->folder);
    snprintf(trees->compiled, PATH_LEN, "%s/virus.sluicedb", trees->folder);
    snprintf(trees->nothing, PATH_LEN, "%s/nothing", trees->folder);
    for (int i = 0; i < SCANNED_TREES; i++)
        snprintf(trees->paths[i], PATH_LEN, "%s/%s", trees->folder, scanned_tree_names[i]);
    const bool good = (trees->bench->n_database_paths != 0 || write_database(trees)) &&
                      bench_write_file(trees->nothing, "x", 1);
    if (good && !compile(trees))
        cli_error("bench scan: the databases cannot be compiled");
    return good && access(trees->compiled, R_OK) == 0;
}

static bool run(struct trees *trees)
{
    trees->is_clamscan = true;
    const bool has_clamscan = seconds_for(trees, 0, 0) >= 0;

    if (!has_clamscan)
        bench_print_why(&trees->bench->frame, "scan", "clamscan", "it is not installed, or fails");
    for (trees->n = 1, trees->first = 0; trees->first < SCANNED_TREES; trees->first++)
        rows_of_tree(trees, scanned_tree_names[trees->first], has_clamscan);
    trees->n = SCANNED_TREES;
    trees->first = 0;
    rows_of_tree(trees, "all of them", has_clamscan);
    print_memory(trees, has_clamscan);
    if (trees->failed)
        cli_error("bench scan: a scan failed");
    return !trees->failed;
}

bool bench_scan_trees(const struct bench *bench)
{
    struct trees *trees = calloc(1, sizeof *trees);
    bool good = false;

    if (trees == NULL) {
        cli_error("out of memory");
        return false;
    }
    trees->bench = bench;
    good = prepare(trees) && run(trees);
    if (trees->folder[0] != '\0')
        bench_remove_folder(trees->folder);
    free(trees);
    return good;
}

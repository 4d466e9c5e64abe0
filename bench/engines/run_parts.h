/* SPDX-License-Identifier: MIT */
/* A run of benchmarks: its captures, rules, databases and names, and its parts switched on or off.
 */
#ifndef BENCH_RUN_PARTS_H
#define BENCH_RUN_PARTS_H

#include <glob.h>

#include "bench.h"
#include "sluice/names.h"
#include "sluice/run.h"

/* The engines of a run. */
enum {
    RUN_HEADERS = 1,
    RUN_RULES = 2,
    RUN_VIRUSES = 4,
    RUN_NAMES = 8,
    RUN_REDUNDANCY = 16,
    RUN_ALL = 31,
    RUN_HTTP = 32 /* events of HTTP */
};

/* The files that the command line names, and those of SLUICE_TEST_DATA where it names none. */
struct run_parts {
    struct bench_input input; /* captures; none: they are to be generated */
    const char *const *rules;
    size_t n_rules;
    const char *const *variables; /* of the rules, "NAME=VALUE" */
    size_t n_variables;
    const char *const *databases;
    size_t n_databases;
    struct sl_names_file names;
    char generated_names[64]; /* a file that is removed, or "" */
    glob_t captures, rule_files, database_files;
};

/* False: an error was printed. The caller closes the struct in any case. */
bool run_parts_open(struct run_parts *parts, const struct bench *bench);

void run_parts_close(struct run_parts *parts);

/* Whether there are files for these parts. False: `why` has those that lack. */
bool run_parts_have(const struct run_parts *parts, unsigned asked, char why[64]);

/* A run over one capture. */
struct run_asked {
    unsigned parts; /* RUN_* */
    const char *path, *devices;
};

struct run_done {
    struct sl_pipeline_stats stats;
    uint64_t packets, bytes;
    uint64_t core_ns; /* CPU time of all threads while it ran */
};

/* Runs, with events to nowhere. False: an error was printed. */
bool run_parts_execute(const struct run_parts *parts, const struct run_asked *asked,
                       struct run_done *done);

#endif

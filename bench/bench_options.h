/* SPDX-License-Identifier: MIT */
/* The command line. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "bench/engines/bench.h"

enum { N_BENCHMARKS = 15 };

struct bench_options {
    struct bench bench;
    char *const *words;                /* of the command line, ended by NULL */
    unsigned given;                    /* its options: a set of bench_options.c */
    bool selected[N_BENCHMARKS];       /* the benchmarks that it names */
    const char *save, *against, *from; /* files, or NULL */
    bool force;                        /* files that are there are overwritten */
};

/* A benchmark that has a name. */
struct benchmark {
    const char *name;
    bool (*run)(const struct bench *bench);
    bool traffic;     /* runs on captures: one is generated where none was named */
    bool together;    /* has the literals of the benchmark without a name */
    unsigned options; /* that it takes, beside those of every one */
};

extern const struct benchmark benchmarks[N_BENCHMARKS];

/* Fills the struct with defaults and with what argv asks for. Returns -1, or the exit status where
 * nothing is to be run. The caller frees it in any case. */
int bench_options_parse(struct bench_options *options, int argc, char **argv);
void bench_options_free(struct bench_options *options);

/* Whether the options go with the benchmarks that are named. False: an error was printed. */
bool bench_options_check(const struct bench_options *options);

#endif

/* SPDX-License-Identifier: MIT */
/* The requests of a command line to benchmarks. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "bench/data/bench_input.h"
#include "bench/frame/bench_frame.h"
#include "sluice/device.h"
#include "sluice/engine.h"

enum { BENCH_COUNTS_MAX = 16, BENCH_GPUS_MAX = 16 };

struct bench {
    struct bench_frame frame;
    struct bench_input input;
    const char **database_paths; /* of ClamAV */
    size_t n_database_paths;
    size_t counts[BENCH_COUNTS_MAX]; /* literals of each set */
    size_t n_counts;
    const char *algorithms; /* names with commas between, or NULL: all that are not slow */
    const char *study;      /* instead of the benchmark, or NULL */
    const char **samplers;  /* ended by NULL; all where none was named */
    size_t n_samplers;
    size_t entries[BENCH_COUNTS_MAX]; /* names of each table */
    size_t n_entries;
    uint32_t bytes;        /* of a tunnel's file that crosses a thin link, of a run's capture; 0:
                              not named */
    uint32_t device_bytes; /* payload of the batch that lies on the GPU, at least */
    bool sample;           /* train tables on half of the data, measure on the other half */
    bool all_cores;        /* rows on all cores too */
    const char *device_name;
    struct sl_device device;
    struct sl_device gpus[BENCH_GPUS_MAX]; /* all that were named: `device` is the first */
    uint32_t n_gpus;                       /* 0: none */
    const char *variants; /* further variants, ENGINE:NAME with commas between, or NULL */
    const char *plot;     /* a file, or NULL */
};

/* Whether a backend is measured; if not, `why` is the reason, or "" for one of no interest. work.c
 */
bool bench_usable(const struct bench *bench, const struct sl_backend *backend,
                  char why[SL_WHY_LEN]);

#endif

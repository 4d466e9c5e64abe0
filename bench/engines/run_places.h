/* SPDX-License-Identifier: MIT */
/* Runs over one capture on one core up to all, and on each GPU: their rates and rows. */
#ifndef BENCH_RUN_PLACES_H
#define BENCH_RUN_PLACES_H

#include "bench_ceilings.h"
#include "run_parts.h"

enum { BENCH_PLACES_MAX = BENCH_CORES_MAX + BENCH_GPUS_MAX + 1 };

/* Where a run runs: on a number of cores alone, or on GPUs and all cores. */
struct run_place {
    unsigned cores;   /* 0: all, beside GPUs */
    char devices[64]; /* as a run's */
};

struct run_places {
    const struct bench *bench;
    const struct run_parts *parts;
    const char *what; /* of the rows */
    char path[64];    /* of the capture, "" where there is none */
    const char *data;
    struct run_place place[BENCH_PLACES_MAX];
    unsigned n;
    struct bench_ceilings ceilings;
    double ceiling[BENCH_CORES_MAX]; /* bytes a second, on as many cores as the place has */
    const char *ceiling_of;
    unsigned asked;    /* of RUN_* */
    double unit_bytes; /* that a run counts as; 0: the bytes of its packets */
    bool by_core_time; /* one core: by the CPU time of the process; other work is not counted */
    double peer;       /* on one core, bytes a second; 0: none */
    const char *peer_name;
    struct sl_pipeline_stats stats[BENCH_PLACES_MAX]; /* of the last run */
    uint64_t packets;
    bool failed;
};

/* On one core up to all; on each GPU, and on all of several. */
void run_places_choose(struct run_places *places);

/* Measures and prints the page cache and the link. False: an error was printed. */
bool run_places_measure_ceilings(struct run_places *places);

/* Measures and prints runs with these engines. False: an error was printed. */
bool run_places_measure(struct run_places *places, const char *name, unsigned asked);

/* Removes the capture. */
void run_places_remove(struct run_places *places);

#endif

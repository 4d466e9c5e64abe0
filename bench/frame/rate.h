/* SPDX-License-Identifier: MIT */
/* Rates over several runs. */
#ifndef BENCH_RATE_H
#define BENCH_RATE_H

#include <stdint.h>

enum { BENCH_RUNS_MAX = 101, BENCH_CORES_MAX = 16 /* numbers of cores that one row is run on */ };

/* A rate measured over several runs, units a second. */
struct bench_rate {
    double median, min, max;
    double q1, q3;   /* the middle half of the runs lies between them */
    uint32_t n_runs; /* 0: one, of which there is but the median */
};

/* Returns the spread of n rates, at least one, and sorts them. */
struct bench_rate bench_spread(double *rates, uint32_t n);

/* Calls `rate`, which returns units a second, 1 + runs times; the first call is a warm-up. */
struct bench_rate bench_rates(uint32_t runs, double (*rate)(void *user), void *user);

/* The same for each of n rates, in turn within each run: a machine that drifts favours none. */
void bench_rates_in_turn(uint32_t runs, unsigned n, double (*rate)(void *user, unsigned which),
                         void *user, struct bench_rate *rates);

/* The same for `once`, which returns the units it did, by the host's clock. */
struct bench_rate bench_measure(uint32_t runs, double (*once)(void *user), void *user);

/* The same by the CPU time of this thread: other work of the machine is not counted. */
struct bench_rate bench_measure_thread(uint32_t runs, double (*once)(void *user), void *user);

#endif

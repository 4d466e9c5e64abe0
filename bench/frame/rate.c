/* SPDX-License-Identifier: MIT */
#include "rate.h"

#include <stdlib.h>

#include "base/clock.h"

static int compare_rates(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

struct bench_rate bench_spread(double *rates, uint32_t n)
{
    qsort(rates, n, sizeof *rates, compare_rates);
    return (struct bench_rate){.median = rates[n / 2],
                               .min = rates[0],
                               .max = rates[n - 1],
                               .q1 = rates[n / 4],
                               .q3 = rates[n - 1 - n / 4],
                               .n_runs = n};
}

void bench_rates_in_turn(uint32_t runs, unsigned n, double (*rate)(void *user, unsigned which),
                         void *user, struct bench_rate *rates)
{
    double of[BENCH_CORES_MAX][BENCH_RUNS_MAX];

    for (unsigned which = 0; which < n; which++)
        rate(user, which);
    for (uint32_t i = 0; i < runs; i++)
        for (unsigned which = 0; which < n; which++)
            of[which][i] = rate(user, which);
    for (unsigned which = 0; which < n; which++)
        rates[which] = bench_spread(of[which], runs);
}

struct one {
    double (*rate)(void *user);
    void *user;
};

static double rate_of_one(void *user, unsigned which)
{
    const struct one *one = user;

    (void)which;
    return one->rate(one->user);
}

struct bench_rate bench_rates(uint32_t runs, double (*rate)(void *user), void *user)
{
    struct one one = {rate, user};
    struct bench_rate spread;

    bench_rates_in_turn(runs, 1, rate_of_one, &one, &spread);
    return spread;
}

struct timed {
    double (*once)(void *user);
    void *user;
    uint64_t (*clock)(void);
};

static double rate_by_clock(void *user)
{
    const struct timed *timed = user;
    const uint64_t begin = timed->clock();
    const double units = timed->once(timed->user);

    return units / ((double)(timed->clock() - begin) / 1e9);
}

struct bench_rate bench_measure(uint32_t runs, double (*once)(void *user), void *user)
{
    struct timed timed = {once, user, clock_ns};

    return bench_rates(runs, rate_by_clock, &timed);
}

struct bench_rate bench_measure_thread(uint32_t runs, double (*once)(void *user), void *user)
{
    struct timed timed = {once, user, clock_thread_ns};

    return bench_rates(runs, rate_by_clock, &timed);
}

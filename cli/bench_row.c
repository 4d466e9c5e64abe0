/* SPDX-License-Identifier: MIT */
/* Rates over several runs, and their rows. */
#include <jansson.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bench.h"
#include "cli.h"

static int compare_rates(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

struct bench_rate bench_rates(uint32_t runs, double (*rate)(void *user), void *user)
{
    double rates[BENCH_RUNS_MAX];

    rate(user);
    for (uint32_t i = 0; i < runs; i++)
        rates[i] = rate(user);
    qsort(rates, runs, sizeof *rates, compare_rates);
    return (struct bench_rate){rates[runs / 2], rates[0], rates[runs - 1]};
}

struct timed {
    double (*once)(void *user);
    void *user;
};

static double rate_by_clock(void *user)
{
    const struct timed *timed = user;
    const uint64_t begin = clock_ns();
    const double units = timed->once(timed->user);

    return units / ((double)(clock_ns() - begin) / 1e9);
}

struct bench_rate bench_measure(uint32_t runs, double (*once)(void *user), void *user)
{
    struct timed timed = {once, user};

    return bench_rates(runs, rate_by_clock, &timed);
}

static void print_json(json_t *row)
{
    json_dumpf(row, stdout, JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(row);
}

static void print_row_json(const struct bench *bench, const struct bench_row *row)
{
    const struct bench_rate *rate = &row->rate;
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:i, s:f}", "bench", row->what,
                             "variant", row->variant, "data", row->data, "unit", row->unit_name,
                             "median", rate->median / row->unit, "min", rate->min / row->unit,
                             "max", rate->max / row->unit, "runs", (int)bench->runs, "ceiling",
                             row->ceiling / row->unit);

    if (row->best_ceiling > 0)
        json_object_set_new(line, "best_ceiling", json_real(row->best_ceiling / row->unit));
    if (row->hits != NULL)
        json_object_set_new(line, "hits", json_integer((json_int_t)*row->hits));
    print_json(line);
}

void bench_print(const struct bench *bench, const struct bench_row *row)
{
    const struct bench_rate *rate = &row->rate;
    char hits[32];

    if (bench->json) {
        print_row_json(bench, row);
    } else {
        printf("%-18s %-34s %9.3f %-11s (%.3f to %.3f)", row->what, row->variant,
               rate->median / row->unit, row->unit_name, rate->min / row->unit,
               rate->max / row->unit);
        if (row->ceiling > 0)
            printf("  %.0f %% of %.2f", rate->median / row->ceiling * 100,
                   row->ceiling / row->unit);
        if (row->best_ceiling > 0)
            printf(", %.0f %% of %.2f", rate->median / row->best_ceiling * 100,
                   row->best_ceiling / row->unit);
        if (row->hits != NULL)
            printf("  %s hits", cli_count(*row->hits, hits));
        printf("  %s\n", row->data);
    }
    fflush(stdout);
}

void bench_print_why(const struct bench *bench, const char *what, const char *variant,
                     const char *why)
{
    if (bench->json)
        print_json(json_pack("{s:s, s:s, s:s}", "bench", what, "variant", variant, "why", why));
    else
        printf("%-18s %-34s not run: %s\n", what, variant, why);
    fflush(stdout);
}

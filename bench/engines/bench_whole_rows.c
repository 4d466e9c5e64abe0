/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "bench_whole.h"

void bench_name_cores(char text[96], const char *variant, unsigned cores)
{
    snprintf(text, 96, "%.70s, %u core%s", variant, cores, cores == 1 ? "" : "s");
}

static double scaling_of(const struct bench_result *results, unsigned which)
{
    return which > 0 ? results[which].rate.median / results[0].rate.median : 0;
}

bool bench_whole_rows(const struct bench_whole *whole, const struct bench_work *work,
                      const char *what, const char *variant, enum bench_role role, uint64_t *hits)
{
    const struct bench_ceilings *ceilings = &whole->ceilings;
    const bool streams = work->data == &whole->packets; /* names are not read in a row */
    struct bench_result results[BENCH_CORES_MAX];
    char series[96], of[96];

    if (!bench_run_on_cores(&whole->bench->frame, work, ceilings->cores, ceilings->n, results))
        return false;
    if (results[0].why[0] != '\0') {
        bench_print_why(&whole->bench->frame, what, variant, results[0].why);
        return true;
    }
    if (hits != NULL)
        *hits = results[0].hits;
    snprintf(series, sizeof series, "%.40s %.50s", what, variant);
    for (unsigned i = 0; i < ceilings->n; i++) {
        const double items =
            results[i].rate.median * (double)work->data->items / (double)work->data->bytes;

        bench_name_cores(of, variant, ceilings->cores[i]);
        const struct bench_row row = {.what = what,
                                      .variant = of,
                                      .data = work->data->text,
                                      .rate = results[i].rate,
                                      .unit = 1e9,
                                      .unit_name = "GB/s",
                                      .ceiling = streams ? ceilings->read[i] : 0,
                                      .ceiling_of = streams ? "memory read" : NULL,
                                      .hits = work->max_hits == 0 ? &results[i].hits : NULL,
                                      .role = role,
                                      .series = series,
                                      .cores = ceilings->cores[i],
                                      .scaling = scaling_of(results, i),
                                      .items = items};
        bench_print(&whole->bench->frame, &row);
    }
    return true;
}

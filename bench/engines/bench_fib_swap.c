/* SPDX-License-Identifier: MIT */
/* A plane that takes the place of another: how fast it is made, and how much memory there is then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench_fib.h"
#include "cli/console.h"

/* A line of /proc/self/status, bytes; 0: there is none. */
static double memory_of(const char *what)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, what, strlen(what)) == 0)
            kib = strtod(line + strlen(what), NULL);
    (void)fclose(file);
    return kib * 1024;
}

/* From here on "VmHWM:" is the peak anew. */
static bool forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file == NULL)
        return false;
    const bool good = fputs("5", file) >= 0;
    return fclose(file) == 0 && good;
}

bool fib_swap_row(const struct fib_bench *fib)
{
    double rates[BENCH_RUNS_MAX], most = 0;
    struct sl_diag diag = {0};
    struct sl_fib_info info;
    char variant[64];

    sl_fib_info(fib->fib, &info);
    for (uint32_t r = 0; r < fib->bench->frame.runs; r++) {
        const double before = memory_of("VmRSS:");
        const bool forgotten = forget_peak();
        const uint64_t begin = clock_ns();

        if (sl_fib_rebuild(fib->fib, &diag) != SL_OK) {
            cli_diag(&diag);
            return false;
        }
        rates[r] = (double)fib->names.n * 1e9 / (double)(clock_ns() - begin);
        if (!forgotten || before == 0) {
            bench_print_why(&fib->bench->frame, fib->plane, "swap",
                            "the system does not report its memory");
            return true;
        }
        if (memory_of("VmHWM:") - before > most)
            most = memory_of("VmHWM:") - before;
    }
    snprintf(variant, sizeof variant, "swap, at its peak %.2f tables",
             1 + most / (double)(info.plane_len + info.control_len));
    const struct bench_row row = {.what = fib->plane,
                                  .variant = variant,
                                  .data = fib->names.text,
                                  .rate = bench_spread(rates, fib->bench->frame.runs),
                                  .unit = 1e6,
                                  .unit_name = "M names/s"};
    bench_print(&fib->bench->frame, &row);
    return true;
}

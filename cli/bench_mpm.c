/* SPDX-License-Identifier: MIT */
/* Multi-pattern matching: each algorithm over the same literals and payloads. */
#include <stdlib.h>

#include "base/clock.h"
#include "bench.h"
#include "cli.h"
#include "sluice/mpm.h"

static bool bench_algorithm(const struct bench *bench, const struct bench_data *data,
                            const char *algorithm, const struct sl_literal *literals, size_t n)
{
    struct sl_mpm_config config;
    struct sl_mpm_table *table;
    struct sl_mpm_info info;
    struct sl_diag diag = {0};
    char what[32], bytes[32];

    sl_mpm_config_init(&config);
    config.algorithm = algorithm;
    const uint64_t begin = clock_ns();
    if (sl_mpm_build(&table, &config, literals, n, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    const double seconds = (double)(clock_ns() - begin) / 1e9;

    sl_mpm_info(table, &info);
    if (!bench->json)
        printf("%s, %zu literals: built in %.3f s, table of %s\n", algorithm, n, seconds,
               cli_bytes((double)info.table_len, bytes));
    snprintf(what, sizeof what, "%s/%zu", algorithm, n);
    const bool good = bench_engine(bench, data, what, sl_mpm_engine(table), table, false, false);
    sl_mpm_free(table);
    return good;
}

bool bench_mpm(const struct bench *bench)
{
    static const size_t counts[] = {1000, 5000, 18000, 30000};
    struct bench_literals literals;
    struct bench_data data = {0};
    struct sl_device device;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];
    bool good = false;

    if (!bench_literals_load(&literals, bench, 30000) ||
        sl_device_choose(&device, bench->device, why, &diag) != SL_OK ||
        !bench_load(&data, bench, 16 << 20, device.kind == SL_DEVICE_CUDA, 128u << 20))
        goto out;
    good = true;
    for (size_t c = 0; c < sizeof counts / sizeof *counts && good; c++) {
        const size_t n = counts[c] < literals.n ? counts[c] : literals.n;

        if (c > 0 && counts[c - 1] >= literals.n)
            break;
        for (size_t a = 0; sl_mpm_algorithms[a] != NULL && good; a++)
            good = bench_algorithm(bench, &data, sl_mpm_algorithms[a], literals.literal, n);
    }
out:
    bench_unload(&data);
    bench_literals_free(&literals);
    return good;
}

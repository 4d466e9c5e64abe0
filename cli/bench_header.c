/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "cli.h"
#include "sluice/header.h"

static bool bench_checks(const struct bench *bench, const struct bench_data *data, const char *what,
                         uint64_t checks)
{
    struct sl_header_config config;
    struct sl_header_table *table;
    struct sl_diag diag = {0};

    sl_header_config_init(&config);
    config.checks = checks;
    if (sl_header_build(&table, &config, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    const bool good = bench_engine(bench, data, what, &sl_header_engine, table, true);
    sl_header_free(table);
    return good;
}

bool bench_header(const struct bench *bench)
{
    struct sl_device device;
    struct sl_diag diag = {0};
    struct bench_data data;
    char why[SL_WHY_LEN];
    const uint64_t transport = UINT64_C(1) << SL_HEADER_TCP_CHECKSUM |
                               UINT64_C(1) << SL_HEADER_UDP_CHECKSUM |
                               UINT64_C(1) << SL_HEADER_ICMP_CHECKSUM;

    if (sl_device_choose(&device, bench->device, why, &diag) != SL_OK)
        return false;
    if (!bench_load(&data, bench, 16 << 20, device.kind == SL_DEVICE_CUDA, 256u << 20))
        return false;
    /* Checksums of the transport read every byte: a row of their own. */
    const bool good = bench_checks(bench, &data, "header", SL_HEADER_ALL & ~transport) &&
                      bench_checks(bench, &data, "header+l4", SL_HEADER_ALL);
    bench_unload(&data);
    return good;
}

/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "cli.h"
#include "sluice/header.h"

static bool bench_checks(const struct bench *bench, const struct bench_data *data, const char *what,
                         uint64_t checks, bool cpu_only)
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
    const bool good = bench_engine(bench, data, what, &sl_header_engine, table, true, cpu_only);
    sl_header_free(table);
    return good;
}

/* Checksums of the transport read every byte: rows of their own. And in a run a batch comes to the
 * engine from the cache, where filling has left it: one batch again and again shows that. */
bool bench_header(const struct bench *bench)
{
    const uint64_t transport = UINT64_C(1) << SL_HEADER_TCP_CHECKSUM |
                               UINT64_C(1) << SL_HEADER_UDP_CHECKSUM |
                               UINT64_C(1) << SL_HEADER_ICMP_CHECKSUM;
    const uint64_t headers = SL_HEADER_ALL & ~transport;
    struct bench_data data = {0}, cached = {0};
    struct sl_device device;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];

    if (sl_device_choose(&device, bench->device, why, &diag) != SL_OK)
        return false;
    const bool good =
        bench_load(&data, bench, 16 << 20, device.kind == SL_DEVICE_CUDA, 256u << 20) &&
        bench_load(&cached, bench, 1 << 20, false, 0) &&
        bench_checks(bench, &data, "header", headers, false) &&
        bench_checks(bench, &data, "header+l4", SL_HEADER_ALL, false) &&
        bench_checks(bench, &cached, "header, cached", headers, true) &&
        bench_checks(bench, &cached, "header+l4, cached", SL_HEADER_ALL, true);
    bench_unload(&data);
    bench_unload(&cached);
    return good;
}

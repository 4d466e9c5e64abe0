/* SPDX-License-Identifier: MIT */
/* Header checks: each backend over packets, on one core and on the GPU. */
#include <stdio.h>

#include "benchmarks.h"
#include "cli/console.h"
#include "sluice/header.h"
#include "work.h"

/* Packets as they are checked. */
struct packets {
    struct bench_data data;
    struct bench_data there; /* the first batch, on the GPU */
};

static bool print_run(const struct bench *bench, const char *what, const char *variant,
                      const struct bench_work *work)
{
    const struct bench_row row = {
        .what = what, .variant = variant, .unit = 1e6, .unit_name = "M packets/s"};
    struct bench_result result;

    return bench_run_row(&bench->frame, work, &row, &result);
}

static bool bench_backend(const struct bench *bench, const struct packets *packets,
                          const char *what, const struct sl_backend *backend, const void *table)
{
    struct bench_work work = {.backend = backend,
                              .table = table,
                              .data = &packets->data,
                              .device = bench->device.index,
                              .units = (double)packets->data.items};
    char variant[64];

    if (backend->device == SL_DEVICE_CPU)
        return print_run(bench, what, backend->name, &work);
    snprintf(variant, sizeof variant, "%s, from pinned memory", backend->name);
    if (!print_run(bench, what, variant, &work))
        return false;
    work.data = &packets->there;
    work.units = (double)packets->there.items;
    snprintf(variant, sizeof variant, "%s, on the device", backend->name);
    return print_run(bench, what, variant, &work);
}

static bool bench_checks(const struct bench *bench, const struct packets *packets, const char *what,
                         uint64_t checks)
{
    struct sl_header_config config;
    struct sl_header_table *table;
    struct sl_diag diag = {0};
    bool good = true;

    sl_header_config_init(&config);
    config.checks = checks;
    if (sl_header_build(&table, &config, &diag) != SL_OK) {
        cli_diag(&diag);
        return false;
    }
    for (size_t i = 0; sl_header_engine()->backends[i] != NULL && good; i++) {
        const struct sl_backend *backend = sl_header_engine()->backends[i];
        char why[SL_WHY_LEN];

        if (backend->device == SL_DEVICE_CUDA && packets->there.n_batches == 0)
            continue;
        if (bench_usable(bench, backend, why))
            good = bench_backend(bench, packets, what, backend, table);
        else if (why[0] != '\0')
            bench_print_why(&bench->frame, what, backend->name, why);
    }
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
    const bool cuda = bench->device.kind == SL_DEVICE_CUDA;
    struct packets streamed = {0}, cached = {0};
    const bool good =
        bench_load(&streamed.data, &bench->input, 16 << 20, cuda, 256u << 20) &&
        (!cuda || bench_to_device(&streamed.there, &streamed.data, 0, bench->device.index)) &&
        bench_load(&cached.data, &bench->input, 1 << 20, false, 0) &&
        bench_checks(bench, &streamed, "header", headers) &&
        bench_checks(bench, &streamed, "header+l4", SL_HEADER_ALL) &&
        bench_checks(bench, &cached, "header, cached", headers) &&
        bench_checks(bench, &cached, "header+l4, cached", SL_HEADER_ALL);

    bench_unload(&streamed.there);
    bench_unload(&streamed.data);
    bench_unload(&cached.data);
    return good;
}

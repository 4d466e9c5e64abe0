/* SPDX-License-Identifier: MIT */
#include "mpm_rows.h"

#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "device/device.h"

enum {
    HITS_SHOWN = 100,  /* of a batch's bytes: hits that take as many slow the link */
    PINNED_BATCHES = 8 /* to a GPU, at least: only the last is not full */
};

/* Batches that cross to a GPU, MiB. */
static const uint32_t blocks[MPM_BLOCKS] = {1, 4, 16, 32};

/* ---- data ------------------------------------------------------------------------------------ */

/* How often the payloads come to so many bytes. */
static uint32_t times_for(const struct mpm_ground *ground, uint64_t bytes)
{
    return (uint32_t)(bytes / ground->scan.bytes) + (bytes % ground->scan.bytes != 0);
}

bool mpm_ground_load_cuda(struct mpm_ground *ground)
{
    const struct bench *bench = ground->bench;
    struct bench_data whole = {0};
    bool good = true;

    ground->n_times = times_for(ground, bench->device_bytes);
    for (int i = 0; i < MPM_BLOCKS && good; i++) {
        const uint32_t len = blocks[i] << 20;

        ground->n_pinned[i] = times_for(ground, (uint64_t)len * PINNED_BATCHES);
        good = bench_repack(&ground->pinned[i], &ground->scan, len, true, ground->n_pinned[i]);
        ground->link[i] = device_link_rate(bench->device.index, len);
        if (ground->link[i] > ground->best_link)
            ground->best_link = ground->link[i];
    }
    good = good && bench_repack(&whole, &ground->scan, 0, false, ground->n_times) &&
           bench_to_device(&ground->there, &whole, 0, bench->device.index);
    bench_unload(&whole);
    return good;
}

void mpm_ground_unload(struct mpm_ground *ground)
{
    bench_unload(&ground->scan);
    bench_unload(&ground->sample);
    bench_unload(&ground->there);
    for (int i = 0; i < MPM_BLOCKS; i++)
        bench_unload(&ground->pinned[i]);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool print_work(struct mpm_ground *ground, const char *what, const char *variant,
                       const struct bench_work *work, double link, uint32_t n_times)
{
    const struct bench_row row = {.what = what,
                                  .variant = variant,
                                  .unit = 1e9,
                                  .unit_name = "GB/s",
                                  .ceiling = link,
                                  .best_ceiling = link > 0 ? ground->best_link : 0};
    struct bench_result result;

    return bench_run_row(&ground->bench->frame, work, &row, &result) &&
           (result.why[0] != '\0' || mpm_judge(&ground->judge, &result, n_times, what, variant));
}

static struct bench_work work_on(const struct mpm_ground *ground, const struct sl_backend *backend,
                                 const void *table, const struct bench_data *data)
{
    return (struct bench_work){.backend = backend,
                               .table = table,
                               .data = data,
                               .device = ground->bench->device.index,
                               .n_threads = 1,
                               .units = (double)data->bytes};
}

static bool rows_of_cpu(struct mpm_ground *ground, const char *what,
                        const struct sl_backend *backend, const void *table)
{
    struct bench_work work = work_on(ground, backend, table, &ground->scan);
    char variant[64];

    if (!print_work(ground, what, backend->name, &work, 0, 1))
        return false;
    if (!ground->bench->all_cores)
        return true;
    work.n_threads = cpu_cores();
    snprintf(variant, sizeof variant, "%s, %u cores", backend->name, work.n_threads);
    return print_work(ground, what, variant, &work, 0, 1);
}

/* The rate of the link for the same bytes while hits come back. */
static void print_link_beside(const struct mpm_ground *ground, const char *what, int block)
{
    const struct bench_data *data = &ground->pinned[block];
    const size_t len = (size_t)blocks[block] << 20;
    const uint64_t n_hits = ground->judge.hits * ground->n_pinned[block] / data->n_batches;
    const size_t back_len = n_hits * sizeof(struct sl_hit);
    char variant[64];

    if (back_len < len / HITS_SHOWN || back_len > len)
        return;
    snprintf(variant, sizeof variant, "copies alone, %u MiB, %.2f back", blocks[block],
             (double)back_len / (1 << 20));
    const double rate = device_link_rate_beside(ground->bench->device.index, len, back_len) *
                        (double)data->bytes / (double)data->crossing;
    const struct bench_row row = {.what = what,
                                  .variant = variant,
                                  .data = data->text,
                                  .rate = {.median = rate, .min = rate, .max = rate},
                                  .unit = 1e9,
                                  .unit_name = "GB/s"};

    bench_print(&ground->bench->frame, &row);
}

static bool rows_of_cuda(struct mpm_ground *ground, const char *what,
                         const struct sl_backend *backend, const void *table)
{
    struct bench_work work = work_on(ground, backend, table, &ground->there);
    char variant[64];

    work.stays = true;
    snprintf(variant, sizeof variant, "%s, on the device, kernels", backend->name);
    bool good = print_work(ground, what, variant, &work, 0, ground->n_times);
    work.stays = false;
    snprintf(variant, sizeof variant, "%s, on the device, hits back", backend->name);
    good = good && print_work(ground, what, variant, &work, 0, ground->n_times);
    for (int i = 0; i < MPM_BLOCKS && good; i++) {
        work = work_on(ground, backend, table, &ground->pinned[i]);
        snprintf(variant, sizeof variant, "%s, pinned, %u MiB", backend->name, blocks[i]);
        good = print_work(ground, what, variant, &work, ground->link[i], ground->n_pinned[i]);
        if (good && ground->judge.known)
            print_link_beside(ground, what, i);
    }
    return good;
}

static bool is_left_out(const struct mpm_ground *ground, const struct sl_mpm_table *table,
                        const struct sl_backend *backend)
{
    struct sl_mpm_info info;
    char name[64];

    sl_mpm_info(table, &info);
    snprintf(name, sizeof name, "%s.%s", info.algorithm, backend->name);
    return ground->bench->algorithms == NULL && mpm_is_slow(name);
}

bool mpm_ground_rows(struct mpm_ground *ground, const char *what, const struct sl_mpm_table *table,
                     enum sl_device_kind kind)
{
    const struct sl_backend *const *backends = sl_mpm_engine(table)->backends;
    bool good = true;

    for (; *backends != NULL && good; backends++) {
        char why[SL_WHY_LEN];

        if ((*backends)->device != kind || is_left_out(ground, table, *backends))
            continue;
        if (!bench_usable(ground->bench, *backends, why)) {
            if (why[0] != '\0')
                bench_print_why(&ground->bench->frame, what, (*backends)->name, why);
            continue;
        }
        good = kind == SL_DEVICE_CPU ? rows_of_cpu(ground, what, *backends, table)
                                     : rows_of_cuda(ground, what, *backends, table);
    }
    return good;
}

bool mpm_rows_of_tables(const struct bench *bench, const char *what,
                        const struct sl_mpm_table *const tables[2], uint16_t overlap)
{
    struct mpm_ground ground = {.bench = bench};
    bool good = bench_load_payloads(&ground.scan, &bench->input, overlap) &&
                (bench->device.kind != SL_DEVICE_CUDA || mpm_ground_load_cuda(&ground));

    for (int kind = SL_DEVICE_CPU; kind <= SL_DEVICE_CUDA && good; kind++)
        if (tables[kind] != NULL)
            good = mpm_ground_rows(&ground, what, tables[kind], (enum sl_device_kind)kind);
    mpm_ground_unload(&ground);
    return good;
}

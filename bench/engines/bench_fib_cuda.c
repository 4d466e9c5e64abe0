/* SPDX-License-Identifier: MIT */
/* Look-ups of names on a GPU: kernels alone, from pinned memory in batches of several sizes, one
 * batch in and back, and at a given rate of names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fib.h"
#include "bench_fib_stream.h"
#include "cli/console.h"
#include "device/device.h"

enum {
    N_LANES = 4, /* batches under way */
    RUN_NAMES = 1 << 24,
    LINK_BEST = 64 << 20 /* bytes of the blocks that the link is best at */
};

static const uint32_t sizes[] = {1 << 20, 256 << 10, 64 << 10, 16 << 10, 4 << 10};
enum { N_SIZES = sizeof sizes / sizeof *sizes, SIZE_256K = 1, SIZE_16K = 3 };

struct fib_cuda_data {
    struct bench_data cut[N_SIZES]; /* the average trace in batches of each size, pinned */
    struct bench_data whole[2];     /* the traces in one batch each, */
    struct bench_data there[2];     /* and on the GPU */
    struct bench_data woven;        /* the average trace interwoven, in batches of 256K, pinned */
    struct bench_data woven_there[2];
    double link[N_SIZES], link_best; /* bytes a second */
};

/* ---- data ------------------------------------------------------------------------------------ */

/* The same names interwoven by the host. */
static bool weave(const struct fib_bench *fib, const struct bench_data *from, bool pinned,
                  struct bench_data *to)
{
    double rate;

    if (!bench_names_weave(to, from, pinned, &rate))
        return false;
    const struct bench_row row = {.what = "interweave",
                                  .variant = "by the host, one core",
                                  .data = to->text,
                                  .rate = {.median = rate, .min = rate, .max = rate},
                                  .unit = 1e6,
                                  .unit_name = "M names/s"};
    bench_print(&fib->bench->frame, &row);
    return true;
}

static bool load(const struct fib_bench *fib, struct fib_cuda_data *data)
{
    const int device = fib->bench->device.index;
    const uint32_t total = (uint32_t)fib->trace[0].items;
    bool good = true;

    for (int i = 0; i < 2 && good; i++) {
        struct bench_data woven = {0};

        good = bench_names_trace(&data->whole[i], &fib->names, i == 1, 1, total, false) &&
               bench_to_device(&data->there[i], &data->whole[i], 0, device) &&
               weave(fib, &data->whole[i], false, &woven) &&
               bench_to_device(&data->woven_there[i], &woven, 0, device);
        bench_unload(&woven);
    }
    for (int i = 0; i < N_SIZES && good; i++) {
        good =
            bench_names_trace(&data->cut[i], &fib->names, false, total / sizes[i], sizes[i], true);
        if (good)
            data->link[i] =
                device_link_rate(device, (size_t)(data->cut[i].crossing / data->cut[i].n_batches));
    }
    data->link_best = device_link_rate(device, LINK_BEST);
    return good && weave(fib, &data->cut[SIZE_256K], true, &data->woven);
}

struct fib_cuda_data *fib_cuda_load(const struct fib_bench *fib)
{
    struct fib_cuda_data *data = calloc(1, sizeof *data);

    if (data == NULL) {
        cli_error("bench: no memory for traces");
        return NULL;
    }
    if (load(fib, data))
        return data;
    fib_cuda_unload(data);
    return NULL;
}

void fib_cuda_unload(struct fib_cuda_data *data)
{
    if (data == NULL)
        return;
    for (int i = 0; i < N_SIZES; i++)
        bench_unload(&data->cut[i]);
    for (int i = 0; i < 2; i++) {
        bench_unload(&data->whole[i]);
        bench_unload(&data->there[i]);
        bench_unload(&data->woven_there[i]);
    }
    bench_unload(&data->woven);
    free(data);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static const char *way_text(enum fib_way way)
{
    return way == FIB_READ ? "read by the kernel" : "from pinned memory";
}

static struct fib_work work_of(const struct fib_bench *fib, const struct sl_fib_backend *backend,
                               const struct bench_data *data, enum fib_way way)
{
    return (struct fib_work){.backend = backend,
                             .table = sl_fib_table(fib->fib),
                             .data = data,
                             .wanted = fib->wanted[0],
                             .way = way,
                             .n_lanes = way == FIB_THERE ? 1 : N_LANES,
                             .run_names = RUN_NAMES,
                             .device = fib->bench->device.index};
}

static bool print_row(const struct fib_bench *fib, const struct fib_work *work, const char *how,
                      double link, double link_best)
{
    const double names = (double)work->data->items / (double)work->data->crossing;
    struct fib_result result;
    char variant[64];

    if (!fib_measure(fib->bench, work, &result))
        return false;
    snprintf(variant, sizeof variant, "%s, %s", work->backend->name, how);
    const struct bench_row row = {.what = fib->plane,
                                  .variant = variant,
                                  .data = work->data->text,
                                  .rate = result.rate,
                                  .unit = 1e6,
                                  .unit_name = "M names/s",
                                  .ceiling = link * names,
                                  .best_ceiling = link_best * names,
                                  .p50_us = result.p50_us,
                                  .p99_us = result.p99_us};
    bench_print(&fib->bench->frame, &row);
    return true;
}

static bool print_there(const struct fib_bench *fib, const struct sl_fib_backend *backend,
                        const struct bench_data there[2])
{
    for (int which = 0; which < 2; which++) {
        struct fib_work work = work_of(fib, backend, &there[which], FIB_THERE);

        work.wanted = fib->wanted[which];
        if (!print_row(fib, &work, "on the device", 0, 0))
            return false;
    }
    return true;
}

/* Batches of each size, several under way; of the small ones one alone, too. */
static bool print_size(const struct fib_bench *fib, const struct fib_cuda_data *data,
                       const struct sl_fib_backend *backend, int size, enum fib_way way)
{
    struct fib_work work = work_of(fib, backend, &data->cut[size], way);
    char how[64];

    snprintf(how, sizeof how, "%s, %uK each", way_text(way), sizes[size] >> 10);
    if (!print_row(fib, &work, how, data->link[size], data->link_best))
        return false;
    if (size < SIZE_16K)
        return true;
    work.n_lanes = 1;
    snprintf(how, sizeof how, "%s, one of %uK", way_text(way), sizes[size] >> 10);
    return print_row(fib, &work, how, 0, 0);
}

static bool print_persistent(const struct fib_bench *fib, const struct fib_cuda_data *data,
                             const struct sl_fib_backend *backend)
{
    bool good = true;

    for (int size = SIZE_16K; size < N_SIZES && good; size++)
        good = print_size(fib, data, backend, size, FIB_READ);
    return good && fib_stream_rows(fib, &data->whole[0], backend);
}

bool fib_cuda_rows(const struct fib_bench *fib, const struct fib_cuda_data *data,
                   const struct sl_fib_backend *backend)
{
    const bool woven = strstr(backend->name, "interwoven") != NULL;

    if (strcmp(backend->name, "cuda-persistent") == 0)
        return print_persistent(fib, data, backend);
    bool good = print_there(fib, backend, woven ? data->woven_there : data->there);

    if (woven && good) {
        const struct fib_work work = work_of(fib, backend, &data->woven, FIB_COPIED);

        return print_row(fib, &work, "from pinned memory, 256K each", 0, data->link_best);
    }
    if (strcmp(backend->name, "cuda") != 0)
        return good;
    for (int size = 0; size < N_SIZES && good; size++)
        good = print_size(fib, data, backend, size, FIB_COPIED) &&
               print_size(fib, data, backend, size, FIB_READ);
    return good;
}

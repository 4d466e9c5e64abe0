/* SPDX-License-Identifier: MIT */
/* Any engine's backends over the same batches. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cli.h"
#include "device/device.h"

enum { MAX_HITS = 16 << 20, N_STAGES = 3, RUN_BYTES = 100000000 };

/* One context for each batch in flight; on a GPU a stage with each. */
struct lane {
    void *context;
    struct sl_stage *stage;
    struct sl_hits hits;
    bool busy;
};

struct engine_run {
    const struct sl_backend *backend;
    const struct bench_data *data;
    struct lane lanes[N_STAGES];
    const struct sl_batch *resident; /* GPU: a batch that is there already; NULL: all cross */
    uint32_t n_repeats;              /* goes over the batches, so that a run takes its time */
    bool by_packets;
    enum sl_status failed; /* SL_OK, or why */
};

static double units_of(const struct engine_run *run, const struct sl_batch *batch)
{
    return run->by_packets ? batch->n_items : batch->bytes_len;
}

/* Keeps the first failure. */
static enum sl_status note(struct engine_run *run, enum sl_status status)
{
    if (run->failed == SL_OK)
        run->failed = status;
    return status;
}

static void end_lane(struct engine_run *run, struct lane *lane)
{
    if (lane->busy)
        note(run, run->backend->wait(lane->context));
    lane->busy = false;
}

static void begin_lane(struct engine_run *run, struct lane *lane, const struct sl_batch *batch)
{
    struct sl_batch view;

    if (lane->stage != NULL && batch->memory != SL_MEMORY_DEVICE) {
        if (note(run, sl_stage_upload(lane->stage, batch, &view)) != SL_OK)
            return;
        batch = &view;
    }
    lane->busy = note(run, run->backend->submit(lane->context, batch, &lane->hits)) == SL_OK;
}

/* All batches, round robin over the lanes: on a GPU one crosses while another is worked on. */
static double run_all(void *user)
{
    struct engine_run *run = user;
    const size_t n_lanes = run->lanes[1].context != NULL ? N_STAGES : 1;
    double units = 0;

    for (size_t i = 0; i < run->n_repeats * run->data->n_batches; i++) {
        const struct sl_batch *batch = run->data->batches[i % run->data->n_batches];
        struct lane *lane = &run->lanes[i % n_lanes];

        end_lane(run, lane);
        begin_lane(run, lane, batch);
        units += units_of(run, batch);
    }
    for (size_t l = 0; l < n_lanes; l++)
        end_lane(run, &run->lanes[l]);
    return units;
}

static double run_resident(void *user)
{
    struct engine_run *run = user;

    begin_lane(run, &run->lanes[0], run->resident);
    end_lane(run, &run->lanes[0]);
    return units_of(run, run->resident);
}

static bool open_lane(struct engine_run *run, struct lane *lane, const void *table,
                      const struct sl_limits *limits)
{
    const bool cuda = run->backend->device == SL_DEVICE_CUDA;
    struct sl_diag diag = {0};

    lane->hits.cap = limits->max_hits;
    lane->hits.hit = malloc(lane->hits.cap * sizeof *lane->hits.hit);
    if (lane->hits.hit == NULL ||
        run->backend->open(&lane->context, table, limits, &diag) != SL_OK ||
        (cuda && sl_stage_open(&lane->stage, limits, &diag) != SL_OK)) {
        cli_diag(&diag);
        return false;
    }
    return true;
}

static void close_lanes(struct engine_run *run)
{
    for (size_t l = 0; l < N_STAGES; l++) {
        if (run->lanes[l].context != NULL)
            run->backend->close(run->lanes[l].context);
        sl_stage_close(run->lanes[l].stage);
        free(run->lanes[l].hits.hit);
    }
}

static struct sl_limits limits_for(const struct bench_data *data, int device)
{
    struct sl_limits limits = {.max_hits = MAX_HITS, .device = device};

    for (size_t i = 0; i < data->n_batches; i++) {
        const struct sl_batch *batch = data->batches[i];

        limits.max_items = batch->n_items > limits.max_items ? batch->n_items : limits.max_items;
        limits.max_bytes =
            batch->bytes_len > limits.max_bytes ? batch->bytes_len : limits.max_bytes;
    }
    return limits;
}

static void print_rate(const struct bench *bench, const struct engine_run *run, const char *what,
                       const char *variant, const struct bench_rate *rate, double ceiling)
{
    bench_row(bench, what, variant, run->data->text, rate, run->by_packets ? 1e6 : 1e9,
              run->by_packets ? "M packets/s" : "GB/s", run->by_packets ? 0 : ceiling);
}

static bool bench_cuda(const struct bench *bench, struct engine_run *run, const char *what,
                       int device)
{
    const struct sl_batch *first = run->data->batches[0];
    const double link = device_link_rate(device, first->bytes_len);
    struct sl_batch view;
    char variant[64];

    const struct bench_rate all = bench_measure(bench->runs, run_all, run);
    snprintf(variant, sizeof variant, "%s, from pinned memory", run->backend->name);
    if (run->failed == SL_OK)
        print_rate(bench, run, what, variant, &all, link);

    if (sl_stage_upload(run->lanes[1].stage, first, &view) != SL_OK ||
        sl_stage_wait(run->lanes[1].stage) != SL_OK)
        return false;
    run->resident = &view;
    const struct bench_rate there = bench_measure(bench->runs, run_resident, run);
    snprintf(variant, sizeof variant, "%s, on the device", run->backend->name);
    if (run->failed == SL_OK)
        print_rate(bench, run, what, variant, &there, 0);
    return run->failed == SL_OK;
}

static bool bench_backend(const struct bench *bench, const struct bench_data *data,
                          const char *what, const struct sl_backend *backend, const void *table,
                          int device, bool by_packets)
{
    struct engine_run run = {.backend = backend,
                             .data = data,
                             .n_repeats = 1 + (uint32_t)(RUN_BYTES / (data->bytes + 1)),
                             .by_packets = by_packets};
    const bool cuda = backend->device == SL_DEVICE_CUDA;
    const struct sl_limits limits = limits_for(data, device);
    bool good = true;

    for (size_t l = 0; l < (cuda ? N_STAGES : 1) && good; l++)
        good = open_lane(&run, &run.lanes[l], table, &limits);
    if (good && cuda) {
        good = bench_cuda(bench, &run, what, device);
    } else if (good) {
        const struct bench_rate rate = bench_measure(bench->runs, run_all, &run);

        good = run.failed == SL_OK;
        if (good)
            print_rate(bench, &run, what, backend->name, &rate, 0);
    }
    if (!good)
        cli_error("bench: %s %s failed: %s", what, backend->name, sl_status_text(run.failed));
    close_lanes(&run);
    return good;
}

bool bench_engine(const struct bench *bench, const struct bench_data *data, const char *what,
                  const struct sl_engine *engine, const void *table, bool by_packets, bool cpu_only)
{
    struct sl_device device;
    struct sl_diag diag = {0};
    char why[SL_WHY_LEN];

    if (sl_device_choose(&device, bench->device, why, &diag) != SL_OK)
        return false;
    for (size_t i = 0; engine->backends[i] != NULL; i++) {
        const struct sl_backend *backend = engine->backends[i];

        if (backend->device == SL_DEVICE_CUDA && (device.kind != SL_DEVICE_CUDA || cpu_only))
            continue;
        if (strncmp(backend->name, "tiled", 5) == 0) /* proves the GPU's tiling, no way to run */
            continue;
        if (!backend->usable(why)) {
            if (!bench->json)
                printf("%-18s %-32s not usable: %s\n", what, backend->name, why);
            continue;
        }
        if (!bench_backend(bench, data, what, backend, table, device.index, by_packets))
            return false;
    }
    return true;
}

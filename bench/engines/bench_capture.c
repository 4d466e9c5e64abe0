/* SPDX-License-Identifier: MIT */
/* Capture files to batches: on one core reading alone, and with dissection and flows; and as a run
 * does it on all cores. */
#include <string.h>

#include "benchmarks.h"
#include "cli/console.h"
#include "sluice/capture.h"
#include "sluice/dissect.h"
#include "sluice/run.h"
#include "work.h"

enum { BATCH_LEN = 4 << 20, BATCH_ITEMS = 16384 };

struct reading {
    const struct bench *bench;
    struct sl_batch *batch;
    bool whole; /* dissect and track flows too */
    bool failed;
};

/* Returns the bytes of a capture's packets. Errors were printed when it was loaded. */
static double read_path(struct reading *reading, const char *path, struct sl_flow_table *flows)
{
    struct sl_dissect_stats stats = {0};
    struct sl_capture_stats captured;
    struct sl_capture *capture;
    struct sl_diag diag = {0};
    enum sl_status status = SL_OK;

    if (sl_capture_open_file(&capture, path, 0, &diag) != SL_OK)
        return 0;
    while (status == SL_OK) {
        sl_batch_reset(reading->batch);
        status = sl_capture_read(capture, reading->batch, &diag);
        if (reading->whole) {
            sl_dissect(reading->batch, &stats);
            sl_flow_track(flows, reading->batch);
        }
    }
    sl_capture_stats(capture, &captured);
    sl_capture_close(capture);
    return (double)captured.bytes;
}

static double read_all(void *user)
{
    struct reading *reading = user;
    struct sl_flow_table *flows;
    struct sl_flow_config config;
    struct sl_diag diag = {0};
    double bytes = 0;

    sl_flow_config_init(&config);
    if (sl_flow_table_create(&flows, &config, &diag) != SL_OK) {
        cli_diag(&diag);
        reading->failed = true;
        return 0;
    }
    for (size_t p = 0; p < reading->bench->input.n_paths; p++)
        bytes += read_path(reading, reading->bench->input.paths[p], flows);
    sl_flow_table_free(flows);
    return bytes;
}

/* ---- all cores ------------------------------------------------------------------------------- */

/* A run without engines. A file that cannot be read was a warning when it was loaded. */
static double run_all(void *user)
{
    struct reading *reading = user;
    struct sl_run_result result;
    struct sl_run_config config;
    struct sl_diag diag = {0};
    struct sl_run *run;

    sl_run_config_init(&config);
    config.files = reading->bench->input.paths;
    config.n_files = reading->bench->input.n_paths;
    config.devices = "cpu";
    reading->failed =
        sl_run_create(&run, &config, &diag) != SL_OK || sl_run_execute(run, &diag) != SL_OK;
    if (reading->failed) {
        cli_diag(&diag);
        sl_run_close(run);
        return 0;
    }
    sl_run_result(run, &result);
    sl_run_close(run);
    return (double)result.captured.bytes;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct copying {
    const struct bench_data *data;
    uint8_t *to;
};

/* The ceiling: the same bytes, copied by memcpy and nothing else. */
static double copy_all(void *user)
{
    const struct copying *copying = user;
    double bytes = 0;

    for (size_t i = 0; i < copying->data->n_batches; i++) {
        const struct sl_batch *batch = &copying->data->batches[i];

        memcpy(copying->to, batch->bytes, batch->bytes_len);
        bytes += batch->bytes_len;
    }
    return bytes;
}

static void print_rate(const struct bench *bench, const struct bench_data *data,
                       const char *variant, const struct bench_rate *rate, double ceiling)
{
    const struct bench_row row = {.what = "capture",
                                  .variant = variant,
                                  .data = data->text,
                                  .rate = *rate,
                                  .unit = 1e9,
                                  .unit_name = "GB/s",
                                  .ceiling = ceiling};

    bench_print(&bench->frame, &row);
}

bool bench_capture(const struct bench *bench)
{
    struct reading reading = {.bench = bench};
    struct bench_data data;
    struct sl_diag diag = {0};
    bool good = false;

    if (!bench_load(&data, &bench->input, BATCH_LEN, false, (uint64_t)1 << 30))
        goto out;
    if (sl_batch_create(&reading.batch, BATCH_LEN, BATCH_ITEMS, &diag) != SL_OK) {
        cli_diag(&diag);
        goto out;
    }

    struct copying copying = {&data, reading.batch->bytes};
    const struct bench_rate copy = bench_measure(bench->frame.runs, copy_all, &copying);
    const struct bench_rate read = bench_measure(bench->frame.runs, read_all, &reading);
    reading.whole = true;
    const struct bench_rate whole = bench_measure(bench->frame.runs, read_all, &reading);
    const struct bench_rate run = bench_measure(bench->frame.runs, run_all, &reading);

    if (!reading.failed) {
        print_rate(bench, &data, "memcpy of the same bytes", &copy, 0);
        print_rate(bench, &data, "file to batches", &read, copy.median);
        print_rate(bench, &data, "and dissected, with flows", &whole, copy.median);
        print_rate(bench, &data, "the same on all cores", &run, copy.median);
    }
    good = !reading.failed;
out:
    sl_batch_free(reading.batch);
    bench_unload(&data);
    return good;
}

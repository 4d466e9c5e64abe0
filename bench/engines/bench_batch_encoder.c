/* SPDX-License-Identifier: MIT */
/* Payloads of packets to frames on a GPU, as sluice/batch_encoder.h makes them: from pinned memory
 * and back, and on the device alone. The payloads are used several times, and each use changes all
 * their bytes in another way. They amount to twice the cache. So no use finds content of an earlier
 * one, and each run finds the cache full. */
#include <stdlib.h>

#include "benchmarks.h"
#include "cli/console.h"
#include "device/device.h"
#include "sluice/capture.h"
#include "sluice/redundancy.h"
#include "work.h"

enum { BATCH_LEN = 16 << 20, PERIOD = 32, IN_FLIGHT = SL_BATCH_ENCODER_IN_FLIGHT };

#define CACHE_LEN (UINT64_C(1) << 30)

struct whole {
    const struct bench *bench;
    struct bench_data data;   /* in pinned memory */
    struct bench_data *there; /* its batches on the device, one each */
    struct sl_stage *stages[IN_FLIGHT];
    struct sl_sampling_table *table;
    struct sl_redundancy_config config;
    struct sl_batch_encoder *encoder;
    bool failed;
};

/* ---- data ------------------------------------------------------------------------------------ */

/* Makes the content of the nth use differ from the others. It repeats itself as the first does. */
static void make_distinct(struct bench_data *data, uint64_t n_once)
{
    uint64_t n = 0;

    for (size_t i = 0; i < data->n_batches; i++)
        for (uint32_t item = 0; item < data->batches[i].n_items; item++, n++) {
            const struct sl_span span = data->batches[i].payload[item];

            for (uint32_t k = 0; k < span.len; k++)
                data->batches[i].bytes[span.offset + k] ^= (uint8_t)(n / n_once);
        }
}

static bool load(struct whole *w)
{
    struct bench_data once = {0};
    uint64_t bytes = 0;

    bool good = bench_load(&once, &w->bench->input, BATCH_LEN, false, (uint64_t)1 << 30);
    for (size_t i = 0; i < once.n_batches; i++)
        for (uint32_t item = 0; item < once.batches[i].n_items; item++)
            bytes += once.batches[i].payload[item].len;
    const uint64_t n_times = bytes > 0 ? 2 * CACHE_LEN / bytes + 1 : 0;
    if (good && n_times > 256) {
        cli_error("bench: %.1f MB of payload are too few for a cache of %.1f GB",
                  (double)bytes / 1e6, (double)CACHE_LEN / 1e9);
        good = false;
    }
    good = good && bench_repack(&w->data, &once, BATCH_LEN, true, (uint32_t)n_times);
    if (good)
        make_distinct(&w->data, once.items);
    bench_unload(&once);
    return good;
}

static bool load_device(struct whole *w)
{
    bool good = true;

    w->there = calloc(w->data.n_batches, sizeof *w->there);
    if (w->there == NULL)
        return false;
    for (size_t i = 0; i < w->data.n_batches && good; i++)
        good = bench_to_device(&w->there[i], &w->data, i, w->bench->device.index);
    return good;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool open_encoder(struct whole *w, bool frames_stay)
{
    const struct sl_batch_encoder_config config = {.redundancy = w->config,
                                                   .sampling = w->table,
                                                   .kind = SL_DEVICE_CUDA,
                                                   .device = w->bench->device.index,
                                                   .frames_stay = frames_stay};
    struct sl_diag diag = {0};

    sl_batch_encoder_free(w->encoder);
    w->encoder = NULL;
    if (sl_batch_encoder_create(&w->encoder, &config, &diag) == SL_OK)
        return true;
    cli_diag(&diag);
    return false;
}

static bool submit(struct whole *w, size_t i)
{
    struct sl_batch view;

    if (w->there != NULL)
        view = w->there[i].batches[0];
    else if (sl_stage_upload(w->stages[i % IN_FLIGHT], &w->data.batches[i], &view) != SL_OK)
        return false;
    return sl_batch_encoder_submit(w->encoder, &view) == SL_OK;
}

/* One pass over the data: bytes of payload. */
static double pass_all(void *user)
{
    struct whole *const w = user;
    const size_t n = w->data.n_batches;
    struct sl_frames frames;

    for (size_t i = 0; i < n + IN_FLIGHT && !w->failed; i++) {
        if (i >= IN_FLIGHT)
            w->failed = sl_batch_encoder_wait(w->encoder, &frames) != SL_OK;
        if (i < n && !w->failed)
            w->failed = !submit(w, i);
    }
    return (double)w->data.bytes;
}

static bool print_rate(struct whole *w, const char *variant, double ceiling)
{
    struct bench_row row = {.what = "redundancy",
                            .variant = variant,
                            .data = w->data.text,
                            .unit = 1e9,
                            .unit_name = "GB/s",
                            .ceiling = ceiling};

    if (!open_encoder(w, w->there != NULL))
        return false;
    row.rate = bench_measure(w->bench->frame.runs, pass_all, w);
    if (w->failed)
        cli_error("bench: encoding on the GPU failed");
    else
        bench_print(&w->bench->frame, &row);
    return !w->failed;
}

/* ---- savings --------------------------------------------------------------------------------- */

/* The frames that the CPU's encoder makes of the same batches, with the same cache. */
static bool encode_on_cpu(const struct whole *w, struct sl_encoder_stats *stats,
                          struct sl_diag *diag)
{
    const struct sl_limits limits = {.max_items = w->config.max_items,
                                     .max_bytes = BATCH_LEN,
                                     .max_hits = BATCH_LEN / PERIOD * 4};
    const struct sl_backend *const sampler =
        sl_engine_choose(sl_sampling_engine(w->table), SL_DEVICE_CPU, NULL);
    struct sl_hits hits = {malloc(limits.max_hits * sizeof *hits.hit), limits.max_hits, 0, false};
    uint8_t *const frame = malloc(SL_FRAME_MAX + SL_FRAME_HEADER_LEN);
    struct sl_encoder *encoder = NULL;
    void *context = NULL;

    bool good = hits.hit != NULL && frame != NULL &&
                sampler->open(&context, w->table, &limits, diag) == SL_OK &&
                sl_encoder_create(&encoder, &w->config, diag) == SL_OK;
    for (size_t i = 0; i < w->data.n_batches && good; i++) {
        const struct sl_batch *const batch = &w->data.batches[i];

        hits.n = 0;
        good = sampler->submit(context, batch, &hits) != SL_EINVAL;
        (void)sampler->wait(context); /* too many samples are as good as enough */
        good = good && sl_encoder_batch(encoder, batch, &hits, diag) == SL_OK;
        for (uint32_t item = 0; item < batch->n_items && good; item++)
            sl_encoder_frame(encoder, item, frame);
    }
    if (good)
        sl_encoder_stats(encoder, stats);
    sl_encoder_free(encoder);
    if (context != NULL)
        sampler->close(context);
    free(frame);
    free(hits.hit);
    return good;
}

static bool print_savings(struct whole *w)
{
    struct sl_batch_encoder_stats gpu;
    struct sl_encoder_stats cpu;
    struct sl_diag diag = {.text = "no memory"};

    if (w->bench->frame.json)
        return true;
    if (!open_encoder(w, true) || pass_all(w) == 0 || w->failed)
        return false;
    sl_batch_encoder_stats(w->encoder, &gpu);
    if (!encode_on_cpu(w, &cpu, &diag)) {
        cli_diag(&diag);
        return false;
    }
    printf("%-18s cuda: %.2f %% of the bytes found again, frames are %.2f %% of them; on the CPU "
           "%.2f and %.2f %%\n",
           "", 100.0 * (double)gpu.matched_bytes / (double)gpu.bytes,
           100.0 * (double)gpu.frame_bytes / (double)gpu.bytes,
           100.0 * (double)cpu.match.matched_bytes / (double)cpu.match.bytes,
           100.0 * (double)cpu.frame_bytes / (double)cpu.match.bytes);
    return true;
}

/* ---- the benchmark --------------------------------------------------------------------------- */

static bool open_all(struct whole *w)
{
    struct sl_limits limits = {.max_bytes = BATCH_LEN, .device = w->bench->device.index};
    struct sl_sampling_config sampling;
    struct sl_diag diag = {0};

    for (size_t i = 0; i < w->data.n_batches; i++)
        if (w->data.batches[i].n_items > limits.max_items)
            limits.max_items = w->data.batches[i].n_items;
    sl_redundancy_config_init(&w->config);
    w->config.cache_len = CACHE_LEN;
    w->config.batch_len = BATCH_LEN;
    w->config.max_items = limits.max_items;
    w->config.period = PERIOD;
    w->config.frame_max = SL_CAPTURE_PACKET_MAX;
    sl_sampling_config_init(&sampling);
    sampling.period = PERIOD;
    enum sl_status status = sl_sampling_build(&w->table, &sampling, &diag);
    for (int i = 0; i < IN_FLIGHT && status == SL_OK; i++)
        status = sl_stage_open(&w->stages[i], &limits, &diag);
    if (status != SL_OK)
        cli_diag(&diag);
    return status == SL_OK;
}

static void close_all(struct whole *w)
{
    sl_batch_encoder_free(w->encoder);
    for (int i = 0; i < IN_FLIGHT; i++)
        sl_stage_close(w->stages[i]);
    for (size_t i = 0; i < w->data.n_batches && w->there != NULL; i++)
        bench_unload(&w->there[i]);
    free(w->there);
    bench_unload(&w->data);
    sl_sampling_free(w->table);
}

bool bench_batch_encoder(const struct bench *bench)
{
    struct whole w = {.bench = bench};
    bool good = load(&w) && open_all(&w);

    if (good) {
        const double link = device_link_rate(bench->device.index, BATCH_LEN);
        const double of_payload = link * (double)w.data.bytes / (double)w.data.crossing;

        good = print_rate(&w, "packets to frames, cuda, pinned, 16 MiB, cache 1 GiB", of_payload);
    }
    good = good && load_device(&w) &&
           print_rate(&w, "packets to frames, cuda, on the device, 16 MiB, cache 1 GiB", 0) &&
           print_savings(&w);
    close_all(&w);
    return good;
}

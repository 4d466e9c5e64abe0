/* SPDX-License-Identifier: MIT */
/* Payloads of packets to frames and back on one core, live as by sluice/redundancy.h. The cache is
 * half as long as the payloads. So every run finds the redundancy within the capture, and not that
 * with the run before. Rates are by the thread's own time. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "sluice/capture.h"
#include "sluice/redundancy.h"
#include "work.h"

enum { BATCH_LEN = 1 << 20, BATCH_ITEMS = 16384, PERIOD = 32 };

enum stage { SAMPLE, ENCODE, DECODE, N_STAGES };

struct passing {
    const struct bench_data *data;
    struct sl_sampling_table *table;
    const struct sl_backend *backend;
    void *context;
    struct sl_hits hits;
    struct sl_encoder *encoder;
    struct sl_decoder *decoder;
    uint8_t *frames;
    uint32_t *frame_lens;
    uint64_t bytes; /* of payload */
    uint64_t spent_ns[N_STAGES];
    enum stage first, last; /* the core whose time is counted */
    bool failed;
};

/* Parts of a batch are timed one by one: other work of the machine must not be counted to the part
 * that it interrupts. */
static uint64_t spend(struct passing *passing, enum stage stage, uint64_t begin)
{
    const uint64_t now = clock_thread_ns();

    passing->spent_ns[stage] += now - begin;
    return now;
}

static bool decode_frames(struct passing *p, const struct sl_batch *batch)
{
    const uint8_t *frame = p->frames, *packet;
    uint32_t len;

    for (uint32_t i = 0; i < batch->n_items; i++) {
        if (sl_decoder_decode(p->decoder, frame, p->frame_lens[i], &packet, &len) !=
                SL_FRAME_DELIVERED ||
            len != batch->payload[i].len)
            return false;
        frame += p->frame_lens[i];
    }
    return true;
}

static bool pass_batch(struct passing *p, const struct sl_batch *batch)
{
    uint8_t *frame = p->frames;
    struct sl_diag diag;
    uint64_t now = clock_thread_ns();

    p->hits.n = 0;
    if (p->backend->submit(p->context, batch, &p->hits) == SL_EINVAL)
        return false;
    (void)p->backend->wait(p->context); /* too many samples are as good as enough */
    now = spend(p, SAMPLE, now);
    if (sl_encoder_batch(p->encoder, batch, &p->hits, &diag) != SL_OK)
        return false;
    for (uint32_t i = 0; i < batch->n_items; i++) {
        p->frame_lens[i] = sl_encoder_frame(p->encoder, i, frame);
        frame += p->frame_lens[i];
    }
    now = spend(p, ENCODE, now);
    const bool good = decode_frames(p, batch);
    spend(p, DECODE, now);
    return good;
}

/* One pass over the data: bytes of payload a second of the stages that are counted. */
static double pass_all(void *user)
{
    struct passing *const p = user;
    uint64_t ns = 0;

    memset(p->spent_ns, 0, sizeof p->spent_ns);
    for (size_t i = 0; i < p->data->n_batches && !p->failed; i++)
        p->failed = !pass_batch(p, &p->data->batches[i]);
    for (enum stage stage = p->first; stage <= p->last; stage++)
        ns += p->spent_ns[stage];
    return (double)p->bytes * 1e9 / (double)(ns > 0 ? ns : 1);
}

static enum sl_status open_passing(struct passing *p, struct sl_diag *diag)
{
    const struct sl_limits limits = {
        .max_items = BATCH_ITEMS, .max_bytes = BATCH_LEN, .max_hits = BATCH_LEN / PERIOD * 4};
    struct sl_sampling_config sampling;
    struct sl_redundancy_config config;

    sl_sampling_config_init(&sampling);
    sampling.period = PERIOD;
    enum sl_status status = sl_sampling_build(&p->table, &sampling, diag);
    if (status == SL_OK) {
        p->backend = sl_engine_choose(sl_sampling_engine(p->table), SL_DEVICE_CPU, NULL);
        status = p->backend->open(&p->context, p->table, &limits, diag);
    }
    sl_redundancy_config_init(&config);
    config.period = PERIOD;
    config.batch_len = BATCH_LEN;
    config.max_items = BATCH_ITEMS;
    config.frame_max = SL_CAPTURE_PACKET_MAX;
    config.cache_len =
        p->bytes / 2 > SL_REDUNDANCY_CACHE_MIN ? p->bytes / 2 : SL_REDUNDANCY_CACHE_MIN;
    if (status == SL_OK)
        status = sl_encoder_create(&p->encoder, &config, diag);
    if (status == SL_OK)
        status = sl_decoder_create(&p->decoder, &config, diag);
    p->hits =
        (struct sl_hits){malloc(limits.max_hits * sizeof *p->hits.hit), limits.max_hits, 0, false};
    p->frames = malloc(BATCH_LEN + (size_t)BATCH_ITEMS * SL_FRAME_HEADER_LEN);
    p->frame_lens = malloc(BATCH_ITEMS * sizeof *p->frame_lens);
    return p->hits.hit != NULL && p->frames != NULL && p->frame_lens != NULL ? status : SL_ENOMEM;
}

static void close_passing(struct passing *p)
{
    if (p->context != NULL)
        p->backend->close(p->context);
    sl_sampling_free(p->table);
    sl_encoder_free(p->encoder);
    sl_decoder_free(p->decoder);
    free(p->hits.hit);
    free(p->frames);
    free(p->frame_lens);
}

static void print_stages(struct passing *p, const struct bench *bench, const char *variant,
                         enum stage first, enum stage last)
{
    p->first = first;
    p->last = last;

    const struct bench_row row = {.what = "redundancy",
                                  .variant = variant,
                                  .data = p->data->text,
                                  .rate = bench_rates(bench->frame.runs, pass_all, p),
                                  .unit = 1e9,
                                  .unit_name = "GB/s"};
    if (!p->failed)
        bench_print(&bench->frame, &row);
}

static void print_savings(const struct passing *p, const struct bench *bench)
{
    struct sl_encoder_stats stats;

    sl_encoder_stats(p->encoder, &stats);
    if (!bench->frame.json && stats.match.bytes > 0)
        printf("%-18s %.1f %% of the bytes found again, frames are %.1f %% of them\n", "",
               100.0 * (double)stats.match.matched_bytes / (double)stats.match.bytes,
               100.0 * (double)stats.frame_bytes / (double)stats.match.bytes);
}

bool bench_redundancy(const struct bench *bench)
{
    struct passing passing = {0};
    struct bench_data data;
    struct sl_diag diag = {.text = "no memory"};
    bool good = false;

    if (!bench_load(&data, &bench->input, BATCH_LEN, false, (uint64_t)1 << 30))
        goto out;
    passing.data = &data;
    for (size_t i = 0; i < data.n_batches; i++)
        for (uint32_t item = 0; item < data.batches[i].n_items; item++)
            passing.bytes += data.batches[i].payload[item].len;
    if (open_passing(&passing, &diag) != SL_OK) {
        cli_diag(&diag);
        goto out;
    }
    print_stages(&passing, bench, "sampling, rabin, p = 32", SAMPLE, SAMPLE);
    print_stages(&passing, bench, "samples to frames", ENCODE, ENCODE);
    print_stages(&passing, bench, "packets to frames, both", SAMPLE, ENCODE);
    print_stages(&passing, bench, "frames to packets", DECODE, DECODE);
    good = !passing.failed;
    if (good)
        print_savings(&passing, bench);
    else
        cli_error("a packet did not come back as it was");
out:
    close_passing(&passing);
    bench_unload(&data);
    return good && (bench->device.kind != SL_DEVICE_CUDA || bench_batch_encoder(bench));
}

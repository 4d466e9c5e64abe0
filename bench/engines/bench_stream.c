/* SPDX-License-Identifier: MIT */
/* Streams: segments a second through the reassembly of one core, without dissection and flows. The
 * rows differ in the order of a flow's segments, and show the share of the plain rate. Flows take
 * turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/frame/row.h"
#include "benchmarks.h"
#include "cli/console.h"
#include "run/run_flow.h"

enum { FLOWS = 1024, STEPS = 24, BATCHES = 8, ROOM = 1024, TCP_SYN = 0x02, TCP_ACK = 0x10 };

/* A step of each flow in a batch, by offsets from where the batch begins. */
struct step {
    uint32_t begin, len; /* of the client's bytes; len 0: the server acknowledges up to begin */
};

struct order {
    const char *name;
    struct step step[STEPS];
    uint32_t n_steps;
    uint32_t advance; /* bytes of a flow */
    bool is_half_open;
};

struct playing {
    const struct order *order;
    struct stream_shard *shard;
    struct stream_output output;
    struct run_flow *flows;
    uint32_t at;  /* bytes of each flow so far */
    double plain; /* segments a second of the first row */
    uint8_t *bytes;
};

static void add(struct order *order, uint32_t begin, uint32_t len)
{
    order->step[order->n_steps++] = (struct step){begin, len};
}

/* 16 segments of these bytes, that repeat some of those before; runs of `back` are turned round. */
static struct order make_order(const char *name, uint32_t len, uint32_t repeated, uint32_t back)
{
    struct order order = {.name = name, .advance = 16 * len};

    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t k = i / back * back + (back - 1 - i % back);
        const uint32_t repeats = k != 0 ? repeated : 0;

        add(&order, k * len - repeats, len + repeats);
        if (i % back == back - 1 && i % 2 == 1)
            add(&order, (i + 1) * len, 0);
    }
    return order;
}

static struct stream_segment segment_of(const struct playing *playing, const struct step *step,
                                        uint32_t flow)
{
    const bool is_ack = step->len == 0;

    return (struct stream_segment){.at = flow * ROOM,
                                   .len = step->len,
                                   .half = is_ack,
                                   .seq = is_ack ? 1 : 1 + playing->at + step->begin,
                                   .ack = is_ack ? 1 + playing->at + step->begin : 1,
                                   .flags = TCP_ACK,
                                   .window = 65535,
                                   .wscale = STREAM_NO_WSCALE,
                                   .ttl = 64};
}

static void open_flows(struct playing *playing)
{
    struct stream_segment syn = {.flags = TCP_SYN, .window = 65535, .wscale = 0, .ttl = 64};

    playing->at = 0;
    stream_shard_begin(playing->shard, &playing->output, playing->bytes);
    for (uint32_t flow = 0; flow < FLOWS; flow++) {
        stream_end(playing->shard, &playing->flows[flow].stream, flow, 0);
        for (uint8_t half = 0; half < 2; half++) {
            syn.half = half;
            syn.ack = half;
            syn.flags = half != 0 ? TCP_SYN | TCP_ACK : TCP_SYN;
            stream_take(playing->shard, &playing->flows[flow].stream, flow, &syn);
        }
    }
    stream_shard_end(playing->shard);
}

static double play(void *user)
{
    struct playing *playing = user;
    const struct order *order = playing->order;

    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        stream_shard_begin(playing->shard, &playing->output, playing->bytes);
        for (uint32_t i = 0; i < order->n_steps; i++)
            for (uint32_t flow = 0; flow < FLOWS; flow++) {
                const struct stream_segment segment = segment_of(playing, &order->step[i], flow);

                stream_take(playing->shard, &playing->flows[flow].stream, flow, &segment);
            }
        stream_shard_end(playing->shard);
        playing->at += order->advance;
    }
    return (double)BATCHES * FLOWS * order->n_steps;
}

/* A SYN of each flow, which then ends. */
static double play_half_open(void *user)
{
    struct playing *playing = user;
    const struct stream_segment syn = {
        .flags = TCP_SYN, .window = 65535, .wscale = STREAM_NO_WSCALE, .ttl = 64};

    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        stream_shard_begin(playing->shard, &playing->output, playing->bytes);
        for (uint32_t flow = 0; flow < FLOWS; flow++) {
            stream_end(playing->shard, &playing->flows[flow].stream, flow, 0);
            stream_take(playing->shard, &playing->flows[flow].stream, flow, &syn);
        }
        stream_shard_end(playing->shard);
    }
    return (double)BATCHES * FLOWS;
}

static void measure(const struct bench *bench, struct playing *playing, const struct order *order)
{
    char text[64];
    struct bench_row row = {.what = "stream",
                            .variant = order->name,
                            .data = text,
                            .unit = 1e6,
                            .unit_name = "M segments/s"};

    playing->order = order;
    open_flows(playing);
    row.rate = bench_measure_thread(bench->frame.runs, order->is_half_open ? play_half_open : play,
                                    playing);
    row.ceiling = playing->plain;
    row.ceiling_of = "plain";
    if (playing->plain == 0)
        playing->plain = row.rate.median;
    snprintf(text, sizeof text, "%d flows in turn", FLOWS);
    bench_print(&bench->frame, &row);
}

/* Each byte of a queue that grows to its bound: 1,024 pieces, and then a hole that gives way. */
static struct order make_worst(void)
{
    struct order order = {.name = "single bytes in no order", .advance = 64};

    for (uint32_t i = 0; i < STEPS; i++)
        add(&order, 1 + i * 37 % 61, 1);
    return order;
}

bool bench_stream(const struct bench *bench)
{
    const struct order orders[] = {
        make_order("plain, 512 bytes", 512, 0, 1),
        make_order("plain, single bytes", 1, 0, 1),
        make_order("pairs turned round", 512, 0, 2),
        make_order("runs of 8 turned round", 512, 0, 8),
        make_order("overlapping by 256 bytes", 512, 256, 1),
        make_order("turned round and overlapping", 512, 256, 8),
        make_worst(),
        {.name = "half-open", .is_half_open = true},
    };
    struct stream_config config;
    struct sl_diag diag = {0};
    struct playing playing = {0};
    bool good = false;

    stream_config_init(&config);
    playing.bytes = calloc(FLOWS, ROOM);
    playing.flows = aligned_alloc(64, FLOWS * sizeof *playing.flows);
    if (playing.bytes == NULL || playing.flows == NULL) {
        cli_error("no memory");
    } else if (stream_shards_create(&playing.shard, 1, &config, &diag) != SL_OK) {
        cli_diag(&diag);
    } else {
        memset(playing.flows, 0, FLOWS * sizeof *playing.flows);
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
            measure(bench, &playing, &orders[i]);
        good = bench_stream_runs(bench);
    }
    stream_output_free(&playing.output);
    stream_shards_free(playing.shard, 1);
    free(playing.flows);
    free(playing.bytes);
    return good;
}

/* SPDX-License-Identifier: MIT */
/* Prints the streams of a capture: for each half that has bytes a line with the addresses and ports
 * of its sender and its receiver, and its bytes in hexadecimal digits. A gap is a text in brackets,
 * as tshark has it. Segments of wrong checksums count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/test/each_batch.h"
#include "sluice/dissect.h"
#include "stream/stream.h"

enum { FLOWS_MAX = 1 << 16 };

struct text {
    char *bytes;
    size_t len, max;
};

/* The flows of a capture, in a table by id. */
struct flow {
    uint64_t id;
    struct sl_tuple tuple; /* of the client */
    struct stream stream;
    struct text half[2];
};

static struct flow flows[FLOWS_MAX];
static uint32_t order[FLOWS_MAX], n_flows;
static struct sl_flow_table *table;
static struct stream_shard *shard;
static struct stream_output output;

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static struct flow *flow_of(uint64_t id)
{
    uint32_t i = (uint32_t)(id % FLOWS_MAX);

    while (flows[i].id != 0 && flows[i].id != id)
        i = (i + 1) % FLOWS_MAX;
    if (flows[i].id == 0) {
        check(n_flows < FLOWS_MAX / 2, "too many flows");
        flows[i].id = id;
        order[n_flows++] = i;
    }
    return &flows[i];
}

static void append(struct text *text, const void *bytes, size_t len)
{
    if (text->len + len > text->max) {
        text->max = 2 * (text->len + len);
        text->bytes = realloc(text->bytes, text->max);
        check(text->bytes != NULL, "no memory");
    }
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
}

static void take_records(const uint8_t *bytes)
{
    for (uint32_t i = 1; i < output.n; i++) {
        const struct stream_record *record = &output.record[i];
        struct text *text = &flow_of(record->flow)->half[record->half];
        char gap[64];

        if (record->kind == STREAM_PACKET)
            append(text, bytes + record->at, record->len);
        else if (record->kind == STREAM_COPIED)
            append(text, output.copied + record->at, record->len);
        else if (record->kind == STREAM_GAP)
            append(text, gap,
                   (size_t)snprintf(gap, sizeof gap, "[%u bytes missing in capture file]",
                                    record->len));
    }
}

static void visit(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};
    struct stream_segment segment;

    sl_dissect(batch, &stats);
    sl_flow_track(table, batch);
    stream_shard_begin(shard, &output, batch->bytes);
    for (uint32_t item = 0; item < batch->n_items; item++) {
        struct flow *flow;

        if (batch->origin[item].flow == 0 ||
            !stream_segment_read(&segment, batch, item,
                                 (batch->origin[item].flow_flags & SL_FLOW_TO_SERVER) == 0))
            continue;
        flow = flow_of(batch->origin[item].flow);
        if (flow->tuple.protocol == 0) {
            (void)sl_packet_tuple(batch, item, &flow->tuple);
            if (segment.half != 0) {
                const struct sl_tuple t = flow->tuple;

                flow->tuple = (struct sl_tuple){t.dst, t.src, t.dst_port, t.src_port, t.protocol};
            }
        }
        stream_take(shard, &flow->stream, flow->id, &segment);
    }
    stream_shard_end(shard);
    take_records(batch->bytes);
}

static void print(const struct flow *flow, uint32_t half)
{
    const struct text *text = &flow->half[half];
    const struct sl_tuple *t = &flow->tuple;
    char from[SL_ADDR_TEXT_LEN], to[SL_ADDR_TEXT_LEN];

    if (text->len == 0)
        return;
    printf("%s\t%u\t%s\t%u\t", sl_addr_format(half == 0 ? &t->src : &t->dst, from),
           half == 0 ? t->src_port : t->dst_port, sl_addr_format(half == 0 ? &t->dst : &t->src, to),
           half == 0 ? t->dst_port : t->src_port);
    for (size_t i = 0; i < text->len; i++)
        printf("%02x", (uint8_t)text->bytes[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    struct sl_flow_config flow_config;
    struct stream_config config;
    int status;

    sl_flow_config_init(&flow_config);
    stream_config_init(&config);
    check(sl_flow_table_create(&table, &flow_config, NULL) == SL_OK &&
              stream_shards_create(&shard, 1, &config, NULL) == SL_OK,
          "no memory");
    status = visit_capture(argc, argv, visit);
    stream_shard_begin(shard, &output, NULL);
    for (uint32_t i = 0; i < n_flows; i++)
        stream_end(shard, &flows[order[i]].stream, flows[order[i]].id, 0);
    stream_shard_end(shard);
    take_records((const uint8_t *)""); /* no batch is there */
    for (uint32_t i = 0; i < n_flows; i++)
        for (uint32_t half = 0; half < 2; half++) {
            print(&flows[order[i]], half);
            free(flows[order[i]].half[half].bytes);
        }
    stream_output_free(&output);
    stream_shards_free(shard, 1);
    sl_flow_table_free(table);
    return status;
}

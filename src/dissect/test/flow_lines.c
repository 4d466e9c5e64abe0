/* SPDX-License-Identifier: MIT */
/* Prints the flows of a capture, one line each: protocol, client, server, the packets and bytes of
 * the client, and those of the server, separated by tabs. The last line has the number of packets
 * with a defect. */
#include <stdio.h>
#include <stdlib.h>

#include "capture/test/each_batch.h"
#include "sluice/dissect.h"

static struct sl_flow_table *table;
static struct sl_flow_keys *keys;
static uint64_t n_defects;

static void check(enum sl_status status)
{
    if (status == SL_OK)
        return;
    fprintf(stderr, "%s\n", sl_status_text(status));
    exit(1);
}

static void print_flow(const struct sl_flow_record *flow)
{
    char src[SL_ADDR_TEXT_LEN], dst[SL_ADDR_TEXT_LEN];

    printf("%u\t%s\t%u\t%s\t%u\t%llu\t%llu\t%llu\t%llu\n", flow->tuple.protocol,
           sl_addr_format(&flow->tuple.src, src), flow->tuple.src_port,
           sl_addr_format(&flow->tuple.dst, dst), flow->tuple.dst_port,
           (unsigned long long)flow->client.packets, (unsigned long long)flow->client.bytes,
           (unsigned long long)flow->server.packets, (unsigned long long)flow->server.bytes);
}

static void print_ends(void)
{
    struct sl_flow_record record;

    check(sl_flow_keys_sort_ends(keys, table));
    for (size_t i = 0; i < sl_flow_keys_n_ends(keys); i++) {
        (void)sl_flow_keys_end(keys, i, &record);
        print_flow(&record);
    }
}

static void track(struct sl_batch *batch)
{
    struct sl_dissect_stats stats = {.packets = {0}};

    sl_dissect(batch, &stats);
    n_defects += batch->n_items - stats.defects[SL_DEFECT_NONE];
    sl_flow_keys_read(keys, table, batch);
    sl_flow_deal(table, batch, keys);
    for (uint32_t shard = 0; shard < sl_flow_n_shards(table); shard++)
        sl_flow_track_shard(table, batch, keys, shard);
    print_ends();
}

int main(int argc, char **argv)
{
    struct sl_flow_config config;

    sl_flow_config_init(&config);
    config.keep_ends = true;
    check(sl_flow_table_create(&table, &config, NULL));
    check(sl_flow_keys_create(&keys, 1 << 20, NULL));
    const int status = visit_capture(argc, argv, track);
    sl_flow_table_finish(table, keys);
    print_ends();
    printf("%llu\n", (unsigned long long)n_defects);
    sl_flow_keys_free(keys);
    sl_flow_table_free(table);
    return status;
}

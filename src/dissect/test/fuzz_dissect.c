/* SPDX-License-Identifier: MIT */
/* Input: the link type (2 bytes), then packets: captured length (2 bytes), how much longer it was
 * on the wire (1 byte), by how much time goes on (1 byte, of seconds) and the bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "dissect_invariants.h"
#include "sluice/dissect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_PACKETS = 16 };

/* Each packet lies in memory of its own, so that reading a byte too many is seen. */
static void check_packet(struct sl_batch *batch, uint32_t item, struct sl_flow_table *table)
{
    struct sl_dissect_stats stats = {.packets = {0}};
    struct sl_tuple tuple;

    sl_dissect(batch, &stats);
    if (dissect_violation(batch, item) != NULL)
        abort();
    if (stats.defects[batch->packet[item].defect] != 1)
        abort();
    sl_flow_track(table, batch);

    const struct sl_origin *origin = &batch->origin[item];
    const bool has_ip = sl_packet_tuple(batch, item, &tuple);
    if (has_ip != ((batch->packet[item].flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) != 0))
        abort();
    if (origin->flow != 0 && !has_ip)
        abort();
    if (origin->flow == 0 && origin->flow_flags != 0)
        abort();
    if (batch->packet[item].transport != 0 && origin->flow == 0)
        abort();
}

static size_t take_packet(const uint8_t *data, size_t size, uint16_t link_type,
                          struct sl_flow_table *table, int64_t *time)
{
    const uint16_t wanted = load_be16(data);
    const uint32_t len = wanted < size - 4 ? wanted : (uint32_t)(size - 4);
    uint8_t *bytes = (uint8_t *)malloc(len);
    struct sl_packet packet = {.len = len};
    struct sl_origin origin = {.link_type = link_type, .wire_len = len + data[2]};
    struct sl_span payload = {0, 0};
    struct sl_batch view = {.n_items = 1,
                            .max_items = 1,
                            .bytes = bytes,
                            .payload = &payload,
                            .packet = &packet,
                            .origin = &origin};

    if (len != 0)
        memcpy(bytes, data + 4, len);
    origin.time_ns = *time += (int8_t)data[3] * INT64_C(1000000000);
    check_packet(&view, 0, table);
    free(bytes);
    return 4 + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sl_flow_config config;
    struct sl_flow_table *table;
    struct sl_flow_stats stats;
    int64_t time = 1;
    size_t at = 2;

    if (size < 2)
        return 0;
    sl_flow_config_init(&config);
    config.max_flows = 3;
    if (sl_flow_table_create(&table, &config, NULL) != SL_OK)
        abort();
    for (uint32_t n = 0; n < MAX_PACKETS && size - at > 4; n++)
        at += take_packet(data + at, size - at, load_be16(data), table, &time);
    sl_flow_stats(table, &stats);
    if (stats.active > config.max_flows || stats.flows != stats.tcp + stats.udp + stats.other)
        abort();
    sl_flow_table_free(table);
    return 0;
}

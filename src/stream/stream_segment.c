/* SPDX-License-Identifier: MIT */
/* A TCP header and its options, read from a dissected packet. */
#include "base/bytes.h"
#include "dissect/tcp_header.h"
#include "sluice/dissect.h"
#include "stream.h"

enum {
    OPTION_END = 0,
    OPTION_NOP = 1,
    OPTION_WSCALE = 3,
    OPTION_TIMESTAMPS = 8,
    OPTION_FAST_OPEN = 34,
    TIMESTAMPS_LEN = 10
};

static void read_options(struct stream_segment *segment, const uint8_t *option, const uint8_t *end)
{
    while (option < end && *option != OPTION_END) {
        if (*option == OPTION_NOP) {
            option++;
            continue;
        }
        if (end - option < 2 || option[1] < 2 || end - option < option[1])
            return;
        if (option[0] == OPTION_WSCALE && option[1] == 3) {
            segment->wscale = option[2];
        } else if (option[0] == OPTION_TIMESTAMPS && option[1] == TIMESTAMPS_LEN) {
            segment->timestamp = load_be32(option + 2);
            segment->echo = load_be32(option + 6);
            segment->has_timestamp = true;
        } else if (option[0] == OPTION_FAST_OPEN) {
            segment->opens_fast = true;
        }
        option += option[1];
    }
}

/* Bytes of the datagram that were on the wire and not captured. */
static uint32_t count_snapped(const struct sl_packet *packet, const uint8_t *bytes, uint32_t end)
{
    const uint8_t *ip = bytes + packet->network;
    uint32_t ip_end;

    if ((packet->flags & SL_PACKET_SNAPPED) == 0)
        return 0;
    if ((packet->flags & SL_PACKET_IPV4) != 0)
        ip_end = packet->network + load_be16(ip + 2);
    else
        ip_end = packet->network + 40u + load_be16(ip + 4);
    return ip_end > end ? ip_end - end : 0;
}

bool stream_segment_read(struct stream_segment *segment, const struct sl_batch *batch,
                         uint32_t item, uint8_t half)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *bytes = batch->bytes + packet->offset;
    const uint8_t *tcp = bytes + packet->transport;
    const struct sl_span payload = batch->payload[item];
    uint32_t header_len;

    if (packet->protocol != SL_IP_TCP || packet->transport == 0 || packet->defect != 0 ||
        (packet->flags & SL_PACKET_FRAGMENT) != 0)
        return false;
    header_len = (tcp[12] >> 4) * 4u;
    *segment = (struct stream_segment){
        .item = item,
        .at = payload.offset,
        .len = payload.len,
        .snapped = count_snapped(packet, bytes, payload.offset - packet->offset + payload.len),
        .seq = load_be32(tcp + 4),
        .ack = load_be32(tcp + 8),
        .window = load_be16(tcp + 14),
        .urgent = load_be16(tcp + 18),
        .flags = tcp[13],
        .wscale = STREAM_NO_WSCALE,
        .half = half,
    };
    segment->ttl = packet_ttl(batch, packet);
    if (tcp_has_timestamps(tcp, header_len)) { /* as most segments have it */
        segment->timestamp = load_be32(tcp + 24);
        segment->echo = load_be32(tcp + 28);
        segment->has_timestamp = true;
    } else if (header_len > 20) {
        read_options(segment, tcp + 20, tcp + header_len);
    }
    return true;
}

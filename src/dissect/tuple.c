/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/bytes.h"
#include "sluice/dissect.h"

static void map_ipv4(struct sl_addr *addr, const uint8_t *ipv4)
{
    memset(addr->byte, 0, 10);
    memset(addr->byte + 10, 0xFF, 2);
    memcpy(addr->byte + 12, ipv4, 4);
}

static void read_ports(struct sl_tuple *tuple, const uint8_t *transport)
{
    switch (tuple->protocol) {
    case SL_IP_ICMP:
    case SL_IP_ICMPV6:
        tuple->src_port = transport[0];
        tuple->dst_port = transport[1];
        break;
    default:
        tuple->src_port = load_be16(transport);
        tuple->dst_port = load_be16(transport + 2);
    }
}

bool sl_packet_tuple(const struct sl_batch *batch, uint32_t item, struct sl_tuple *tuple)
{
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *bytes = batch->bytes + packet->offset;
    const uint8_t *ip = bytes + packet->network;

    if (packet->flags & SL_PACKET_IPV4) {
        map_ipv4(&tuple->src, ip + 12);
        map_ipv4(&tuple->dst, ip + 16);
    } else if (packet->flags & SL_PACKET_IPV6) {
        memcpy(tuple->src.byte, ip + 8, 16);
        memcpy(tuple->dst.byte, ip + 24, 16);
    } else {
        return false;
    }
    tuple->protocol = packet->protocol;
    tuple->src_port = 0;
    tuple->dst_port = 0;
    if (packet->transport != 0)
        read_ports(tuple, bytes + packet->transport);
    return true;
}

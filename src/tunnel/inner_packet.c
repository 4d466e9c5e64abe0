/* SPDX-License-Identifier: MIT */
#include "inner_packet.h"

#include <netinet/in.h>
#include <string.h>

#include "base/bytes.h"
#include "networks.h"

enum {
    IPV4_LEN = 20, /* bytes */
    IPV6_LEN = 40,
    TCP_LEN = 20,
    TCP_SYN = 2,
    OPTION_END = 0,
    OPTION_NOP = 1,
    OPTION_MSS = 2
};

/* The checksum of a header after one of its words changed (RFC 1624). */
static void adjust_checksum(uint8_t *checksum, uint16_t before, uint16_t after)
{
    uint32_t sum = (uint16_t)~load_be16(checksum);

    sum += (uint16_t)~before;
    sum += after;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = ~sum & 0xFFFF;
    checksum[0] = (uint8_t)(sum >> 8);
    checksum[1] = (uint8_t)sum;
}

static bool read_ipv4(struct inner_packet *inner, const uint8_t *packet, uint32_t len)
{
    const uint32_t header_len = (packet[0] & 15u) * 4;

    if (len < IPV4_LEN || header_len < IPV4_LEN || header_len > len || load_be16(packet + 2) != len)
        return false;
    network_of_ipv4(inner->tuple.source, packet + 12);
    network_of_ipv4(inner->tuple.destination, packet + 16);
    inner->tuple.protocol = packet[9];
    inner->traffic_class = packet[1];
    if ((load_be16(packet + 6) & 0x3FFF) == 0) /* no fragment */
        inner->transport = header_len;
    return true;
}

/* Extension headers are not followed: behind one there are no ports. */
static bool read_ipv6(struct inner_packet *inner, const uint8_t *packet, uint32_t len)
{
    if (len < IPV6_LEN || load_be16(packet + 4) + (uint32_t)IPV6_LEN != len)
        return false;
    memcpy(inner->tuple.source, packet + 8, 16);
    memcpy(inner->tuple.destination, packet + 24, 16);
    inner->tuple.protocol = packet[6];
    inner->traffic_class = (uint8_t)(load_be16(packet) >> 4);
    inner->is_ipv6 = true;
    inner->transport = IPV6_LEN;
    return true;
}

bool inner_read(struct inner_packet *inner, const uint8_t *packet, uint32_t len)
{
    *inner = (struct inner_packet){0};
    if (len == 0 || (packet[0] >> 4 == 4   ? !read_ipv4(inner, packet, len)
                     : packet[0] >> 4 == 6 ? !read_ipv6(inner, packet, len)
                                           : true))
        return false;

    const uint8_t protocol = inner->tuple.protocol;
    if (inner->transport != 0 && len - inner->transport >= 4 &&
        (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP)) {
        inner->tuple.source_port = load_be16(packet + inner->transport);
        inner->tuple.destination_port = load_be16(packet + inner->transport + 2);
    }
    return true;
}

void inner_mark_ce(const struct inner_packet *inner, uint8_t *packet)
{
    const uint16_t before = load_be16(packet);

    if (inner->is_ipv6) {
        packet[1] |= ECN_CE << 4;
        return;
    }
    packet[1] |= ECN_CE;
    adjust_checksum(packet + 10, before, load_be16(packet));
}

/* Where the size stands in the options of a TCP header; 0: it has none. */
static uint32_t find_mss(const uint8_t *tcp, uint32_t header_len)
{
    for (uint32_t at = TCP_LEN; at + 1 < header_len && tcp[at] != OPTION_END;) {
        if (tcp[at] == OPTION_NOP) {
            at++;
            continue;
        }
        if (tcp[at + 1] < 2 || tcp[at + 1] > header_len - at)
            return 0;
        if (tcp[at] == OPTION_MSS && tcp[at + 1] == 4)
            return at + 2;
        at += tcp[at + 1];
    }
    return 0;
}

bool inner_clamp_mss(const struct inner_packet *inner, uint8_t *packet, uint32_t len, uint32_t mtu)
{
    const uint32_t headers = (inner->is_ipv6 ? IPV6_LEN : IPV4_LEN) + TCP_LEN;
    uint8_t *const tcp = packet + inner->transport;

    if (inner->tuple.protocol != IPPROTO_TCP || inner->transport == 0 ||
        len - inner->transport < TCP_LEN || (tcp[13] & TCP_SYN) == 0 || mtu <= headers)
        return false;

    const uint32_t header_len = (tcp[12] >> 4) * 4u;
    if (header_len < TCP_LEN || header_len > len - inner->transport)
        return false;

    const uint32_t at = find_mss(tcp, header_len);
    if (at == 0 || load_be16(tcp + at) <= mtu - headers)
        return false;

    /* The checksum sums words of 16 bits from the header's begin: an odd place swaps its bytes. */
    const uint16_t before = load_be16(tcp + at), after = (uint16_t)(mtu - headers);
    const bool is_odd = at % 2 != 0;
    tcp[at] = (uint8_t)(after >> 8);
    tcp[at + 1] = (uint8_t)after;
    adjust_checksum(tcp + 16, is_odd ? (uint16_t)(before << 8 | before >> 8) : before,
                    is_odd ? (uint16_t)(after << 8 | after >> 8) : after);
    return true;
}

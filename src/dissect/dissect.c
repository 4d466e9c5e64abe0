/* SPDX-License-Identifier: MIT */
#include "sluice/dissect.h"

#include "dissect/dissection.h"

/* A header is two cache lines of a packet that was written long ago. It is fetched this many
 * packets ahead. */
enum { PREFETCH_AHEAD = 8 };

static void prefetch_packet(const struct sl_batch *batch, uint32_t item)
{
    const uint8_t *bytes = batch->bytes + batch->packet[item].offset;

    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + 64);
}

/* Packets in a row with the same protocols, not yet counted. */
struct alike {
    uint32_t seen; /* set of enum sl_protocol */
    uint64_t packets, bytes;
};

static void count_alike(struct sl_dissect_stats *stats, struct alike *alike)
{
    for (uint32_t seen = alike->seen; seen != 0; seen &= seen - 1) {
        const int protocol = __builtin_ctz(seen);

        stats->packets[protocol] += alike->packets;
        stats->bytes[protocol] += alike->bytes;
    }
    *alike = (struct alike){0};
}

static void add_stats(struct sl_dissect_stats *stats, struct alike *alike, uint32_t seen,
                      const struct sl_packet *packet, uint16_t link_type)
{
    if (seen != alike->seen)
        count_alike(stats, alike);
    alike->seen = seen;
    alike->packets++;
    alike->bytes += packet->len;
    stats->defects[packet->defect]++;
    if (seen & 1u << SL_PROTOCOL_UNKNOWN_LINK)
        stats->unknown_links[link_type < 255 ? link_type : 255]++;
}

/* The plain case, which is most packets: Ethernet, IPv4 without options and TCP or UDP, whole, with
 * lengths that are true. Fills all of *packet but offset and len. Returns the set of protocols; 0:
 * the packet is of another kind, and nothing was written. */
static uint32_t dissect_plain(const uint8_t *bytes, uint32_t wire_len, struct sl_packet *packet,
                              struct sl_span *payload)
{
    enum { IP = 14, TRANSPORT = IP + 20, TCP_LEN = 20, UDP_LEN = 8 };

    if (packet->len < TRANSPORT + TCP_LEN || load_be16(bytes + 12) != 0x0800 || bytes[IP] != 0x45 ||
        (load_be16(bytes + IP + 6) & 0x3FFF) != 0)
        return 0;

    const uint8_t *transport = bytes + TRANSPORT;
    const uint8_t protocol = bytes[IP + 9];
    const uint32_t limit = IP + (uint32_t)load_be16(bytes + IP + 2); /* of the datagram */
    uint32_t header_len = UDP_LEN, end = TRANSPORT + (uint32_t)load_be16(transport + 4);
    const bool is_tcp = protocol == SL_IP_TCP;

    if (is_tcp) {
        header_len = (transport[12] >> 4) * 4u;
        end = limit;
    } else if (dissection_may_tunnel(load_be16(transport), load_be16(transport + 2))) {
        return 0;
    }
    const uint32_t at = TRANSPORT + header_len; /* of the payload, which ends at `end` */

    if ((!is_tcp && protocol != SL_IP_UDP) || (is_tcp && header_len < TCP_LEN) || end < at ||
        end > limit || limit > wire_len || at > packet->len)
        return 0;
    packet->outer = packet->defect = 0;
    packet->network = IP;
    packet->transport = TRANSPORT;
    packet->protocol = protocol;
    packet->flags = (uint8_t)(SL_PACKET_IPV4 | (packet->len < wire_len ? SL_PACKET_SNAPPED : 0));
    payload->offset = packet->offset + at;
    payload->len = (end < packet->len ? end : packet->len) - at;
    return 1u << SL_PROTOCOL_ETHERNET | 1u << SL_PROTOCOL_IPV4 |
           1u << (is_tcp ? SL_PROTOCOL_TCP : SL_PROTOCOL_UDP);
}

/* Returns the set of protocols. */
static uint32_t dissect_any(struct sl_batch *batch, uint32_t item, uint32_t wire_len)
{
    struct sl_packet *packet = &batch->packet[item];
    struct sl_origin *origin = &batch->origin[item];
    struct dissection d = {
        .bytes = batch->bytes + packet->offset,
        .captured_len = packet->len,
        .limit = wire_len,
        .end = packet->len,
        .vlan = {SL_NO_VLAN, SL_NO_VLAN},
        .packet = packet,
        .payload = &batch->payload[item],
    };

    *packet = (struct sl_packet){
        .offset = packet->offset,
        .len = packet->len,
        .flags = packet->len < wire_len ? SL_PACKET_SNAPPED : 0,
    };
    batch->payload[item] = (struct sl_span){.offset = packet->offset};
    dissect_link(&d, origin->link_type);
    origin->vlan[0] = d.vlan[0];
    origin->vlan[1] = d.vlan[1];
    return d.seen;
}

static void dissect_packet(struct sl_batch *batch, uint32_t item, struct sl_dissect_stats *stats,
                           struct alike *alike)
{
    struct sl_packet *packet = &batch->packet[item];
    struct sl_origin *origin = &batch->origin[item];
    const uint32_t wire_len = origin->wire_len > packet->len ? origin->wire_len : packet->len;
    uint32_t seen = 0;

    if (origin->link_type == LINK_ETHERNET)
        seen =
            dissect_plain(batch->bytes + packet->offset, wire_len, packet, &batch->payload[item]);
    if (seen != 0)
        origin->vlan[0] = origin->vlan[1] = SL_NO_VLAN;
    else
        seen = dissect_any(batch, item, wire_len);
    add_stats(stats, alike, seen, packet, origin->link_type);
}

void sl_dissect(struct sl_batch *batch, struct sl_dissect_stats *stats)
{
    struct alike alike = {0};

    for (uint32_t item = 0; item < batch->n_items; item++) {
        if (batch->n_items - item > PREFETCH_AHEAD)
            prefetch_packet(batch, item + PREFETCH_AHEAD);
        dissect_packet(batch, item, stats, &alike);
    }
    count_alike(stats, &alike);
}

const char *sl_defect_name(enum sl_defect defect)
{
    static const char *const names[SL_N_DEFECTS] = {
        [SL_DEFECT_NONE] = "none",
        [SL_DEFECT_SNAPPED] = "snapped",
        [SL_DEFECT_LINK_TYPE] = "link-type",
        [SL_DEFECT_LINK_SHORT] = "link-short",
        [SL_DEFECT_VLAN_SHORT] = "vlan-short",
        [SL_DEFECT_VLAN_DEEP] = "vlan-deep",
        [SL_DEFECT_MPLS_SHORT] = "mpls-short",
        [SL_DEFECT_PPPOE_SHORT] = "pppoe-short",
        [SL_DEFECT_PPP_SHORT] = "ppp-short",
        [SL_DEFECT_IPV4_VERSION] = "ipv4-version",
        [SL_DEFECT_IPV4_SHORT] = "ipv4-short",
        [SL_DEFECT_IPV4_HEADER_LEN] = "ipv4-header-length",
        [SL_DEFECT_IPV4_TOTAL_LEN] = "ipv4-total-length",
        [SL_DEFECT_IPV6_VERSION] = "ipv6-version",
        [SL_DEFECT_IPV6_SHORT] = "ipv6-short",
        [SL_DEFECT_IPV6_PAYLOAD_LEN] = "ipv6-payload-length",
        [SL_DEFECT_IPV6_EXT_SHORT] = "ipv6-extension-short",
        [SL_DEFECT_IPV6_EXT_DEEP] = "ipv6-extension-deep",
        [SL_DEFECT_TCP_SHORT] = "tcp-short",
        [SL_DEFECT_TCP_HEADER_LEN] = "tcp-header-length",
        [SL_DEFECT_UDP_SHORT] = "udp-short",
        [SL_DEFECT_UDP_LEN] = "udp-length",
        [SL_DEFECT_SCTP_SHORT] = "sctp-short",
        [SL_DEFECT_ICMP_SHORT] = "icmp-short",
        [SL_DEFECT_GRE_SHORT] = "gre-short",
        [SL_DEFECT_TUNNEL_SHORT] = "tunnel-short",
        [SL_DEFECT_OFFSET] = "offset",
    };

    return names[defect];
}

const char *sl_protocol_name(enum sl_protocol protocol)
{
    static const char *const names[SL_N_PROTOCOLS] = {
        [SL_PROTOCOL_ETHERNET] = "Ethernet",
        [SL_PROTOCOL_VLAN] = "802.1Q",
        [SL_PROTOCOL_MPLS] = "MPLS",
        [SL_PROTOCOL_PPPOE] = "PPPoE",
        [SL_PROTOCOL_PPP] = "PPP",
        [SL_PROTOCOL_ARP] = "ARP",
        [SL_PROTOCOL_IPV4] = "IPv4",
        [SL_PROTOCOL_IPV6] = "IPv6",
        [SL_PROTOCOL_FRAGMENT] = "fragment",
        [SL_PROTOCOL_GRE] = "GRE",
        [SL_PROTOCOL_IPIP] = "IP-in-IP",
        [SL_PROTOCOL_VXLAN] = "VXLAN",
        [SL_PROTOCOL_GENEVE] = "Geneve",
        [SL_PROTOCOL_TEREDO] = "Teredo",
        [SL_PROTOCOL_TCP] = "TCP",
        [SL_PROTOCOL_UDP] = "UDP",
        [SL_PROTOCOL_SCTP] = "SCTP",
        [SL_PROTOCOL_ICMP] = "ICMP",
        [SL_PROTOCOL_ICMPV6] = "ICMPv6",
        [SL_PROTOCOL_OTHER_IP] = "other IP",
        [SL_PROTOCOL_OTHER_LINK] = "other link",
        [SL_PROTOCOL_UNKNOWN_LINK] = "unknown link",
    };

    return names[protocol];
}

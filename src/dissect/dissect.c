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

static void add_stats(struct sl_dissect_stats *stats, const struct dissection *d,
                      uint16_t link_type)
{
    for (uint32_t seen = d->seen; seen != 0; seen &= seen - 1) {
        const int protocol = __builtin_ctz(seen);

        stats->packets[protocol]++;
        stats->bytes[protocol] += d->captured_len;
    }
    stats->defects[d->packet->defect]++;
    if (d->seen & 1u << SL_PROTOCOL_UNKNOWN_LINK)
        stats->unknown_links[link_type < 255 ? link_type : 255]++;
}

static void dissect_packet(struct sl_batch *batch, uint32_t item, struct sl_dissect_stats *stats)
{
    struct sl_packet *packet = &batch->packet[item];
    struct sl_origin *origin = &batch->origin[item];
    const uint32_t wire_len = origin->wire_len > packet->len ? origin->wire_len : packet->len;
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
    add_stats(stats, &d, origin->link_type);
}

void sl_dissect(struct sl_batch *batch, struct sl_dissect_stats *stats)
{
    for (uint32_t item = 0; item < batch->n_items; item++) {
        if (batch->n_items - item > PREFETCH_AHEAD)
            prefetch_packet(batch, item + PREFETCH_AHEAD);
        dissect_packet(batch, item, stats);
    }
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

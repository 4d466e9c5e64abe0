/* SPDX-License-Identifier: MIT */
/* The dissector: finds link, network and transport headers and the payload of each packet.
 *
 * Link types: Ethernet, raw IP, NULL and LOOP, Linux SLL and SLL2, PPP (also with HDLC framing),
 * PPPoE and Cisco HDLC. Inside: 802.1Q, 802.1ad, LLC with SNAP, MPLS, PPPoE sessions, IPv4 with
 * options, IPv6 with extension headers, fragments, TCP, UDP, SCTP, ICMP, ICMPv6; GRE and IP in IP
 * are followed one level deep, and deeper tunnels are payload, as are tunnels in fragments.
 * Whatever the bytes say, nothing outside the packet is read: what stops the dissector is a defect
 * of the packet. */
#ifndef SLUICE_DISSECT_H
#define SLUICE_DISSECT_H

#include <stdint.h>

#include "sluice/batch.h"
#include "sluice/net.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What stopped the dissector. "Short": the header ends behind the packet's wire length, so it lies;
 * where only the capture cut it off (SL_PACKET_SNAPPED) the defect is SL_DEFECT_SNAPPED instead.
 * Headers found before the defect stay valid. */
enum sl_defect {
    SL_DEFECT_NONE,
    SL_DEFECT_SNAPPED,    /* the captured bytes end inside a header */
    SL_DEFECT_LINK_TYPE,  /* a link type that is not dissected */
    SL_DEFECT_LINK_SHORT, /* the packet ends inside its link header */
    SL_DEFECT_VLAN_SHORT,
    SL_DEFECT_VLAN_DEEP,  /* more than 8 tags */
    SL_DEFECT_MPLS_SHORT, /* ends inside the label stack, or before what it carries */
    SL_DEFECT_PPPOE_SHORT,
    SL_DEFECT_PPP_SHORT,
    SL_DEFECT_IPV4_VERSION,    /* the link says IPv4, the version field does not */
    SL_DEFECT_IPV4_SHORT,      /* fewer than 20 bytes */
    SL_DEFECT_IPV4_HEADER_LEN, /* below 20, or above the total length or the packet */
    SL_DEFECT_IPV4_TOTAL_LEN,  /* below 20, or above what was on the wire; 0 is none: see sl_dissect
                                */
    SL_DEFECT_IPV6_VERSION,
    SL_DEFECT_IPV6_SHORT,       /* fewer than 40 bytes */
    SL_DEFECT_IPV6_PAYLOAD_LEN, /* above what was on the wire */
    SL_DEFECT_IPV6_EXT_SHORT,   /* an extension header ends behind the packet */
    SL_DEFECT_IPV6_EXT_DEEP,    /* more than 16 extension headers */
    SL_DEFECT_TCP_SHORT,        /* fewer than 20 bytes */
    SL_DEFECT_TCP_HEADER_LEN,   /* data offset below 5, or above the segment */
    SL_DEFECT_UDP_SHORT,        /* fewer than 8 bytes */
    SL_DEFECT_UDP_LEN,          /* length below 8, or above the datagram */
    SL_DEFECT_SCTP_SHORT,       /* fewer than 12 bytes */
    SL_DEFECT_ICMP_SHORT,       /* fewer than 4 bytes (ICMPv6 too) */
    SL_DEFECT_GRE_SHORT,
    SL_DEFECT_TUNNEL_SHORT, /* a tunnel whose inner IP header is cut off or of another version */
    SL_DEFECT_OFFSET,       /* a header lies beyond byte 65,535 of the packet (outer: 255) */
    SL_N_DEFECTS
};

/* A defect's name in kebab case ("ipv4-total-length"), as in anomaly events. */
SL_API const char *sl_defect_name(enum sl_defect defect);

/* Protocols that are counted; a packet counts at each that it contains: that a header before it
 * names, be it whole or cut short. Later fragments contain no transport. */
enum sl_protocol {
    SL_PROTOCOL_ETHERNET,
    SL_PROTOCOL_VLAN,
    SL_PROTOCOL_MPLS,
    SL_PROTOCOL_PPPOE, /* the session stage; discovery is OTHER_LINK */
    SL_PROTOCOL_PPP,
    SL_PROTOCOL_ARP,
    SL_PROTOCOL_IPV4,
    SL_PROTOCOL_IPV6,
    SL_PROTOCOL_FRAGMENT,
    SL_PROTOCOL_GRE,
    SL_PROTOCOL_IPIP, /* IP protocols 4 and 41 */
    SL_PROTOCOL_TCP,
    SL_PROTOCOL_UDP,
    SL_PROTOCOL_SCTP,
    SL_PROTOCOL_ICMP,
    SL_PROTOCOL_ICMPV6,
    SL_PROTOCOL_OTHER_IP,     /* IP with a transport that is not dissected */
    SL_PROTOCOL_OTHER_LINK,   /* a link payload that is not dissected (LLDP, STP, ...) */
    SL_PROTOCOL_UNKNOWN_LINK, /* a link type that is not dissected */
    SL_N_PROTOCOLS
};

SL_API const char *sl_protocol_name(enum sl_protocol protocol); /* "TCP", "IPv4", "802.1Q", ... */

struct sl_dissect_stats {
    uint64_t packets[SL_N_PROTOCOLS];
    uint64_t bytes[SL_N_PROTOCOLS]; /* captured bytes of those packets */
    uint64_t defects[SL_N_DEFECTS]; /* packets by defect, those without one under SL_DEFECT_NONE */
    uint64_t unknown_links[256];    /* packets by link type, for those not dissected; the last entry
                                       holds link types of 255 and above */
};

/* Dissects all packets of a host batch: fills packet[] and payload[] (empty for non-IP packets and
 * for those with a defect before the payload; never beyond what the IP header says, never beyond
 * what was captured) and origin[].vlan, and adds to *stats. Needs packet and origin columns.
 *
 * The payload is what lies behind a TCP, UDP, SCTP or ICMP header (8 bytes of ICMP), else behind
 * the IP headers. An IPv4 total length or IPv6 payload length of 0, as segmentation offload leaves
 * it in a sender's capture, means: to the end of the packet or tunnel around it. A first fragment
 * that ends inside its transport header has no defect and no transport; what it holds of it is
 * payload. VLAN ids are the first two on the way in; a priority tag (id 0) names none. */
SL_API void sl_dissect(struct sl_batch *batch, struct sl_dissect_stats *stats);

/* Addresses and ports of a packet, of the inner IP header of a tunnel. */
struct sl_tuple {
    struct sl_addr src, dst;
    uint16_t src_port, dst_port; /* host order; 0 where there are none; ICMP: type and code */
    uint8_t protocol;            /* IP protocol number */
};

/* False where the packet has no IP header. The batch is a dissected host batch. */
SL_API bool sl_packet_tuple(const struct sl_batch *batch, uint32_t item, struct sl_tuple *tuple);

/* IP protocol numbers that sluice dissects. */
enum {
    SL_IP_ICMP = 1,
    SL_IP_IPIP = 4,
    SL_IP_TCP = 6,
    SL_IP_UDP = 17,
    SL_IP_IPV6 = 41,
    SL_IP_GRE = 47,
    SL_IP_ICMPV6 = 58,
    SL_IP_SCTP = 132
};

#ifdef __cplusplus
}
#endif
#endif

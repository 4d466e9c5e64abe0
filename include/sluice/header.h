/* SPDX-License-Identifier: MIT */
/* Header checks: packets whose headers no honest sender makes.
 *
 * The rules of "Traffic anomaly detection on GPUs" (thesis, 2017, section 4.2), written from their
 * meaning, and what a sensor needs beside them. A hit is (item, offset of the offending field from
 * the packet's first byte, check). Each check looks at the innermost IP and transport header; the
 * IP checks are made on the outer header of a tunnel too (a check trips once a packet, at the first
 * place). */
#ifndef SLUICE_HEADER_H
#define SLUICE_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/engine.h"
#include "sluice/net.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fewer than 64, so that a set of checks is a uint64_t: bit c is check c. */
enum sl_header_check {
    /* What stopped the dissector: one check for each kind of lying length. Never SL_DEFECT_SNAPPED,
     * SL_DEFECT_LINK_TYPE and SL_DEFECT_OFFSET: they are the capture's or sluice's limit. */
    SL_HEADER_LINK_TRUNCATED, /* LINK, VLAN, MPLS, PPPOE, PPP _SHORT; VLAN_DEEP */
    SL_HEADER_IP_VERSION,     /* IPV4_VERSION, IPV6_VERSION */
    SL_HEADER_IP_HEADER_LEN,  /* IPV4_SHORT, IPV4_HEADER_LEN, IPV6_SHORT */
    SL_HEADER_IP_TOTAL_LEN,   /* IPV4_TOTAL_LEN, IPV6_PAYLOAD_LEN */
    SL_HEADER_IPV6_EXTENSION, /* IPV6_EXT_SHORT, IPV6_EXT_DEEP */
    SL_HEADER_TCP_HEADER_LEN, /* TCP_SHORT, TCP_HEADER_LEN */
    SL_HEADER_UDP_LEN,        /* UDP_SHORT, UDP_LEN */
    SL_HEADER_SCTP_LEN,       /* SCTP_SHORT */
    SL_HEADER_ICMP_LEN,       /* ICMP_SHORT */
    SL_HEADER_TUNNEL,         /* GRE_SHORT, TUNNEL_SHORT */

    /* Checksums: only where all bytes they cover were captured and the datagram is no fragment. */
    SL_HEADER_IPV4_CHECKSUM,
    SL_HEADER_TCP_CHECKSUM,
    SL_HEADER_UDP_CHECKSUM,  /* 0 is "none" in IPv4 and wrong in IPv6 */
    SL_HEADER_ICMP_CHECKSUM, /* ICMP and ICMPv6 */

    /* Addresses. */
    SL_HEADER_PRIVATE_SOURCE,      /* private source that is not in a home network, and a
                                      destination that is public and not in one either. Public:
                                      neither private, multicast, broadcast, loopback, link-local
                                      nor unspecified */
    SL_HEADER_PRIVATE_DESTINATION, /* the same, turned around */
    SL_HEADER_LAND,                /* source = destination, unspecified and loopback excepted */
    SL_HEADER_BAD_SOURCE,          /* multicast source, or IPv4 255.255.255.255 */
    SL_HEADER_TCP_BROADCAST, /* TCP to a multicast address, to 255.255.255.255, or to the broadcast
                                address of a --home network of at most 30 bits */

    /* IP. */
    SL_HEADER_TTL_ZERO,          /* TTL or hop limit 0 */
    SL_HEADER_SOURCE_ROUTE,      /* IPv4 loose or strict source route; IPv6 routing header type 0 */
    SL_HEADER_IP_RESERVED_FLAG,  /* the reserved bit of IPv4's flags (RFC 3514) */
    SL_HEADER_FRAGMENT_OVERSIZE, /* fragment offset + length above 65,535 */
    SL_HEADER_FRAGMENT_TINY, /* first fragment, more to follow, TCP, with fewer than 20 bytes of it;
                                or TCP at fragment offset 1 (RFC 1858, RFC 3128) */

    /* TCP and UDP. */
    SL_HEADER_PORT_ZERO,    /* TCP or UDP source (UDP source 0 is allowed: not tripped) or
                               destination port 0 */
    SL_HEADER_TCP_SYN_FIN,  /* SYN and FIN (thesis: 3, 11, 7, 15, whatever else is set) */
    SL_HEADER_TCP_SYN_RST,  /* SYN and RST without FIN */
    SL_HEADER_TCP_FIN_RST,  /* FIN and RST without SYN */
    SL_HEADER_TCP_NULL,     /* none of FIN SYN RST PSH ACK URG */
    SL_HEADER_TCP_FIN_ONLY, /* FIN alone of those six (thesis: 1) */
    SL_HEADER_TCP_XMAS,     /* FIN, PSH and URG, without SYN, RST, ACK */
    SL_HEADER_TCP_RESERVED, /* reserved bits of byte 12 (the low nibble: three bits and NS, of which
                               NS, RFC 3540 historic, is not tripped) */
    SL_HEADER_TCP_ACK_ZERO, /* ACK set, acknowledgment number 0, and not RST */
    SL_N_HEADER_CHECKS
};

/* A check's name in kebab case, as on the command line and in anomaly events ("tcp-syn-fin"). */
SL_API const char *sl_header_check_name(enum sl_header_check check);

/* One line of what it means. */
SL_API const char *sl_header_check_text(enum sl_header_check check);

#define SL_HEADER_ALL ((UINT64_C(1) << SL_N_HEADER_CHECKS) - 1)
#define SL_HEADER_CHECKSUMS                                                           \
    (UINT64_C(1) << SL_HEADER_IPV4_CHECKSUM | UINT64_C(1) << SL_HEADER_TCP_CHECKSUM | \
     UINT64_C(1) << SL_HEADER_UDP_CHECKSUM | UINT64_C(1) << SL_HEADER_ICMP_CHECKSUM)

/* Reads a list of names, comma separated, each with an optional '-' before it that takes it away;
 * "all", "none" and "checksums" are sets ("all,-checksums"; a list that begins with '-' begins from
 * all). SL_EINVAL with the unknown name quoted and the known ones listed. */
SL_CHECK SL_API enum sl_status sl_header_parse_checks(uint64_t *checks, const char *list,
                                                      struct sl_diag *diag);

struct sl_header_config {
    uint64_t checks;           /* set of checks to make */
    const struct sl_net *home; /* the user's own networks; borrowed until build returns */
    uint32_t n_home;           /* at most 64 */
    uint64_t reserved[4];      /* 0: room to grow */
};

/* All checks, no home networks. */
SL_API void sl_header_config_init(struct sl_header_config *config);

struct sl_header_table;

/* SL_EINVAL: a bit above the last check, or too many networks. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_header_build(struct sl_header_table **table,
                                               const struct sl_header_config *config,
                                               struct sl_diag *diag);

/* Accepts NULL. */
SL_API void sl_header_free(struct sl_header_table *table);

/* The engine whose backends run these tables. Static storage; any thread. */
SL_API const struct sl_engine *sl_header_engine(void);

#ifdef __cplusplus
}
#endif
#endif

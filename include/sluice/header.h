/* SPDX-License-Identifier: MIT */
/* Header checks: packets whose headers no honest sender makes.
 *
 * The rules are those of "Traffic anomaly detection on GPUs" (thesis, 2017, section 4.2), and
 * others that a sensor needs. A hit is (item, offset, check); the offset is that of the offending
 * field from the packet's first byte. A packet's hits depend on that packet and the configuration
 * alone.
 *
 * Each check applies to the innermost IP header and its transport header, as the dissector found
 * them (sluice/dissect.h). Checks marked "outer too" apply to the outer header of a tunnel as well.
 * A check trips once a packet, at the outer header first. Lengths are those that an IP header
 * claims. A length of 0 (segmentation offload, jumbograms) is none, and the checks that need one
 * are not made. Options and extension headers count as far as they were captured, and at most 16 of
 * them. An IPv4-mapped address in an IPv6 header is that IPv4 address.
 *
 * Private: 10/8, 172.16/12, 192.168/16 (RFC 1918), fc00::/7 (RFC 4193). Multicast: 224/4
 * (RFC 5771), ff00::/8 (RFC 4291). Broadcast: 255.255.255.255 (RFC 919). Public: none of these, and
 * neither loopback, link-local nor unspecified. Home networks are the user's own, which are private
 * behind NAT. */
#ifndef SLUICE_HEADER_H
#define SLUICE_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/dissect.h"
#include "sluice/engine.h"
#include "sluice/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fewer than 64, so that a set of checks is a uint64_t: bit c is check c. Behind each check stand
 * its condition and the hit's offset. */
enum sl_header_check {
    /* Defects that stopped the dissector, one a packet. SL_DEFECT_SNAPPED, SL_DEFECT_LINK_TYPE and
     * SL_DEFECT_OFFSET are no check: they are limits of the capture or of sluice. */
    SL_HEADER_LINK_TRUNCATED, /* the packet ends inside Ethernet, VLAN, MPLS, PPPoE or PPP headers,
                                 or has more than 8 VLAN tags; 0 */
    SL_HEADER_IP_VERSION,     /* the version field differs from the link's; 0 */
    SL_HEADER_IP_HEADER_LEN, /* fewer than 20 (IPv4) or 40 bytes (IPv6); an IPv4 header length below
                                20, or above the total length or the packet; header, or 0 */
    SL_HEADER_IP_TOTAL_LEN,  /* total length (RFC 791) below 20 or above the packet; payload length
                                (IPv6) above the packet; length field */
    SL_HEADER_IPV6_EXTENSION, /* an extension header ends behind the datagram, or there are more
                                 than 16; IPv6 header */
    SL_HEADER_TCP_HEADER_LEN, /* fewer than 20 bytes; data offset below 5 or behind the segment
                                 (RFC 9293); TCP header, or the IP header if too short */
    SL_HEADER_UDP_LEN,        /* fewer than 8 bytes; length below 8 or above the datagram (RFC 768);
                                 UDP header, or the IP header if too short */
    SL_HEADER_SCTP_LEN,       /* fewer than 12 bytes; IP header */
    SL_HEADER_ICMP_LEN,       /* fewer than 4 bytes; IP header */
    SL_HEADER_TUNNEL, /* a GRE header is cut short, or the announced IP header is not whole or
                         of another version; IP header of the tunnel */

    /* Checksums, where all bytes that they cover were captured. Those of a transport also need a
     * packet that is no fragment. An IPv6 fragment header with offset 0 and nothing to follow makes
     * none (RFC 6946). TCP's, UDP's and ICMPv6's also need a source route without hops left: the
     * pseudo-header's destination then is the IP header's. Offset: the checksum field. */
    SL_HEADER_IPV4_CHECKSUM, /* RFC 1071 over the header with its options. Outer too */
    SL_HEADER_TCP_CHECKSUM,  /* RFC 9293, pseudo-header of IPv4 or of IPv6 (RFC 8200, 8.1) */
    SL_HEADER_UDP_CHECKSUM,  /* RFC 768, over the UDP length; 0 is none in IPv4 and wrong in IPv6 */
    SL_HEADER_ICMP_CHECKSUM, /* ICMP in IPv4 (RFC 792), ICMPv6 in IPv6 (RFC 4443) */

    /* Addresses. */
    SL_HEADER_PRIVATE_SOURCE,      /* private source and public destination, neither in a home
                                      network; source. Outer too */
    SL_HEADER_PRIVATE_DESTINATION, /* public source and private destination, neither in a home
                                      network; destination. Outer too */
    SL_HEADER_LAND,          /* source = destination, unspecified and loopback excepted; source.
                                Outer too */
    SL_HEADER_BAD_SOURCE,    /* multicast or broadcast source (RFC 1122, 3.2.1.3); source. Outer
                                too */
    SL_HEADER_TCP_BROADCAST, /* TCP, later fragments too, to a multicast or broadcast address, or
                                to the last address of an IPv4 home network of at most 30 bits
                                (RFC 9293, 3.9.2.3); destination */

    /* IP. */
    SL_HEADER_TTL_ZERO,          /* TTL or hop limit 0; field. Outer too */
    SL_HEADER_SOURCE_ROUTE,      /* IPv4 option 131 or 137 of any length (RFC 7126); IPv6 routing
                                    header of type 0 (RFC 5095); option or header. Outer too */
    SL_HEADER_IP_RESERVED_FLAG,  /* highest bit of IPv4's flags (RFC 3514); flags. Outer too */
    SL_HEADER_FRAGMENT_OVERSIZE, /* the whole datagram would have a total length (IPv4), or a
                                    payload length less the fragment header (RFC 8200, 4.5), above
                                    65,535; fragment offset. Outer too */
    SL_HEADER_FRAGMENT_TINY, /* TCP at fragment offset 1, or a first fragment with more to follow
                                and fewer than 20 bytes of TCP (RFC 1858, RFC 3128); fragment
                                offset */

    /* TCP and UDP. "Flags" are FIN, SYN, RST, PSH, ACK and URG. */
    SL_HEADER_PORT_ZERO,    /* TCP source or destination port 0, UDP destination port 0; port */
    SL_HEADER_TCP_SYN_FIN,  /* SYN and FIN (thesis: 3, 7, 11, 15, with any others); flags */
    SL_HEADER_TCP_SYN_RST,  /* SYN and RST without FIN; flags */
    SL_HEADER_TCP_FIN_RST,  /* FIN and RST without SYN; flags */
    SL_HEADER_TCP_NULL,     /* no flag; flags */
    SL_HEADER_TCP_FIN_ONLY, /* FIN alone (thesis: 1); flags */
    SL_HEADER_TCP_XMAS,     /* FIN, PSH and URG alone; flags */
    SL_HEADER_TCP_RESERVED, /* a reserved bit of byte 12; NS (RFC 3540) is none; byte 12 */
    SL_HEADER_TCP_ACK_ZERO, /* ACK without RST, acknowledgment number 0; acknowledgment */
    SL_N_HEADER_CHECKS
};

/* The check's name in kebab case, as on the command line and in anomaly events ("tcp-syn-fin").
 * Static storage; any thread. */
SL_API const char *sl_header_check_name(enum sl_header_check check);

/* The check's meaning in one line. Static storage; any thread. */
SL_API const char *sl_header_check_text(enum sl_header_check check);

/* All checks, and those of checksums. */
#define SL_HEADER_ALL ((UINT64_C(1) << SL_N_HEADER_CHECKS) - 1)
#define SL_HEADER_CHECKSUMS                                                           \
    (UINT64_C(1) << SL_HEADER_IPV4_CHECKSUM | UINT64_C(1) << SL_HEADER_TCP_CHECKSUM | \
     UINT64_C(1) << SL_HEADER_UDP_CHECKSUM | UINT64_C(1) << SL_HEADER_ICMP_CHECKSUM)

/* The checks that home networks change. */
#define SL_HEADER_HOME                                                                        \
    (UINT64_C(1) << SL_HEADER_PRIVATE_SOURCE | UINT64_C(1) << SL_HEADER_PRIVATE_DESTINATION | \
     UINT64_C(1) << SL_HEADER_TCP_BROADCAST)

/* Reads a list of names, comma separated. A '-' before a name takes it away. "all", "none" and
 * "checksums" are sets. A list that begins with '-' begins from all ("-checksums"). Any thread.
 * SL_EINVAL: a name is unknown or empty; diag quotes it and lists the known ones. */
SL_CHECK SL_API enum sl_status sl_header_parse_checks(uint64_t *checks, const char *list,
                                                      struct sl_diag *diag);

/* The configuration of a table. */
struct sl_header_config {
    uint64_t checks;           /* set of checks to make */
    const struct sl_net *home; /* the user's own networks; borrowed until build returns */
    uint32_t n_home;           /* at most 64 */
    uint64_t reserved[4];      /* 0: room to grow */
};

/* All checks, no home networks. */
SL_API void sl_header_config_init(struct sl_header_config *config);

/* Checks as they were configured: immutable; any number of threads and contexts share them. */
struct sl_header_table;

/* Makes a table. The caller frees it. SL_EINVAL: a bit above the last check, too many networks, or
 * a prefix above 128 bits. SL_ENOMEM. */
SL_CHECK SL_API enum sl_status sl_header_build(struct sl_header_table **table,
                                               const struct sl_header_config *config,
                                               struct sl_diag *diag);

/* Frees a table, after its contexts. Accepts NULL. */
SL_API void sl_header_free(struct sl_header_table *table);

/* Returns the set of the table's checks that a packet of a dissected host batch trips, as the
 * engine finds them, but before it runs. Any thread. */
SL_API uint64_t sl_header_tripped(const struct sl_header_table *table, const struct sl_batch *batch,
                                  uint32_t item);

/* Whether a packet of a dissected host batch trips the table's checksums of IPv4 or TCP: two of
 * those, found sooner. Any thread. */
SL_API bool sl_header_tcp_is_damaged(const struct sl_header_table *table,
                                     const struct sl_batch *batch, uint32_t item);

/* The engine whose backends run these tables. Static storage; any thread. */
SL_API const struct sl_engine *sl_header_engine(void);

#ifdef __cplusplus
}
#endif
#endif

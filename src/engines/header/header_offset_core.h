/* SPDX-License-Identifier: MIT */
/* Where the offending field of a hit is. */
#ifndef HEADER_OFFSET_CORE_H
#define HEADER_OFFSET_CORE_H

#include "header_ip_core.h"
#include "sluice/batch.h"

/* Offsets of fields, for hits alone. Inlined, it more than doubles the registers of the CUDA
 * kernel. */
#ifdef __CUDACC__
#define HEADER_COLD __attribute__((noinline, unused)) static __host__ __device__
#else
#define HEADER_COLD __attribute__((noinline, unused)) static
#endif

/* The length field that lies; of other defects the header, the innermost that the dissector found.
 */
CORE uint32_t header_defect_offset(const struct sl_packet *packet, enum sl_header_check check)
{
    if (check == SL_HEADER_LINK_TRUNCATED ||
        (packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) == 0)
        return 0;
    if (packet->defect == SL_DEFECT_IPV4_TOTAL_LEN)
        return packet->network + 2u;
    if (packet->defect == SL_DEFECT_IPV6_PAYLOAD_LEN)
        return packet->network + 4u;
    return packet->transport != 0 ? packet->transport : packet->network;
}

CORE uint32_t header_transport_offset(const struct sl_packet *packet, const uint8_t *bytes,
                                      enum sl_header_check check)
{
    const uint32_t at = packet->transport;

    switch (check) {
    case SL_HEADER_TCP_CHECKSUM:
        return at + 16;
    case SL_HEADER_UDP_CHECKSUM:
        return at + 6;
    case SL_HEADER_ICMP_CHECKSUM:
        return at + 2;
    case SL_HEADER_PORT_ZERO:
        return packet->protocol == SL_IP_TCP && load_be16(bytes + at) == 0 ? at : at + 2;
    case SL_HEADER_TCP_RESERVED:
        return at + 12;
    case SL_HEADER_TCP_ACK_ZERO:
        return at + 8;
    default:
        return at + 13; /* the flags */
    }
}

CORE uint32_t header_ip_offset(const struct header_ip *ip, uint32_t at, bool is_ipv6,
                               enum sl_header_check check)
{
    switch (check) {
    case SL_HEADER_IPV4_CHECKSUM:
        return at + 10;
    case SL_HEADER_PRIVATE_DESTINATION:
    case SL_HEADER_TCP_BROADCAST:
        return at + (is_ipv6 ? 24 : 16);
    case SL_HEADER_TTL_ZERO:
        return at + (is_ipv6 ? 7 : 8);
    case SL_HEADER_SOURCE_ROUTE:
        return ip->route;
    case SL_HEADER_IP_RESERVED_FLAG:
        return at + 6;
    case SL_HEADER_FRAGMENT_OVERSIZE:
    case SL_HEADER_FRAGMENT_TINY:
        return ip->fragment;
    default:
        return at + (is_ipv6 ? 8 : 12); /* the source address */
    }
}

/* The offset in a hit of this packet and tripped check: of the outer IP header if it trips there.
 */
HEADER_COLD uint32_t header_offset(const struct sl_header_table *table,
                                   const struct sl_packet *packet, const uint8_t *bytes,
                                   enum sl_header_check check)
{
    if (check < SL_HEADER_IPV4_CHECKSUM)
        return header_defect_offset(packet, check);
    if (check >= SL_HEADER_PORT_ZERO ||
        (check > SL_HEADER_IPV4_CHECKSUM && check <= SL_HEADER_ICMP_CHECKSUM))
        return header_transport_offset(packet, bytes, check);

    bool is_ipv6 = (packet->flags & SL_PACKET_OUTER_IPV6) != 0;
    if (is_ipv6 || (packet->flags & SL_PACKET_OUTER_IPV4) != 0) {
        const struct header_ip outer =
            header_network(table, bytes, packet->len, packet->outer, is_ipv6);

        if ((outer.tripped >> check & 1) != 0)
            return header_ip_offset(&outer, packet->outer, is_ipv6, check);
    }
    is_ipv6 = (packet->flags & SL_PACKET_IPV6) != 0;

    const struct header_ip ip = header_network(table, bytes, packet->len, packet->network, is_ipv6);
    return header_ip_offset(&ip, packet->network, is_ipv6, check);
}

#endif

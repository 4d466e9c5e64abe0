/* SPDX-License-Identifier: MIT */
/* The checks of TCP, UDP and ICMP headers, and the bytes that a transport checksum covers. */
#ifndef HEADER_TRANSPORT_CORE_H
#define HEADER_TRANSPORT_CORE_H

#include "header_ip_core.h"
#include "sluice/batch.h"

/* The state between header_inspect and header_finish. */
struct header_view {
    uint64_t tripped;    /* every check but `checksum` */
    uint64_t checksum;   /* the transport checksum's check, as a set; 0 where it is not made */
    uint64_t pseudo;     /* sum of the pseudo-header, not folded */
    uint32_t begin, end; /* the bytes that the checksum covers */
};

enum {
    HEADER_FIN = 1,
    HEADER_SYN = 2,
    HEADER_RST = 4,
    HEADER_PSH = 8,
    HEADER_ACK = 16,
    HEADER_URG = 32
};

/* Broadcast addresses of networks of at most 30 bits end in two ones. */
CORE bool header_is_broadcast(const struct sl_header_table *table, const struct header_ip *ip)
{
    const uint32_t addr = (uint32_t)ip->dst.lo;

    if ((ip->dst_kind & (HEADER_MULTICAST | HEADER_BROADCAST)) != 0)
        return true;
    if ((addr & 3) != 3 || !header_is_ipv4(&ip->dst))
        return false;
    for (uint32_t i = 0; i < table->n_broadcast; i++)
        if (table->broadcast[i] == addr)
            return true;
    return false;
}

CORE uint64_t header_tcp(const uint8_t *tcp)
{
    const uint32_t flags = tcp[13] & 0x3F;
    const uint32_t opening = flags & (HEADER_FIN | HEADER_SYN | HEADER_RST);

    return header_if(load_be16(tcp) == 0 || load_be16(tcp + 2) == 0, SL_HEADER_PORT_ZERO) |
           header_if((flags & (HEADER_SYN | HEADER_FIN)) == (HEADER_SYN | HEADER_FIN),
                     SL_HEADER_TCP_SYN_FIN) |
           header_if(opening == (HEADER_SYN | HEADER_RST), SL_HEADER_TCP_SYN_RST) |
           header_if(opening == (HEADER_FIN | HEADER_RST), SL_HEADER_TCP_FIN_RST) |
           header_if(flags == 0, SL_HEADER_TCP_NULL) |
           header_if(flags == HEADER_FIN, SL_HEADER_TCP_FIN_ONLY) |
           header_if(flags == (HEADER_FIN | HEADER_PSH | HEADER_URG), SL_HEADER_TCP_XMAS) |
           header_if((tcp[12] & 0x0E) != 0, SL_HEADER_TCP_RESERVED) |
           header_if((flags & (HEADER_ACK | HEADER_RST)) == HEADER_ACK &&
                         header_load32(tcp + 8) == 0,
                     SL_HEADER_TCP_ACK_ZERO);
}

/* Selects the checksum over `len` bytes from the transport header, and over a pseudo-header where
 * the protocol has one. All of them have to lie in the datagram and to be captured. */
CORE void header_cover(struct header_view *view, const struct sl_header_table *table,
                       const struct sl_packet *packet, const struct header_ip *ip, uint32_t len,
                       enum sl_header_check check)
{
    const uint32_t end = packet->transport + len;
    const bool has_pseudo = packet->protocol != SL_IP_ICMP;

    if ((packet->flags & SL_PACKET_FRAGMENT) != 0 || (has_pseudo && ip->hops_left) ||
        end > ip->end || end > packet->len)
        return;
    view->checksum = header_if(true, check) & table->checks;
    view->begin = packet->transport;
    view->end = end;
    if (has_pseudo)
        view->pseudo = ip->pseudo + header_word(len) + header_word(packet->protocol);
}

/* UDP has a length of its own. A checksum of 0 means none, but in IPv6 there must be one (RFC 8200,
 * section 8.1). */
CORE void header_udp(struct header_view *view, const struct sl_header_table *table,
                     const struct sl_packet *packet, const uint8_t *udp, const struct header_ip *ip)
{
    const uint32_t len = load_be16(udp + 4);
    const bool has_sum = load_be16(udp + 6) != 0;

    view->tripped |= header_if(load_be16(udp + 2) == 0, SL_HEADER_PORT_ZERO);
    if (len < 8 || (!has_sum && (packet->flags & SL_PACKET_IPV4) != 0))
        return;
    header_cover(view, table, packet, ip, len, SL_HEADER_UDP_CHECKSUM);
    if (!has_sum) { /* an empty sum is wrong */
        view->end = view->begin;
        view->pseudo = 0;
    }
}

/* The transport header, of which the fixed part was captured. */
HEADER_INLINE void header_transport(struct header_view *view, const struct sl_header_table *table,
                                    const struct sl_packet *packet, const uint8_t *bytes,
                                    const struct header_ip *ip)
{
    const uint32_t at = packet->transport;
    const uint32_t rest = ip->end > at ? ip->end - at : 0;
    const uint32_t icmp = (packet->flags & SL_PACKET_IPV6) != 0 ? SL_IP_ICMPV6 : SL_IP_ICMP;

    if (packet->protocol == SL_IP_TCP) {
        view->tripped |= header_tcp(bytes + at);
        header_cover(view, table, packet, ip, rest, SL_HEADER_TCP_CHECKSUM);
    } else if (packet->protocol == SL_IP_UDP) {
        header_udp(view, table, packet, bytes + at, ip);
    } else if (packet->protocol == icmp) {
        header_cover(view, table, packet, ip, rest, SL_HEADER_ICMP_CHECKSUM);
    }
}

#endif

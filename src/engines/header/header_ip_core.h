/* SPDX-License-Identifier: MIT */
/* The checks of IPv4 and IPv6 headers. */
#ifndef HEADER_IP_CORE_H
#define HEADER_IP_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "header_addr_core.h"
#include "header_sum_core.h"
#include "sluice/dissect.h"

/* The checks that every packet has. Left to itself, gcc calls these and keeps struct header_ip in
 * memory, at two thirds of the rate. */
#define HEADER_INLINE __attribute__((always_inline)) CORE

/* One IP header as the checks need it. Offsets are from the packet's first byte. */
struct header_ip {
    uint64_t tripped;
    uint64_t pseudo;   /* sum of the two addresses */
    uint32_t end;      /* of the datagram; 0: its length field is 0, and it ends with the packet */
    uint32_t route;    /* source route option, or routing header */
    uint32_t fragment; /* fragment offset field */
    bool hops_left;    /* the destination is not the final one */
    uint32_t dst_kind; /* HEADER_PRIVATE, ... */
    struct header_addr dst;
};

/* Next header numbers of the extension headers that are walked. */
enum {
    HEADER_NEXT_HOP_BY_HOP = 0,
    HEADER_NEXT_ROUTING = 43,
    HEADER_NEXT_FRAGMENT = 44,
    HEADER_NEXT_AUTHENTICATION = 51,
    HEADER_NEXT_DESTINATION = 60,
    HEADER_NEXT_MOBILITY = 135,
    HEADER_NEXT_HIP = 139,
    HEADER_NEXT_SHIM6 = 140,
    HEADER_MAX_EXTENSIONS = 16 /* as many as the dissector follows */
};

/* ---- IPv4 ---- */

/* Finds source routes. The options end where one has no sound length. */
CORE void header_ipv4_options(struct header_ip *ip, const uint8_t *bytes, uint32_t begin,
                              uint32_t end)
{
    enum { END = 0, NOP = 1, LOOSE = 131, STRICT = 137 }; /* RFC 791, section 3.1 */

    for (uint32_t i = begin; i < end && bytes[i] != END;) {
        if (bytes[i] == LOOSE || bytes[i] == STRICT) {
            ip->tripped |= header_if(true, SL_HEADER_SOURCE_ROUTE);
            ip->route = ip->route == 0 ? i : ip->route;
            ip->hops_left |= i + 2 < end && bytes[i + 2] <= bytes[i + 1];
        }
        if (bytes[i] == NOP)
            i++;
        else if (i + 1 < end && bytes[i + 1] >= 2)
            i += bytes[i + 1];
        else
            return;
    }
}

CORE uint64_t header_ipv4_fragment(const uint8_t *header, uint32_t header_len, uint32_t total_len)
{
    enum { RESERVED = 0x8000, MORE = 0x2000, OFFSET = 0x1FFF };
    const uint32_t field = load_be16(header + 6);
    const uint32_t offset = field & OFFSET;
    const bool tiny = offset == 1 || (offset == 0 && (field & MORE) != 0 &&
                                      total_len >= header_len && total_len - header_len < 20);

    return header_if((field & RESERVED) != 0, SL_HEADER_IP_RESERVED_FLAG) |
           header_if(offset * 8 + total_len > 65535, SL_HEADER_FRAGMENT_OVERSIZE) |
           header_if(header[9] == SL_IP_TCP && tiny, SL_HEADER_FRAGMENT_TINY);
}

CORE bool header_ipv4_sum_is_wrong(const uint8_t *header, uint32_t header_len)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < 20; i += 4)
        sum += header_load32(header + i);
    for (uint32_t i = 20; i < header_len; i += 4)
        sum += header_load32(header + i);
    return header_fold(sum) != 0xFFFF;
}

/* Where the datagram of a header ends, and what its checksums cover beside it. */
CORE void header_ipv4_cover(struct header_ip *ip, const uint8_t *header, uint32_t at)
{
    const uint32_t total_len = load_be16(header + 2);

    ip->end = total_len == 0 ? 0 : at + total_len;
    ip->pseudo = (uint64_t)header_load32(header + 12) + header_load32(header + 16);
}

HEADER_INLINE void header_ipv4(struct header_ip *ip, const struct sl_header_table *table,
                               const uint8_t *bytes, uint32_t len, uint32_t at)
{
    const uint8_t *header = bytes + at;
    const uint32_t header_len = (header[0] & 15u) * 4;
    const uint32_t total_len = load_be16(header + 2);
    const struct header_addr src = header_mapped(header_be32(header + 12));

    if (header_len < 20) /* such a header would end inside the addresses */
        return;
    ip->dst = header_mapped(header_be32(header + 16));
    ip->dst_kind = header_kind4((uint32_t)ip->dst.lo);
    header_ipv4_cover(ip, header, at);
    ip->fragment = at + 6;
    ip->tripped =
        header_addresses(table, &src, header_kind4((uint32_t)src.lo), &ip->dst, ip->dst_kind) |
        header_ipv4_fragment(header, header_len, total_len) |
        header_if(header[8] == 0, SL_HEADER_TTL_ZERO);
    if (at + header_len <= len)
        ip->tripped |=
            header_if(header_ipv4_sum_is_wrong(header, header_len), SL_HEADER_IPV4_CHECKSUM);
    if (header_len > 20)
        header_ipv4_options(ip, bytes, at + 20, at + header_len < len ? at + header_len : len);
}

/* ---- IPv6 ---- */

CORE struct header_addr header_ipv6_addr(const uint8_t *bytes)
{
    struct header_addr addr;

    addr.hi = (uint64_t)header_be32(bytes) << 32 | header_be32(bytes + 4);
    addr.lo = (uint64_t)header_be32(bytes + 8) << 32 | header_be32(bytes + 12);
    return addr;
}

/* The length of an extension header (RFC 8200; RFC 4302, section 2.2), 0 where it is none. */
CORE uint32_t header_extension_len(uint32_t kind, const uint8_t *extension)
{
    switch (kind) {
    case HEADER_NEXT_HOP_BY_HOP:
    case HEADER_NEXT_ROUTING:
    case HEADER_NEXT_DESTINATION:
    case HEADER_NEXT_MOBILITY:
    case HEADER_NEXT_HIP:
    case HEADER_NEXT_SHIM6:
        return (extension[1] + 1u) * 8;
    case HEADER_NEXT_AUTHENTICATION:
        return (extension[1] + 2u) * 4;
    case HEADER_NEXT_FRAGMENT:
        return 8;
    default:
        return 0;
    }
}

/* With segments left, the destination is not the one that checksums use (RFC 8200, section 8.1). */
CORE void header_routing(struct header_ip *ip, const uint8_t *bytes, uint32_t at)
{
    ip->hops_left |= bytes[at + 3] != 0;
    if (bytes[at + 2] == 0 && ip->route == 0) {
        ip->tripped |= header_if(true, SL_HEADER_SOURCE_ROUTE);
        ip->route = at;
    }
}

/* A fragment header. Its datagram's payload is this one's less the fragment header, moved by the
 * fragment's offset (RFC 8200, section 4.5). */
CORE void header_ipv6_fragment(struct header_ip *ip, const uint8_t *bytes, uint32_t at,
                               uint32_t payload_len)
{
    const uint32_t offset = load_be16(bytes + at + 2) & 0xFFF8u;

    ip->fragment = at + 2;
    ip->tripped |= header_if(offset + payload_len > 65535 + 8, SL_HEADER_FRAGMENT_OVERSIZE) |
                   header_if(offset == 8 && bytes[at] == SL_IP_TCP, SL_HEADER_FRAGMENT_TINY);
}

/* Walks the extension headers that lie in the datagram and were captured. The first fragment header
 * is the datagram's: a fragment of a fragment is none (RFC 8200, section 4.1). A fragment header
 * with offset 0 and no more fragments makes no fragment (RFC 6946). */
CORE void header_extensions(struct header_ip *ip, const uint8_t *bytes, uint32_t len, uint32_t at)
{
    const uint32_t end = ip->end != 0 && ip->end < len ? ip->end : len;
    uint32_t kind = bytes[at + 6];
    uint32_t i = at + 40;
    bool is_first = false; /* a first fragment with more to follow */
    bool is_later = false; /* a later one: no header follows */

    for (uint32_t n = 0; n < HEADER_MAX_EXTENSIONS && i + 8 <= end && !is_later; n++) {
        const uint32_t extension_len = header_extension_len(kind, bytes + i);

        if (extension_len == 0)
            break;
        if (kind == HEADER_NEXT_ROUTING)
            header_routing(ip, bytes, i);
        if (kind == HEADER_NEXT_FRAGMENT && !is_first) {
            const uint32_t field = load_be16(bytes + i + 2);

            header_ipv6_fragment(ip, bytes, i, load_be16(bytes + at + 4));
            is_later = (field & 0xFFF8) != 0;
            is_first = !is_later && (field & 1) != 0;
        }
        kind = bytes[i];
        i += extension_len;
    }
    ip->tripped |= header_if(is_first && kind == SL_IP_TCP && i <= ip->end && ip->end - i < 20,
                             SL_HEADER_FRAGMENT_TINY);
}

HEADER_INLINE void header_ipv6(struct header_ip *ip, const struct sl_header_table *table,
                               const uint8_t *bytes, uint32_t len, uint32_t at)
{
    const uint8_t *header = bytes + at;
    const uint32_t payload_len = load_be16(header + 4);
    const struct header_addr src = header_ipv6_addr(header + 8);

    ip->dst = header_ipv6_addr(header + 24);
    ip->dst_kind = header_kind(&ip->dst);
    ip->end = payload_len == 0 ? 0 : at + 40 + payload_len;
    for (uint32_t i = 8; i < 40; i += 4)
        ip->pseudo += header_load32(header + i);
    ip->tripped = header_addresses(table, &src, header_kind(&src), &ip->dst, ip->dst_kind) |
                  header_if(header[7] == 0, SL_HEADER_TTL_ZERO);
    if (header[6] != SL_IP_TCP && header[6] != SL_IP_UDP)
        header_extensions(ip, bytes, len, at);
}

/* The header at `at`, of which the fixed part was captured. */
HEADER_INLINE struct header_ip header_network(const struct sl_header_table *table,
                                              const uint8_t *bytes, uint32_t len, uint32_t at,
                                              bool is_ipv6)
{
    struct header_ip ip;

    memset(&ip, 0, sizeof ip);
    if (is_ipv6)
        header_ipv6(&ip, table, bytes, len, at);
    else
        header_ipv4(&ip, table, bytes, len, at);
    return ip;
}

#endif

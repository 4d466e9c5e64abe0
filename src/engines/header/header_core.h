/* SPDX-License-Identifier: MIT */
/* The header checks, once, for C and for nvcc: from one packet's entry and bytes to the set of
 * tripped checks. Every backend calls
 *
 *     header_inspect       all checks but the transport checksum, and what that one must sum
 *     a sum of the bytes   a backend's own, or what lanes make (header_sum_lane)
 *     header_finish        the set of tripped checks
 *     header_offset        only for the few that tripped: where the offending field is
 *
 * No byte at or behind packet->len decides anything; up to 31 bytes behind it may be read, which
 * the batch's slack allows. */
#ifndef ENGINES_HEADER_CORE_H
#define ENGINES_HEADER_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "sluice/batch.h"
#include "sluice/dissect.h"
#include "sluice/header.h"

#if defined(__CUDACC__)
#define HEADER_SIDES __host__ __device__
#else
#define HEADER_SIDES
#endif

#define HEADER_CORE static inline HEADER_SIDES

/* What every packet goes through. Left to itself, gcc calls these and keeps struct header_ip in
 * memory, at two thirds of the rate. */
#define HEADER_INLINE __attribute__((always_inline)) static inline HEADER_SIDES

/* What only hits go through. Inlined, it more than doubles the registers of the CUDA kernel. */
#define HEADER_COLD __attribute__((noinline, unused)) static HEADER_SIDES

enum {
    HEADER_MAGIC = 0x48534C53, /* "SLSH" */
    HEADER_VERSION = 1,
    HEADER_MAX_HOME = 64, /* sl_header_config.n_home */
    HEADER_NO_CHECK = 63, /* a bit above every check */
    HEADER_TILE = 16      /* bytes of a tile of the checksum: one load of a lane */
};

/* An address of sluice/dissect.h as a 128-bit number. */
struct header_addr {
    uint64_t hi, lo;
};

struct header_net {
    struct header_addr addr, mask;
};

/* The table: one flat block, the same on every device. */
struct sl_header_table {
    uint32_t magic;
    uint32_t version;
    uint64_t table_len; /* bytes, this field's too */
    uint64_t checks;
    uint32_t n_home;
    uint32_t n_broadcast;
    struct header_net home[HEADER_MAX_HOME];
    uint32_t broadcast[HEADER_MAX_HOME]; /* of the IPv4 networks in home, as numbers */
    uint8_t defect_check[256];           /* by sl_packet.defect; HEADER_NO_CHECK where none */
};

/* What header_inspect leaves to be done. */
struct header_view {
    uint64_t tripped;    /* every check but `checksum` */
    uint64_t checksum;   /* the transport checksum's check, as a set; 0 where it is not made */
    uint64_t pseudo;     /* sum of the pseudo-header, not folded */
    uint32_t begin, end; /* the bytes that the checksum covers */
};

/* One IP header as the checks need it. Offsets are from the packet's first byte. */
struct header_ip {
    uint64_t tripped;
    uint64_t pseudo;   /* sum of the two addresses */
    uint32_t end;      /* of the datagram; 0 where a length of 0 leaves it to the packet */
    uint32_t route;    /* source route option, or routing header */
    uint32_t fragment; /* fragment offset field */
    bool hops_left;    /* the destination is not the final one */
    uint32_t dst_kind; /* HEADER_PRIVATE, ... */
    struct header_addr dst;
};

enum {
    HEADER_PRIVATE = 1,
    HEADER_MULTICAST = 2,
    HEADER_BROADCAST = 4,
    HEADER_UNSPECIFIED = 8,
    HEADER_LOOPBACK = 16,
    HEADER_LINK_LOCAL = 32
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

enum {
    HEADER_FIN = 1,
    HEADER_SYN = 2,
    HEADER_RST = 4,
    HEADER_PSH = 8,
    HEADER_ACK = 16,
    HEADER_URG = 32
};

/* A word of any alignment in memory order. The GPU has no unaligned load; two aligned ones stay
 * inside the arena, which begins at a multiple of 16 and ends with slack. */
HEADER_CORE uint32_t header_load32(const uint8_t *bytes)
{
#if defined(__CUDA_ARCH__)
    const uintptr_t address = (uintptr_t)bytes;
    const uint32_t *word = (const uint32_t *)(address & ~(uintptr_t)3);

    return __funnelshift_r(word[0], word[1], (unsigned)(address & 3) * 8);
#else
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
#endif
}

HEADER_CORE uint32_t header_be32(const uint8_t *bytes)
{
    const uint32_t word = header_load32(bytes);

    return word << 24 | (word & 0xFF00) << 8 | (word >> 8 & 0xFF00) | word >> 24;
}

HEADER_CORE uint64_t header_if(bool tripped, enum sl_header_check check)
{
    return (uint64_t)tripped << check;
}

/* ---- Sums: RFC 1071. 16-bit words in memory order, those at even offsets of the packet, added
 * into 64 bits; a byte outside [begin, end) counts 0. A datagram has at most 2^15 words: no sum
 * overflows. ---- */

HEADER_CORE uint32_t header_fold(uint64_t sum)
{
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16 & 0xFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint32_t)((sum & 0xFFFF) + (sum >> 16));
}

/* A 16-bit number as the word that holds it in network order. */
HEADER_CORE uint32_t header_word(uint32_t number)
{
    return (number >> 8 & 0xFF) | (number & 0xFF) << 8;
}

HEADER_CORE uint64_t header_halves(uint64_t word)
{
    return (word & 0xFFFFFFFF) + (word >> 32);
}

/* The bytes of a word at offset `at` that lie in [begin, end), the others 0. */
HEADER_CORE uint64_t header_keep(uint64_t word, uint32_t at, uint32_t begin, uint32_t end)
{
    const uint32_t head = begin <= at ? 0 : begin - at;
    const uint32_t tail = end >= at + 8 ? 0 : at + 8 - end;

    if (head >= 8 || tail >= 8)
        return 0;
    return (word >> head * 8 << head * 8) << tail * 8 >> tail * 8;
}

/* The sum of one tile: HEADER_TILE bytes of the packet, at a multiple of HEADER_TILE. */
HEADER_CORE uint64_t header_sum_tile(const uint8_t *bytes, uint32_t tile, uint32_t begin,
                                     uint32_t end)
{
    const uint32_t at = tile * HEADER_TILE;
    uint64_t word[2];

#if defined(__CUDA_ARCH__)
    const ulonglong2 both = *(const ulonglong2 *)(bytes + at);

    word[0] = both.x;
    word[1] = both.y;
#else
    memcpy(word, bytes + at, sizeof word);
#endif
    if (at < begin || at + HEADER_TILE > end) {
        word[0] = header_keep(word[0], at, begin, end);
        word[1] = header_keep(word[1], at + 8, begin, end);
    }
    return header_halves(word[0]) + header_halves(word[1]);
}

/* What one of n_lanes lanes sums: every n_lanes-th tile, so that lanes side by side load bytes side
 * by side. The sums of all lanes add up to the sum of [begin, end). */
HEADER_CORE uint64_t header_sum_lane(const uint8_t *bytes, uint32_t begin, uint32_t end,
                                     uint32_t lane, uint32_t n_lanes)
{
    uint64_t sum = 0;

    for (uint32_t tile = begin / HEADER_TILE + lane; tile * HEADER_TILE < end; tile += n_lanes)
        sum += header_sum_tile(bytes, tile, begin, end);
    return sum;
}

/* ---- Addresses ---- */

HEADER_CORE uint32_t header_kind4(uint32_t addr)
{
    uint32_t kind = 0;

    if (addr >> 24 == 10 || addr >> 20 == 0xAC1 || addr >> 16 == 0xC0A8)
        kind |= HEADER_PRIVATE;
    if (addr >> 28 == 0xE)
        kind |= HEADER_MULTICAST;
    if (addr == 0xFFFFFFFF)
        kind |= HEADER_BROADCAST;
    if (addr == 0)
        kind |= HEADER_UNSPECIFIED;
    if (addr >> 24 == 127)
        kind |= HEADER_LOOPBACK;
    if (addr >> 16 == 0xA9FE)
        kind |= HEADER_LINK_LOCAL;
    return kind;
}

/* RFC 4291, section 2.5.5.2. */
HEADER_CORE struct header_addr header_mapped(uint32_t addr)
{
    struct header_addr mapped;

    mapped.hi = 0;
    mapped.lo = UINT64_C(0xFFFF00000000) | addr;
    return mapped;
}

HEADER_CORE bool header_is_ipv4(const struct header_addr *addr)
{
    return addr->hi == 0 && addr->lo >> 32 == 0xFFFF;
}

HEADER_CORE uint32_t header_kind(const struct header_addr *addr)
{
    if (header_is_ipv4(addr))
        return header_kind4((uint32_t)addr->lo);
    if (addr->hi >> 57 == 0xFC >> 1)
        return HEADER_PRIVATE;
    if (addr->hi >> 56 == 0xFF)
        return HEADER_MULTICAST;
    if (addr->hi >> 54 == 0xFE80 >> 6)
        return HEADER_LINK_LOCAL;
    if (addr->hi == 0 && addr->lo <= 1)
        return addr->lo == 0 ? HEADER_UNSPECIFIED : HEADER_LOOPBACK;
    return 0;
}

HEADER_CORE bool header_is_home(const struct sl_header_table *table, const struct header_addr *addr)
{
    for (uint32_t i = 0; i < table->n_home; i++) {
        const struct header_net *net = &table->home[i];

        if ((((addr->hi ^ net->addr.hi) & net->mask.hi) |
             ((addr->lo ^ net->addr.lo) & net->mask.lo)) == 0)
            return true;
    }
    return false;
}

/* Whether an address is of the world outside. */
HEADER_CORE bool header_is_foreign(const struct sl_header_table *table,
                                   const struct header_addr *addr, uint32_t kind)
{
    return kind == 0 && !header_is_home(table, addr);
}

HEADER_CORE uint64_t header_addresses(const struct sl_header_table *table,
                                      const struct header_addr *src, uint32_t src_kind,
                                      const struct header_addr *dst, uint32_t dst_kind)
{
    uint64_t tripped =
        header_if((src_kind & (HEADER_MULTICAST | HEADER_BROADCAST)) != 0, SL_HEADER_BAD_SOURCE) |
        header_if(src->hi == dst->hi && src->lo == dst->lo &&
                      (src_kind & (HEADER_UNSPECIFIED | HEADER_LOOPBACK)) == 0,
                  SL_HEADER_LAND);

    if ((src_kind & HEADER_PRIVATE) != 0)
        tripped |= header_if(header_is_foreign(table, dst, dst_kind) && !header_is_home(table, src),
                             SL_HEADER_PRIVATE_SOURCE);
    if ((dst_kind & HEADER_PRIVATE) != 0)
        tripped |= header_if(header_is_foreign(table, src, src_kind) && !header_is_home(table, dst),
                             SL_HEADER_PRIVATE_DESTINATION);
    return tripped;
}

/* ---- IPv4 ---- */

/* Finds source routes. The options end where one has no sound length. */
HEADER_CORE void header_ipv4_options(struct header_ip *ip, const uint8_t *bytes, uint32_t begin,
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

HEADER_CORE uint64_t header_ipv4_fragment(const uint8_t *header, uint32_t header_len,
                                          uint32_t total_len)
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

HEADER_CORE bool header_ipv4_sum_is_wrong(const uint8_t *header, uint32_t header_len)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < 20; i += 4)
        sum += header_load32(header + i);
    for (uint32_t i = 20; i < header_len; i += 4)
        sum += header_load32(header + i);
    return header_fold(sum) != 0xFFFF;
}

HEADER_INLINE void header_ipv4(struct header_ip *ip, const struct sl_header_table *table,
                               const uint8_t *bytes, uint32_t len, uint32_t at)
{
    const uint8_t *header = bytes + at;
    const uint32_t header_len = (header[0] & 15u) * 4;
    const uint32_t total_len = load_be16(header + 2);
    const struct header_addr src = header_mapped(header_be32(header + 12));

    if (header_len < 20) /* what it calls its end is inside the addresses */
        return;
    ip->dst = header_mapped(header_be32(header + 16));
    ip->dst_kind = header_kind4((uint32_t)ip->dst.lo);
    ip->end = total_len == 0 ? 0 : at + total_len;
    ip->fragment = at + 6;
    ip->pseudo = (uint64_t)header_load32(header + 12) + header_load32(header + 16);
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

HEADER_CORE struct header_addr header_ipv6_addr(const uint8_t *bytes)
{
    struct header_addr addr;

    addr.hi = (uint64_t)header_be32(bytes) << 32 | header_be32(bytes + 4);
    addr.lo = (uint64_t)header_be32(bytes + 8) << 32 | header_be32(bytes + 12);
    return addr;
}

/* The length of an extension header (RFC 8200; RFC 4302, section 2.2), 0 where it is none. */
HEADER_CORE uint32_t header_extension_len(uint32_t kind, const uint8_t *extension)
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
HEADER_CORE void header_routing(struct header_ip *ip, const uint8_t *bytes, uint32_t at)
{
    ip->hops_left |= bytes[at + 3] != 0;
    if (bytes[at + 2] == 0 && ip->route == 0) {
        ip->tripped |= header_if(true, SL_HEADER_SOURCE_ROUTE);
        ip->route = at;
    }
}

/* A fragment header. Its datagram's payload is this one's less the fragment header, moved by the
 * fragment's offset (RFC 8200, section 4.5). */
HEADER_CORE void header_ipv6_fragment(struct header_ip *ip, const uint8_t *bytes, uint32_t at,
                                      uint32_t payload_len)
{
    const uint32_t offset = load_be16(bytes + at + 2) & 0xFFF8u;

    ip->fragment = at + 2;
    ip->tripped |= header_if(offset + payload_len > 65535 + 8, SL_HEADER_FRAGMENT_OVERSIZE) |
                   header_if(offset == 8 && bytes[at] == SL_IP_TCP, SL_HEADER_FRAGMENT_TINY);
}

/* Goes through the extension headers that lie in the datagram and were captured. The first fragment
 * header is the datagram's: a fragment of a fragment is none (RFC 8200, section 4.1). One that says
 * offset 0 and nothing to follow makes no fragment (RFC 6946). */
HEADER_CORE void header_extensions(struct header_ip *ip, const uint8_t *bytes, uint32_t len,
                                   uint32_t at)
{
    const uint32_t end = ip->end != 0 && ip->end < len ? ip->end : len;
    uint32_t kind = bytes[at + 6];
    uint32_t i = at + 40;
    bool is_first = false; /* a first fragment with more to follow */
    bool is_later = false; /* a later one: what follows is no header */

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

/* ---- Transport ---- */

/* Broadcast addresses of networks of at most 30 bits end in two ones. */
HEADER_CORE bool header_is_broadcast(const struct sl_header_table *table,
                                     const struct header_ip *ip)
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

HEADER_CORE uint64_t header_tcp(const uint8_t *tcp)
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

/* Has the checksum made over `len` bytes from the transport header, and over a pseudo-header where
 * the protocol has one, if they all lie in the datagram and were captured. */
HEADER_CORE void header_cover(struct header_view *view, const struct sl_header_table *table,
                              const struct sl_packet *packet, const struct header_ip *ip,
                              uint32_t len, enum sl_header_check check)
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
HEADER_CORE void header_udp(struct header_view *view, const struct sl_header_table *table,
                            const struct sl_packet *packet, const uint8_t *udp,
                            const struct header_ip *ip)
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

/* ---- The packet ---- */

HEADER_INLINE struct header_view header_inspect(const struct sl_header_table *table,
                                                const struct sl_packet *packet,
                                                const uint8_t *bytes)
{
    const uint32_t flags = packet->flags;
    struct header_view view;

    memset(&view, 0, sizeof view);
    view.tripped = UINT64_C(1) << table->defect_check[packet->defect];
    if ((flags & (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6)) != 0)
        view.tripped |= header_network(table, bytes, packet->len, packet->outer,
                                       (flags & SL_PACKET_OUTER_IPV6) != 0)
                            .tripped;
    if ((flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) != 0) {
        const struct header_ip ip = header_network(table, bytes, packet->len, packet->network,
                                                   (flags & SL_PACKET_IPV6) != 0);

        view.tripped |= ip.tripped;
        if (packet->protocol == SL_IP_TCP)
            view.tripped |= header_if(header_is_broadcast(table, &ip), SL_HEADER_TCP_BROADCAST);
        if (packet->transport != 0)
            header_transport(&view, table, packet, bytes, &ip);
    }
    view.tripped &= table->checks;
    return view;
}

/* `sum`: of the bytes [view->begin, view->end). Where it began at an odd offset, its bytes are
 * swapped against the pseudo-header's (RFC 1071, section 2, B). */
HEADER_CORE uint64_t header_finish(const struct header_view *view, uint64_t sum)
{
    const uint32_t folded = header_fold(sum);
    const uint32_t turned = (view->begin & 1) != 0 ? header_word(folded) : folded;

    return view->tripped | (header_fold(view->pseudo + turned) != 0xFFFF ? view->checksum : 0);
}

/* ---- Where the offending field is ---- */

/* The length field that lies; of other defects the header, the innermost that the dissector found.
 */
HEADER_CORE uint32_t header_defect_offset(const struct sl_packet *packet,
                                          enum sl_header_check check)
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

HEADER_CORE uint32_t header_transport_offset(const struct sl_packet *packet, const uint8_t *bytes,
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

HEADER_CORE uint32_t header_ip_offset(const struct header_ip *ip, uint32_t at, bool is_ipv6,
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

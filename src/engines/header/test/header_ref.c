/* SPDX-License-Identifier: MIT */
#include "header_ref.h"

#include <stdbool.h>
#include <string.h>

#include "sluice/dissect.h"

/* The packet under judgment. */
struct judge {
    const struct sl_header_config *config;
    const struct sl_packet *packet;
    const uint8_t *bytes;
    uint64_t tripped;
    uint32_t *offsets;
};

/* An IP header. Offsets are from the packet's first byte. */
struct ip {
    bool is_ipv4;
    uint32_t at;
    bool has_end;   /* the length field is not 0 */
    uint32_t end;   /* where the datagram ends as that claims */
    uint32_t limit; /* where it ends among the captured bytes */
    struct sl_addr src, dst;
    uint32_t payload; /* behind options or extension headers */
    int protocol;     /* of it; -1 where it could not be found out */
    bool fragment;
    uint32_t fragment_field;  /* the field of flags and fragment offset */
    uint32_t fragment_offset; /* bytes */
    int fragment_protocol;    /* the begin of the fragmented part */
    uint32_t fragment_total;  /* length of the datagram reassembled up to here */
    bool fragment_more;
    uint32_t route; /* first source route, 0 none */
    bool route_unfinished;
};

static void trip(struct judge *judge, enum sl_header_check check, uint32_t offset)
{
    const uint64_t bit = UINT64_C(1) << check;

    if ((judge->config->checks & bit) == 0 || (judge->tripped & bit) != 0)
        return;
    judge->tripped |= bit;
    judge->offsets[check] = offset;
}

static uint32_t read16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- Defects of the dissector ---- */

static uint32_t first_known(uint32_t a, uint32_t b, uint32_t c)
{
    if (a != 0)
        return a;
    return b != 0 ? b : c;
}

static void check_defect(struct judge *judge)
{
    const struct sl_packet *packet = judge->packet;
    const uint32_t ip = first_known(packet->network, packet->outer, 0);
    /* Raw IP begins at byte 0; only the flags differ from "none". */
    const bool known =
        packet->network != 0 || (packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) != 0;
    const uint32_t any = first_known(packet->transport, packet->network, packet->outer);

    switch ((enum sl_defect)packet->defect) {
    case SL_DEFECT_LINK_SHORT:
    case SL_DEFECT_VLAN_SHORT:
    case SL_DEFECT_VLAN_DEEP:
    case SL_DEFECT_MPLS_SHORT:
    case SL_DEFECT_PPPOE_SHORT:
    case SL_DEFECT_PPP_SHORT:
        trip(judge, SL_HEADER_LINK_TRUNCATED, 0);
        break;
    case SL_DEFECT_IPV4_VERSION:
    case SL_DEFECT_IPV6_VERSION:
        trip(judge, SL_HEADER_IP_VERSION, ip);
        break;
    case SL_DEFECT_IPV4_SHORT:
    case SL_DEFECT_IPV4_HEADER_LEN:
    case SL_DEFECT_IPV6_SHORT:
        trip(judge, SL_HEADER_IP_HEADER_LEN, ip);
        break;
    case SL_DEFECT_IPV4_TOTAL_LEN:
        trip(judge, SL_HEADER_IP_TOTAL_LEN, known ? packet->network + 2u : ip);
        break;
    case SL_DEFECT_IPV6_PAYLOAD_LEN:
        trip(judge, SL_HEADER_IP_TOTAL_LEN, known ? packet->network + 4u : ip);
        break;
    case SL_DEFECT_IPV6_EXT_SHORT:
    case SL_DEFECT_IPV6_EXT_DEEP:
        trip(judge, SL_HEADER_IPV6_EXTENSION, any);
        break;
    case SL_DEFECT_TCP_SHORT:
    case SL_DEFECT_TCP_HEADER_LEN:
        trip(judge, SL_HEADER_TCP_HEADER_LEN, any);
        break;
    case SL_DEFECT_UDP_SHORT:
    case SL_DEFECT_UDP_LEN:
        trip(judge, SL_HEADER_UDP_LEN, any);
        break;
    case SL_DEFECT_SCTP_SHORT:
        trip(judge, SL_HEADER_SCTP_LEN, any);
        break;
    case SL_DEFECT_ICMP_SHORT:
        trip(judge, SL_HEADER_ICMP_LEN, any);
        break;
    case SL_DEFECT_GRE_SHORT:
    case SL_DEFECT_TUNNEL_SHORT:
        trip(judge, SL_HEADER_TUNNEL, any);
        break;
    case SL_DEFECT_NONE:
    case SL_DEFECT_SNAPPED:
    case SL_DEFECT_LINK_TYPE:
    case SL_DEFECT_OFFSET:
    case SL_N_DEFECTS:
        break;
    }
}

/* ---- Reading IP headers ---- */

static struct sl_addr mapped(const uint8_t *bytes)
{
    struct sl_addr addr = {{[10] = 0xFF, [11] = 0xFF}};

    memcpy(addr.byte + 12, bytes, 4);
    return addr;
}

static void read_ipv4_options(const struct judge *judge, struct ip *ip, uint32_t header_end)
{
    const uint8_t *bytes = judge->bytes;
    const uint32_t stop = min_u32(header_end, judge->packet->len);
    uint32_t at = ip->at + 20;

    while (at < stop && bytes[at] != 0) {
        if (bytes[at] == 1) {
            at++;
            continue;
        }
        const bool has_len = at + 1 < stop;
        if (bytes[at] == 131 || bytes[at] == 137) {
            if (ip->route == 0)
                ip->route = at;
            /* RFC 791: the route is at its end where the pointer is greater than the length. */
            if (at + 2 < stop && bytes[at + 2] <= bytes[at + 1])
                ip->route_unfinished = true;
        }
        if (!has_len || bytes[at + 1] < 2)
            return;
        at += bytes[at + 1];
    }
}

static bool read_ipv4(const struct judge *judge, struct ip *ip, uint32_t at, uint32_t limit)
{
    const uint8_t *header = judge->bytes + at;

    if (limit < at || limit - at < 20 || header[0] >> 4 != 4 || (header[0] & 15) < 5)
        return false;

    const uint32_t header_len = (header[0] & 15u) * 4;
    const uint32_t total_len = read16(header + 2);
    const uint32_t flags = read16(header + 6);

    *ip = (struct ip){.is_ipv4 = true,
                      .at = at,
                      .has_end = total_len != 0,
                      .end = total_len != 0 ? at + total_len : limit,
                      .limit = total_len != 0 ? min_u32(limit, at + total_len) : limit,
                      .src = mapped(header + 12),
                      .dst = mapped(header + 16),
                      .payload = at + header_len,
                      .protocol = header[9],
                      .fragment = (flags & 0x3FFF) != 0,
                      .fragment_field = at + 6,
                      .fragment_offset = (flags & 0x1FFF) * 8,
                      .fragment_protocol = header[9],
                      .fragment_total = (flags & 0x1FFF) * 8 + total_len,
                      .fragment_more = (flags & 0x2000) != 0};
    read_ipv4_options(judge, ip, at + header_len);
    return true;
}

/* The bytes of an IPv6 extension header; 0 where `type` is none (RFC 7045, section 4; ESP hides
 * what follows it). */
static uint32_t extension_len(int type, const uint8_t *header)
{
    switch (type) {
    case 0:   /* hop-by-hop options */
    case 43:  /* routing */
    case 60:  /* destination options */
    case 135: /* mobility */
    case 139: /* host identity */
    case 140: /* shim6 */
        return header[1] * 8u + 8;
    case 44: /* fragment */
        return 8;
    case 51: /* authentication, RFC 4302 */
        return header[1] * 4u + 8;
    default:
        return 0;
    }
}

static void read_fragment_header(const struct judge *judge, struct ip *ip, uint32_t at)
{
    const uint8_t *header = judge->bytes + at;
    const uint32_t field = read16(header + 2);

    if (ip->fragment)
        return;
    ip->fragment = (field & 0xFFF9) != 0;
    ip->fragment_field = at + 2;
    ip->fragment_offset = field & 0xFFF8;
    ip->fragment_protocol = header[0];
    ip->fragment_total = ip->fragment_offset;
    if (ip->has_end) /* this header lies inside, so that 8 bytes are there */
        ip->fragment_total += ip->end - ip->at - 40 - 8;
    ip->fragment_more = (field & 1) != 0;
}

static void read_ipv6_extensions(const struct judge *judge, struct ip *ip)
{
    static const uint8_t none[8];
    const uint8_t *bytes = judge->bytes;

    while (extension_len(ip->protocol, none) != 0) {
        const uint32_t at = ip->payload;
        const int type = ip->protocol;

        if (at > ip->limit || ip->limit - at < 8) {
            ip->protocol = -1;
            return;
        }
        if (type == 43 && bytes[at + 2] == 0 && ip->route == 0)
            ip->route = at;
        if (type == 43 && bytes[at + 3] != 0)
            ip->route_unfinished = true;
        if (type == 44)
            read_fragment_header(judge, ip, at);
        ip->protocol = bytes[at];
        ip->payload = at + extension_len(type, bytes + at);
        if (ip->fragment_offset != 0)
            return;
    }
}

static bool read_ipv6(const struct judge *judge, struct ip *ip, uint32_t at, uint32_t limit)
{
    const uint8_t *header = judge->bytes + at;

    if (limit < at || limit - at < 40 || header[0] >> 4 != 6)
        return false;

    const uint32_t payload_len = read16(header + 4);
    const uint32_t end = payload_len != 0 ? at + 40 + payload_len : limit;

    *ip = (struct ip){.at = at,
                      .has_end = payload_len != 0,
                      .end = end,
                      .limit = min_u32(limit, end),
                      .payload = at + 40,
                      .protocol = header[6]};
    memcpy(ip->src.byte, header + 8, 16);
    memcpy(ip->dst.byte, header + 24, 16);
    read_ipv6_extensions(judge, ip);
    return true;
}

/* ---- Addresses ---- */

static bool is_ipv4(const struct sl_addr *addr)
{
    const struct sl_addr zero = mapped((const uint8_t[4]){0, 0, 0, 0});

    return memcmp(addr->byte, zero.byte, 12) == 0;
}

static bool contains(const struct sl_net *net, const struct sl_addr *addr)
{
    for (uint32_t bit = 0; bit < net->prefix_len; bit++) {
        const uint32_t mask = 0x80u >> bit % 8;
        if ((net->addr.byte[bit / 8] & mask) != (addr->byte[bit / 8] & mask))
            return false;
    }
    return true;
}

static bool in_home(const struct sl_header_config *config, const struct sl_addr *addr)
{
    for (uint32_t i = 0; i < config->n_home; i++) {
        if (contains(&config->home[i], addr))
            return true;
    }
    return false;
}

static bool is_private(const struct sl_addr *addr)
{
    if (!is_ipv4(addr))
        return addr->byte[0] == 0xFC || addr->byte[0] == 0xFD;
    const uint8_t a = addr->byte[12];
    const uint8_t b = addr->byte[13];
    return a == 10 || (a == 172 && b >= 16 && b <= 31) || (a == 192 && b == 168);
}

static bool is_multicast(const struct sl_addr *addr)
{
    return is_ipv4(addr) ? addr->byte[12] >= 224 && addr->byte[12] <= 239 : addr->byte[0] == 0xFF;
}

static bool is_limited_broadcast(const struct sl_addr *addr)
{
    const struct sl_addr broadcast = mapped((const uint8_t[4]){255, 255, 255, 255});

    return memcmp(addr, &broadcast, sizeof broadcast) == 0;
}

static bool is_unspecified(const struct sl_addr *addr)
{
    const struct sl_addr ipv4 = mapped((const uint8_t[4]){0, 0, 0, 0});
    const struct sl_addr ipv6 = {{0}};

    return memcmp(addr, &ipv4, sizeof ipv4) == 0 || memcmp(addr, &ipv6, sizeof ipv6) == 0;
}

/* 127.0.0.0/8 (RFC 1122, section 3.2.1.3), ::1 (RFC 4291, section 2.5.3). */
static bool is_loopback(const struct sl_addr *addr)
{
    const struct sl_addr ipv6 = {.byte = {[15] = 1}};

    return is_ipv4(addr) ? addr->byte[12] == 127 : memcmp(addr, &ipv6, sizeof ipv6) == 0;
}

/* 169.254.0.0/16 (RFC 3927), fe80::/10 (RFC 4291, section 2.5.6). */
static bool is_link_local(const struct sl_addr *addr)
{
    if (is_ipv4(addr))
        return addr->byte[12] == 169 && addr->byte[13] == 254;
    return addr->byte[0] == 0xFE && addr->byte[1] >= 0x80 && addr->byte[1] <= 0xBF;
}

static bool is_home_broadcast(const struct sl_header_config *config, const struct sl_addr *addr)
{
    for (uint32_t i = 0; i < config->n_home; i++) {
        const struct sl_net *net = &config->home[i];
        struct sl_addr last = net->addr;

        if (!is_ipv4(&net->addr) || net->prefix_len < 96 || net->prefix_len > 96 + 30)
            continue;
        for (uint32_t bit = net->prefix_len; bit < 128; bit++)
            last.byte[bit / 8] |= (uint8_t)(0x80u >> bit % 8);
        if (memcmp(addr, &last, sizeof last) == 0)
            return true;
    }
    return false;
}

static bool is_public(const struct sl_addr *addr)
{
    return !is_private(addr) && !is_multicast(addr) && !is_limited_broadcast(addr) &&
           !is_loopback(addr) && !is_link_local(addr) && !is_unspecified(addr);
}

/* A private address that is not the user's own makes no sense to this peer. */
static bool is_misplaced(const struct sl_header_config *config, const struct sl_addr *addr,
                         const struct sl_addr *peer)
{
    return is_private(addr) && !in_home(config, addr) && is_public(peer) && !in_home(config, peer);
}

static void check_addresses(struct judge *judge, const struct ip *ip)
{
    const uint32_t src = ip->at + (ip->is_ipv4 ? 12 : 8);
    const uint32_t dst = ip->at + (ip->is_ipv4 ? 16 : 24);

    if (is_misplaced(judge->config, &ip->src, &ip->dst))
        trip(judge, SL_HEADER_PRIVATE_SOURCE, src);
    if (is_misplaced(judge->config, &ip->dst, &ip->src))
        trip(judge, SL_HEADER_PRIVATE_DESTINATION, dst);
    if (memcmp(&ip->src, &ip->dst, sizeof ip->src) == 0 && !is_unspecified(&ip->src) &&
        !is_loopback(&ip->src))
        trip(judge, SL_HEADER_LAND, src);
    if (is_multicast(&ip->src) || is_limited_broadcast(&ip->src))
        trip(judge, SL_HEADER_BAD_SOURCE, src);
}

static void check_tcp_broadcast(struct judge *judge, const struct ip *ip)
{
    if (judge->packet->protocol != SL_IP_TCP)
        return;
    if (is_multicast(&ip->dst) || is_limited_broadcast(&ip->dst) ||
        is_home_broadcast(judge->config, &ip->dst))
        trip(judge, SL_HEADER_TCP_BROADCAST, ip->at + (ip->is_ipv4 ? 16 : 24));
}

/* ---- Checksums ---- */

/* Adds bytes as 16-bit words, the last odd byte padded with a zero (RFC 1071). */
static uint32_t sum_words(uint32_t sum, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++) {
        sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

static uint32_t sum_pseudo_header(const struct ip *ip, uint32_t protocol, uint32_t len)
{
    const uint32_t first = ip->is_ipv4 ? 12 : 0;
    const uint8_t rest[8] = {
        (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len, 0, 0, 0,
        (uint8_t)protocol};
    uint32_t sum = sum_words(0, ip->src.byte + first, 16 - first);

    sum = sum_words(sum, ip->dst.byte + first, 16 - first);
    return sum_words(sum, rest, sizeof rest);
}

static void check_ipv4_checksum(struct judge *judge, const struct ip *ip)
{
    if (!ip->is_ipv4 || ip->payload > judge->packet->len)
        return;
    if (sum_words(0, judge->bytes + ip->at, ip->payload - ip->at) != 0xFFFF)
        trip(judge, SL_HEADER_IPV4_CHECKSUM, ip->at + 10);
}

/* The checksum of a transport header at `at`, over `len` bytes from there. */
static void check_transport_checksum(struct judge *judge, const struct ip *ip, uint32_t at,
                                     uint32_t len)
{
    const uint32_t protocol = judge->packet->protocol;
    const bool has_pseudo_header = protocol != SL_IP_ICMP;

    if (ip->fragment || !ip->has_end || len > ip->limit - at)
        return;
    if (has_pseudo_header && ip->route_unfinished)
        return;

    const uint8_t *header = judge->bytes + at;
    const uint32_t begin = has_pseudo_header ? sum_pseudo_header(ip, protocol, len) : 0;
    const bool good = sum_words(begin, header, len) == 0xFFFF;

    if (protocol == SL_IP_TCP && !good)
        trip(judge, SL_HEADER_TCP_CHECKSUM, at + 16);
    if (protocol == SL_IP_UDP && read16(header + 6) == 0 && !ip->is_ipv4)
        trip(judge, SL_HEADER_UDP_CHECKSUM, at + 6);
    if (protocol == SL_IP_UDP && read16(header + 6) != 0 && !good)
        trip(judge, SL_HEADER_UDP_CHECKSUM, at + 6);
    if (((protocol == SL_IP_ICMP && ip->is_ipv4) || (protocol == SL_IP_ICMPV6 && !ip->is_ipv4)) &&
        !good)
        trip(judge, SL_HEADER_ICMP_CHECKSUM, at + 2);
}

/* ---- IP ---- */

static void check_fragment(struct judge *judge, const struct ip *ip)
{
    if (!ip->fragment)
        return;
    if (ip->fragment_total > 65535)
        trip(judge, SL_HEADER_FRAGMENT_OVERSIZE, ip->fragment_field);

    const bool short_first = ip->fragment_offset == 0 && ip->fragment_more && ip->has_end &&
                             ip->protocol == SL_IP_TCP && ip->payload <= ip->end &&
                             ip->end - ip->payload < 20;
    const bool at_1 = ip->fragment_offset == 8 && ip->fragment_protocol == SL_IP_TCP;
    if (short_first || at_1)
        trip(judge, SL_HEADER_FRAGMENT_TINY, ip->fragment_field);
}

static void check_ip(struct judge *judge, const struct ip *ip)
{
    const uint8_t *header = judge->bytes + ip->at;
    const uint32_t ttl = ip->is_ipv4 ? 8 : 7;

    check_ipv4_checksum(judge, ip);
    check_addresses(judge, ip);
    if (header[ttl] == 0)
        trip(judge, SL_HEADER_TTL_ZERO, ip->at + ttl);
    if (ip->route != 0)
        trip(judge, SL_HEADER_SOURCE_ROUTE, ip->route);
    if (ip->is_ipv4 && (header[6] & 0x80) != 0)
        trip(judge, SL_HEADER_IP_RESERVED_FLAG, ip->at + 6);
    check_fragment(judge, ip);
}

/* ---- TCP, UDP, ICMP ---- */

static void check_tcp_flags(struct judge *judge, uint32_t at)
{
    const uint8_t flags = judge->bytes[at + 13];
    const bool fin = (flags & 1) != 0;
    const bool syn = (flags & 2) != 0;
    const bool rst = (flags & 4) != 0;
    const bool psh = (flags & 8) != 0;
    const bool ack = (flags & 16) != 0;
    const bool urg = (flags & 32) != 0;

    if (syn && fin)
        trip(judge, SL_HEADER_TCP_SYN_FIN, at + 13);
    if (syn && rst && !fin)
        trip(judge, SL_HEADER_TCP_SYN_RST, at + 13);
    if (fin && rst && !syn)
        trip(judge, SL_HEADER_TCP_FIN_RST, at + 13);
    if (!fin && !syn && !rst && !psh && !ack && !urg)
        trip(judge, SL_HEADER_TCP_NULL, at + 13);
    if (fin && !syn && !rst && !psh && !ack && !urg)
        trip(judge, SL_HEADER_TCP_FIN_ONLY, at + 13);
    if (fin && psh && urg && !syn && !rst && !ack)
        trip(judge, SL_HEADER_TCP_XMAS, at + 13);
    if (ack && !rst && read16(judge->bytes + at + 8) == 0 && read16(judge->bytes + at + 10) == 0)
        trip(judge, SL_HEADER_TCP_ACK_ZERO, at + 8);
}

static void check_tcp(struct judge *judge, const struct ip *ip, uint32_t at)
{
    if (ip->limit - at < 20)
        return;
    if (read16(judge->bytes + at) == 0)
        trip(judge, SL_HEADER_PORT_ZERO, at);
    if (read16(judge->bytes + at + 2) == 0)
        trip(judge, SL_HEADER_PORT_ZERO, at + 2);
    if ((judge->bytes[at + 12] & 0x0E) != 0)
        trip(judge, SL_HEADER_TCP_RESERVED, at + 12);
    check_tcp_flags(judge, at);
    check_transport_checksum(judge, ip, at, ip->end - at);
}

static void check_udp(struct judge *judge, const struct ip *ip, uint32_t at)
{
    if (ip->limit - at < 8)
        return;
    if (read16(judge->bytes + at + 2) == 0)
        trip(judge, SL_HEADER_PORT_ZERO, at + 2);
    if (read16(judge->bytes + at + 4) >= 8)
        check_transport_checksum(judge, ip, at, read16(judge->bytes + at + 4));
}

static void check_transport(struct judge *judge, const struct ip *ip)
{
    const uint32_t at = judge->packet->transport;

    if (at == 0 || at < ip->at || at > ip->limit)
        return;
    switch (judge->packet->protocol) {
    case SL_IP_TCP:
        check_tcp(judge, ip, at);
        break;
    case SL_IP_UDP:
        check_udp(judge, ip, at);
        break;
    case SL_IP_ICMP:
    case SL_IP_ICMPV6:
        if (ip->limit - at >= 4)
            check_transport_checksum(judge, ip, at, ip->end - at);
        break;
    default:
        break;
    }
}

uint64_t header_ref_checks(const struct sl_header_config *config, const struct sl_packet *packet,
                           const uint8_t *bytes, uint32_t offsets[SL_N_HEADER_CHECKS])
{
    struct judge judge = {.config = config, .packet = packet, .bytes = bytes, .offsets = offsets};
    uint32_t limit = packet->len;
    struct ip ip;

    check_defect(&judge);

    bool readable = false;
    if ((packet->flags & SL_PACKET_OUTER_IPV4) != 0)
        readable = read_ipv4(&judge, &ip, packet->outer, limit);
    else if ((packet->flags & SL_PACKET_OUTER_IPV6) != 0)
        readable = read_ipv6(&judge, &ip, packet->outer, limit);
    if (readable) {
        check_ip(&judge, &ip);
        limit = ip.limit;
    }

    readable = false;
    if ((packet->flags & SL_PACKET_IPV4) != 0)
        readable = read_ipv4(&judge, &ip, packet->network, limit);
    else if ((packet->flags & SL_PACKET_IPV6) != 0)
        readable = read_ipv6(&judge, &ip, packet->network, limit);
    if (readable) {
        check_ip(&judge, &ip);
        check_tcp_broadcast(&judge, &ip);
        check_transport(&judge, &ip);
    }
    return judge.tripped;
}

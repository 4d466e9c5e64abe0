/* SPDX-License-Identifier: MIT */
#include "header_trials.h"

#include "base/bytes.h"
#include "sluice/dissect.h"

/* Where things are in the frames built here. */
enum { IP = 14, TCP4 = 34, TCP6 = 54 };

enum { PAYLOAD = 8 }; /* bytes */

static void put_addresses4(struct frame *f, uint32_t ip)
{
    store_be32(f->byte + ip + 12, 0xC6336401); /* 198.51.100.1 */
    store_be32(f->byte + ip + 16, 0xCB007102); /* 203.0.113.2 */
}

static uint32_t begin4(struct frame *f, uint8_t protocol, uint32_t option_words)
{
    frame_ethernet(f, 0x0800);
    frame_ipv4(f, protocol, option_words);
    put_addresses4(f, IP);
    return IP;
}

static uint32_t begin6(struct frame *f, uint8_t next)
{
    frame_ethernet(f, 0x86DD);
    return frame_ipv6(f, next);
}

static void put_tcp(struct frame *f)
{
    uint8_t *tcp = frame_tcp(f, 1024, 80, 0x18, 0);

    store_be32(tcp + 8, 1);
    memset(frame_put(f, PAYLOAD), 0xA5, PAYLOAD);
}

static void put_udp(struct frame *f)
{
    frame_udp(f, 1024, 53, PAYLOAD);
    memset(frame_put(f, PAYLOAD), 0x5A, PAYLOAD);
}

static void arp(struct frame *f)
{
    frame_ethernet(f, 0x0806);
    frame_put(f, 28);
}

static void tags(struct frame *f, int n)
{
    frame_ethernet(f, 0x8100);
    for (int i = 1; i < n; i++)
        frame_tag(f, 1, 0x8100);
    frame_tag(f, 1, 0x0806);
    frame_put(f, 28);
}

static void eight_tags(struct frame *f)
{
    tags(f, 8);
}

static void nine_tags(struct frame *f)
{
    tags(f, 9);
}

static void tcp4(struct frame *f)
{
    const uint32_t ip = begin4(f, SL_IP_TCP, 0);

    put_tcp(f);
    frame_end_ipv4(f, ip);
}

static void tcp4_options(struct frame *f)
{
    const uint32_t ip = begin4(f, SL_IP_TCP, 3);

    put_tcp(f);
    frame_end_ipv4(f, ip);
}

static void tcp4_padded(struct frame *f)
{
    tcp4(f);
    memset(frame_put(f, 6), 0xEE, 6);
}

static void udp4(struct frame *f)
{
    const uint32_t ip = begin4(f, SL_IP_UDP, 0);

    put_udp(f);
    frame_end_ipv4(f, ip);
}

static void icmp4(struct frame *f)
{
    const uint32_t ip = begin4(f, SL_IP_ICMP, 0);

    frame_put(f, 12)[0] = 8; /* echo */
    frame_end_ipv4(f, ip);
}

static void sctp4(struct frame *f)
{
    const uint32_t ip = begin4(f, SL_IP_SCTP, 0);

    frame_put(f, 12);
    frame_end_ipv4(f, ip);
}

static void tcp6(struct frame *f)
{
    const uint32_t ip = begin6(f, SL_IP_TCP);

    put_tcp(f);
    frame_end_ipv6(f, ip);
}

static void udp6(struct frame *f)
{
    const uint32_t ip = begin6(f, SL_IP_UDP);

    put_udp(f);
    frame_end_ipv6(f, ip);
}

static void icmp6(struct frame *f)
{
    const uint32_t ip = begin6(f, SL_IP_ICMPV6);

    frame_put(f, 12)[0] = 128; /* echo request */
    frame_end_ipv6(f, ip);
}

/* A routing header of two addresses, type 4, no segments left. */
static void routing6(struct frame *f)
{
    const uint32_t ip = begin6(f, 43);

    frame_extension(f, SL_IP_UDP, 4);
    f->byte[TCP6 + 2] = 4;
    put_udp(f);
    frame_end_ipv6(f, ip);
}

static void extensions6(struct frame *f, int n)
{
    const uint32_t ip = begin6(f, 60);

    for (int i = 1; i < n; i++)
        frame_extension(f, 60, 0);
    frame_extension(f, SL_IP_UDP, 0);
    put_udp(f);
    frame_end_ipv6(f, ip);
}

static void sixteen_extensions(struct frame *f)
{
    extensions6(f, 16);
}

static void seventeen_extensions(struct frame *f)
{
    extensions6(f, 17);
}

static void fragment6(struct frame *f, uint8_t next)
{
    const uint32_t ip = begin6(f, 44);

    frame_extension(f, next, 0);
    if (next == SL_IP_TCP)
        put_tcp(f);
    else
        frame_put(f, 8);
    frame_end_ipv6(f, ip);
}

static void tcp_fragment6(struct frame *f)
{
    fragment6(f, SL_IP_TCP);
}

static void udp_fragment6(struct frame *f)
{
    fragment6(f, SL_IP_UDP);
}

/* Destination options between the fragment header and TCP. */
static void options_fragment6(struct frame *f)
{
    const uint32_t ip = begin6(f, 44);

    frame_extension(f, 60, 0);
    frame_extension(f, SL_IP_TCP, 0);
    put_tcp(f);
    frame_end_ipv6(f, ip);
}

static void fragment4(struct frame *f)
{
    const uint32_t ip = begin4(f, SL_IP_UDP, 0);

    frame_put(f, 4);
    frame_end_ipv4(f, ip);
}

static void gre(struct frame *f)
{
    const uint32_t outer = begin4(f, SL_IP_GRE, 0);

    frame_be16(f, 0);
    frame_be16(f, 0x0800);

    const uint32_t inner = frame_ipv4(f, SL_IP_UDP, 0);
    put_addresses4(f, inner);
    put_udp(f);
    frame_end_ipv4(f, inner);
    frame_end_ipv4(f, outer);
}

static void ip_in_ip(struct frame *f)
{
    const uint32_t outer = begin4(f, SL_IP_IPIP, 0);
    const uint32_t inner = frame_ipv4(f, SL_IP_TCP, 0);

    put_addresses4(f, inner);
    put_tcp(f);
    frame_end_ipv4(f, inner);
    frame_end_ipv4(f, outer);
}

static void ip4_in_ip6(struct frame *f)
{
    const uint32_t outer = begin6(f, SL_IP_IPIP);
    const uint32_t inner = frame_ipv4(f, SL_IP_TCP, 0);

    put_addresses4(f, inner);
    put_tcp(f);
    frame_end_ipv4(f, inner);
    frame_end_ipv6(f, outer);
}

#define PASSES(text, builder, ...)                      \
    {                                                   \
        .name = (text), .build = (builder), __VA_ARGS__ \
    }
#define TRIPS(check, at, text, builder, ...)                                         \
    {                                                                                \
        .tripped = UINT64_C(1) << SL_HEADER_##check, .offset = (at), .name = (text), \
        .build = (builder), __VA_ARGS__                                              \
    }
#define EDIT(position, text)                                       \
    {                                                              \
        .at = (position), .bytes = (text), .len = sizeof(text) - 1 \
    }

#define SAME6 "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
#define ZERO6 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define ONE6 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"

/* Offsets: IPv4 and IPv6 at 14; IPv4 length 16, flags 20, TTL 22, protocol 23, checksum 24, source
 * 26, destination 30; transport 34, TCP acknowledgment 42, offset 46, flags 47, checksum 50; IPv6
 * length 18, hop limit 21, source 22, destination 38, transport 54. */
const struct trial header_trials[] = {
    PASSES("TCP, IPv4", tcp4),
    PASSES("TCP, IPv6", tcp6),
    PASSES("UDP, IPv4", udp4),
    PASSES("UDP, IPv6", udp6),
    PASSES("ICMP", icmp4),
    PASSES("ICMPv6", icmp6),
    PASSES("TCP, options", tcp4_options),
    PASSES("GRE", gre),
    PASSES("IP in IP", ip_in_ip),
    PASSES("IPv4 in IPv6", ip4_in_ip6),

    TRIPS(LINK_TRUNCATED, 0, "13 bytes", arp, .cut = 13),
    PASSES("14 bytes", arp, .cut = 14),
    PASSES("eight tags", eight_tags),
    TRIPS(LINK_TRUNCATED, 0, "nine tags", nine_tags),

    TRIPS(IP_VERSION, 0, "IPv4, version 5", tcp4, .edit = {EDIT(14, "\x55")}),
    TRIPS(IP_VERSION, 0, "IPv6, version 5", tcp6, .edit = {EDIT(14, "\x50")}),
    TRIPS(IP_VERSION, 0, "IPv6 as IPv4", tcp4, .edit = {EDIT(14, "\x65")}),

    TRIPS(IP_HEADER_LEN, 0, "19 bytes of IPv4", tcp4, .cut = 33),
    TRIPS(IP_HEADER_LEN, 0, "39 bytes of IPv6", tcp6, .cut = 53),
    TRIPS(IP_HEADER_LEN, 14, "IPv4 header of 16 bytes", tcp4, .edit = {EDIT(14, "\x44")}),
    TRIPS(IP_HEADER_LEN, 14, "IPv4 header beyond the packet", tcp4, .edit = {EDIT(14, "\x4F")}),
    PASSES("snapped in IPv4", tcp4, .cut = 33, .unseen = 29),
    PASSES("snapped in IPv6", tcp6, .cut = 53, .unseen = 29),

    TRIPS(IP_TOTAL_LEN, 16, "IPv4 length 19", tcp4, .edit = {EDIT(16, "\0\x13")}),
    TRIPS(IP_TOTAL_LEN, 16, "IPv4 length one too long", tcp4, .edit = {EDIT(16, "\0\x31")}),
    PASSES("IPv4 length 0", tcp4, .edit = {EDIT(16, "\0\0")}, .flip = 61),
    PASSES("IPv4, padded", tcp4_padded, .flip = 62),
    TRIPS(IP_TOTAL_LEN, 18, "IPv6 length one too long", tcp6, .edit = {EDIT(18, "\0\x1D")}),
    PASSES("IPv6 length 0", tcp6, .edit = {EDIT(18, "\0\0")}, .flip = 81),

    TRIPS(UDP_LEN, 14, "extension to the end", routing6, .edit = {EDIT(55, "\6")}),
    TRIPS(IPV6_EXTENSION, 14, "extension beyond the end", routing6, .edit = {EDIT(55, "\7")}),
    PASSES("16 extensions", sixteen_extensions),
    TRIPS(IPV6_EXTENSION, 14, "17 extensions", seventeen_extensions),

    TRIPS(TCP_HEADER_LEN, 14, "19 bytes of TCP, IPv4", tcp4, .edit = {EDIT(16, "\0\x27")}),
    TRIPS(TCP_HEADER_LEN, 14, "19 bytes of TCP, IPv6", tcp6, .edit = {EDIT(18, "\0\x13")}),
    PASSES("20 bytes of TCP, IPv4", tcp4, .edit = {EDIT(16, "\0\x28")}),
    PASSES("20 bytes of TCP, IPv6", tcp6, .edit = {EDIT(18, "\0\x14")}),
    TRIPS(TCP_HEADER_LEN, 34, "TCP header of 16 bytes, IPv4", tcp4, .edit = {EDIT(46, "\x40")}),
    TRIPS(TCP_HEADER_LEN, 54, "TCP header of 16 bytes, IPv6", tcp6, .edit = {EDIT(66, "\x40")}),
    PASSES("TCP header of the whole segment", tcp4, .edit = {EDIT(46, "\x70")}),
    TRIPS(TCP_HEADER_LEN, 34, "TCP header beyond the segment", tcp4, .edit = {EDIT(46, "\x80")}),

    TRIPS(UDP_LEN, 14, "7 bytes of UDP", udp4, .edit = {EDIT(16, "\0\x1B")}),
    TRIPS(UDP_LEN, 34, "UDP length 7, IPv4", udp4, .edit = {EDIT(38, "\0\7")}),
    PASSES("UDP length 8, IPv4", udp4, .edit = {EDIT(38, "\0\x8")}),
    TRIPS(UDP_LEN, 34, "UDP length one too long, IPv4", udp4, .edit = {EDIT(38, "\0\x11")}),
    TRIPS(UDP_LEN, 54, "UDP length 7, IPv6", udp6, .edit = {EDIT(58, "\0\7")}),
    PASSES("UDP length 8, IPv6", udp6, .edit = {EDIT(58, "\0\x8")}),
    TRIPS(UDP_LEN, 54, "UDP length one too long, IPv6", udp6, .edit = {EDIT(58, "\0\x11")}),

    TRIPS(SCTP_LEN, 14, "11 bytes of SCTP", sctp4, .edit = {EDIT(16, "\0\x1F")}),
    PASSES("12 bytes of SCTP", sctp4),
    TRIPS(ICMP_LEN, 14, "3 bytes of ICMP", icmp4, .edit = {EDIT(16, "\0\x17")}),
    PASSES("4 bytes of ICMP", icmp4, .edit = {EDIT(16, "\0\x18")}),
    TRIPS(ICMP_LEN, 14, "3 bytes of ICMPv6", icmp6, .edit = {EDIT(18, "\0\3")}),
    PASSES("4 bytes of ICMPv6", icmp6, .edit = {EDIT(18, "\0\4")}),

    TRIPS(TUNNEL, 14, "3 bytes of GRE", gre, .edit = {EDIT(16, "\0\x17")}),
    TRIPS(TUNNEL, 14, "19 bytes of IPv4 in GRE", gre, .edit = {EDIT(16, "\0\x2B")}),
    TRIPS(TUNNEL, 14, "version 5 in GRE", gre, .edit = {EDIT(38, "\x55")}),

    TRIPS(IPV4_CHECKSUM, 24, "IPv4 checksum", tcp4, .flip = 24),
    TRIPS(IPV4_CHECKSUM, 24, "IPv4 checksum, options", tcp4_options, .flip = 45),
    TRIPS(IPV4_CHECKSUM, 24, "IPv4 checksum, outer", ip_in_ip, .flip = 25),
    TRIPS(IPV4_CHECKSUM, 44, "IPv4 checksum, inner", ip_in_ip, .flip = 45),
    TRIPS(IPV4_CHECKSUM, 24, "IPv4 checksum, fragment", fragment4, .edit = {EDIT(20, "\0\7")},
          .flip = 24),
    PASSES("IPv4 checksum, snapped in options", tcp4_options, .cut = 45, .unseen = 29, .flip = 24),
    TRIPS(TCP_CHECKSUM, 50, "TCP checksum, last byte, IPv4", tcp4, .flip = 61),
    TRIPS(TCP_CHECKSUM, 70, "TCP checksum, first byte, IPv6", tcp6, .flip = 54),
    TRIPS(TCP_CHECKSUM, 70, "TCP checksum, address, IPv6", tcp6, .flip = 53),
    TRIPS(TCP_CHECKSUM, 90, "TCP checksum, inner", ip4_in_ip6, .flip = 101),
    PASSES("TCP checksum, snapped", tcp4, .cut = 61, .unseen = 1, .flip = 60),
    PASSES("TCP checksum, first fragment", tcp4, .edit = {EDIT(20, "\x20")}, .flip = 61),
    TRIPS(UDP_CHECKSUM, 40, "UDP checksum, IPv4", udp4, .flip = 49),
    TRIPS(UDP_CHECKSUM, 60, "UDP checksum, IPv6", udp6, .flip = 69),
    PASSES("UDP checksum, behind the length", udp4, .edit = {EDIT(38, "\0\xF")}, .flip = 49),
    PASSES("UDP checksum 0, IPv4", udp4, .edit = {EDIT(40, "\0\0")}, .raw = true),
    TRIPS(UDP_CHECKSUM, 60, "UDP checksum 0, IPv6", udp6, .edit = {EDIT(60, "\0\0")}, .raw = true),
    /* The sum of the pseudo-header, of the datagram, and of both are all ones. */
    TRIPS(UDP_CHECKSUM, 60, "UDP checksum 0, IPv6, pseudo-header 0xFFFF", udp6, .raw = true,
          .edit = {EDIT(28, "\xA4\x69"), EDIT(60, "\0\0")}),
    TRIPS(UDP_CHECKSUM, 60, "UDP checksum 0, IPv6, datagram 0xFFFF", udp6, .raw = true,
          .edit = {EDIT(62, "\xEC\xAB"), EDIT(60, "\0\0")}),
    TRIPS(UDP_CHECKSUM, 60, "UDP checksum 0, IPv6, both 0xFFFF", udp6, .raw = true,
          .edit = {EDIT(62, "\x91\x15"), EDIT(60, "\0\0")}),
    PASSES("UDP checksum 0, IPv6, snapped", udp6, .edit = {EDIT(60, "\0\0")}, .raw = true,
           .cut = 69, .unseen = 1),
    TRIPS(UDP_CHECKSUM, 100, "UDP checksum, whole datagram with a fragment header", routing6,
          .edit = {EDIT(20, "\x2C"), EDIT(54, "\x3C\0\0\0"), EDIT(62, "\x11\3")}, .flip = 109),
    TRIPS(ICMP_CHECKSUM, 36, "ICMP checksum", icmp4, .flip = 36),
    TRIPS(ICMP_CHECKSUM, 56, "ICMPv6 checksum", icmp6, .flip = 56),
    PASSES("ICMP checksum, IPv6's protocol in IPv4", icmp4, .edit = {EDIT(23, "\x3A")}, .flip = 36),

    TRIPS(PRIVATE_SOURCE, 26, "source 10.0.0.1", tcp4, .edit = {EDIT(26, "\x0A\0\0\1")}),
    PASSES("source 11.0.0.0", tcp4, .edit = {EDIT(26, "\x0B\0\0\0")}),
    PASSES("source 9.255.255.255", tcp4, .edit = {EDIT(26, "\x09\xFF\xFF\xFF")}),
    PASSES("source 172.15.255.255", tcp4, .edit = {EDIT(26, "\xAC\x0F\xFF\xFF")}),
    TRIPS(PRIVATE_SOURCE, 26, "source 172.16.0.0", tcp4, .edit = {EDIT(26, "\xAC\x10\0\0")}),
    TRIPS(PRIVATE_SOURCE, 26, "source 172.31.255.255", tcp4,
          .edit = {EDIT(26, "\xAC\x1F\xFF\xFF")}),
    PASSES("source 172.32.0.0", tcp4, .edit = {EDIT(26, "\xAC\x20\0\0")}),
    PASSES("source 192.167.255.255", tcp4, .edit = {EDIT(26, "\xC0\xA7\xFF\xFF")}),
    TRIPS(PRIVATE_SOURCE, 26, "source 192.168.0.0", tcp4, .edit = {EDIT(26, "\xC0\xA8\0\0")}),
    PASSES("source 192.169.0.0", tcp4, .edit = {EDIT(26, "\xC0\xA9\0\0")}),
    TRIPS(PRIVATE_SOURCE, 22, "source fc00::", tcp6, .edit = {EDIT(22, "\xFC\0")}),
    TRIPS(PRIVATE_SOURCE, 22, "source fdff::", tcp6, .edit = {EDIT(22, "\xFD\xFF")}),
    PASSES("source fbff::", tcp6, .edit = {EDIT(22, "\xFB\xFF")}),
    PASSES("source fe00::", tcp6, .edit = {EDIT(22, "\xFE\0")}),
    TRIPS(PRIVATE_DESTINATION, 30, "destination 10.0.0.1", tcp4, .edit = {EDIT(30, "\x0A\0\0\1")}),
    PASSES("destination 11.0.0.1", tcp4, .edit = {EDIT(30, "\x0B\0\0\1")}),
    TRIPS(PRIVATE_DESTINATION, 38, "destination fd00::", tcp6, .edit = {EDIT(38, "\xFD\0")}),
    PASSES("destination fe00::", tcp6, .edit = {EDIT(38, "\xFE\0")}),
    PASSES("10.0.0.1 to 192.168.0.1", tcp4, .edit = {EDIT(26, "\x0A\0\0\1\xC0\xA8\0\1")}),
    PASSES("fd00:: to fc00::", tcp6, .edit = {EDIT(22, "\xFD\0"), EDIT(38, "\xFC\0")}),
    PASSES("10.0.0.1 to 224.0.0.1", udp4, .edit = {EDIT(26, "\x0A\0\0\1\xE0\0\0\1")}),
    PASSES("10.0.0.1 to 255.255.255.255", udp4, .edit = {EDIT(26, "\x0A\0\0\1\xFF\xFF\xFF\xFF")}),
    PASSES("fd00:: to ff02::", udp6, .edit = {EDIT(22, "\xFD\0"), EDIT(38, "\xFF\2")}),
    PASSES("10.0.0.1 to 169.254.0.1", tcp4, .edit = {EDIT(26, "\x0A\0\0\1\xA9\xFE\0\1")}),
    TRIPS(PRIVATE_SOURCE, 26, "10.0.0.1 to 169.253.0.1", tcp4,
          .edit = {EDIT(26, "\x0A\0\0\1\xA9\xFD\0\1")}),
    PASSES("10.0.0.1 to 127.0.0.1", tcp4, .edit = {EDIT(26, "\x0A\0\0\1\x7F\0\0\1")}),
    TRIPS(PRIVATE_SOURCE, 26, "10.0.0.1 to 126.0.0.1", tcp4,
          .edit = {EDIT(26, "\x0A\0\0\1\x7E\0\0\1")}),
    PASSES("fe80:: to fd00::", tcp6, .edit = {EDIT(22, "\xFE\x80"), EDIT(38, "\xFD\0")}),
    PASSES("febf:: to fd00::", tcp6, .edit = {EDIT(22, "\xFE\xBF"), EDIT(38, "\xFD\0")}),
    TRIPS(PRIVATE_DESTINATION, 38, "fec0:: to fd00::", tcp6,
          .edit = {EDIT(22, "\xFE\xC0"), EDIT(38, "\xFD\0")}),
    TRIPS(PRIVATE_SOURCE, 26, "private source, outer", ip_in_ip, .edit = {EDIT(26, "\x0A\0\0\1")}),
    TRIPS(PRIVATE_SOURCE, 46, "private source, inner", ip_in_ip, .edit = {EDIT(46, "\x0A\0\0\1")}),

    TRIPS(LAND, 26, "land, IPv4", tcp4, .edit = {EDIT(26, "\xC0\0\2\1\xC0\0\2\1")}),
    PASSES("land but for a bit, IPv4", tcp4, .edit = {EDIT(26, "\xC0\0\2\1\xC0\0\2\0")}),
    PASSES("land, unspecified, IPv4", tcp4, .edit = {EDIT(26, "\0\0\0\0\0\0\0\0")}),
    PASSES("land, loopback, IPv4", tcp4, .edit = {EDIT(26, "\x7F\0\0\1\x7F\0\0\1")}),
    PASSES("land, loopback, IPv6", tcp6, .edit = {EDIT(22, ONE6 ONE6)}),
    TRIPS(LAND, 22, "land, IPv6", tcp6, .edit = {EDIT(22, SAME6 SAME6)}),
    PASSES("land but for a bit, IPv6", tcp6, .edit = {EDIT(22, SAME6 SAME6), EDIT(45, "\1")}),
    PASSES("land, unspecified, IPv6", tcp6, .edit = {EDIT(22, ZERO6 ZERO6)}),

    PASSES("source 223.255.255.255", tcp4, .edit = {EDIT(26, "\xDF\xFF\xFF\xFF")}),
    TRIPS(BAD_SOURCE, 26, "source 224.0.0.0", tcp4, .edit = {EDIT(26, "\xE0\0\0\0")}),
    TRIPS(BAD_SOURCE, 26, "source 239.255.255.255", tcp4, .edit = {EDIT(26, "\xEF\xFF\xFF\xFF")}),
    PASSES("source 240.0.0.0", tcp4, .edit = {EDIT(26, "\xF0\0\0\0")}),
    PASSES("source 255.255.255.254", tcp4, .edit = {EDIT(26, "\xFF\xFF\xFF\xFE")}),
    TRIPS(BAD_SOURCE, 26, "source 255.255.255.255", tcp4, .edit = {EDIT(26, "\xFF\xFF\xFF\xFF")}),
    PASSES("source feff::", tcp6, .edit = {EDIT(22, "\xFE\xFF")}),
    TRIPS(BAD_SOURCE, 22, "source ff00::", tcp6, .edit = {EDIT(22, "\xFF\0")}),

    TRIPS(TCP_BROADCAST, 30, "TCP to 224.0.0.1", tcp4, .edit = {EDIT(30, "\xE0\0\0\1")}),
    TRIPS(TCP_BROADCAST, 30, "TCP to 255.255.255.255", tcp4,
          .edit = {EDIT(30, "\xFF\xFF\xFF\xFF")}),
    PASSES("TCP to 255.255.255.254", tcp4, .edit = {EDIT(30, "\xFF\xFF\xFF\xFE")}),
    PASSES("UDP to 224.0.0.1", udp4, .edit = {EDIT(30, "\xE0\0\0\1")}),
    TRIPS(TCP_BROADCAST, 38, "TCP to ff02::1", tcp6, .edit = {EDIT(38, "\xFF\2")}),
    PASSES("UDP to ff02::1", udp6, .edit = {EDIT(38, "\xFF\2")}),

    TRIPS(TTL_ZERO, 22, "TTL 0", tcp4, .edit = {EDIT(22, "\0")}),
    PASSES("TTL 1", tcp4, .edit = {EDIT(22, "\1")}),
    TRIPS(TTL_ZERO, 21, "hop limit 0", tcp6, .edit = {EDIT(21, "\0")}),
    PASSES("hop limit 1", tcp6, .edit = {EDIT(21, "\1")}),
    TRIPS(TTL_ZERO, 22, "TTL 0, outer", ip_in_ip, .edit = {EDIT(22, "\0")}),
    TRIPS(TTL_ZERO, 42, "TTL 0, inner", ip_in_ip, .edit = {EDIT(42, "\0")}),
    TRIPS(TTL_ZERO, 22, "TTL 0, both", ip_in_ip, .edit = {EDIT(22, "\0"), EDIT(42, "\0")}),
    TRIPS(TTL_ZERO, 21, "hop limit 0, outer", ip4_in_ip6, .edit = {EDIT(21, "\0")}),

    TRIPS(SOURCE_ROUTE, 34, "loose source route", tcp4_options, .edit = {EDIT(34, "\x83\7\4")},
          .flip = 73),
    TRIPS(SOURCE_ROUTE, 36, "strict source route", tcp4_options, .edit = {EDIT(36, "\x89\7\4")},
          .flip = 73),
    TRIPS(SOURCE_ROUTE, 34, "source route at its end", tcp4_options,
          .edit = {EDIT(34, "\x83\7\x8")}),
    PASSES("record route", tcp4_options, .edit = {EDIT(34, "\7\7\4")}),
    PASSES("source route's number inside an option", tcp4_options,
           .edit = {EDIT(34, "\7\7\4\x83\x83\x83\x83")}),
    TRIPS(SOURCE_ROUTE, 41, "source route behind an option", tcp4_options,
          .edit = {EDIT(34, "\7\7\4\0\0\0\0\x83")}),
    PASSES("source route behind the end", tcp4_options, .edit = {EDIT(34, "\0\x83\7\4")}),
    PASSES("source route behind an option without length", tcp4_options,
           .edit = {EDIT(34, "\7\1\x83\7\4")}),
    TRIPS(SOURCE_ROUTE, 34, "source route, snapped behind it", tcp4_options,
          .edit = {EDIT(34, "\x83\7\4")}, .cut = 35, .unseen = 39),
    TRIPS(SOURCE_ROUTE, 54, "routing header, type 0", routing6, .edit = {EDIT(56, "\0")}),
    PASSES("routing header, type 2", routing6, .edit = {EDIT(56, "\2")}),
    TRIPS(SOURCE_ROUTE, 54, "routing header, type 0, segments left", routing6,
          .edit = {EDIT(56, "\0\1")}, .flip = 109),
    PASSES("routing header, segments left", routing6, .edit = {EDIT(57, "\1")}, .flip = 109),

    TRIPS(IP_RESERVED_FLAG, 20, "reserved flag", tcp4, .edit = {EDIT(20, "\x80")}),
    PASSES("do not fragment", tcp4, .edit = {EDIT(20, "\x40")}),

    PASSES("fragment to 65,535, IPv4", fragment4,
           .edit = {EDIT(16, "\0\x17"), EDIT(20, "\x1F\xFD")}),
    TRIPS(FRAGMENT_OVERSIZE, 20, "fragment to 65,536, IPv4", fragment4,
          .edit = {EDIT(20, "\x1F\xFD")}),
    PASSES("fragment to 65,535, IPv6", udp_fragment6,
           .edit = {EDIT(18, "\0\xF"), EDIT(56, "\xFF\xF8")}),
    TRIPS(FRAGMENT_OVERSIZE, 56, "fragment to 65,536, IPv6", udp_fragment6,
          .edit = {EDIT(56, "\xFF\xF8")}),

    TRIPS(FRAGMENT_TINY, 20, "19 bytes of TCP in a first fragment, IPv4", tcp4,
          .edit = {EDIT(16, "\0\x27"), EDIT(20, "\x20")}),
    PASSES("20 bytes of TCP in a first fragment, IPv4", tcp4,
           .edit = {EDIT(16, "\0\x28"), EDIT(20, "\x20")}),
    PASSES("19 bytes of UDP in a first fragment", udp4, .edit = {EDIT(20, "\x20")}),
    TRIPS(FRAGMENT_TINY, 20, "TCP fragment at offset 1, IPv4", tcp4, .edit = {EDIT(20, "\0\1")}),
    PASSES("TCP fragment at offset 2, IPv4", tcp4, .edit = {EDIT(20, "\0\2")}),
    PASSES("UDP fragment at offset 1, IPv4", udp4, .edit = {EDIT(20, "\0\1")}),
    TRIPS(FRAGMENT_TINY, 56, "19 bytes of TCP in a first fragment, IPv6", tcp_fragment6,
          .edit = {EDIT(18, "\0\x1B"), EDIT(57, "\1")}),
    PASSES("20 bytes of TCP in a first fragment, IPv6", tcp_fragment6,
           .edit = {EDIT(18, "\0\x1C"), EDIT(57, "\1")}),
    TRIPS(FRAGMENT_TINY, 56, "19 bytes of TCP behind options in a first fragment, IPv6",
          options_fragment6, .edit = {EDIT(18, "\0\x23"), EDIT(57, "\1")}),
    PASSES("20 bytes of TCP behind options in a first fragment, IPv6", options_fragment6,
           .edit = {EDIT(18, "\0\x24"), EDIT(57, "\1")}),
    TRIPS(FRAGMENT_TINY, 56, "TCP fragment at offset 1, IPv6", tcp_fragment6,
          .edit = {EDIT(57, "\x8")}),
    PASSES("TCP fragment at offset 2, IPv6", tcp_fragment6, .edit = {EDIT(57, "\x10")}),
    PASSES("UDP fragment at offset 1, IPv6", udp_fragment6, .edit = {EDIT(57, "\x8")}),

    TRIPS(PORT_ZERO, 34, "TCP source port 0", tcp4, .edit = {EDIT(34, "\0\0")}),
    TRIPS(PORT_ZERO, 36, "TCP destination port 0", tcp4, .edit = {EDIT(36, "\0\0")}),
    PASSES("TCP ports 1 and 256", tcp4, .edit = {EDIT(34, "\0\1\1\0")}),
    TRIPS(PORT_ZERO, 54, "TCP source port 0, IPv6", tcp6, .edit = {EDIT(54, "\0\0")}),
    PASSES("UDP source port 0", udp4, .edit = {EDIT(34, "\0\0")}),
    TRIPS(PORT_ZERO, 36, "UDP destination port 0", udp4, .edit = {EDIT(34, "\0\0\0\0")}),
    TRIPS(PORT_ZERO, 56, "UDP destination port 0, IPv6", udp6, .edit = {EDIT(56, "\0\0")}),

    PASSES("SYN", tcp4, .edit = {EDIT(47, "\2")}),
    TRIPS(TCP_SYN_FIN, 47, "SYN FIN", tcp4, .edit = {EDIT(47, "\3")}),
    TRIPS(TCP_SYN_FIN, 47, "SYN FIN PSH", tcp4, .edit = {EDIT(47, "\xB")}),
    TRIPS(TCP_SYN_FIN, 47, "SYN FIN RST", tcp4, .edit = {EDIT(47, "\7")}),
    TRIPS(TCP_SYN_FIN, 47, "SYN FIN RST PSH", tcp4, .edit = {EDIT(47, "\xF")}),
    TRIPS(TCP_SYN_FIN, 67, "SYN FIN, IPv6", tcp6, .edit = {EDIT(67, "\3")}),
    TRIPS(TCP_SYN_RST, 47, "SYN RST", tcp4, .edit = {EDIT(47, "\6")}),
    TRIPS(TCP_SYN_RST, 47, "SYN RST ACK", tcp4, .edit = {EDIT(47, "\x16")}),
    PASSES("RST", tcp4, .edit = {EDIT(47, "\4")}),
    TRIPS(TCP_FIN_RST, 47, "FIN RST", tcp4, .edit = {EDIT(47, "\5")}),
    TRIPS(TCP_FIN_RST, 47, "FIN RST ACK", tcp4, .edit = {EDIT(47, "\x15")}),
    PASSES("FIN ACK", tcp4, .edit = {EDIT(47, "\x11")}),
    TRIPS(TCP_NULL, 47, "no flag", tcp4, .edit = {EDIT(47, "\0")}),
    TRIPS(TCP_NULL, 47, "ECE CWR", tcp4, .edit = {EDIT(47, "\xC0")}),
    PASSES("PSH", tcp4, .edit = {EDIT(47, "\x8")}),
    TRIPS(TCP_FIN_ONLY, 47, "FIN", tcp4, .edit = {EDIT(47, "\1")}),
    TRIPS(TCP_FIN_ONLY, 47, "FIN ECE", tcp4, .edit = {EDIT(47, "\x41")}),
    PASSES("FIN URG", tcp4, .edit = {EDIT(47, "\x21")}),
    TRIPS(TCP_XMAS, 47, "FIN PSH URG", tcp4, .edit = {EDIT(47, "\x29")}),
    PASSES("FIN PSH URG ACK", tcp4, .edit = {EDIT(47, "\x39")}),
    TRIPS(TCP_XMAS, 67, "FIN PSH URG, IPv6", tcp6, .edit = {EDIT(67, "\x29")}),
    PASSES("NS", tcp4, .edit = {EDIT(46, "\x51")}),
    TRIPS(TCP_RESERVED, 46, "reserved bit 1", tcp4, .edit = {EDIT(46, "\x52")}),
    TRIPS(TCP_RESERVED, 46, "reserved bit 2", tcp4, .edit = {EDIT(46, "\x54")}),
    TRIPS(TCP_RESERVED, 46, "reserved bit 3", tcp4, .edit = {EDIT(46, "\x58")}),
    TRIPS(TCP_ACK_ZERO, 42, "acknowledgment 0", tcp4, .edit = {EDIT(42, "\0\0\0\0")}),
    TRIPS(TCP_ACK_ZERO, 62, "acknowledgment 0, IPv6", tcp6, .edit = {EDIT(62, "\0\0\0\0")}),
    PASSES("acknowledgment 0 without ACK", tcp4, .edit = {EDIT(42, "\0\0\0\0"), EDIT(47, "\2")}),
    PASSES("acknowledgment 0 with RST", tcp4, .edit = {EDIT(42, "\0\0\0\0"), EDIT(47, "\x14")}),
};

const uint32_t n_header_trials = sizeof header_trials / sizeof *header_trials;

uint16_t header_checksum(const uint8_t *bytes, uint32_t len, uint32_t sum)
{
    for (uint32_t i = 0; i < len; i++)
        sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
    while (sum > 0xFFFF)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)~sum;
}

static void seal_ipv4(uint8_t *bytes, uint32_t len, uint32_t ip)
{
    const uint32_t header_len = (bytes[ip] & 15u) * 4;

    if (header_len < 20 || ip + header_len > len)
        return;
    store_be16(bytes + ip + 10, 0);
    store_be16(bytes + ip + 10, header_checksum(bytes + ip, header_len, 0));
}

static uint32_t pseudo_sum(const uint8_t *bytes, const struct sl_packet *packet, uint32_t len)
{
    const uint8_t *ip = bytes + packet->network;
    const uint16_t addresses = packet->flags & SL_PACKET_IPV4 ? header_checksum(ip + 12, 8, 0)
                                                              : header_checksum(ip + 8, 32, 0);

    return (uint16_t)~addresses + len + packet->protocol;
}

static void seal_transport(uint8_t *bytes, const struct sl_packet *packet)
{
    const uint32_t at = packet->transport;
    const uint8_t *ip = bytes + packet->network;
    const uint32_t end =
        packet->network +
        (packet->flags & SL_PACKET_IPV4 ? load_be16(ip + 2) : 40u + load_be16(ip + 4));
    uint32_t field, len = end - at;

    switch (packet->protocol) {
    case SL_IP_TCP:
        field = 16;
        break;
    case SL_IP_UDP:
        field = 6;
        len = load_be16(bytes + at + 4);
        break;
    case SL_IP_ICMP:
    case SL_IP_ICMPV6:
        field = 2;
        break;
    default:
        return;
    }
    if (end < at + field + 2 || len < field + 2 || at + len > packet->len)
        return;
    store_be16(bytes + at + field, 0);

    const uint32_t pseudo = packet->protocol == SL_IP_ICMP ? 0 : pseudo_sum(bytes, packet, len);
    const uint16_t sum = header_checksum(bytes + at, len, pseudo);
    store_be16(bytes + at + field, packet->protocol == SL_IP_UDP && sum == 0 ? 0xFFFF : sum);
}

void header_seal(uint8_t *bytes, uint32_t len, uint32_t wire_len, uint16_t link_type)
{
    struct sl_dissect_stats stats = {.packets = {0}};
    struct sl_packet packet = {.len = len};
    struct sl_origin origin = {.link_type = link_type, .wire_len = wire_len};
    struct sl_span payload = {0, 0};
    struct sl_batch view = {.n_items = 1,
                            .max_items = 1,
                            .bytes = bytes,
                            .payload = &payload,
                            .packet = &packet,
                            .origin = &origin};

    sl_dissect(&view, &stats);
    if (packet.transport != 0)
        seal_transport(bytes, &packet);
    if (packet.flags & SL_PACKET_IPV4)
        seal_ipv4(bytes, len, packet.network);
    if (packet.flags & SL_PACKET_OUTER_IPV4)
        seal_ipv4(bytes, len, packet.outer);
}

static void apply_edits(const struct trial *trial, struct frame *f)
{
    for (int i = 0; i < TRIAL_EDITS; i++)
        if (trial->edit[i].bytes != NULL)
            memcpy(f->byte + trial->edit[i].at, trial->edit[i].bytes, trial->edit[i].len);
}

void trial_build(const struct trial *trial, struct frame *f)
{
    f->len = 0;
    trial->build(f);
    if (trial->raw)
        header_seal(f->byte, f->len, f->len, 1);
    apply_edits(trial, f);
    if (trial->cut != 0)
        f->len = trial->cut;
    if (!trial->raw)
        header_seal(f->byte, f->len, f->len + trial->unseen, 1);
    if (trial->flip != 0)
        f->byte[trial->flip] ^= 1;
}

/* SPDX-License-Identifier: MIT */
#include "frame_samples.h"

enum { IPV4 = SL_PACKET_IPV4, IPV6 = SL_PACKET_IPV6 };
enum { IN_IPV4 = SL_PACKET_OUTER_IPV4, IN_IPV6 = SL_PACKET_OUTER_IPV6 };
enum { FIRST = SL_PACKET_FRAGMENT, LATER = SL_PACKET_FRAGMENT | SL_PACKET_LATER };

static void put_udp_text(struct frame *f)
{
    frame_udp(f, 1000, 2000, 7);
    frame_text(f, "payload");
}

static void put_ipv4_udp(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);

    put_udp_text(f);
    frame_end_ipv4(f, ip);
}

static void put_ipv6_udp(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, SL_IP_UDP);

    put_udp_text(f);
    frame_end_ipv6(f, ip);
}

/* Links. */

static void ethernet(struct frame *f)
{
    frame_ethernet(f, 0x0800);
    put_ipv4_udp(f);
}

static void null_little(struct frame *f)
{
    frame_bytes(f, "\x02\x00\x00\x00", 4);
    put_ipv4_udp(f);
}

static void null_big(struct frame *f)
{
    frame_be32(f, 24);
    put_ipv6_udp(f);
}

static void null_other(struct frame *f)
{
    frame_be32(f, 7);
    put_ipv4_udp(f);
}

static void ppp(struct frame *f)
{
    frame_be16(f, 0x0021);
    put_ipv4_udp(f);
}

static void ppp_hdlc(struct frame *f)
{
    frame_be16(f, 0xFF03);
    frame_be16(f, 0x0057);
    put_ipv6_udp(f);
}

static void ppp_compressed(struct frame *f)
{
    frame_bytes(f, "\x21", 1);
    put_ipv4_udp(f);
}

static void ppp_mpls(struct frame *f)
{
    frame_be16(f, 0x0281);
    frame_be32(f, 0x000011FF);
    put_ipv4_udp(f);
}

static void ppp_lcp(struct frame *f)
{
    frame_be16(f, 0xC021);
    frame_text(f, "lcp");
}

static void cisco_hdlc(struct frame *f)
{
    frame_be16(f, 0x0F00);
    frame_be16(f, 0x0800);
    put_ipv4_udp(f);
}

static void put_pppoe(struct frame *f, uint8_t code, uint16_t protocol)
{
    frame_bytes(f, "\x11", 1);
    frame_bytes(f, &code, 1);
    frame_be16(f, 77);
    frame_be16(f, 0);
    frame_be16(f, protocol);
}

static void pppoe_link(struct frame *f)
{
    put_pppoe(f, 0, 0x0021);
    put_ipv4_udp(f);
}

static void pppoe(struct frame *f)
{
    frame_ethernet(f, 0x8864);
    put_pppoe(f, 0, 0x0057);
    put_ipv6_udp(f);
}

static void pppoe_end(struct frame *f)
{
    frame_ethernet(f, 0x8864);
    put_pppoe(f, 0xA7, 0x0021);
    put_ipv4_udp(f);
}

static void pppoe_discovery(struct frame *f)
{
    frame_ethernet(f, 0x8863);
    put_pppoe(f, 9, 0x0101);
}

static void raw_other(struct frame *f)
{
    frame_text(f, "\x30 neither");
}

static void sll(struct frame *f)
{
    frame_put(f, 14);
    frame_be16(f, 0x0800);
    put_ipv4_udp(f);
}

static void sll_llc(struct frame *f)
{
    frame_put(f, 14);
    frame_be16(f, 4);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x00", 6);
    frame_be16(f, 0x0800);
    put_ipv4_udp(f);
}

static void sll_other(struct frame *f)
{
    frame_put(f, 14);
    frame_be16(f, 12);
    put_ipv4_udp(f);
}

static void sll2(struct frame *f)
{
    frame_be16(f, 0x8100);
    frame_put(f, 18);
    frame_tag(f, 9, 0x86DD);
    put_ipv6_udp(f);
}

static void unknown_link(struct frame *f)
{
    frame_text(f, "what is this?");
}

/* Behind Ethernet. */

static void arp(struct frame *f)
{
    frame_ethernet(f, 0x0806);
    frame_put(f, 28);
}

static void lldp(struct frame *f)
{
    frame_ethernet(f, 0x88CC);
    frame_put(f, 28);
}

static void vlan(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    frame_tag(f, 0xE123, 0x0800); /* with a priority */
    put_ipv4_udp(f);
}

static void vlan_in_vlan(struct frame *f)
{
    frame_ethernet(f, 0x88A8);
    frame_tag(f, 100, 0x8100);
    frame_tag(f, 200, 0x86DD);
    put_ipv6_udp(f);
}

static void vlan_three(struct frame *f)
{
    frame_ethernet(f, 0x9200);
    frame_tag(f, 1, 0x9100);
    frame_tag(f, 2, 0x8100);
    frame_tag(f, 3, 0x0800);
    put_ipv4_udp(f);
}

static void vlan_priority(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    frame_tag(f, 0xA000, 0x8100);
    frame_tag(f, 5, 0x0800);
    put_ipv4_udp(f);
}

static void vlan_eight(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    for (uint16_t i = 1; i < 8; i++)
        frame_tag(f, i, 0x8100);
    frame_tag(f, 8, 0x0800);
    put_ipv4_udp(f);
}

static void mpls(struct frame *f)
{
    frame_ethernet(f, 0x8847);
    frame_be32(f, 0x000011FF);
    put_ipv4_udp(f);
}

static void mpls_stack(struct frame *f)
{
    frame_ethernet(f, 0x8848);
    frame_be32(f, 0x000010FF);
    frame_be32(f, 0x000020FF);
    frame_be32(f, 0x000031FF);
    put_ipv6_udp(f);
}

static void mpls_pseudowire(struct frame *f)
{
    frame_ethernet(f, 0x8847);
    frame_be32(f, 0x000011FF);
    frame_be32(f, 0); /* control word */
    ethernet(f);
}

static void snap(struct frame *f)
{
    frame_ethernet(f, 8 + 35);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x00", 6);
    frame_be16(f, 0x0800);
    put_ipv4_udp(f);
}

static void snap_vlan(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    frame_tag(f, 7, 8 + 55);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x00", 6);
    frame_be16(f, 0x86DD);
    put_ipv6_udp(f);
}

static void snap_cisco(struct frame *f)
{
    frame_ethernet(f, 8 + 10);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x0C", 6);
    frame_be16(f, 0x0800);
    frame_put(f, 10);
}

static void llc_stp(struct frame *f)
{
    frame_ethernet(f, 38);
    frame_bytes(f, "\x42\x42\x03", 3);
    frame_put(f, 35);
}

static void type_between(struct frame *f) /* neither a length nor an EtherType */
{
    frame_ethernet(f, 1501);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x00\x08\x00", 8);
    put_ipv4_udp(f);
}

/* IPv4. */

static void ipv4_options(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 10);

    put_udp_text(f);
    frame_end_ipv4(f, ip);
}

static void ipv4_padding(struct frame *f)
{
    frame_ethernet(f, 0x0800);
    put_ipv4_udp(f);
    frame_text(f, "trailer");
}

static void udp_padding(struct frame *f) /* the UDP length ends before the IP total length */
{
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);

    put_udp_text(f);
    frame_text(f, "trailer");
    frame_end_ipv4(f, ip);
}

static void ipv4_offload(struct frame *f)
{
    frame_ethernet(f, 0x0800);
    frame_ipv4(f, SL_IP_TCP, 0);
    frame_tcp(f, 1000, 2000, 0x10, 0);
    frame_text(f, "payload");
}

static void ipv4_first(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    f->byte[ip + 6] = 0x20;
    frame_tcp(f, 1000, 2000, 0x10, 0);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

static void ipv4_first_udp(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);

    f->byte[ip + 6] = 0x20;
    frame_udp(f, 1000, 2000, 3000);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

static void ipv4_first_tiny(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    f->byte[ip + 6] = 0x20;
    frame_text(f, "8 bytes.");
    frame_end_ipv4(f, ip);
}

static void ipv4_first_options(struct frame *f) /* ends inside the TCP options */
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    f->byte[ip + 6] = 0x20;
    frame_tcp(f, 1000, 2000, 2, 1)[12] = 0x70;
    frame_end_ipv4(f, ip);
}

static void ipv4_later(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    f->byte[ip + 7] = 185;
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

static void ipv4_ospf(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, 89, 0);

    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

/* IPv6. */

static void ipv6_chain(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 0);

    frame_extension(f, 60, 0);
    frame_extension(f, 43, 1);
    frame_extension(f, 135, 2);
    frame_extension(f, 139, 0);
    frame_extension(f, 140, 0);
    frame_extension(f, SL_IP_UDP, 0);
    put_udp_text(f);
    frame_end_ipv6(f, ip);
}

static void ipv6_ah(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 51);
    uint8_t *ah = frame_put(f, 24);

    ah[0] = SL_IP_UDP;
    ah[1] = 4;
    put_udp_text(f);
    frame_end_ipv6(f, ip);
}

static void ipv6_sixteen(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 60);

    for (uint32_t i = 1; i < 16; i++)
        frame_extension(f, 60, 0);
    frame_extension(f, SL_IP_UDP, 0);
    put_udp_text(f);
    frame_end_ipv6(f, ip);
}

static void ipv6_esp(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 60);

    frame_extension(f, 50, 0);
    frame_text(f, "payload");
    frame_end_ipv6(f, ip);
}

static void ipv6_nothing(struct frame *f)
{
    frame_end_ipv6(f, frame_ipv6(f, 59));
}

static void ipv6_offload(struct frame *f)
{
    frame_ipv6(f, SL_IP_TCP);
    frame_tcp(f, 1000, 2000, 0x10, 0);
    frame_text(f, "payload");
}

static void put_ipv6_fragment(struct frame *f, uint16_t fragment)
{
    const uint32_t ip = frame_ipv6(f, 44);
    uint8_t *extension = frame_put(f, 8);

    extension[0] = SL_IP_UDP;
    store_be16(extension + 2, fragment);
    put_udp_text(f);
    frame_end_ipv6(f, ip);
}

static void ipv6_first(struct frame *f)
{
    put_ipv6_fragment(f, 1);
}

static void ipv6_later(struct frame *f)
{
    put_ipv6_fragment(f, 8);
}

static void ipv6_atomic(struct frame *f)
{
    put_ipv6_fragment(f, 0);
}

/* Transports. */

static void tcp_options(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    frame_tcp(f, 1000, 2000, 0x18, 10);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

static void sctp(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_SCTP, 0);

    frame_put(f, 12);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

static void icmp(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_ICMP, 0);

    frame_put(f, 8);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

static void icmp_least(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_ICMP, 0);

    frame_put(f, 4);
    frame_end_ipv4(f, ip);
}

static void icmpv6(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, SL_IP_ICMPV6);

    frame_put(f, 8);
    frame_text(f, "payload");
    frame_end_ipv6(f, ip);
}

/* Tunnels. */

static void ipip(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, 4, 0);

    put_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

static void sixinfour(struct frame *f)
{
    frame_ethernet(f, 0x0800);

    const uint32_t ip = frame_ipv4(f, 41, 0);

    put_ipv6_udp(f);
    frame_end_ipv4(f, ip);
}

static void fourinsix(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 60);

    frame_extension(f, 4, 0);
    put_ipv4_udp(f);
    frame_end_ipv6(f, ip);
}

static void ipip_twice(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, 4, 0);
    const uint32_t inner = frame_ipv4(f, 4, 0);

    frame_text(f, "payload");
    frame_end_ipv4(f, inner);
    frame_end_ipv4(f, ip);
}

static void ipip_fragment(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, 4, 0);

    f->byte[ip + 6] = 0x20;
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

static uint32_t put_gre(struct frame *f, uint16_t bits, uint16_t type, uint32_t fields)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_GRE, 0);

    frame_be16(f, bits);
    frame_be16(f, type);
    frame_put(f, 4 * fields);
    return ip;
}

static void gre(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x0800, 0);

    put_ipv4_udp(f);
    frame_text(f, "trailer");
    frame_end_ipv4(f, ip);
}

static void gre_fields(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0xB000, 0x86DD, 3);

    put_ipv6_udp(f);
    frame_end_ipv4(f, ip);
}

static void gre_key(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x2000, 0x0800, 1);

    put_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

static void gre_ethernet(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x6558, 0);

    frame_ethernet(f, 0x8100);
    frame_tag(f, 33, 0x0800);
    put_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

static void gre_arp(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x6558, 0);

    frame_ethernet(f, 0x0806);
    frame_end_ipv4(f, ip);
}

static void gre_pptp(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x3081, 0x880B, 3);

    frame_be16(f, 0xFF03);
    frame_be16(f, 0x0021);
    put_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

static void gre_ppp(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x880B, 0);

    frame_be16(f, 0x0057);
    put_ipv6_udp(f);
    frame_end_ipv4(f, ip);
}

static void gre_pptp_ack(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x2081, 0x880B, 0);

    frame_text(f, "callack.");
    frame_end_ipv4(f, ip);
}

static void gre_other(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x0801, 0);

    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

static void gre_routing(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x4000, 0x0800, 2);

    frame_end_ipv4(f, ip);
}

#define P(protocol) (1u << SL_PROTOCOL_##protocol)
#define ETHER_IPV4_UDP (P(ETHERNET) | P(IPV4) | P(UDP))
#define ETHER_IPV6_UDP (P(ETHERNET) | P(IPV6) | P(UDP))
/* outer, network, transport, protocol, flags */
#define HEADERS(o, n, t, p, f)                                                        \
    {                                                                                 \
        .outer = (o), .network = (n), .transport = (t), .protocol = (p), .flags = (f) \
    }
#define UDP4(n) HEADERS(0, n, (n) + 20, SL_IP_UDP, IPV4)
#define UDP6(n) HEADERS(0, n, (n) + 40, SL_IP_UDP, IPV6)
#define NONE HEADERS(0, 0, 0, 0, 0)
#define TEXT(begin) \
    {               \
        begin, 7    \
    }

const struct sample samples[] = {
    {"ethernet", ethernet, 1, ETHER_IPV4_UDP, UDP4(14), {0, 0}, TEXT(42)},
    {"null, little endian", null_little, 0, P(IPV4) | P(UDP), UDP4(4), {0, 0}, TEXT(32)},
    {"null, big endian", null_big, 0, P(IPV6) | P(UDP), UDP6(4), {0, 0}, TEXT(52)},
    {"null, other family", null_other, 0, P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"loop", null_big, 108, P(IPV6) | P(UDP), UDP6(4), {0, 0}, TEXT(52)},
    {"ppp", ppp, 9, P(PPP) | P(IPV4) | P(UDP), UDP4(2), {0, 0}, TEXT(30)},
    {"ppp, framed", ppp_hdlc, 9, P(PPP) | P(IPV6) | P(UDP), UDP6(4), {0, 0}, TEXT(52)},
    {"ppp, compressed", ppp_compressed, 9, P(PPP) | P(IPV4) | P(UDP), UDP4(1), {0, 0}, TEXT(29)},
    {"ppp, mpls", ppp_mpls, 9, P(PPP) | P(MPLS) | P(IPV4) | P(UDP), UDP4(6), {0, 0}, TEXT(34)},
    {"ppp, lcp", ppp_lcp, 9, P(PPP) | P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"hdlc", ppp_hdlc, 50, P(PPP) | P(IPV6) | P(UDP), UDP6(4), {0, 0}, TEXT(52)},
    {"hdlc, no address", ppp, 50, P(PPP) | P(IPV4) | P(UDP), UDP4(2), {0, 0}, TEXT(30)},
    {"hdlc, cisco", cisco_hdlc, 50, P(IPV4) | P(UDP), UDP4(4), {0, 0}, TEXT(32)},
    {"cisco hdlc", cisco_hdlc, 104, P(IPV4) | P(UDP), UDP4(4), {0, 0}, TEXT(32)},
    {"pppoe, as link",
     pppoe_link,
     51,
     P(PPPOE) | P(PPP) | P(IPV4) | P(UDP),
     UDP4(8),
     {0, 0},
     TEXT(36)},
    {"pppoe", pppoe, 1, P(PPPOE) | P(PPP) | ETHER_IPV6_UDP, UDP6(22), {0, 0}, TEXT(70)},
    {"pppoe, end", pppoe_end, 1, P(ETHERNET) | P(PPPOE) | P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"pppoe, discovery", pppoe_discovery, 1, P(ETHERNET) | P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"raw, version 4", put_ipv4_udp, 101, P(IPV4) | P(UDP), UDP4(0), {0, 0}, TEXT(28)},
    {"raw, version 6", put_ipv6_udp, 101, P(IPV6) | P(UDP), UDP6(0), {0, 0}, TEXT(48)},
    {"raw, no version", raw_other, 101, P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"raw ipv4", put_ipv4_udp, 228, P(IPV4) | P(UDP), UDP4(0), {0, 0}, TEXT(28)},
    {"raw ipv6", put_ipv6_udp, 229, P(IPV6) | P(UDP), UDP6(0), {0, 0}, TEXT(48)},
    {"sll", sll, 113, P(IPV4) | P(UDP), UDP4(16), {0, 0}, TEXT(44)},
    {"sll, llc", sll_llc, 113, P(IPV4) | P(UDP), UDP4(24), {0, 0}, TEXT(52)},
    {"sll, other", sll_other, 113, P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"sll2", sll2, 276, P(VLAN) | P(IPV6) | P(UDP), UDP6(24), {9, 0}, TEXT(72)},
    {"unknown link",
     unknown_link,
     148,
     P(UNKNOWN_LINK),
     {.defect = SL_DEFECT_LINK_TYPE},
     {0, 0},
     {0, 0}},

    {"arp", arp, 1, P(ETHERNET) | P(ARP), NONE, {0, 0}, {0, 0}},
    {"lldp", lldp, 1, P(ETHERNET) | P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"vlan", vlan, 1, P(VLAN) | ETHER_IPV4_UDP, UDP4(18), {0x123, 0}, TEXT(46)},
    {"vlan in vlan", vlan_in_vlan, 1, P(VLAN) | ETHER_IPV6_UDP, UDP6(22), {100, 200}, TEXT(70)},
    {"vlan, three", vlan_three, 1, P(VLAN) | ETHER_IPV4_UDP, UDP4(26), {1, 2}, TEXT(54)},
    {"vlan, priority", vlan_priority, 1, P(VLAN) | ETHER_IPV4_UDP, UDP4(22), {5, 0}, TEXT(50)},
    {"vlan, eight", vlan_eight, 1, P(VLAN) | ETHER_IPV4_UDP, UDP4(46), {1, 2}, TEXT(74)},
    {"mpls", mpls, 1, P(MPLS) | ETHER_IPV4_UDP, UDP4(18), {0, 0}, TEXT(46)},
    {"mpls, stack", mpls_stack, 1, P(MPLS) | ETHER_IPV6_UDP, UDP6(26), {0, 0}, TEXT(74)},
    {"mpls, pseudowire",
     mpls_pseudowire,
     1,
     P(ETHERNET) | P(MPLS) | P(OTHER_LINK),
     NONE,
     {0, 0},
     {0, 0}},
    {"snap", snap, 1, ETHER_IPV4_UDP, UDP4(22), {0, 0}, TEXT(50)},
    {"snap in vlan", snap_vlan, 1, P(VLAN) | ETHER_IPV6_UDP, UDP6(26), {7, 0}, TEXT(74)},
    {"snap, cisco", snap_cisco, 1, P(ETHERNET) | P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"llc", llc_stp, 1, P(ETHERNET) | P(OTHER_LINK), NONE, {0, 0}, {0, 0}},
    {"type 1501", type_between, 1, P(ETHERNET) | P(OTHER_LINK), NONE, {0, 0}, {0, 0}},

    {"ipv4, options",
     ipv4_options,
     101,
     P(IPV4) | P(UDP),
     HEADERS(0, 0, 60, SL_IP_UDP, IPV4),
     {0, 0},
     TEXT(68)},
    {"ipv4, padding", ipv4_padding, 1, ETHER_IPV4_UDP, UDP4(14), {0, 0}, TEXT(42)},
    {"udp, padding", udp_padding, 101, P(IPV4) | P(UDP), UDP4(0), {0, 0}, TEXT(28)},
    {"ipv4, offload",
     ipv4_offload,
     1,
     P(ETHERNET) | P(IPV4) | P(TCP),
     HEADERS(0, 14, 34, SL_IP_TCP, IPV4),
     {0, 0},
     TEXT(54)},
    {"ipv4, first",
     ipv4_first,
     101,
     P(IPV4) | P(FRAGMENT) | P(TCP),
     HEADERS(0, 0, 20, SL_IP_TCP, IPV4 | FIRST),
     {0, 0},
     TEXT(40)},
    {"ipv4, first of udp",
     ipv4_first_udp,
     101,
     P(IPV4) | P(FRAGMENT) | P(UDP),
     HEADERS(0, 0, 20, SL_IP_UDP, IPV4 | FIRST),
     {0, 0},
     TEXT(28)},
    {"ipv4, first, tiny",
     ipv4_first_tiny,
     101,
     P(IPV4) | P(FRAGMENT) | P(TCP),
     HEADERS(0, 0, 0, SL_IP_TCP, IPV4 | FIRST),
     {0, 0},
     {20, 8}},
    {"ipv4, first, options",
     ipv4_first_options,
     101,
     P(IPV4) | P(FRAGMENT) | P(TCP),
     HEADERS(0, 0, 20, SL_IP_TCP, IPV4 | FIRST),
     {0, 0},
     {0, 0}},
    {"ipv4, later",
     ipv4_later,
     101,
     P(IPV4) | P(FRAGMENT),
     HEADERS(0, 0, 0, SL_IP_TCP, IPV4 | LATER),
     {0, 0},
     TEXT(20)},
    {"ipv4, ospf",
     ipv4_ospf,
     101,
     P(IPV4) | P(OTHER_IP),
     HEADERS(0, 0, 0, 89, IPV4),
     {0, 0},
     TEXT(20)},

    {"ipv6, chain",
     ipv6_chain,
     101,
     P(IPV6) | P(UDP),
     HEADERS(0, 0, 112, SL_IP_UDP, IPV6),
     {0, 0},
     TEXT(120)},
    {"ipv6, ah",
     ipv6_ah,
     101,
     P(IPV6) | P(UDP),
     HEADERS(0, 0, 64, SL_IP_UDP, IPV6),
     {0, 0},
     TEXT(72)},
    {"ipv6, sixteen",
     ipv6_sixteen,
     101,
     P(IPV6) | P(UDP),
     HEADERS(0, 0, 168, SL_IP_UDP, IPV6),
     {0, 0},
     TEXT(176)},
    {"ipv6, esp",
     ipv6_esp,
     101,
     P(IPV6) | P(OTHER_IP),
     HEADERS(0, 0, 0, 50, IPV6),
     {0, 0},
     TEXT(48)},
    {"ipv6, nothing",
     ipv6_nothing,
     101,
     P(IPV6) | P(OTHER_IP),
     HEADERS(0, 0, 0, 59, IPV6),
     {0, 0},
     {0, 0}},
    {"ipv6, offload",
     ipv6_offload,
     101,
     P(IPV6) | P(TCP),
     HEADERS(0, 0, 40, SL_IP_TCP, IPV6),
     {0, 0},
     TEXT(60)},
    {"ipv6, first",
     ipv6_first,
     101,
     P(IPV6) | P(FRAGMENT) | P(UDP),
     HEADERS(0, 0, 48, SL_IP_UDP, IPV6 | FIRST),
     {0, 0},
     TEXT(56)},
    {"ipv6, later",
     ipv6_later,
     101,
     P(IPV6) | P(FRAGMENT),
     HEADERS(0, 0, 0, SL_IP_UDP, IPV6 | LATER),
     {0, 0},
     {48, 15}},
    {"ipv6, atomic",
     ipv6_atomic,
     101,
     P(IPV6) | P(UDP),
     HEADERS(0, 0, 48, SL_IP_UDP, IPV6),
     {0, 0},
     TEXT(56)},

    {"tcp, options",
     tcp_options,
     101,
     P(IPV4) | P(TCP),
     HEADERS(0, 0, 20, SL_IP_TCP, IPV4),
     {0, 0},
     TEXT(80)},
    {"sctp", sctp, 101, P(IPV4) | P(SCTP), HEADERS(0, 0, 20, SL_IP_SCTP, IPV4), {0, 0}, TEXT(32)},
    {"icmp", icmp, 101, P(IPV4) | P(ICMP), HEADERS(0, 0, 20, SL_IP_ICMP, IPV4), {0, 0}, TEXT(28)},
    {"icmp, least",
     icmp_least,
     101,
     P(IPV4) | P(ICMP),
     HEADERS(0, 0, 20, SL_IP_ICMP, IPV4),
     {0, 0},
     {0, 0}},
    {"icmpv6",
     icmpv6,
     101,
     P(IPV6) | P(ICMPV6),
     HEADERS(0, 0, 40, SL_IP_ICMPV6, IPV6),
     {0, 0},
     TEXT(48)},

    {"ipip",
     ipip,
     101,
     P(IPV4) | P(IPIP) | P(UDP),
     HEADERS(0, 20, 40, SL_IP_UDP, IPV4 | IN_IPV4),
     {0, 0},
     TEXT(48)},
    {"6in4",
     sixinfour,
     1,
     P(ETHERNET) | P(IPV4) | P(IPIP) | P(IPV6) | P(UDP),
     HEADERS(14, 34, 74, SL_IP_UDP, IPV6 | IN_IPV4),
     {0, 0},
     TEXT(82)},
    {"4in6",
     fourinsix,
     101,
     P(IPV6) | P(IPIP) | P(IPV4) | P(UDP),
     HEADERS(0, 48, 68, SL_IP_UDP, IPV4 | IN_IPV6),
     {0, 0},
     TEXT(76)},
    {"ipip, twice",
     ipip_twice,
     101,
     P(IPV4) | P(IPIP),
     HEADERS(0, 20, 0, 4, IPV4 | IN_IPV4),
     {0, 0},
     TEXT(40)},
    {"ipip, fragment",
     ipip_fragment,
     101,
     P(IPV4) | P(IPIP) | P(FRAGMENT),
     HEADERS(0, 0, 0, 4, IPV4 | FIRST),
     {0, 0},
     TEXT(20)},
    {"gre",
     gre,
     101,
     P(IPV4) | P(GRE) | P(UDP),
     HEADERS(0, 24, 44, SL_IP_UDP, IPV4 | IN_IPV4),
     {0, 0},
     TEXT(52)},
    {"gre, all fields",
     gre_fields,
     101,
     P(IPV4) | P(GRE) | P(IPV6) | P(UDP),
     HEADERS(0, 36, 76, SL_IP_UDP, IPV6 | IN_IPV4),
     {0, 0},
     TEXT(84)},
    {"gre, key",
     gre_key,
     101,
     P(IPV4) | P(GRE) | P(UDP),
     HEADERS(0, 28, 48, SL_IP_UDP, IPV4 | IN_IPV4),
     {0, 0},
     TEXT(56)},
    {"gre, ethernet",
     gre_ethernet,
     101,
     P(GRE) | P(VLAN) | ETHER_IPV4_UDP,
     HEADERS(0, 42, 62, SL_IP_UDP, IPV4 | IN_IPV4),
     {33, 0},
     TEXT(70)},
    {"gre, arp",
     gre_arp,
     101,
     P(IPV4) | P(GRE) | P(ETHERNET) | P(ARP),
     HEADERS(0, 0, 0, SL_IP_GRE, IPV4),
     {0, 0},
     {20, 18}},
    {"gre, pptp",
     gre_pptp,
     101,
     P(GRE) | P(PPP) | P(IPV4) | P(UDP),
     HEADERS(0, 40, 60, SL_IP_UDP, IPV4 | IN_IPV4),
     {0, 0},
     TEXT(68)},
    {"gre, ppp",
     gre_ppp,
     101,
     P(GRE) | P(PPP) | P(IPV4) | P(IPV6) | P(UDP),
     HEADERS(0, 26, 66, SL_IP_UDP, IPV6 | IN_IPV4),
     {0, 0},
     TEXT(74)},
    {"gre, pptp ack",
     gre_pptp_ack,
     101,
     P(IPV4) | P(GRE),
     HEADERS(0, 0, 0, SL_IP_GRE, IPV4),
     {0, 0},
     {20, 12}},
    {"gre, other",
     gre_other,
     101,
     P(IPV4) | P(GRE),
     HEADERS(0, 0, 0, SL_IP_GRE, IPV4),
     {0, 0},
     {20, 11}},
    {"gre, routing",
     gre_routing,
     101,
     P(IPV4) | P(GRE),
     HEADERS(0, 0, 0, SL_IP_GRE, IPV4),
     {0, 0},
     {20, 12}},
};

const uint32_t n_samples = sizeof samples / sizeof samples[0];

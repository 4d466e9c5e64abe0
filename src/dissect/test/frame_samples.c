/* SPDX-License-Identifier: MIT */
#include "frame_samples.h"

#include "frame_samples_build.h"

enum { IPV4 = SL_PACKET_IPV4, IPV6 = SL_PACKET_IPV6 };
enum { IN_IPV4 = SL_PACKET_OUTER_IPV4, IN_IPV6 = SL_PACKET_OUTER_IPV6 };
enum { FIRST = SL_PACKET_FRAGMENT, LATER = SL_PACKET_FRAGMENT | SL_PACKET_LATER };

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
#define TEXT(begin) BYTES(begin, 7)
#define BAD_LINK                      \
    {                                 \
        .defect = SL_DEFECT_LINK_TYPE \
    }
#define BYTES(begin, len) \
    {                     \
        begin, len        \
    }
#define NO_TEXT BYTES(0, 0)
/* Rows: with VLAN ids, without, and with a raw IP packet. */
#define VLANS(name, build, link, seen, headers, text, ...)             \
    {                                                                  \
        name, sample_##build, link, seen, headers, {__VA_ARGS__}, text \
    }
#define LINK(name, build, link, seen, headers, text)            \
    {                                                           \
        name, sample_##build, link, seen, headers, {0, 0}, text \
    }
#define RAW(name, build, seen, headers, text)                  \
    {                                                          \
        name, sample_##build, 101, seen, headers, {0, 0}, text \
    }

const struct sample samples[] = {
    LINK("ethernet", ethernet, 1, ETHER_IPV4_UDP, UDP4(14), TEXT(42)),
    LINK("null, little endian", null_little, 0, P(IPV4) | P(UDP), UDP4(4), TEXT(32)),
    LINK("null, big endian", null_big, 0, P(IPV6) | P(UDP), UDP6(4), TEXT(52)),
    LINK("null, other family", null_other, 0, P(OTHER_LINK), NONE, NO_TEXT),
    LINK("loop", null_big, 108, P(IPV6) | P(UDP), UDP6(4), TEXT(52)),
    LINK("ppp", ppp, 9, P(PPP) | P(IPV4) | P(UDP), UDP4(2), TEXT(30)),
    LINK("ppp, framed", ppp_hdlc, 9, P(PPP) | P(IPV6) | P(UDP), UDP6(4), TEXT(52)),
    LINK("ppp, compressed", ppp_compressed, 9, P(PPP) | P(IPV4) | P(UDP), UDP4(1), TEXT(29)),
    LINK("ppp, mpls", ppp_mpls, 9, P(PPP) | P(MPLS) | P(IPV4) | P(UDP), UDP4(6), TEXT(34)),
    LINK("ppp, lcp", ppp_lcp, 9, P(PPP) | P(OTHER_LINK), NONE, NO_TEXT),
    LINK("hdlc", ppp_hdlc, 50, P(PPP) | P(IPV6) | P(UDP), UDP6(4), TEXT(52)),
    LINK("hdlc, no address", ppp, 50, P(PPP) | P(IPV4) | P(UDP), UDP4(2), TEXT(30)),
    LINK("hdlc, cisco", cisco_hdlc, 50, P(IPV4) | P(UDP), UDP4(4), TEXT(32)),
    LINK("cisco hdlc", cisco_hdlc, 104, P(IPV4) | P(UDP), UDP4(4), TEXT(32)),
    LINK("pppoe, as link", pppoe_link, 51, P(PPPOE) | P(PPP) | P(IPV4) | P(UDP), UDP4(8), TEXT(36)),
    LINK("pppoe", pppoe, 1, P(PPPOE) | P(PPP) | ETHER_IPV6_UDP, UDP6(22), TEXT(70)),
    LINK("pppoe, end", pppoe_end, 1, P(ETHERNET) | P(PPPOE) | P(OTHER_LINK), NONE, NO_TEXT),
    LINK("pppoe, discovery", pppoe_discovery, 1, P(ETHERNET) | P(OTHER_LINK), NONE, NO_TEXT),
    LINK("nsh", nsh, 1, ETHER_IPV6_UDP, UDP6(22), TEXT(70)),
    LINK("nsh, long", nsh_long, 1, P(ETHERNET) | P(IPV4) | P(UDP), UDP4(38), TEXT(66)),
    LINK("nsh, ethernet", nsh_ethernet, 1, P(ETHERNET) | P(OTHER_LINK), NONE, NO_TEXT),
    RAW("raw, version 4", ipv4_udp, P(IPV4) | P(UDP), UDP4(0), TEXT(28)),
    RAW("raw, version 6", ipv6_udp, P(IPV6) | P(UDP), UDP6(0), TEXT(48)),
    RAW("raw, no version", raw_other, P(OTHER_LINK), NONE, NO_TEXT),
    LINK("raw ipv4", ipv4_udp, 228, P(IPV4) | P(UDP), UDP4(0), TEXT(28)),
    LINK("raw ipv6", ipv6_udp, 229, P(IPV6) | P(UDP), UDP6(0), TEXT(48)),
    LINK("sll", sll, 113, P(IPV4) | P(UDP), UDP4(16), TEXT(44)),
    LINK("sll, llc", sll_llc, 113, P(IPV4) | P(UDP), UDP4(24), TEXT(52)),
    LINK("sll, other", sll_other, 113, P(OTHER_LINK), NONE, NO_TEXT),
    VLANS("sll2", sll2, 276, P(VLAN) | P(IPV6) | P(UDP), UDP6(24), TEXT(72), 9, 0),
    LINK("unknown link", unknown_link, 148, P(UNKNOWN_LINK), BAD_LINK, NO_TEXT),

    LINK("arp", arp, 1, P(ETHERNET) | P(ARP), NONE, NO_TEXT),
    LINK("lldp", lldp, 1, P(ETHERNET) | P(OTHER_LINK), NONE, NO_TEXT),
    VLANS("vlan", vlan, 1, P(VLAN) | ETHER_IPV4_UDP, UDP4(18), TEXT(46), 0x123, 0),
    VLANS("vlan in vlan", vlan_in_vlan, 1, P(VLAN) | ETHER_IPV6_UDP, UDP6(22), TEXT(70), 100, 200),
    VLANS("vlan, three", vlan_three, 1, P(VLAN) | ETHER_IPV4_UDP, UDP4(26), TEXT(54), 1, 2),
    VLANS("vlan, priority", vlan_priority, 1, P(VLAN) | ETHER_IPV4_UDP, UDP4(22), TEXT(50), 5, 0),
    VLANS("vlan, eight", vlan_eight, 1, P(VLAN) | ETHER_IPV4_UDP, UDP4(46), TEXT(74), 1, 2),
    LINK("mpls", mpls, 1, P(MPLS) | ETHER_IPV4_UDP, UDP4(18), TEXT(46)),
    LINK("mpls, stack", mpls_stack, 1, P(MPLS) | ETHER_IPV6_UDP, UDP6(26), TEXT(74)),
    VLANS("mpls, pseudowire", mpls_pseudowire, 1, P(VLAN) | P(MPLS) | ETHER_IPV4_UDP, UDP4(44),
          TEXT(72), 6, 7),
    LINK("mpls, nested pseudowires", mpls_pseudowires, 1, P(ETHERNET) | P(MPLS) | P(OTHER_LINK),
         NONE, NO_TEXT),
    LINK("snap", snap, 1, ETHER_IPV4_UDP, UDP4(22), TEXT(50)),
    VLANS("snap in vlan", snap_vlan, 1, P(VLAN) | ETHER_IPV6_UDP, UDP6(26), TEXT(74), 7, 0),
    LINK("snap, cisco", snap_cisco, 1, P(ETHERNET) | P(OTHER_LINK), NONE, NO_TEXT),
    LINK("llc", llc_stp, 1, P(ETHERNET) | P(OTHER_LINK), NONE, NO_TEXT),
    LINK("type 1501", type_between, 1, P(ETHERNET) | P(OTHER_LINK), NONE, NO_TEXT),

    RAW("ipv4, options", ipv4_options, P(IPV4) | P(UDP), HEADERS(0, 0, 60, SL_IP_UDP, IPV4),
        TEXT(68)),
    LINK("ipv4, padding", ipv4_padding, 1, ETHER_IPV4_UDP, UDP4(14), TEXT(42)),
    RAW("udp, padding", udp_padding, P(IPV4) | P(UDP), UDP4(0), TEXT(28)),
    LINK("ipv4, offload", ipv4_offload, 1, P(ETHERNET) | P(IPV4) | P(TCP),
         HEADERS(0, 14, 34, SL_IP_TCP, IPV4), TEXT(54)),
    RAW("ipv4, first", ipv4_first, P(IPV4) | P(FRAGMENT) | P(TCP),
        HEADERS(0, 0, 20, SL_IP_TCP, IPV4 | FIRST), TEXT(40)),
    RAW("ipv4, first of udp", ipv4_first_udp, P(IPV4) | P(FRAGMENT) | P(UDP),
        HEADERS(0, 0, 20, SL_IP_UDP, IPV4 | FIRST), TEXT(28)),
    RAW("ipv4, first, tiny", ipv4_first_tiny, P(IPV4) | P(FRAGMENT) | P(TCP),
        HEADERS(0, 0, 0, SL_IP_TCP, IPV4 | FIRST), BYTES(20, 8)),
    RAW("ipv4, first, options", ipv4_first_options, P(IPV4) | P(FRAGMENT) | P(TCP),
        HEADERS(0, 0, 20, SL_IP_TCP, IPV4 | FIRST), NO_TEXT),
    RAW("ipv4, later", ipv4_later, P(IPV4) | P(FRAGMENT), HEADERS(0, 0, 0, SL_IP_TCP, IPV4 | LATER),
        TEXT(20)),
    RAW("ipv4, ospf", ipv4_ospf, P(IPV4) | P(OTHER_IP), HEADERS(0, 0, 0, 89, IPV4), TEXT(20)),

    RAW("ipv6, chain", ipv6_chain, P(IPV6) | P(UDP), HEADERS(0, 0, 112, SL_IP_UDP, IPV6),
        TEXT(120)),
    RAW("ipv6, ah", ipv6_ah, P(IPV6) | P(UDP), HEADERS(0, 0, 64, SL_IP_UDP, IPV6), TEXT(72)),
    RAW("ipv6, sixteen", ipv6_sixteen, P(IPV6) | P(UDP), HEADERS(0, 0, 168, SL_IP_UDP, IPV6),
        TEXT(176)),
    RAW("ipv6, esp", ipv6_esp, P(IPV6) | P(OTHER_IP), HEADERS(0, 0, 0, 50, IPV6), TEXT(48)),
    RAW("ipv6, nothing", ipv6_nothing, P(IPV6) | P(OTHER_IP), HEADERS(0, 0, 0, 59, IPV6), NO_TEXT),
    RAW("ipv6, offload", ipv6_offload, P(IPV6) | P(TCP), HEADERS(0, 0, 40, SL_IP_TCP, IPV6),
        TEXT(60)),
    RAW("ipv6, first", ipv6_first, P(IPV6) | P(FRAGMENT) | P(UDP),
        HEADERS(0, 0, 48, SL_IP_UDP, IPV6 | FIRST), TEXT(56)),
    RAW("ipv6, later", ipv6_later, P(IPV6) | P(FRAGMENT), HEADERS(0, 0, 0, SL_IP_UDP, IPV6 | LATER),
        BYTES(48, 15)),
    RAW("ipv6, atomic", ipv6_atomic, P(IPV6) | P(UDP), HEADERS(0, 0, 48, SL_IP_UDP, IPV6),
        TEXT(56)),

    RAW("tcp, options", tcp_options, P(IPV4) | P(TCP), HEADERS(0, 0, 20, SL_IP_TCP, IPV4),
        TEXT(80)),
    RAW("sctp", sctp, P(IPV4) | P(SCTP), HEADERS(0, 0, 20, SL_IP_SCTP, IPV4), TEXT(32)),
    RAW("icmp", icmp, P(IPV4) | P(ICMP), HEADERS(0, 0, 20, SL_IP_ICMP, IPV4), TEXT(28)),
    RAW("icmp, least", icmp_least, P(IPV4) | P(ICMP), HEADERS(0, 0, 20, SL_IP_ICMP, IPV4), NO_TEXT),
    RAW("icmpv6", icmpv6, P(IPV6) | P(ICMPV6), HEADERS(0, 0, 40, SL_IP_ICMPV6, IPV6), TEXT(48)),

    RAW("ipip", ipip, P(IPV4) | P(IPIP) | P(UDP), HEADERS(0, 20, 40, SL_IP_UDP, IPV4 | IN_IPV4),
        TEXT(48)),
    LINK("6in4", sixinfour, 1, P(ETHERNET) | P(IPV4) | P(IPIP) | P(IPV6) | P(UDP),
         HEADERS(14, 34, 74, SL_IP_UDP, IPV6 | IN_IPV4), TEXT(82)),
    RAW("4in6", fourinsix, P(IPV6) | P(IPIP) | P(IPV4) | P(UDP),
        HEADERS(0, 48, 68, SL_IP_UDP, IPV4 | IN_IPV6), TEXT(76)),
    RAW("ipip, twice", ipip_twice, P(IPV4) | P(IPIP) | P(UDP),
        HEADERS(0, 40, 60, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(68)),
    RAW("ipip, deep", ipip_deep, P(IPV4) | P(IPIP), HEADERS(0, 80, 0, 4, IPV4 | IN_IPV4),
        TEXT(100)),
    RAW("ipip, fragment", ipip_fragment, P(IPV4) | P(IPIP) | P(FRAGMENT),
        HEADERS(0, 0, 0, 4, IPV4 | FIRST), TEXT(20)),
    RAW("gre", gre, P(IPV4) | P(GRE) | P(UDP), HEADERS(0, 24, 44, SL_IP_UDP, IPV4 | IN_IPV4),
        TEXT(52)),
    RAW("gre, all fields", gre_fields, P(IPV4) | P(GRE) | P(IPV6) | P(UDP),
        HEADERS(0, 36, 76, SL_IP_UDP, IPV6 | IN_IPV4), TEXT(84)),
    RAW("gre, key", gre_key, P(IPV4) | P(GRE) | P(UDP),
        HEADERS(0, 28, 48, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(56)),
    VLANS("gre, ethernet", gre_ethernet, 101, P(GRE) | P(VLAN) | ETHER_IPV4_UDP,
          HEADERS(0, 42, 62, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(70), 33, 0),
    VLANS("gre, erspan", gre_erspan, 101, P(GRE) | P(VLAN) | ETHER_IPV4_UDP,
          HEADERS(0, 42, 62, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(70), 33, 0),
    RAW("gre, erspan of version 1", gre_erspan_2, P(GRE) | ETHER_IPV4_UDP,
        HEADERS(0, 50, 70, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(78)),
    RAW("gre, erspan of version 2", gre_erspan_3, P(IPV4) | P(GRE),
        HEADERS(0, 0, 0, SL_IP_GRE, IPV4), BYTES(20, 16)),
    RAW("gre, arp", gre_arp, P(IPV4) | P(GRE) | P(ETHERNET) | P(ARP),
        HEADERS(0, 0, 0, SL_IP_GRE, IPV4), BYTES(20, 18)),
    RAW("gre, pptp", gre_pptp, P(GRE) | P(PPP) | P(IPV4) | P(UDP),
        HEADERS(0, 40, 60, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(68)),
    RAW("gre, ppp", gre_ppp, P(GRE) | P(PPP) | P(IPV4) | P(IPV6) | P(UDP),
        HEADERS(0, 26, 66, SL_IP_UDP, IPV6 | IN_IPV4), TEXT(74)),
    RAW("gre, pptp ack", gre_pptp_ack, P(IPV4) | P(GRE), HEADERS(0, 0, 0, SL_IP_GRE, IPV4),
        BYTES(20, 12)),
    RAW("gre, other", gre_other, P(IPV4) | P(GRE), HEADERS(0, 0, 0, SL_IP_GRE, IPV4),
        BYTES(20, 11)),
    RAW("gre, routing", gre_routing, P(IPV4) | P(GRE), HEADERS(0, 0, 0, SL_IP_GRE, IPV4),
        BYTES(20, 12)),
    RAW("gre, pptp in ipv6", gre_pptp_in_ipv6,
        P(IPV6) | P(IPIP) | P(IPV4) | P(GRE) | P(PPP) | P(UDP),
        HEADERS(0, 80, 100, SL_IP_UDP, IPV4 | IN_IPV6), TEXT(108)),

    LINK("vxlan", vxlan, 1, ETHER_IPV4_UDP | P(VXLAN),
         HEADERS(14, 64, 84, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(92)),
    VLANS("vxlan, vlan", vxlan_vlan, 1, ETHER_IPV4_UDP | P(VXLAN) | P(VLAN) | P(IPV6),
          HEADERS(14, 68, 108, SL_IP_UDP, IPV6 | IN_IPV4), TEXT(116), 33, 0),
    LINK("vxlan, arp", vxlan_arp, 1, ETHER_IPV4_UDP | P(VXLAN) | P(ARP), UDP4(14), BYTES(42, 50)),
    LINK("vxlan, vlan, arp", vxlan_vlan_arp, 1, ETHER_IPV4_UDP | P(VXLAN) | P(VLAN) | P(ARP),
         UDP4(14), BYTES(42, 54)),
    LINK("vxlan, none", vxlan_none, 1, ETHER_IPV4_UDP, UDP4(14), TEXT(42)),
    LINK("vxlan, other", vxlan_other, 1, ETHER_IPV4_UDP | P(VXLAN), UDP4(14), BYTES(42, 29)),
    LINK("vxlan, gre", vxlan_gre, 1, ETHER_IPV4_UDP | P(VXLAN) | P(GRE),
         HEADERS(14, 92, 112, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(120)),
    LINK("geneve", geneve, 1, ETHER_IPV4_UDP | P(GENEVE),
         HEADERS(14, 72, 92, SL_IP_UDP, IPV4 | IN_IPV4), TEXT(100)),
    LINK("geneve, ipv6", geneve_ipv6, 1, ETHER_IPV4_UDP | P(GENEVE) | P(IPV6),
         HEADERS(14, 50, 90, SL_IP_UDP, IPV6 | IN_IPV4), TEXT(98)),
    LINK("geneve, version", geneve_version, 1, ETHER_IPV4_UDP, UDP4(14), BYTES(42, 57)),
    LINK("teredo", teredo, 1, ETHER_IPV4_UDP | P(TEREDO) | P(IPV6),
         HEADERS(14, 42, 82, SL_IP_UDP, IPV6 | IN_IPV4), TEXT(90)),
    LINK("teredo, origin", teredo_origin, 1, ETHER_IPV4_UDP | P(TEREDO) | P(IPV6),
         HEADERS(14, 50, 90, SL_IP_UDP, IPV6 | IN_IPV4), TEXT(98)),
    LINK("teredo, authentication", teredo_authentication, 1, ETHER_IPV4_UDP | P(TEREDO) | P(IPV6),
         HEADERS(14, 68, 108, SL_IP_UDP, IPV6 | IN_IPV4), TEXT(116)),
    LINK("teredo, none", teredo_none, 1, ETHER_IPV4_UDP, UDP4(14), BYTES(42, 56)),
};

const uint32_t n_samples = sizeof samples / sizeof samples[0];

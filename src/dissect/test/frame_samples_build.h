/* SPDX-License-Identifier: MIT */
/* The frames of the samples, by layer. */
#ifndef FRAME_SAMPLES_BUILD_H
#define FRAME_SAMPLES_BUILD_H

#include "frame_fixture.h"

/* Appends to a frame. */
typedef void sample_build(struct frame *f);

/* A datagram of UDP with a text of seven bytes. */
static inline void sample_udp_text(struct frame *f)
{
    frame_udp(f, 1000, 2000, 7);
    frame_text(f, "payload");
}

sample_build sample_ethernet, sample_null_little, sample_null_big, sample_null_other, sample_ppp,
    sample_ppp_hdlc, sample_ppp_compressed, sample_ppp_mpls, sample_ppp_lcp, sample_cisco_hdlc,
    sample_pppoe_link, sample_pppoe, sample_pppoe_end, sample_pppoe_discovery, sample_nsh,
    sample_nsh_long, sample_nsh_ethernet, sample_raw_other, sample_sll, sample_sll_llc,
    sample_sll_other, sample_sll2, sample_unknown_link, sample_arp, sample_lldp, sample_vlan,
    sample_vlan_in_vlan, sample_vlan_three, sample_vlan_priority, sample_vlan_eight, sample_mpls,
    sample_mpls_stack, sample_mpls_pseudowire, sample_mpls_pseudowires, sample_snap,
    sample_snap_vlan, sample_snap_cisco, sample_llc_stp, sample_type_between;
sample_build sample_ipv4_udp, sample_ipv6_udp, sample_ipv4_options, sample_ipv4_padding,
    sample_udp_padding, sample_ipv4_offload, sample_ipv4_first, sample_ipv4_first_udp,
    sample_ipv4_first_tiny, sample_ipv4_first_options, sample_ipv4_later, sample_ipv4_ospf,
    sample_ipv6_chain, sample_ipv6_ah, sample_ipv6_sixteen, sample_ipv6_esp, sample_ipv6_nothing,
    sample_ipv6_offload, sample_ipv6_first, sample_ipv6_later, sample_ipv6_atomic,
    sample_tcp_options, sample_sctp, sample_icmp, sample_icmp_least, sample_icmpv6;
sample_build sample_ipip, sample_sixinfour, sample_fourinsix, sample_ipip_twice, sample_ipip_deep,
    sample_ipip_fragment, sample_gre, sample_gre_fields, sample_gre_key, sample_gre_ethernet,
    sample_gre_erspan, sample_gre_erspan_2, sample_gre_erspan_3, sample_gre_arp, sample_gre_pptp,
    sample_gre_ppp, sample_gre_pptp_ack, sample_gre_other, sample_gre_routing,
    sample_gre_pptp_in_ipv6, sample_vxlan, sample_vxlan_vlan, sample_vxlan_arp,
    sample_vxlan_vlan_arp, sample_vxlan_none, sample_vxlan_other, sample_vxlan_gre, sample_geneve,
    sample_geneve_ipv6, sample_geneve_version, sample_teredo, sample_teredo_origin,
    sample_teredo_none, sample_teredo_authentication;

#endif

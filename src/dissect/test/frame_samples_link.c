/* SPDX-License-Identifier: MIT */
/* Links, and what lies between Ethernet and IP. */
#include "frame_samples_build.h"

#include "sluice/dissect.h"

void sample_ethernet(struct frame *f)
{
    frame_ethernet(f, 0x0800);
    sample_ipv4_udp(f);
}

void sample_null_little(struct frame *f)
{
    frame_bytes(f, "\x02\x00\x00\x00", 4);
    sample_ipv4_udp(f);
}

void sample_null_big(struct frame *f)
{
    frame_be32(f, 24);
    sample_ipv6_udp(f);
}

void sample_null_other(struct frame *f)
{
    frame_be32(f, 7);
    sample_ipv4_udp(f);
}

void sample_ppp(struct frame *f)
{
    frame_be16(f, 0x0021);
    sample_ipv4_udp(f);
}

void sample_ppp_hdlc(struct frame *f)
{
    frame_be16(f, 0xFF03);
    frame_be16(f, 0x0057);
    sample_ipv6_udp(f);
}

void sample_ppp_compressed(struct frame *f)
{
    frame_bytes(f, "\x21", 1);
    sample_ipv4_udp(f);
}

void sample_ppp_mpls(struct frame *f)
{
    frame_be16(f, 0x0281);
    frame_be32(f, 0x000011FF);
    sample_ipv4_udp(f);
}

void sample_ppp_lcp(struct frame *f)
{
    frame_be16(f, 0xC021);
    frame_text(f, "lcp");
}

void sample_cisco_hdlc(struct frame *f)
{
    frame_be16(f, 0x0F00);
    frame_be16(f, 0x0800);
    sample_ipv4_udp(f);
}

static void put_pppoe(struct frame *f, uint8_t code, uint16_t protocol)
{
    frame_bytes(f, "\x11", 1);
    frame_bytes(f, &code, 1);
    frame_be16(f, 77);
    frame_be16(f, 0);
    frame_be16(f, protocol);
}

void sample_pppoe_link(struct frame *f)
{
    put_pppoe(f, 0, 0x0021);
    sample_ipv4_udp(f);
}

void sample_pppoe(struct frame *f)
{
    frame_ethernet(f, 0x8864);
    put_pppoe(f, 0, 0x0057);
    sample_ipv6_udp(f);
}

void sample_pppoe_end(struct frame *f)
{
    frame_ethernet(f, 0x8864);
    put_pppoe(f, 0xA7, 0x0021);
    sample_ipv4_udp(f);
}

void sample_pppoe_discovery(struct frame *f)
{
    frame_ethernet(f, 0x8863);
    put_pppoe(f, 9, 0x0101);
}

static void put_nsh(struct frame *f, uint32_t words, uint8_t protocol)
{
    uint8_t *nsh;

    frame_ethernet(f, 0x894F);
    nsh = frame_put(f, 4 * words);
    nsh[1] = (uint8_t)words;
    nsh[2] = 2;
    nsh[3] = protocol;
}

void sample_nsh(struct frame *f)
{
    put_nsh(f, 2, 2);
    sample_ipv6_udp(f);
}

void sample_nsh_long(struct frame *f)
{
    put_nsh(f, 6, 1);
    sample_ipv4_udp(f);
}

void sample_nsh_ethernet(struct frame *f)
{
    put_nsh(f, 2, 3);
    frame_text(f, "a frame");
}

void sample_raw_other(struct frame *f)
{
    frame_text(f, "\x30 neither");
}

void sample_sll(struct frame *f)
{
    frame_put(f, 14);
    frame_be16(f, 0x0800);
    sample_ipv4_udp(f);
}

void sample_sll_llc(struct frame *f)
{
    frame_put(f, 14);
    frame_be16(f, 4);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x00", 6);
    frame_be16(f, 0x0800);
    sample_ipv4_udp(f);
}

void sample_sll_other(struct frame *f)
{
    frame_put(f, 14);
    frame_be16(f, 12);
    sample_ipv4_udp(f);
}

void sample_sll2(struct frame *f)
{
    frame_be16(f, 0x8100);
    frame_put(f, 18);
    frame_tag(f, 9, 0x86DD);
    sample_ipv6_udp(f);
}

void sample_unknown_link(struct frame *f)
{
    frame_text(f, "what is this?");
}

/* ---- behind Ethernet ------------------------------------------------------------------------- */

void sample_arp(struct frame *f)
{
    frame_ethernet(f, 0x0806);
    frame_put(f, 28);
}

void sample_lldp(struct frame *f)
{
    frame_ethernet(f, 0x88CC);
    frame_put(f, 28);
}

void sample_vlan(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    frame_tag(f, 0xE123, 0x0800); /* with a priority */
    sample_ipv4_udp(f);
}

void sample_vlan_in_vlan(struct frame *f)
{
    frame_ethernet(f, 0x88A8);
    frame_tag(f, 100, 0x8100);
    frame_tag(f, 200, 0x86DD);
    sample_ipv6_udp(f);
}

void sample_vlan_three(struct frame *f)
{
    frame_ethernet(f, 0x9200);
    frame_tag(f, 1, 0x9100);
    frame_tag(f, 2, 0x8100);
    frame_tag(f, 3, 0x0800);
    sample_ipv4_udp(f);
}

void sample_vlan_priority(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    frame_tag(f, 0xA000, 0x8100);
    frame_tag(f, 5, 0x0800);
    sample_ipv4_udp(f);
}

void sample_vlan_eight(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    for (uint16_t i = 1; i < 8; i++)
        frame_tag(f, i, 0x8100);
    frame_tag(f, 8, 0x0800);
    sample_ipv4_udp(f);
}

void sample_mpls(struct frame *f)
{
    frame_ethernet(f, 0x8847);
    frame_be32(f, 0x000011FF);
    sample_ipv4_udp(f);
}

void sample_mpls_stack(struct frame *f)
{
    frame_ethernet(f, 0x8848);
    frame_be32(f, 0x000010FF);
    frame_be32(f, 0x000020FF);
    frame_be32(f, 0x000031FF);
    sample_ipv6_udp(f);
}

void sample_mpls_pseudowire(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    frame_tag(f, 6, 0x8847);
    frame_be32(f, 0x000011FF);
    frame_be32(f, 0); /* control word */
    frame_ethernet(f, 0x8100);
    frame_tag(f, 7, 0x0800);
    sample_ipv4_udp(f);
}

void sample_mpls_pseudowires(struct frame *f)
{
    for (uint32_t i = 0; i < 2; i++) {
        frame_ethernet(f, 0x8847);
        frame_be32(f, 0x000011FF);
        frame_be32(f, 0);
    }
    sample_ethernet(f);
}

void sample_snap(struct frame *f)
{
    frame_ethernet(f, 8 + 35);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x00", 6);
    frame_be16(f, 0x0800);
    sample_ipv4_udp(f);
}

void sample_snap_vlan(struct frame *f)
{
    frame_ethernet(f, 0x8100);
    frame_tag(f, 7, 8 + 55);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x00", 6);
    frame_be16(f, 0x86DD);
    sample_ipv6_udp(f);
}

void sample_snap_cisco(struct frame *f)
{
    frame_ethernet(f, 8 + 10);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x0C", 6);
    frame_be16(f, 0x0800);
    frame_put(f, 10);
}

void sample_llc_stp(struct frame *f)
{
    frame_ethernet(f, 38);
    frame_bytes(f, "\x42\x42\x03", 3);
    frame_put(f, 35);
}

void sample_type_between(struct frame *f) /* neither a length nor an EtherType */
{
    frame_ethernet(f, 1501);
    frame_bytes(f, "\xAA\xAA\x03\x00\x00\x00\x08\x00", 8);
    sample_ipv4_udp(f);
}

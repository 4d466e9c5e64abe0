/* SPDX-License-Identifier: MIT */
/* IP in IP, GRE, and tunnels in UDP. */
#include "frame_samples_build.h"

#include "sluice/dissect.h"

void sample_ipip(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, 4, 0);

    sample_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

void sample_sixinfour(struct frame *f)
{
    frame_ethernet(f, 0x0800);

    const uint32_t ip = frame_ipv4(f, 41, 0);

    sample_ipv6_udp(f);
    frame_end_ipv4(f, ip);
}

void sample_fourinsix(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 60);

    frame_extension(f, 4, 0);
    sample_ipv4_udp(f);
    frame_end_ipv6(f, ip);
}

void sample_ipip_twice(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, 4, 0);

    sample_ipip(f);
    frame_end_ipv4(f, ip);
}

/* One tunnel more than is followed. */
void sample_ipip_deep(struct frame *f)
{
    uint32_t ip[5];

    for (uint32_t i = 0; i < 5; i++)
        ip[i] = frame_ipv4(f, 4, 0);
    frame_text(f, "payload");
    for (uint32_t i = 0; i < 5; i++)
        frame_end_ipv4(f, ip[i]);
}

void sample_ipip_fragment(struct frame *f)
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

void sample_gre(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x0800, 0);

    sample_ipv4_udp(f);
    frame_text(f, "trailer");
    frame_end_ipv4(f, ip);
}

void sample_gre_fields(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0xB000, 0x86DD, 3);

    sample_ipv6_udp(f);
    frame_end_ipv4(f, ip);
}

void sample_gre_key(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x2000, 0x0800, 1);

    sample_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

static void put_gre_of_vlan(struct frame *f, uint16_t type)
{
    const uint32_t ip = put_gre(f, 0, type, 0);

    frame_ethernet(f, 0x8100);
    frame_tag(f, 33, 0x0800);
    sample_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

void sample_gre_ethernet(struct frame *f)
{
    put_gre_of_vlan(f, 0x6558);
}

void sample_gre_erspan(struct frame *f)
{
    put_gre_of_vlan(f, 0x88BE);
}

void sample_gre_erspan_2(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x1000, 0x88BE, 1);

    frame_put(f, 8)[0] = 0x10;
    frame_ethernet(f, 0x0800);
    sample_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

void sample_gre_erspan_3(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x1000, 0x88BE, 1);

    frame_put(f, 8)[0] = 0x20;
    frame_end_ipv4(f, ip);
}

void sample_gre_arp(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x6558, 0);

    frame_ethernet(f, 0x0806);
    frame_end_ipv4(f, ip);
}

void sample_gre_pptp(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x3081, 0x880B, 3);

    frame_be16(f, 0xFF03);
    frame_be16(f, 0x0021);
    sample_ipv4_udp(f);
    frame_end_ipv4(f, ip);
}

void sample_gre_ppp(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x880B, 0);

    frame_be16(f, 0x0057);
    sample_ipv6_udp(f);
    frame_end_ipv4(f, ip);
}

void sample_gre_pptp_ack(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x2081, 0x880B, 0);

    frame_text(f, "callack.");
    frame_end_ipv4(f, ip);
}

void sample_gre_other(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x0801, 0);

    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

void sample_gre_routing(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0x4000, 0x0800, 2);

    frame_end_ipv4(f, ip);
}

/* PPTP in IPv6: the outer and the inner one count. */
void sample_gre_pptp_in_ipv6(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 4);

    sample_gre_pptp(f);
    frame_end_ipv6(f, ip);
}

/* Headers of Ethernet, IPv4 and UDP. Returns where IP's begins. */
static uint32_t put_udp(struct frame *f, uint16_t src, uint16_t dst)
{
    frame_ethernet(f, 0x0800);

    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);

    frame_be16(f, src);
    frame_be16(f, dst);
    frame_put(f, 4);
    return ip;
}

/* The same, and VXLAN's header. */
static uint32_t put_vxlan(struct frame *f)
{
    const uint32_t ip = put_udp(f, 50000, 4789);

    frame_be32(f, 0x08000000);
    frame_be32(f, 77 << 8);
    return ip;
}

static void end_udp(struct frame *f, uint32_t ip)
{
    frame_end_ipv4(f, ip);
    store_be16(f->byte + ip + 24, f->len - ip - 20);
}

void sample_vxlan(struct frame *f)
{
    const uint32_t ip = put_vxlan(f);

    sample_ethernet(f);
    end_udp(f, ip);
}

void sample_vxlan_vlan(struct frame *f)
{
    const uint32_t ip = put_vxlan(f);

    frame_ethernet(f, 0x8100);
    frame_tag(f, 33, 0x86DD);
    sample_ipv6_udp(f);
    end_udp(f, ip);
}

void sample_vxlan_arp(struct frame *f)
{
    const uint32_t ip = put_vxlan(f);

    sample_arp(f);
    end_udp(f, ip);
}

void sample_vxlan_vlan_arp(struct frame *f)
{
    const uint32_t ip = put_vxlan(f);

    frame_ethernet(f, 0x8100);
    frame_tag(f, 33, 0x0806);
    frame_put(f, 28);
    end_udp(f, ip);
}

/* Datagrams to the ports of tunnels that are none. */
void sample_vxlan_none(struct frame *f)
{
    const uint32_t ip = put_udp(f, 50000, 4789);

    frame_text(f, "payload");
    end_udp(f, ip);
}

void sample_vxlan_other(struct frame *f)
{
    const uint32_t ip = put_vxlan(f);

    frame_ethernet(f, 0x0800);
    frame_text(f, "payload");
    end_udp(f, ip);
}

void sample_geneve(struct frame *f)
{
    const uint32_t ip = put_udp(f, 50000, 6081);

    frame_be16(f, 0x0200); /* two words of options */
    frame_be16(f, 0x6558);
    frame_put(f, 4 + 8);
    sample_ethernet(f);
    end_udp(f, ip);
}

void sample_geneve_ipv6(struct frame *f)
{
    const uint32_t ip = put_udp(f, 50000, 6081);

    frame_be16(f, 0);
    frame_be16(f, 0x86DD);
    frame_put(f, 4);
    sample_ipv6_udp(f);
    end_udp(f, ip);
}

void sample_geneve_version(struct frame *f)
{
    const uint32_t ip = put_udp(f, 50000, 6081);

    frame_be32(f, 0x40006558);
    frame_be32(f, 0);
    sample_ethernet(f);
    end_udp(f, ip);
}

void sample_teredo(struct frame *f)
{
    const uint32_t ip = put_udp(f, 50000, 3544);

    sample_ipv6_udp(f);
    end_udp(f, ip);
}

void sample_teredo_origin(struct frame *f)
{
    const uint32_t ip = put_udp(f, 3544, 50000);

    frame_put(f, 8);
    sample_ipv6_udp(f);
    end_udp(f, ip);
}

/* An id of two bytes, a value of three, a nonce and a confirmation; then the origin. */
void sample_teredo_authentication(struct frame *f)
{
    const uint32_t ip = put_udp(f, 50000, 3544);

    frame_be32(f, 0x00010203);
    frame_put(f, 2 + 3 + 9 + 8);
    sample_ipv6_udp(f);
    end_udp(f, ip);
}

/* A byte behind IPv6 says that the datagram is something else. */
void sample_teredo_none(struct frame *f)
{
    const uint32_t ip = put_udp(f, 3544, 50000);

    sample_ipv6_udp(f);
    frame_text(f, "x");
    end_udp(f, ip);
}

void sample_vxlan_gre(struct frame *f)
{
    const uint32_t ip = put_vxlan(f);

    frame_ethernet(f, 0x0800);
    sample_gre_key(f);
    end_udp(f, ip);
}

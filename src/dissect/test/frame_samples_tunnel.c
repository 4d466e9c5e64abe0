/* SPDX-License-Identifier: MIT */
/* IP in IP, and GRE. */
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
    const uint32_t inner = frame_ipv4(f, 4, 0);

    frame_text(f, "payload");
    frame_end_ipv4(f, inner);
    frame_end_ipv4(f, ip);
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

void sample_gre_ethernet(struct frame *f)
{
    const uint32_t ip = put_gre(f, 0, 0x6558, 0);

    frame_ethernet(f, 0x8100);
    frame_tag(f, 33, 0x0800);
    sample_ipv4_udp(f);
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

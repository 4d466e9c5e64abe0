/* SPDX-License-Identifier: MIT */
/* IPv4, IPv6 and transports. */
#include "frame_samples_build.h"

#include "sluice/dissect.h"

void sample_ipv4_udp(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);

    sample_udp_text(f);
    frame_end_ipv4(f, ip);
}

void sample_ipv6_udp(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, SL_IP_UDP);

    sample_udp_text(f);
    frame_end_ipv6(f, ip);
}

void sample_ipv4_options(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 10);

    sample_udp_text(f);
    frame_end_ipv4(f, ip);
}

void sample_ipv4_padding(struct frame *f)
{
    frame_ethernet(f, 0x0800);
    sample_ipv4_udp(f);
    frame_text(f, "trailer");
}

void sample_udp_padding(struct frame *f) /* the UDP length ends before the IP total length */
{
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);

    sample_udp_text(f);
    frame_text(f, "trailer");
    frame_end_ipv4(f, ip);
}

void sample_ipv4_offload(struct frame *f)
{
    frame_ethernet(f, 0x0800);
    frame_ipv4(f, SL_IP_TCP, 0);
    frame_tcp(f, 1000, 2000, 0x10, 0);
    frame_text(f, "payload");
}

void sample_ipv4_first(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    f->byte[ip + 6] = 0x20;
    frame_tcp(f, 1000, 2000, 0x10, 0);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

void sample_ipv4_first_udp(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);

    f->byte[ip + 6] = 0x20;
    frame_udp(f, 1000, 2000, 3000);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

void sample_ipv4_first_tiny(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    f->byte[ip + 6] = 0x20;
    frame_text(f, "8 bytes.");
    frame_end_ipv4(f, ip);
}

void sample_ipv4_first_options(struct frame *f) /* ends inside the TCP options */
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    f->byte[ip + 6] = 0x20;
    frame_tcp(f, 1000, 2000, 2, 1)[12] = 0x70;
    frame_end_ipv4(f, ip);
}

void sample_ipv4_later(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    f->byte[ip + 7] = 185;
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

void sample_ipv4_ospf(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, 89, 0);

    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

/* ---- IPv6 ------------------------------------------------------------------------------------ */

void sample_ipv6_chain(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 0);

    frame_extension(f, 60, 0);
    frame_extension(f, 43, 1);
    frame_extension(f, 135, 2);
    frame_extension(f, 139, 0);
    frame_extension(f, 140, 0);
    frame_extension(f, SL_IP_UDP, 0);
    sample_udp_text(f);
    frame_end_ipv6(f, ip);
}

void sample_ipv6_ah(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 51);
    uint8_t *ah = frame_put(f, 24);

    ah[0] = SL_IP_UDP;
    ah[1] = 4;
    sample_udp_text(f);
    frame_end_ipv6(f, ip);
}

void sample_ipv6_sixteen(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 60);

    for (uint32_t i = 1; i < 16; i++)
        frame_extension(f, 60, 0);
    frame_extension(f, SL_IP_UDP, 0);
    sample_udp_text(f);
    frame_end_ipv6(f, ip);
}

void sample_ipv6_esp(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, 60);

    frame_extension(f, 50, 0);
    frame_text(f, "payload");
    frame_end_ipv6(f, ip);
}

void sample_ipv6_nothing(struct frame *f)
{
    frame_end_ipv6(f, frame_ipv6(f, 59));
}

void sample_ipv6_offload(struct frame *f)
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
    sample_udp_text(f);
    frame_end_ipv6(f, ip);
}

void sample_ipv6_first(struct frame *f)
{
    put_ipv6_fragment(f, 1);
}

void sample_ipv6_later(struct frame *f)
{
    put_ipv6_fragment(f, 8);
}

void sample_ipv6_atomic(struct frame *f)
{
    put_ipv6_fragment(f, 0);
}

/* ---- transports ------------------------------------------------------------------------------ */

void sample_tcp_options(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_TCP, 0);

    frame_tcp(f, 1000, 2000, 0x18, 10);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

void sample_sctp(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_SCTP, 0);

    frame_put(f, 12);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

void sample_icmp(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_ICMP, 0);

    frame_put(f, 8);
    frame_text(f, "payload");
    frame_end_ipv4(f, ip);
}

void sample_icmp_least(struct frame *f)
{
    const uint32_t ip = frame_ipv4(f, SL_IP_ICMP, 0);

    frame_put(f, 4);
    frame_end_ipv4(f, ip);
}

void sample_icmpv6(struct frame *f)
{
    const uint32_t ip = frame_ipv6(f, SL_IP_ICMPV6);

    frame_put(f, 8);
    frame_text(f, "payload");
    frame_end_ipv6(f, ip);
}

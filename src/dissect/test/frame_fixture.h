/* SPDX-License-Identifier: MIT */
/* Packets built front to back for tests. Lengths in headers are filled in by frame_end_*. */
#ifndef DISSECT_TEST_FRAME_H
#define DISSECT_TEST_FRAME_H

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

struct frame {
    uint8_t byte[70000];
    uint32_t len;
};

static inline uint8_t *frame_put(struct frame *f, uint32_t len)
{
    uint8_t *at = f->byte + f->len;

    memset(at, 0, len);
    f->len += len;
    return at;
}

static inline void frame_bytes(struct frame *f, const void *bytes, uint32_t len)
{
    memcpy(frame_put(f, len), bytes, len);
}

static inline void frame_text(struct frame *f, const char *text)
{
    frame_bytes(f, text, (uint32_t)strlen(text));
}

static inline void frame_be16(struct frame *f, uint32_t value)
{
    store_be16(frame_put(f, 2), value);
}

static inline void frame_be32(struct frame *f, uint32_t value)
{
    store_be32(frame_put(f, 4), value);
}

static inline void frame_ethernet(struct frame *f, uint16_t type)
{
    frame_bytes(f, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02", 12);
    frame_be16(f, type);
}

static inline void frame_tag(struct frame *f, uint16_t tag, uint16_t type)
{
    frame_be16(f, tag);
    frame_be16(f, type);
}

/* A header of IPv4 with option_words x 4 bytes of options, from 10.0.0.1 to 10.0.0.2. Returns where
 * it begins. */
static inline uint32_t frame_ipv4(struct frame *f, uint8_t protocol, uint32_t option_words)
{
    const uint32_t begin = f->len;
    uint8_t *ip = frame_put(f, 20 + 4 * option_words);

    ip[0] = (uint8_t)(0x45 + option_words);
    ip[8] = 64;
    ip[9] = protocol;
    store_be32(ip + 12, 0x0A000001);
    store_be32(ip + 16, 0x0A000002);
    memset(ip + 20, 1, 4 * option_words); /* no operation */
    return begin;
}

static inline void frame_end_ipv4(struct frame *f, uint32_t begin)
{
    store_be16(f->byte + begin + 2, f->len - begin);
}

/* From 2001:db8::1 to 2001:db8::2. */
static inline uint32_t frame_ipv6(struct frame *f, uint8_t next)
{
    const uint32_t begin = f->len;
    uint8_t *ip = frame_put(f, 40);

    ip[0] = 0x60;
    ip[6] = next;
    ip[7] = 64;
    store_be32(ip + 8, 0x20010DB8);
    store_be32(ip + 24, 0x20010DB8);
    ip[23] = 1;
    ip[39] = 2;
    return begin;
}

static inline void frame_end_ipv6(struct frame *f, uint32_t begin)
{
    store_be16(f->byte + begin + 4, f->len - begin - 40);
}

/* An extension header of 8 x (1 + more) bytes. */
static inline void frame_extension(struct frame *f, uint8_t next, uint8_t more)
{
    uint8_t *extension = frame_put(f, 8u * (1u + more));

    extension[0] = next;
    extension[1] = more;
}

static inline uint8_t *frame_tcp(struct frame *f, uint16_t src, uint16_t dst, uint8_t flags,
                                 uint32_t option_words)
{
    uint8_t *tcp = frame_put(f, 20 + 4 * option_words);

    store_be16(tcp, src);
    store_be16(tcp + 2, dst);
    tcp[12] = (uint8_t)((5 + option_words) << 4);
    tcp[13] = flags;
    memset(tcp + 20, 1, 4 * option_words);
    return tcp;
}

struct frame_segment {
    uint32_t src, dst; /* addresses */
    uint16_t src_port, dst_port;
    uint8_t flags;
    uint32_t seq, ack;
    const void *bytes;
    uint32_t len;
};

/* A packet with a segment of TCP. */
static inline void frame_segment(struct frame *f, const struct frame_segment *segment)
{
    f->len = 0;
    frame_ethernet(f, 0x0800);
    const uint32_t ip = frame_ipv4(f, 6, 0);
    store_be32(f->byte + ip + 12, segment->src);
    store_be32(f->byte + ip + 16, segment->dst);
    uint8_t *tcp = frame_tcp(f, segment->src_port, segment->dst_port, segment->flags, 0);
    store_be32(tcp + 4, segment->seq);
    store_be32(tcp + 8, segment->ack);
    store_be16(tcp + 14, 65535);
    frame_bytes(f, segment->bytes, segment->len);
    frame_end_ipv4(f, ip);
}

static inline void frame_udp(struct frame *f, uint16_t src, uint16_t dst, uint32_t payload_len)
{
    uint8_t *udp = frame_put(f, 8);

    store_be16(udp, src);
    store_be16(udp + 2, dst);
    store_be16(udp + 4, 8 + payload_len);
}

#endif

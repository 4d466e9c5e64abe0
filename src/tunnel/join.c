/* SPDX-License-Identifier: MIT */
#include "join.h"

#include <string.h>

#include "base/bytes.h"
#include "checksum.h"

enum {
    IPV4_LEN = 20, /* without options */
    IPV6_LEN = 40,
    TCP_LEN = 20,
    TCP_PROTOCOL = 6,
    TCP_PSH = 8,
    TCP_ACK = 16,
    FRAGMENT = 0x3FFF /* bits of an IPv4 header's word 3: not the whole datagram */
};

static uint64_t pseudo_sum(const uint8_t *packet, bool is_ipv6, uint32_t tcp_len)
{
    const uint8_t rest[4] = {0, TCP_PROTOCOL, (uint8_t)(tcp_len >> 8), (uint8_t)tcp_len};

    return checksum_words(rest, sizeof rest,
                          is_ipv6 ? checksum_words(packet + 8, 32, 0)
                                  : checksum_words(packet + 12, 8, 0));
}

/* Reads the headers of a segment that others may follow: data, acknowledged, nothing else. */
static bool is_segment(struct join *shape, const uint8_t *packet, uint32_t len)
{
    shape->is_ipv6 = packet[0] >> 4 == 6;
    shape->transport = shape->is_ipv6 ? IPV6_LEN : IPV4_LEN;
    if (len < shape->transport + TCP_LEN || packet[shape->is_ipv6 ? 6 : 9] != TCP_PROTOCOL ||
        (!shape->is_ipv6 && (packet[0] != 0x45 || (load_be16(packet + 6) & FRAGMENT) != 0)))
        return false;

    const uint8_t *const tcp = packet + shape->transport;
    shape->headers_len = shape->transport + (tcp[12] >> 4) * 4u;
    if (shape->headers_len < shape->transport + TCP_LEN || shape->headers_len >= len ||
        (tcp[13] & ~TCP_PSH) != TCP_ACK)
        return false;

    const uint32_t tcp_len = len - shape->transport;
    return checksum_fold(
               checksum_words(tcp, tcp_len, pseudo_sum(packet, shape->is_ipv6, tcp_len))) == 0;
}

static bool begin(struct join *join, const uint8_t *packet, uint32_t len)
{
    join->headers_len = 0;
    join->ended = !is_segment(join, packet, len);
    if (join->ended) {
        join->headers_len = 0;
    } else {
        join->segment_len = len - join->headers_len;
        join->ended = (packet[join->transport + 13] & TCP_PSH) != 0;
    }
    memcpy(join->bytes, packet, len);
    join->len = len;
    join->n = 1;
    return true;
}

/* Whether all but lengths, checksums, the number of the datagram, the sequence and PSH are equal.
 */
static bool has_same_headers(const struct join *join, const uint8_t *packet)
{
    const uint8_t *const a = join->bytes, *const b = packet;
    const uint8_t *const tcp_a = a + join->transport, *const tcp_b = b + join->transport;
    const uint32_t options_len = join->headers_len - join->transport - TCP_LEN;

    if (join->is_ipv6 ? memcmp(a, b, 4) != 0 || memcmp(a + 6, b + 6, 34) != 0
                      : memcmp(a, b, 2) != 0 || memcmp(a + 6, b + 6, 4) != 0 ||
                            memcmp(a + 12, b + 12, 8) != 0 ||
                            (uint16_t)(load_be16(a + 4) + join->n) != load_be16(b + 4))
        return false;
    return memcmp(tcp_a, tcp_b, 4) == 0 && memcmp(tcp_a + 8, tcp_b + 8, 5) == 0 &&
           memcmp(tcp_a + 14, tcp_b + 14, 2) == 0 && memcmp(tcp_a + 18, tcp_b + 18, 2) == 0 &&
           memcmp(tcp_a + TCP_LEN, tcp_b + TCP_LEN, options_len) == 0;
}

static bool follows(const struct join *join, const uint8_t *packet, uint32_t len)
{
    const uint32_t payload_len = len - join->headers_len;
    struct join shape;

    return !join->ended && len > join->headers_len && payload_len <= join->segment_len &&
           join->len + payload_len <= JOIN_MAX && has_same_headers(join, packet) &&
           load_be32(packet + join->transport + 4) ==
               load_be32(join->bytes + join->transport + 4) + join->len - join->headers_len &&
           is_segment(&shape, packet, len);
}

bool join_add(struct join *join, const uint8_t *packet, uint32_t len)
{
    if (join->len == 0)
        return begin(join, packet, len);
    if (!follows(join, packet, len))
        return false;

    const uint32_t payload_len = len - join->headers_len;
    const uint8_t push = packet[join->transport + 13] & TCP_PSH;
    memcpy(join->bytes + join->len, packet + join->headers_len, payload_len);
    join->len += payload_len;
    join->n++;
    join->bytes[join->transport + 13] |= push;
    join->ended = payload_len < join->segment_len || push != 0;
    return true;
}

void join_finish(struct join *join)
{
    const uint32_t tcp_len = join->len - join->transport;
    uint8_t *const bytes = join->bytes, *const sum = bytes + join->transport + 16;

    if (join->n < 2)
        return;
    if (join->is_ipv6) {
        store_be16(bytes + 4, tcp_len);
    } else {
        store_be16(bytes + 2, join->len);
        store_be16(bytes + 10, 0);

        const uint16_t check = checksum_fold(checksum_words(bytes, IPV4_LEN, 0));
        memcpy(bytes + 10, &check, sizeof check);
    }

    const uint16_t pseudo = (uint16_t)~checksum_fold(pseudo_sum(bytes, join->is_ipv6, tcp_len));
    memcpy(sum, &pseudo, sizeof pseudo);
}

/* SPDX-License-Identifier: MIT */
#include "segments.h"

#include <string.h>

#include "base/bytes.h"
#include "checksum.h"

enum {
    PACKET_MAX = 65535,
    HEADERS_MAX = 256, /* bytes of IP, its options, and TCP */
    TCP_LEAST = 20,
    UDP_LEN = 8,
    TCP_FIN = 1,
    TCP_PSH = 8,
    TCP_CWR = 0x80
};

/* Completes a checksum over all from `start` on, whose field holds the sum of the pseudo header. */
static bool complete_checksum(uint8_t *packet, uint32_t len, uint32_t start, uint32_t offset)
{
    if (start > len || len - start < 2 || offset > len - start - 2)
        return false;

    uint16_t check = checksum_fold(checksum_words(packet + start, len - start, 0));
    if (check == 0) /* no UDP checksum is 0 */
        check = 0xFFFF;
    memcpy(packet + start + offset, &check, sizeof check);
    return true;
}

/* ---- segments -------------------------------------------------------------------------------- */

struct cut {
    const struct segments_of *of;
    bool is_ipv4;
    uint32_t transport, headers_len;
    uint64_t pseudo; /* sum of addresses and protocol */
    uint32_t sequence;
    uint16_t id;
};

static bool read_headers(struct cut *cut, const uint8_t *bytes, uint32_t len)
{
    const uint32_t least = cut->of->is_tcp ? TCP_LEAST : UDP_LEN;

    cut->is_ipv4 = bytes[0] >> 4 == 4;
    cut->transport = cut->of->checksum_start;
    if (cut->transport < (cut->is_ipv4 ? 20u : 40u) || cut->transport > HEADERS_MAX - 60 ||
        len < cut->transport + least)
        return false;

    const uint8_t *const transport = bytes + cut->transport;
    cut->headers_len =
        cut->transport + (cut->of->is_tcp ? (uint32_t)(transport[12] >> 4) * 4 : UDP_LEN);
    if (cut->headers_len < cut->transport + least || cut->headers_len > len)
        return false;

    const uint8_t protocol[2] = {0, cut->of->is_tcp ? 6 : 17};
    cut->pseudo = checksum_words(protocol, 2, 0);
    cut->pseudo = cut->is_ipv4 ? checksum_words(bytes + 12, 8, cut->pseudo)
                               : checksum_words(bytes + 8, 32, cut->pseudo);
    cut->sequence = load_be32(transport + 4);
    cut->id = load_be16(bytes + 4);
    return true;
}

/* Makes the headers those of segment `i`, which has `payload_len` bytes. */
static void set_headers(const struct cut *cut, uint8_t *packet, uint32_t i, uint32_t payload_len,
                        bool is_last)
{
    const uint32_t len = cut->headers_len + payload_len;
    uint8_t *const transport = packet + cut->transport;

    if (cut->is_ipv4) {
        store_be16(packet + 2, len);
        store_be16(packet + 4, cut->id + i);
        store_be16(packet + 10, 0);

        const uint16_t check = checksum_fold(checksum_words(packet, cut->transport, 0));
        memcpy(packet + 10, &check, sizeof check);
    } else {
        store_be16(packet + 4, len - 40);
    }
    if (cut->of->is_tcp) {
        const uint32_t sequence = cut->sequence + i * cut->of->segment_len;

        store_be16(transport + 4, sequence >> 16);
        store_be16(transport + 6, sequence);
        if (!is_last)
            transport[13] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
        if (i > 0)
            transport[13] &= (uint8_t)~TCP_CWR;
    } else {
        store_be16(transport + 4, len - cut->transport);
    }
}

static void set_checksum(const struct cut *cut, uint8_t *packet, uint32_t len)
{
    uint8_t *const field = packet + cut->transport + (cut->of->is_tcp ? 16 : 6);
    const uint8_t length[4] = {0, 0, (uint8_t)((len - cut->transport) >> 8),
                               (uint8_t)(len - cut->transport)};

    store_be16(field, 0);
    uint16_t check = checksum_fold(checksum_words(packet + cut->transport, len - cut->transport,
                                                  checksum_words(length, 4, cut->pseudo)));
    if (check == 0 && !cut->of->is_tcp)
        check = 0xFFFF;
    memcpy(field, &check, sizeof check);
}

int segments_cut(const struct segments_of *of, uint8_t *bytes, uint32_t len,
                 void (*take)(void *user, const uint8_t *packet, uint32_t len), void *user)
{
    uint8_t packet[PACKET_MAX];
    struct cut cut = {.of = of};
    int n = 0;

    if (of->segment_len == 0) {
        if (of->needs_checksum &&
            !complete_checksum(bytes, len, of->checksum_start, of->checksum_offset))
            return 0;
        take(user, bytes, len);
        return 1;
    }
    if (!read_headers(&cut, bytes, len) || cut.headers_len + of->segment_len > PACKET_MAX)
        return 0;
    for (uint32_t at = cut.headers_len; at < len; at += of->segment_len) {
        const uint32_t left = len - at;
        const uint32_t payload_len = left < of->segment_len ? left : of->segment_len;
        const uint32_t packet_len = cut.headers_len + payload_len;

        memcpy(packet, bytes, cut.headers_len);
        memcpy(packet + cut.headers_len, bytes + at, payload_len);
        set_headers(&cut, packet, (uint32_t)n, payload_len, at + payload_len == len);
        set_checksum(&cut, packet, packet_len);
        take(user, packet, packet_len);
        n++;
    }
    return n;
}

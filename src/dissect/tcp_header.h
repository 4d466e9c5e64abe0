/* SPDX-License-Identifier: MIT */
/* Parts of a TCP header that lie where most have them. */
#ifndef DISSECT_TCP_HEADER_H
#define DISSECT_TCP_HEADER_H

#include <stdbool.h>

#include "base/bytes.h"
#include "sluice/batch.h"

enum {
    TCP_HEADER_LEN = 20,
    TCP_TIMESTAMPS_END = 32,    /* of a header with timestamps as its option: */
    TCP_TIMESTAMPS = 0x0101080A /* two of no operation, kind, length */
};

/* Whether timestamps are the only option of a header of `len` bytes, which are at hand. */
static inline bool tcp_has_timestamps(const uint8_t *tcp, uint32_t len)
{
    return len == TCP_TIMESTAMPS_END && load_be32(tcp + TCP_HEADER_LEN) == TCP_TIMESTAMPS;
}

/* The TTL or hop limit of a packet whose network header is at hand. */
static inline uint8_t packet_ttl(const struct sl_batch *batch, const struct sl_packet *packet)
{
    const uint32_t at = (packet->flags & SL_PACKET_IPV4) != 0 ? 8 : 7;

    return batch->bytes[packet->offset + packet->network + at];
}

#endif

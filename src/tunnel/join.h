/* SPDX-License-Identifier: MIT */
/* Consecutive segments of a TCP flow become one packet for the kernel, as its own GRO makes it: the
 * way back of segments.h, which cuts the very same packets from it. */
#ifndef TUNNEL_JOIN_H
#define TUNNEL_JOIN_H

#include <stdbool.h>
#include <stdint.h>

enum { JOIN_MAX = 65535 /* bytes */ };

struct join {
    uint8_t bytes[JOIN_MAX];
    uint32_t len;         /* 0: empty */
    uint32_t n;           /* segments */
    uint32_t transport;   /* bytes before TCP's header */
    uint32_t headers_len; /* bytes before the payload; 0: this packet takes no other */
    uint32_t segment_len; /* bytes of payload of each segment but the last */
    bool is_ipv6;
    bool ended; /* the last segment was short, or was pushed */
};

/* Takes a packet into an empty join, or behind the others. False: it belongs into another one. Its
 * checksum is right where it is joined: one that is wrong stays alone, and wrong. */
bool join_add(struct join *join, const uint8_t *packet, uint32_t len);

/* Makes the headers those of all segments together. The checksum field then has the sum of the
 * pseudo header, which the kernel completes. One segment stays as it was. */
void join_finish(struct join *join);

#endif

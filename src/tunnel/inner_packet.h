/* SPDX-License-Identifier: MIT */
/* The packets that a pair carries: their headers, and the changes that a middlebox makes in them.
 */
#ifndef TUNNEL_INNER_PACKET_H
#define TUNNEL_INNER_PACKET_H

#include <stdbool.h>
#include <stdint.h>

enum { ECN_MASK = 3, ECN_NONE = 0, ECN_CE = 3 };

/* The ends of a packet. Fragments and protocols without ports have ports 0. */
struct inner_tuple {
    uint8_t source[16], destination[16]; /* as networks have them */
    uint16_t source_port, destination_port;
    uint8_t protocol;
};

struct inner_packet {
    struct inner_tuple tuple;
    uint32_t transport;    /* bytes from the first to the transport header; 0: no first fragment */
    uint8_t traffic_class; /* DSCP and ECN */
    bool is_ipv6;
};

/* Reads the headers of a packet. False: it is no IP packet of this length. */
bool inner_read(struct inner_packet *inner, const uint8_t *packet, uint32_t len);

/* Marks congestion, and keeps the header's checksum right. */
void inner_mark_ce(const struct inner_packet *inner, uint8_t *packet);

/* Lowers the maximum segment size that a TCP SYN offers so that its segments fit into packets of
 * `mtu` bytes (RFC 6691), and keeps its checksum right. Returns whether the packet was changed. */
bool inner_clamp_mss(const struct inner_packet *inner, uint8_t *packet, uint32_t len, uint32_t mtu);

#endif

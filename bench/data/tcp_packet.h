/* SPDX-License-Identifier: MIT */
/* Packets of TCP over IPv4 and Ethernet, without options. */
#ifndef BENCH_TCP_PACKET_H
#define BENCH_TCP_PACKET_H

#include <stdint.h>

enum { TCP_PACKET_HEADERS = 54 /* bytes */ };

struct tcp_packet {
    uint8_t from[4], to[4];
    uint16_t id, from_port, to_port;
    uint32_t seq, ack;
    uint8_t flags;
};

/* Writes the headers, with their checksums, before a payload of so many bytes. */
void tcp_packet_write(uint8_t *packet, const struct tcp_packet *tcp, uint32_t payload_len);

#endif

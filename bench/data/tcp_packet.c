/* SPDX-License-Identifier: MIT */
#include "tcp_packet.h"

#include <string.h>

#include "base/bytes.h"
#include "sluice/dissect.h"

enum { IP = 14, TCP = 34, WINDOW = 65535 };

static uint32_t sum16(const uint8_t *bytes, uint32_t len, uint32_t sum)
{
    for (uint32_t i = 0; i + 1 < len; i += 2)
        sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
    return len % 2 != 0 ? sum + ((uint32_t)bytes[len - 1] << 8) : sum;
}

static uint32_t fold16(uint32_t sum)
{
    sum = (sum & 0xFFFF) + (sum >> 16);
    return ~(sum + (sum >> 16)) & 0xFFFF;
}

void tcp_packet_write(uint8_t *packet, const struct tcp_packet *tcp, uint32_t payload_len)
{
    const uint32_t tcp_len = TCP_PACKET_HEADERS - TCP + payload_len;

    memset(packet, 0, TCP_PACKET_HEADERS);
    memcpy(packet, "\2\0\0\0\0\1\2\0\0\0\0\2\x08\0\x45", IP + 1);
    store_be16(packet + IP + 2, TCP - IP + tcp_len);
    store_be16(packet + IP + 4, tcp->id);
    packet[IP + 8] = 64; /* TTL */
    packet[IP + 9] = SL_IP_TCP;
    memcpy(packet + IP + 12, tcp->from, 4);
    memcpy(packet + IP + 16, tcp->to, 4);
    store_be16(packet + IP + 10, fold16(sum16(packet + IP, TCP - IP, 0)));
    store_be16(packet + TCP, tcp->from_port);
    store_be16(packet + TCP + 2, tcp->to_port);
    store_be32(packet + TCP + 4, tcp->seq);
    store_be32(packet + TCP + 8, tcp->ack);
    packet[TCP + 12] = 0x50;
    packet[TCP + 13] = tcp->flags;
    store_be16(packet + TCP + 14, WINDOW);
    store_be16(packet + TCP + 16, fold16(sum16(packet + TCP, tcp_len,
                                               sum16(packet + IP + 12, 8, SL_IP_TCP + tcp_len))));
}

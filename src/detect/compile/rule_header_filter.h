/* SPDX-License-Identifier: MIT */
/* The packets of TCP and UDP that rules without a literal are tried on, told from a few bytes. */
#ifndef DETECT_RULE_HEADER_FILTER_H
#define DETECT_RULE_HEADER_FILTER_H

#include "base/bytes.h"
#include "rule_address_index.h"
#include "sluice/app.h"
#include "sluice/batch.h"
#include "sluice/dissect.h"

enum { RULE_HEADER_SOURCE = 4 /* bits that what is of a source is shifted by */ };

_Static_assert(RULE_SEES_ALL < 1 << RULE_HEADER_SOURCE &&
                   RULE_SEES_ALL << RULE_HEADER_SOURCE <= UINT8_MAX,
               "what is of both ends fits a byte");

/* What the rules of a key see: RULE_SEES_* of RULE_SEES_ALL. */
struct rule_header_filter {
    uint8_t all_tcp, all_udp;             /* tried on each packet */
    uint8_t tcp_addresses, udp_addresses; /* found by addresses */
    uint8_t apps[SL_N_APPS];
    uint8_t tcp_flags[256];
    uint8_t ports[65536];                /* of the destination; shifted, of the source */
    uint8_t blocks[RULE_ADDRESS_BLOCKS]; /* the same of the upper half of an address of IPv4 */
};

/* Once the lists of the index are made. */
void rule_header_filter_make(struct rule_header_filter *filter, const struct rule_index *index,
                             const struct sl_rules *rules);

/* Of two ends. Rules that see streams may be tried on bytes that either side sent. */
static inline uint32_t rule_header_filter_ends(const uint8_t *of_end, uint16_t src, uint16_t dst)
{
    const uint32_t from = of_end[src], to = of_end[dst];

    return from >> RULE_HEADER_SOURCE | (to & RULE_SEES_ALL) |
           ((from | to >> RULE_HEADER_SOURCE) & RULE_SEES_STREAMS);
}

/* What the rules see that may be tried on the packet, or on what it adds to a stream. RULE_SEES_ALL
 * where it is no plain packet of TCP or UDP. */
static inline uint32_t rule_header_filter_sees(const struct rule_header_filter *filter,
                                               const struct sl_batch *batch, uint32_t item)
{
    enum { FLAGS_AT = 13, PORTS_LEN = 4, SRC_AT = 12, DST_AT = 16 }; /* of the headers */
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *transport = batch->bytes + packet->offset + packet->transport;
    const uint8_t *ip = batch->bytes + packet->offset + packet->network;
    const bool is_tcp = packet->protocol == SL_IP_TCP;
    const uint32_t by_address = is_tcp ? filter->tcp_addresses : filter->udp_addresses;
    uint32_t sees = is_tcp ? filter->all_tcp : filter->all_udp;

    if (packet->transport == 0 ||
        packet->transport + (is_tcp ? FLAGS_AT + 1u : PORTS_LEN) > packet->len ||
        (!is_tcp && packet->protocol != SL_IP_UDP) ||
        (packet->flags & (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6 | SL_PACKET_FRAGMENT)) != 0)
        return RULE_SEES_ALL;
    sees |= rule_header_filter_ends(filter->ports, load_be16(transport), load_be16(transport + 2));
    if (is_tcp)
        sees |= filter->tcp_flags[transport[FLAGS_AT]];
    if (batch->origin != NULL)
        sees |= filter->apps[batch->origin[item].app];
    if ((packet->flags & SL_PACKET_IPV4) == 0)
        return sees | by_address;
    if (by_address != 0)
        sees |= by_address & rule_header_filter_ends(filter->blocks, load_be16(ip + SRC_AT),
                                                     load_be16(ip + DST_AT));
    return sees;
}

#endif

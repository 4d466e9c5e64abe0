/* SPDX-License-Identifier: MIT */
/* The packets of TCP and UDP that rules without a literal are tried on, told from a few bytes. */
#ifndef DETECT_RULE_HEADER_FILTER_H
#define DETECT_RULE_HEADER_FILTER_H

#include "base/bytes.h"
#include "rule_address_index.h"
#include "sluice/app.h"
#include "sluice/batch.h"
#include "sluice/dissect.h"

/* Bits of keys with rules. */
struct rule_header_filter {
    bool all_tcp, all_udp;             /* some rule is tried on each of them */
    bool tcp_addresses, udp_addresses; /* some rule is found by their addresses */
    uint64_t apps[SL_N_APPS / 64 + 1];
    uint64_t tcp_flags[4];
    uint64_t dst_ports[1024], src_ports[1024];
    /* By the upper half of an address of IPv4. */
    uint64_t dst_blocks[RULE_ADDRESS_BLOCKS / 64], src_blocks[RULE_ADDRESS_BLOCKS / 64];
};

/* Of rules that see one of these, RULE_SEES_*, once the lists of the index are made. */
void rule_header_filter_make(struct rule_header_filter *filter, const struct rule_index *index,
                             const struct sl_rules *rules, uint16_t sees);

static inline bool rule_header_filter_has(const uint64_t *bits, uint32_t key)
{
    return (bits[key / 64] >> key % 64 & 1) != 0;
}

/* Whether a source or destination, of either side where both_sides, has a rule. */
static inline bool rule_header_filter_has_end(const uint64_t *src_bits, const uint64_t *dst_bits,
                                              uint16_t src, uint16_t dst, bool both_sides)
{
    return rule_header_filter_has(src_bits, src) || rule_header_filter_has(dst_bits, dst) ||
           (both_sides &&
            (rule_header_filter_has(src_bits, dst) || rule_header_filter_has(dst_bits, src)));
}

/* Whether some rule may be tried on the packet, or, both_sides, on bytes that either side of its
 * flow sent. True for all that are no plain packets of TCP or UDP. */
static inline bool rule_header_filter_passes(const struct rule_header_filter *filter,
                                             const struct sl_batch *batch, uint32_t item,
                                             bool both_sides)
{
    enum { FLAGS_AT = 13, PORTS_LEN = 4, SRC_AT = 12, DST_AT = 16 }; /* of the headers */
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *transport = batch->bytes + packet->offset + packet->transport;
    const uint8_t *ip = batch->bytes + packet->offset + packet->network;
    const bool is_tcp = packet->protocol == SL_IP_TCP;
    const bool by_address = is_tcp ? filter->tcp_addresses : filter->udp_addresses;

    if (packet->transport == 0 ||
        packet->transport + (is_tcp ? FLAGS_AT + 1u : PORTS_LEN) > packet->len ||
        (!is_tcp && packet->protocol != SL_IP_UDP) ||
        (packet->flags & (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6 | SL_PACKET_FRAGMENT)) != 0 ||
        (is_tcp ? filter->all_tcp : filter->all_udp) ||
        (by_address && (packet->flags & SL_PACKET_IPV4) == 0))
        return true;
    return rule_header_filter_has_end(filter->src_ports, filter->dst_ports, load_be16(transport),
                                      load_be16(transport + 2), both_sides) ||
           (is_tcp && rule_header_filter_has(filter->tcp_flags, transport[FLAGS_AT])) ||
           (batch->origin != NULL &&
            rule_header_filter_has(filter->apps, batch->origin[item].app)) ||
           (by_address &&
            rule_header_filter_has_end(filter->src_blocks, filter->dst_blocks,
                                       load_be16(ip + SRC_AT), load_be16(ip + DST_AT), both_sides));
}

#endif

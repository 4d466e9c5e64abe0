/* SPDX-License-Identifier: MIT */
/* The packets of TCP and UDP that rules without a literal are tried on, told from a few bytes. */
#ifndef DETECT_RULE_HEADER_FILTER_H
#define DETECT_RULE_HEADER_FILTER_H

#include "base/bytes.h"
#include "rule_lists.h"
#include "sluice/app.h"
#include "sluice/batch.h"
#include "sluice/dissect.h"

/* Bits of keys whose lists are not empty. */
struct rule_header_filter {
    bool all_tcp, all_udp; /* some rule is tried on each of them */
    uint64_t apps[SL_N_APPS / 64 + 1];
    uint64_t tcp_flags[4];
    uint64_t dst_ports[1024], src_ports[1024];
};

static inline bool rule_header_filter_has(const uint64_t *bits, uint32_t key)
{
    return (bits[key / 64] >> key % 64 & 1) != 0;
}

static inline void rule_header_filter_add(uint64_t *bits, const struct rule_lists *lists)
{
    for (uint32_t key = 0; key < lists->n_keys; key++)
        if (!rule_list_is_empty(lists, key))
            bits[key / 64] |= UINT64_C(1) << key % 64;
}

/* Whether some rule without a literal may be tried on the packet, or, both_sides, on bytes that
 * either side of its flow sent. True for all that are no plain packets of TCP or UDP. */
static inline bool rule_header_filter_passes(const struct rule_header_filter *filter,
                                             const struct sl_batch *batch, uint32_t item,
                                             bool both_sides)
{
    enum { FLAGS_AT = 13, PORTS_LEN = 4 }; /* of the transport header */
    const struct sl_packet *packet = &batch->packet[item];
    const uint8_t *transport = batch->bytes + packet->offset + packet->transport;
    const bool is_tcp = packet->protocol == SL_IP_TCP;

    if (packet->transport == 0 ||
        packet->transport + (is_tcp ? FLAGS_AT + 1u : PORTS_LEN) > packet->len ||
        (!is_tcp && packet->protocol != SL_IP_UDP) ||
        (packet->flags & (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6 | SL_PACKET_FRAGMENT)) != 0 ||
        (is_tcp ? filter->all_tcp : filter->all_udp))
        return true;
    const uint16_t src = load_be16(transport), dst = load_be16(transport + 2);

    return rule_header_filter_has(filter->dst_ports, dst) ||
           rule_header_filter_has(filter->src_ports, src) ||
           (both_sides && (rule_header_filter_has(filter->dst_ports, src) ||
                           rule_header_filter_has(filter->src_ports, dst))) ||
           (is_tcp && rule_header_filter_has(filter->tcp_flags, transport[FLAGS_AT])) ||
           (batch->origin != NULL && rule_header_filter_has(filter->apps, batch->origin[item].app));
}

#endif

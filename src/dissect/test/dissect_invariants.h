/* SPDX-License-Identifier: MIT */
/* The invariants of every dissected packet, whatever its bytes are. For tests and fuzzers. */
#ifndef DISSECT_INVARIANTS_H
#define DISSECT_INVARIANTS_H

#include <stddef.h>

#include "sluice/dissect.h"

static inline uint32_t fixed_transport_len(uint8_t protocol)
{
    switch (protocol) {
    case SL_IP_TCP:
        return 20;
    case SL_IP_UDP:
        return 8;
    case SL_IP_SCTP:
        return 12;
    case SL_IP_ICMP:
    case SL_IP_ICMPV6:
        return 4;
    default:
        return 0;
    }
}

static inline const char *flags_violation(const struct sl_packet *packet, uint32_t wire_len)
{
    const uint8_t ip = packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6);
    const uint8_t outer = packet->flags & (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6);

    if (ip == (SL_PACKET_IPV4 | SL_PACKET_IPV6))
        return "two IP versions";
    if (outer == (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6))
        return "two outer IP versions";
    if (outer != 0 && ip == 0)
        return "an outer IP header without an inner";
    if ((packet->flags & SL_PACKET_LATER) && !(packet->flags & SL_PACKET_FRAGMENT))
        return "a later fragment that is no fragment";
    if ((packet->flags & SL_PACKET_FRAGMENT) && ip == 0)
        return "a fragment without IP";
    if (((packet->flags & SL_PACKET_SNAPPED) != 0) != (packet->len < wire_len))
        return "snapped, or not, against its lengths";
    if (packet->flags & 128)
        return "an unknown flag";
    return NULL;
}

static inline const char *headers_violation(const struct sl_packet *packet)
{
    const uint32_t ip_len = packet->flags & SL_PACKET_IPV4   ? 20
                            : packet->flags & SL_PACKET_IPV6 ? 40
                                                             : 0;
    const uint32_t outer_len = packet->flags & SL_PACKET_OUTER_IPV4   ? 20
                               : packet->flags & SL_PACKET_OUTER_IPV6 ? 40
                                                                      : 0;
    const uint32_t transport_len = fixed_transport_len(packet->protocol);

    if (packet->network + ip_len > packet->len)
        return "an IP header behind the packet";
    if (outer_len != 0 && packet->outer + outer_len > packet->network)
        return "IP headers that overlap";
    if (ip_len == 0 && (packet->network != 0 || packet->transport != 0 || packet->protocol != 0))
        return "headers without IP";
    if (packet->transport == 0)
        return NULL;
    if (packet->transport < packet->network + ip_len)
        return "a transport header inside the IP header";
    if (transport_len == 0 || packet->transport + transport_len > packet->len)
        return "a transport header behind the packet";
    if (packet->flags & SL_PACKET_LATER)
        return "a transport header in a later fragment";
    return NULL;
}

/* Which invariant an item of a dissected batch violates; NULL: none. */
static inline const char *dissect_violation(const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const struct sl_span *payload = &batch->payload[item];
    const uint32_t wire_len =
        batch->origin[item].wire_len > packet->len ? batch->origin[item].wire_len : packet->len;
    const char *violation = flags_violation(packet, wire_len);

    if (violation == NULL)
        violation = headers_violation(packet);
    if (violation != NULL)
        return violation;
    if (payload->offset < packet->offset || payload->len > packet->len ||
        payload->offset - packet->offset > packet->len - payload->len)
        return "a payload outside the packet";
    if (payload->len != 0 && !(packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)))
        return "a payload without IP";
    if (payload->len != 0 && packet->defect != SL_DEFECT_NONE)
        return "a payload behind a defect";
    if (payload->len != 0 && payload->offset - packet->offset < packet->transport)
        return "a payload before its header";
    if (packet->defect >= SL_N_DEFECTS)
        return "an unknown defect";
    if (packet->defect == SL_DEFECT_SNAPPED && !(packet->flags & SL_PACKET_SNAPPED))
        return "a whole packet that is snapped";
    return NULL;
}

#endif

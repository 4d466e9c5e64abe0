/* SPDX-License-Identifier: MIT */
/* The header checks, once, for C and for nvcc: from one packet's entry and bytes to the set of
 * tripped checks. Every backend calls
 *
 *     header_inspect       all checks but the transport checksum, and the bytes it covers
 *     a sum of the bytes   a backend's own, or the sum over lanes (header_sum_lane)
 *     header_finish        the set of tripped checks
 *     header_offset        only for tripped checks: where the offending field is
 *
 * No byte at or behind packet->len decides anything. Up to 31 bytes behind it may be read: the
 * batch has slack. */
#ifndef HEADER_CORE_H
#define HEADER_CORE_H

#include <string.h>

#include "header_offset_core.h"
#include "header_transport_core.h"

HEADER_INLINE struct header_view header_inspect(const struct sl_header_table *table,
                                                const struct sl_packet *packet,
                                                const uint8_t *bytes)
{
    const uint32_t flags = packet->flags;
    struct header_view view;

    memset(&view, 0, sizeof view);
    view.tripped = UINT64_C(1) << table->defect_check[packet->defect];
    if ((flags & (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6)) != 0)
        view.tripped |= header_network(table, bytes, packet->len, packet->outer,
                                       (flags & SL_PACKET_OUTER_IPV6) != 0)
                            .tripped;
    if ((flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) != 0) {
        const struct header_ip ip = header_network(table, bytes, packet->len, packet->network,
                                                   (flags & SL_PACKET_IPV6) != 0);

        view.tripped |= ip.tripped;
        if (packet->protocol == SL_IP_TCP)
            view.tripped |= header_if(header_is_broadcast(table, &ip), SL_HEADER_TCP_BROADCAST);
        if (packet->transport != 0)
            header_transport(&view, table, packet, bytes, &ip);
    }
    view.tripped &= table->checks;
    return view;
}

/* `sum`: of the bytes [view->begin, view->end). Where it began at an odd offset, its bytes are
 * swapped against the pseudo-header's (RFC 1071, section 2, B). */
CORE uint64_t header_finish(const struct header_view *view, uint64_t sum)
{
    const uint32_t folded = header_fold(sum);
    const uint32_t turned = (view->begin & 1) != 0 ? header_word(folded) : folded;

    return view->tripped | (header_fold(view->pseudo + turned) != 0xFFFF ? view->checksum : 0);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Where in an item of a batch names are looked for. For host and CUDA code. */
#ifndef NAMES_NAME_ITEM_CORE_H
#define NAMES_NAME_ITEM_CORE_H

#include "packet_names_extract_core.h"
#include "sluice/dissect.h"

/* ---- link layers ----------------------------------------------------------------------------- */

enum {
    NAME_LINK_ETHERNET = 1,
    NAME_LINK_LINUX_SLL = 113,
    NAME_LINK_LINUX_SLL2 = 276,
    NAME_ETHERTYPE_NDN = 0x8624,
    NAME_VLAN_TAGS_MAX = 8
};

BYTES_INLINE bool name_is_vlan(uint16_t type)
{
    return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200;
}

/* Where NDN begins in a packet without IP. 0: it is not NDN's. */
BYTES_INLINE uint32_t name_link_ndn(const uint8_t *bytes, uint32_t len, uint16_t link_type)
{
    const uint32_t header_len = link_type == NAME_LINK_ETHERNET     ? 14
                                : link_type == NAME_LINK_LINUX_SLL  ? 16
                                : link_type == NAME_LINK_LINUX_SLL2 ? 20
                                                                    : 0;
    uint32_t at = header_len;

    if (header_len == 0 || len < header_len)
        return 0;
    uint16_t type = load_be16(bytes + (link_type == NAME_LINK_LINUX_SLL2 ? 0 : header_len - 2));
    for (int n = 0; n < NAME_VLAN_TAGS_MAX && name_is_vlan(type) && len - at >= 4; n++, at += 4)
        type = load_be16(bytes + at + 2);
    return type == NAME_ETHERTYPE_NDN && at < len ? at : 0;
}

/* ---- items ----------------------------------------------------------------------------------- */

/* The dissector knows IP alone: the link layer names the content of a packet without payload and
 * IP. */
BYTES_INLINE bool name_may_be_link(const struct sl_packet *packet)
{
    return (packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) == 0 && packet->defect == 0;
}

/* The payload of TCP and UDP, which is there; the carrier stays NONE where it is another's. */
BYTES_INLINE void name_take_transport(struct name_packet *to, const uint8_t *arena,
                                      const struct sl_packet *packet, struct sl_span payload)
{
    const uint8_t *header = arena + packet->offset + packet->transport;

    if (packet->transport == 0 || (packet->protocol != SL_IP_TCP && packet->protocol != SL_IP_UDP))
        return;
    to->carrier = packet->protocol == SL_IP_TCP ? NAME_CARRIER_TCP : NAME_CARRIER_UDP;
    to->bytes = arena + payload.offset;
    to->len = to->sent_len = payload.len;
    to->src_port = load_be16(header);
    to->dst_port = load_be16(header + 2);
    if (to->carrier == NAME_CARRIER_UDP && load_be16(header + 4) > 8u + to->len)
        to->sent_len = load_be16(header + 4) - 8u;
}

#endif

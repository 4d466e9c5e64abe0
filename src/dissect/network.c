/* SPDX-License-Identifier: MIT */
/* IPv4 and IPv6: header, extension headers, and where the datagram ends. */
#include "dissect/dissection.h"

enum { IPV6_EXTENSIONS_MAX = 16 };

/* The extension headers of IPv6 with a length. ESP hides all that follows it. */
enum {
    IPV6_HOP_BY_HOP = 0,
    IPV6_ROUTING = 43,
    IPV6_FRAGMENT = 44,
    IPV6_AH = 51,
    IPV6_DESTINATION = 60,
    IPV6_MOBILITY = 135,
    IPV6_HIP = 139,
    IPV6_SHIM6 = 140
};

/* The IP header that was found is around a tunnel: the outer one, if it is the first. */
static void leave_header(struct dissection *d)
{
    struct sl_packet *packet = d->packet;

    if (d->n_tunnels++ == 0) {
        packet->outer = (uint8_t)packet->network;
        packet->flags |=
            packet->flags & SL_PACKET_IPV4 ? SL_PACKET_OUTER_IPV4 : SL_PACKET_OUTER_IPV6;
    }
    packet->flags &= (uint8_t) ~(SL_PACKET_IPV4 | SL_PACKET_IPV6);
    packet->transport = 0;
    *d->payload = (struct sl_span){.offset = packet->offset};
    d->in_tunnel = false;
}

/* Notes an IP header at `at`. False: an offset does not fit its field. */
static bool note_header(struct dissection *d, uint8_t version)
{
    struct sl_packet *packet = d->packet;

    if (d->at > UINT16_MAX || (d->in_tunnel && d->n_tunnels == 0 && packet->network > UINT8_MAX)) {
        dissection_stop(d, SL_DEFECT_OFFSET);
        return false;
    }
    if (d->in_tunnel)
        leave_header(d);
    packet->network = (uint16_t)d->at;
    packet->flags |= version;
    return true;
}

static void note_fragment(struct dissection *d, bool later)
{
    dissection_see(d, SL_PROTOCOL_FRAGMENT);
    d->packet->flags |= later ? SL_PACKET_FRAGMENT | SL_PACKET_LATER : SL_PACKET_FRAGMENT;
}

/* Sets the end of the datagram. A sender's capture has a total length of 0 where the network card
 * cuts the datagram into segments. The datagram then ends with the layer around it. */
static bool narrow_to_ipv4(struct dissection *d, const uint8_t *ip, uint32_t header_len)
{
    const uint32_t rest = d->limit - d->at;
    const uint32_t total_len = load_be16(ip + 2) != 0 ? load_be16(ip + 2) : rest;

    if (header_len < 20) {
        dissection_stop(d, SL_DEFECT_IPV4_HEADER_LEN);
        return false;
    }
    if (total_len < 20 || total_len > rest) {
        dissection_stop(d, SL_DEFECT_IPV4_TOTAL_LEN);
        return false;
    }
    if (header_len > total_len) {
        dissection_stop(d, SL_DEFECT_IPV4_HEADER_LEN);
        return false;
    }
    dissection_narrow(d, d->at + total_len);
    return true;
}

void dissect_ipv4(struct dissection *d)
{
    const uint8_t *ip = d->bytes + d->at;

    dissection_see(d, SL_PROTOCOL_IPV4);
    if (!dissection_has(d, 20, SL_DEFECT_IPV4_SHORT))
        return;
    if (ip[0] >> 4 != 4) {
        dissection_stop(d, d->in_tunnel ? SL_DEFECT_TUNNEL_SHORT : SL_DEFECT_IPV4_VERSION);
        return;
    }
    if (!note_header(d, SL_PACKET_IPV4))
        return;

    const uint32_t header_len = (ip[0] & 0x0Fu) * 4;
    const uint16_t fragment = load_be16(ip + 6);

    d->packet->protocol = ip[9];
    if ((fragment & 0x3FFF) != 0) /* more fragments, or an offset */
        note_fragment(d, (fragment & 0x1FFF) != 0);
    if (!narrow_to_ipv4(d, ip, header_len))
        return;
    if (!dissection_has(d, header_len, SL_DEFECT_IPV4_HEADER_LEN))
        return;
    d->at += header_len;
    dissect_transport(d);
}

static bool is_extension(uint8_t protocol)
{
    switch (protocol) {
    case IPV6_HOP_BY_HOP:
    case IPV6_ROUTING:
    case IPV6_FRAGMENT:
    case IPV6_AH:
    case IPV6_DESTINATION:
    case IPV6_MOBILITY:
    case IPV6_HIP:
    case IPV6_SHIM6:
        return true;
    default:
        return false;
    }
}

static uint32_t extension_len(uint8_t protocol, const uint8_t *extension)
{
    if (protocol == IPV6_FRAGMENT)
        return 8;
    if (protocol == IPV6_AH)
        return (extension[1] + 2u) * 4; /* RFC 4302, section 2.2 */
    return (extension[1] + 1u) * 8;
}

/* Moves over the extension headers. Behind the header of a later fragment there is its part of the
 * datagram, and nothing to dissect. */
static bool skip_extensions(struct dissection *d)
{
    for (uint32_t n = 0; is_extension(d->packet->protocol); n++) {
        const uint8_t protocol = d->packet->protocol;
        const uint8_t *extension = d->bytes + d->at;

        if (n == IPV6_EXTENSIONS_MAX) {
            dissection_stop(d, SL_DEFECT_IPV6_EXT_DEEP);
            return false;
        }
        if (!dissection_has(d, 8, SL_DEFECT_IPV6_EXT_SHORT) ||
            !dissection_has(d, extension_len(protocol, extension), SL_DEFECT_IPV6_EXT_SHORT))
            return false;
        d->at += extension_len(protocol, extension);
        d->packet->protocol = extension[0];
        if (protocol == IPV6_FRAGMENT) {
            const uint16_t fragment = load_be16(extension + 2);

            if ((fragment & 0xFFF9) != 0) /* neither: a whole datagram (RFC 6946) */
                note_fragment(d, fragment >> 3 != 0);
            if (d->packet->flags & SL_PACKET_LATER)
                return true;
        }
    }
    return true;
}

/* A payload length of 0 is a jumbogram's (RFC 2675) or segmentation's, as in IPv4. */
void dissect_ipv6(struct dissection *d)
{
    const uint8_t *ip = d->bytes + d->at;

    dissection_see(d, SL_PROTOCOL_IPV6);
    if (!dissection_has(d, 40, SL_DEFECT_IPV6_SHORT))
        return;
    if (ip[0] >> 4 != 6) {
        dissection_stop(d, d->in_tunnel ? SL_DEFECT_TUNNEL_SHORT : SL_DEFECT_IPV6_VERSION);
        return;
    }
    if (!note_header(d, SL_PACKET_IPV6))
        return;

    const uint32_t payload_len = load_be16(ip + 4);

    d->packet->protocol = ip[6];
    d->at += 40;
    if (payload_len > d->limit - d->at) {
        dissection_stop(d, SL_DEFECT_IPV6_PAYLOAD_LEN);
        return;
    }
    if (payload_len != 0)
        dissection_narrow(d, d->at + payload_len);
    if (skip_extensions(d))
        dissect_transport(d);
}

void dissect_ip(struct dissection *d, enum sl_defect defect)
{
    if (!dissection_has(d, 1, defect))
        return;

    const uint8_t version = d->bytes[d->at] >> 4;

    if (version == 4)
        dissect_ipv4(d);
    else if (version == 6)
        dissect_ipv6(d);
    else
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
}

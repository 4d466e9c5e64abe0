/* SPDX-License-Identifier: MIT */
/* TCP, UDP, SCTP and ICMP, and the payload behind them. */
#include "dissect/dissection.h"

static bool is_fragment(const struct dissection *d)
{
    return (d->packet->flags & SL_PACKET_FRAGMENT) != 0;
}

/* Notes a transport header at `at` whose fixed part is `len` bytes. False: it is not there. A first
 * fragment too short for it is no defect: the next fragment has the rest. */
static bool note_header(struct dissection *d, uint32_t len, enum sl_defect defect)
{
    if (is_fragment(d) && d->limit - d->at < len) {
        dissection_set_payload(d);
        return false;
    }
    if (!dissection_has(d, len, defect))
        return false;
    if (d->at > UINT16_MAX) {
        dissection_stop(d, SL_DEFECT_OFFSET);
        return false;
    }
    d->packet->transport = (uint16_t)d->at;
    return true;
}

static void dissect_tcp(struct dissection *d)
{
    const uint8_t *tcp = d->bytes + d->at;

    dissection_see(d, SL_PROTOCOL_TCP);
    if (!note_header(d, 20, SL_DEFECT_TCP_SHORT))
        return;

    const uint32_t header_len = (tcp[12] >> 4) * 4u;

    if (header_len < 20) {
        dissection_stop(d, SL_DEFECT_TCP_HEADER_LEN);
        return;
    }
    if (is_fragment(d) && header_len > d->limit - d->at)
        return;
    if (!dissection_has(d, header_len, SL_DEFECT_TCP_HEADER_LEN))
        return;
    d->at += header_len;
    dissection_set_payload(d);
}

/* Whether a tunnel is followed. The inner packet of a fragment ends in another fragment, so a
 * tunnel in a fragment is not. */
static bool is_followed(const struct dissection *d)
{
    return !is_fragment(d) && d->n_tunnels < TUNNELS_MAX;
}

static void dissect_udp(struct dissection *d)
{
    const uint8_t *udp = d->bytes + d->at;

    dissection_see(d, SL_PROTOCOL_UDP);
    if (!note_header(d, 8, SL_DEFECT_UDP_SHORT))
        return;

    const uint32_t len = load_be16(udp + 4);
    const bool fits = len <= d->limit - d->at;

    /* The length is that of the whole datagram. A first fragment has only its beginning. */
    if (len < 8 || (!fits && !is_fragment(d))) {
        dissection_stop(d, SL_DEFECT_UDP_LEN);
        return;
    }
    if (fits)
        dissection_narrow(d, d->at + len);
    d->at += 8;
    dissection_set_payload(d);
    if (dissection_may_tunnel(load_be16(udp), load_be16(udp + 2)) && is_followed(d))
        dissect_udp_tunnel(d, load_be16(udp), load_be16(udp + 2));
}

static void dissect_sctp(struct dissection *d)
{
    dissection_see(d, SL_PROTOCOL_SCTP);
    if (!note_header(d, 12, SL_DEFECT_SCTP_SHORT))
        return;
    d->at += 12;
    dissection_set_payload(d);
}

/* Each type has its own second 4 bytes; some have none. */
static void dissect_icmp(struct dissection *d)
{
    if (!note_header(d, 4, SL_DEFECT_ICMP_SHORT))
        return;
    d->at += d->end - d->at < 8 ? d->end - d->at : 8;
    dissection_set_payload(d);
}

void dissect_transport(struct dissection *d)
{
    if (d->packet->flags & SL_PACKET_LATER) {
        dissection_set_payload(d);
        return;
    }
    switch (d->packet->protocol) {
    case SL_IP_TCP:
        dissect_tcp(d);
        break;
    case SL_IP_UDP:
        dissect_udp(d);
        break;
    case SL_IP_SCTP:
        dissect_sctp(d);
        break;
    case SL_IP_ICMP:
        dissection_see(d, SL_PROTOCOL_ICMP);
        dissect_icmp(d);
        break;
    case SL_IP_ICMPV6:
        dissection_see(d, SL_PROTOCOL_ICMPV6);
        dissect_icmp(d);
        break;
    case SL_IP_IPIP:
    case SL_IP_IPV6:
    case SL_IP_GRE:
        dissection_see(d, d->packet->protocol == SL_IP_GRE ? SL_PROTOCOL_GRE : SL_PROTOCOL_IPIP);
        if (is_followed(d))
            dissect_tunnel(d);
        else
            dissection_set_payload(d);
        break;
    default:
        dissection_see(d, SL_PROTOCOL_OTHER_IP);
        dissection_set_payload(d);
    }
}

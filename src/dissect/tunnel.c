/* SPDX-License-Identifier: MIT */
/* GRE (RFC 2784, RFC 2890; version 1: RFC 2637), IP in IP (RFC 2003), IPv6 in IPv4 (RFC 4213). */
#include "dissect/dissection.h"

enum {
    GRE_CHECKSUM = 0x8000,
    GRE_ROUTING = 0x4000,
    GRE_KEY = 0x2000,
    GRE_SEQUENCE = 0x1000,
    GRE_ACK = 0x0080, /* version 1 alone */
    GRE_VERSION = 0x0007
};

enum {
    GRE_IPV4 = 0x0800,
    GRE_ETHERNET = 0x6558, /* transparent Ethernet bridging */
    GRE_IPV6 = 0x86DD,
    GRE_PPP = 0x880B
};

static uint32_t gre_header_len(uint16_t bits)
{
    return 4u + (bits & GRE_CHECKSUM ? 4 : 0) + (bits & GRE_KEY ? 4 : 0) +
           (bits & GRE_SEQUENCE ? 4 : 0) + (bits & GRE_ACK ? 4 : 0);
}

/* Not followed: the source routes of RFC 1701, later versions, and in version 1 what only
 * acknowledges. */
static bool is_followed(uint16_t bits, uint16_t type)
{
    switch (bits & (GRE_VERSION | GRE_ROUTING)) {
    case 0:
        return (bits & GRE_ACK) == 0 &&
               (type == GRE_IPV4 || type == GRE_IPV6 || type == GRE_ETHERNET || type == GRE_PPP);
    case 1:
        return type == GRE_PPP && (bits & GRE_KEY) && (bits & GRE_SEQUENCE);
    default:
        return false;
    }
}

static void dissect_gre(struct dissection *d)
{
    const uint8_t *gre = d->bytes + d->at;

    if (!dissection_has(d, 4, SL_DEFECT_GRE_SHORT))
        return;

    const uint16_t bits = load_be16(gre);
    const uint16_t type = load_be16(gre + 2);

    if (!is_followed(bits, type))
        return;
    if (!dissection_has(d, gre_header_len(bits), SL_DEFECT_GRE_SHORT))
        return;
    d->at += gre_header_len(bits);
    d->in_tunnel = true;
    if (type == GRE_ETHERNET)
        dissect_ethernet(d);
    else if (type == GRE_PPP)
        dissect_ppp(d);
    else if (type == GRE_IPV6)
        dissect_ipv6(d);
    else
        dissect_ipv4(d);
}

void dissect_tunnel(struct dissection *d)
{
    const uint32_t begin = d->at;
    const uint16_t network = d->packet->network;

    d->in_tunnel = d->packet->protocol != SL_IP_GRE;
    if (d->packet->protocol == SL_IP_GRE)
        dissect_gre(d);
    else if (d->packet->protocol == SL_IP_IPV6)
        dissect_ipv6(d);
    else
        dissect_ipv4(d);
    /* The tunnel has no IP header and no defect: it is the outer IP's payload. Only an IP header
     * narrows, so that `end` is still the outer's. */
    if (d->packet->network == network && d->packet->defect == SL_DEFECT_NONE) {
        d->at = begin;
        dissection_set_payload(d);
    }
}

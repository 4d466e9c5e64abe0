/* SPDX-License-Identifier: MIT */
/* GRE (RFC 2784, RFC 2890; version 1: RFC 2637), with ERSPAN (draft-foschiano-erspan). IP in IP
 * (RFC 2003), IPv6 in IPv4 (RFC 4213).
 * In UDP: VXLAN (RFC 7348), Geneve (RFC 8926), Teredo (RFC 4380). */
#include "dissect/dissection.h"

enum {
    GRE_CHECKSUM = 0x8000,
    GRE_ROUTING = 0x4000,
    GRE_KEY = 0x2000,
    GRE_SEQUENCE = 0x1000,
    GRE_ACK = 0x0080, /* version 1 alone */
    GRE_VERSION = 0x0007
};

/* The protocol that a tunnel carries: an EtherType. */
enum {
    CARRIES_IPV4 = 0x0800,
    CARRIES_ETHERNET = 0x6558, /* transparent Ethernet bridging */
    CARRIES_IPV6 = 0x86DD,
    CARRIES_PPP = 0x880B,
    CARRIES_ERSPAN = 0x88BE
};

enum { ERSPAN_HEADER_LEN = 8, ERSPAN_VERSION_2 = 1 };

static bool is_carried(uint16_t type)
{
    return type == CARRIES_IPV4 || type == CARRIES_IPV6 || type == CARRIES_ETHERNET ||
           type == CARRIES_PPP || type == CARRIES_ERSPAN;
}

/* VLANs count where they carry the packet that counts: without an inner IP header that is the outer
 * one. */
static void dissect_carried(struct dissection *d, uint16_t type)
{
    const uint32_t n_vlans = d->n_vlans;

    d->in_tunnel = true;
    if (type == CARRIES_ETHERNET || type == CARRIES_ERSPAN)
        dissect_ethernet(d);
    else if (type == CARRIES_PPP)
        dissect_ppp(d);
    else if (type == CARRIES_IPV6)
        dissect_ipv6(d);
    else
        dissect_ipv4(d);
    while (d->in_tunnel && d->n_vlans > n_vlans)
        d->vlan[--d->n_vlans] = SL_NO_VLAN;
}

/* ---- behind IP ------------------------------------------------------------------------------- */

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
        return (bits & GRE_ACK) == 0 && is_carried(type);
    case 1:
        return type == CARRIES_PPP && (bits & GRE_KEY) && (bits & GRE_SEQUENCE);
    default:
        return false;
    }
}

/* Type I has no header, and no sequence number in GRE. False: it is none that is followed. */
static bool enter_erspan(struct dissection *d, uint16_t bits)
{
    if ((bits & GRE_SEQUENCE) == 0)
        return true;
    if (!dissection_has(d, ERSPAN_HEADER_LEN, SL_DEFECT_GRE_SHORT) ||
        d->bytes[d->at] >> 4 != ERSPAN_VERSION_2)
        return false;
    d->at += ERSPAN_HEADER_LEN;
    return true;
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
    if (type != CARRIES_ERSPAN || enter_erspan(d, bits))
        dissect_carried(d, type);
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

/* ---- behind UDP ------------------------------------------------------------------------------ */

/* The port alone names the tunnel, so that a header which does not fit is no defect: the datagram
 * is none of the tunnel. */
static bool has_header(struct dissection *d, uint32_t len)
{
    if (d->end - d->at >= len)
        return true;
    if (d->limit - d->at >= len)
        dissection_stop(d, SL_DEFECT_SNAPPED);
    return false;
}

static void dissect_vxlan(struct dissection *d)
{
    enum { VXLAN_LEN = 8, HAS_NETWORK = 0x08 };
    const uint8_t *vxlan = d->bytes + d->at;

    if (!has_header(d, VXLAN_LEN) || (vxlan[0] & HAS_NETWORK) == 0)
        return;
    dissection_see(d, SL_PROTOCOL_VXLAN);
    d->at += VXLAN_LEN;
    dissect_carried(d, CARRIES_ETHERNET);
}

static void dissect_geneve(struct dissection *d)
{
    enum { GENEVE_LEN = 8 };
    const uint8_t *geneve = d->bytes + d->at;

    if (!has_header(d, GENEVE_LEN) || geneve[0] >> 6 != 0 || !is_carried(load_be16(geneve + 2)))
        return;
    const uint32_t len = GENEVE_LEN + (geneve[0] & 0x3Fu) * 4; /* with options */
    if (!has_header(d, len))
        return;
    dissection_see(d, SL_PROTOCOL_GENEVE);
    d->at += len;
    dissect_carried(d, load_be16(geneve + 2));
}

/* A packet of IPv6 that fills the datagram, behind the parts that authenticate it and state its
 * origin. */
static void dissect_teredo(struct dissection *d)
{
    enum { ORIGIN = 0, AUTHENTICATION = 1, ORIGIN_LEN = 8, AUTHENTICATION_LEN = 13, IPV6_LEN = 40 };
    const uint8_t *teredo = d->bytes + d->at;
    uint32_t begin = 0; /* of IPv6 */

    if (!has_header(d, IPV6_LEN))
        return;
    if (load_be16(teredo) == AUTHENTICATION) {
        begin = AUTHENTICATION_LEN + teredo[2] + teredo[3]; /* with an id and a value */
        if (!has_header(d, begin + IPV6_LEN))
            return;
    }
    if (load_be16(teredo + begin) == ORIGIN)
        begin += ORIGIN_LEN;
    if (!has_header(d, begin + IPV6_LEN) || teredo[begin] >> 4 != 6 ||
        load_be16(teredo + begin + 4) != d->limit - d->at - begin - IPV6_LEN)
        return;
    dissection_see(d, SL_PROTOCOL_TEREDO);
    d->at += begin;
    dissect_carried(d, CARRIES_IPV6);
}

void dissect_udp_tunnel(struct dissection *d, uint16_t src, uint16_t dst)
{
    const uint32_t begin = d->at;
    const uint16_t network = d->packet->network;

    if (dst == PORT_VXLAN)
        dissect_vxlan(d);
    else if (dst == PORT_GENEVE)
        dissect_geneve(d);
    else if (dst == PORT_TEREDO || src == PORT_TEREDO)
        dissect_teredo(d);
    if (d->packet->network != network)
        return;
    /* No inner IP header: it is UDP's payload. The bytes that the capture cut off stay unknown. */
    d->in_tunnel = false;
    d->at = d->packet->defect == SL_DEFECT_SNAPPED ? d->end : begin;
    if (d->packet->defect != SL_DEFECT_SNAPPED)
        dissection_stop(d, SL_DEFECT_NONE);
    dissection_set_payload(d);
}

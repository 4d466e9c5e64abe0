/* SPDX-License-Identifier: MIT */
/* Link layers: from the first byte to an IP header. */
#include "dissect/dissection.h"

enum {
    LINK_NULL = 0,
    LINK_PPP = 9,
    LINK_PPP_HDLC = 50,
    LINK_PPP_ETHER = 51,
    LINK_RAW = 101,
    LINK_CISCO_HDLC = 104,
    LINK_LOOP = 108,
    LINK_LINUX_SLL = 113,
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_LINUX_SLL2 = 276
};

enum {
    ETHERTYPE_LENGTH_MAX =
        1500, /* up to here the field is a length, and LLC follows (IEEE 802.3) */
    ETHERTYPE_MIN = 0x0600,
    ETHERTYPE_IPV4 = 0x0800,
    ETHERTYPE_ARP = 0x0806,
    ETHERTYPE_VLAN = 0x8100,
    ETHERTYPE_IPV6 = 0x86DD,
    ETHERTYPE_MPLS = 0x8847,
    ETHERTYPE_MPLS_UPSTREAM = 0x8848,
    ETHERTYPE_PPPOE_SESSION = 0x8864,
    ETHERTYPE_SERVICE_VLAN = 0x88A8,
    ETHERTYPE_NSH = 0x894F,
    ETHERTYPE_VLAN_9100 = 0x9100,
    ETHERTYPE_VLAN_9200 = 0x9200
};

enum { VLAN_TAGS_MAX = 8 };

static bool is_vlan(uint16_t type)
{
    return type == ETHERTYPE_VLAN || type == ETHERTYPE_SERVICE_VLAN ||
           type == ETHERTYPE_VLAN_9100 || type == ETHERTYPE_VLAN_9200;
}

/* The label stack does not name its payload. A first nibble of 0 is a pseudowire's control word
 * (RFC 4385, section 3), and what it carries is mostly Ethernet (RFC 4448, section 4). */
static bool is_pseudowire(const struct dissection *d)
{
    return !d->in_pseudowire && d->at < d->end && d->bytes[d->at] >> 4 == 0;
}

static void dissect_pseudowire(struct dissection *d)
{
    d->in_pseudowire = true;
    if (!dissection_has(d, 4, SL_DEFECT_MPLS_SHORT))
        return;
    d->at += 4;
    dissect_ethernet(d);
}

static void dissect_mpls(struct dissection *d)
{
    bool bottom;

    dissection_see(d, SL_PROTOCOL_MPLS);
    do {
        if (!dissection_has(d, 4, SL_DEFECT_MPLS_SHORT))
            return;
        bottom = d->bytes[d->at + 2] & 1;
        d->at += 4;
    } while (!bottom);
    if (is_pseudowire(d))
        dissect_pseudowire(d);
    else
        dissect_ip(d, SL_DEFECT_MPLS_SHORT);
}

void dissect_ppp(struct dissection *d)
{
    const uint8_t *ppp = d->bytes + d->at;
    uint16_t protocol;

    dissection_see(d, SL_PROTOCOL_PPP);
    if (!dissection_has(d, 1, SL_DEFECT_PPP_SHORT))
        return;
    if (ppp[0] == 0xFF) { /* address and control: RFC 1662, section 3.1 */
        if (!dissection_has(d, 3, SL_DEFECT_PPP_SHORT))
            return;
        d->at += 2;
        ppp += 2;
    }
    if (ppp[0] & 1) { /* protocol field compression: RFC 1661, section 6.5 */
        protocol = ppp[0];
        d->at += 1;
    } else {
        if (!dissection_has(d, 2, SL_DEFECT_PPP_SHORT))
            return;
        protocol = load_be16(ppp);
        d->at += 2;
    }

    if (protocol == 0x0021)
        dissect_ipv4(d);
    else if (protocol == 0x0057)
        dissect_ipv6(d);
    else if (protocol == 0x0281 || protocol == 0x0283)
        dissect_mpls(d);
    else
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
}

/* The length field is not used: the inner packet has its own length. */
static void dissect_pppoe(struct dissection *d)
{
    const uint8_t *pppoe = d->bytes + d->at;

    dissection_see(d, SL_PROTOCOL_PPPOE);
    if (!dissection_has(d, 6, SL_DEFECT_PPPOE_SHORT))
        return;
    d->at += 6;
    if (pppoe[0] == 0x11 &&
        pppoe[1] == 0) /* version 1, type 1, session data: RFC 2516, section 4 */
        dissect_ppp(d);
    else
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
}

/* A network service header: its length is in units of 4 bytes, and ends with what it carries
 * (RFC 8300, section 2.2). */
static void dissect_nsh(struct dissection *d)
{
    enum { NSH_IPV4 = 1, NSH_IPV6 = 2, NSH_MPLS = 5 };
    const uint8_t *nsh = d->bytes + d->at;

    if (!dissection_has(d, 8, SL_DEFECT_LINK_SHORT))
        return;
    const uint32_t len = (nsh[1] & 0x3Fu) * 4;
    if (len < 8 || nsh[0] >> 6 != 0) {
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
        return;
    }
    if (!dissection_has(d, len, SL_DEFECT_LINK_SHORT))
        return;
    d->at += len;
    if (nsh[3] == NSH_IPV4)
        dissect_ipv4(d);
    else if (nsh[3] == NSH_IPV6)
        dissect_ipv6(d);
    else if (nsh[3] == NSH_MPLS)
        dissect_mpls(d);
    else
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
}

/* Dissects the payload of an EtherType that is neither a VLAN tag nor a length. */
static void dissect_typed(struct dissection *d, uint16_t type)
{
    switch (type) {
    case ETHERTYPE_IPV4:
        dissect_ipv4(d);
        break;
    case ETHERTYPE_IPV6:
        dissect_ipv6(d);
        break;
    case ETHERTYPE_ARP:
        dissection_see(d, SL_PROTOCOL_ARP);
        break;
    case ETHERTYPE_MPLS:
    case ETHERTYPE_MPLS_UPSTREAM:
        dissect_mpls(d);
        break;
    case ETHERTYPE_NSH:
        dissect_nsh(d);
        break;
    case ETHERTYPE_PPPOE_SESSION:
        dissect_pppoe(d);
        break;
    default:
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
    }
}

static void dissect_llc(struct dissection *d)
{
    const uint8_t *llc = d->bytes + d->at;

    if (!dissection_has(d, 3, SL_DEFECT_LINK_SHORT))
        return;
    if (llc[0] != 0xAA || llc[1] != 0xAA || llc[2] != 0x03) { /* no SNAP */
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
        return;
    }
    if (!dissection_has(d, 8, SL_DEFECT_LINK_SHORT))
        return;
    d->at += 8;
    if (llc[3] == 0 && llc[4] == 0 && llc[5] == 0) /* an EtherType follows: RFC 1042 */
        dissect_typed(d, load_be16(llc + 6));
    else
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
}

/* A priority tag, id 0, names no VLAN (IEEE 802.1Q, table 9-2). */
static void note_vlan(struct dissection *d, uint16_t tag)
{
    const uint16_t id = tag & 0x0FFF;

    if (id != 0 && d->n_vlans < 2)
        d->vlan[d->n_vlans++] = id;
}

static void dissect_ethertype(struct dissection *d, uint16_t type)
{
    for (uint32_t n_tags = 0; is_vlan(type); n_tags++) {
        const uint8_t *tag = d->bytes + d->at;

        dissection_see(d, SL_PROTOCOL_VLAN);
        if (n_tags == VLAN_TAGS_MAX) {
            dissection_stop(d, SL_DEFECT_VLAN_DEEP);
            return;
        }
        if (!dissection_has(d, 4, SL_DEFECT_VLAN_SHORT))
            return;
        note_vlan(d, load_be16(tag));
        type = load_be16(tag + 2);
        d->at += 4;
    }
    if (type <= ETHERTYPE_LENGTH_MAX)
        dissect_llc(d);
    else
        dissect_typed(d, type);
}

void dissect_ethernet(struct dissection *d)
{
    const uint8_t *ethernet = d->bytes + d->at;

    dissection_see(d, SL_PROTOCOL_ETHERNET);
    if (!dissection_has(d, 14, SL_DEFECT_LINK_SHORT))
        return;
    d->at += 14;
    dissect_ethertype(d, load_be16(ethernet + 12));
}

/* NULL has the address family in the writer's byte order, LOOP in network order. The values are
 * small, so the half that is 0 shows the order. */
static void dissect_null(struct dissection *d)
{
    if (!dissection_has(d, 4, SL_DEFECT_LINK_SHORT))
        return;

    const uint32_t word = load_be32(d->bytes + d->at);
    const uint32_t family = word > 0xFFFF ? __builtin_bswap32(word) : word;

    d->at += 4;
    switch (family) {
    case 2:
        dissect_ipv4(d);
        break;
    case 10: /* AF_INET6 of Linux, NetBSD and OpenBSD, FreeBSD, macOS */
    case 24:
    case 28:
    case 30:
        dissect_ipv6(d);
        break;
    default:
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
    }
}

/* Address, control, EtherType: RFC 1547, section 4.3.1. */
static void dissect_cisco_hdlc(struct dissection *d)
{
    const uint8_t *hdlc = d->bytes + d->at;

    if (!dissection_has(d, 4, SL_DEFECT_LINK_SHORT))
        return;
    d->at += 4;
    dissect_typed(d, load_be16(hdlc + 2));
}

/* PPP in HDLC framing, or Cisco's framing, which has other addresses. */
static void dissect_ppp_hdlc(struct dissection *d)
{
    if (!dissection_has(d, 1, SL_DEFECT_PPP_SHORT))
        return;

    const uint8_t address = d->bytes[d->at];

    if (address == 0x0F || address == 0x8F)
        dissect_cisco_hdlc(d);
    else
        dissect_ppp(d);
}

/* Linux cooked captures: the protocol field is an EtherType, or a small number of Linux's own. */
static void dissect_cooked(struct dissection *d, uint32_t header_len, uint32_t protocol_offset)
{
    enum { LINUX_LLC = 0x0004 };

    if (!dissection_has(d, header_len, SL_DEFECT_LINK_SHORT))
        return;

    const uint16_t protocol = load_be16(d->bytes + d->at + protocol_offset);

    d->at += header_len;
    if (protocol >= ETHERTYPE_MIN)
        dissect_ethertype(d, protocol);
    else if (protocol == LINUX_LLC)
        dissect_llc(d);
    else
        dissection_see(d, SL_PROTOCOL_OTHER_LINK);
}

void dissect_link(struct dissection *d, uint16_t link_type)
{
    switch (link_type) {
    case LINK_ETHERNET:
        dissect_ethernet(d);
        break;
    case LINK_NULL:
    case LINK_LOOP:
        dissect_null(d);
        break;
    case LINK_PPP:
        dissect_ppp(d);
        break;
    case LINK_PPP_HDLC:
        dissect_ppp_hdlc(d);
        break;
    case LINK_CISCO_HDLC:
        dissect_cisco_hdlc(d);
        break;
    case LINK_PPP_ETHER:
        dissect_pppoe(d);
        break;
    case LINK_RAW:
        dissect_ip(d, SL_DEFECT_LINK_SHORT);
        break;
    case LINK_IPV4:
        dissect_ipv4(d);
        break;
    case LINK_IPV6:
        dissect_ipv6(d);
        break;
    case LINK_LINUX_SLL:
        dissect_cooked(d, 16, 14);
        break;
    case LINK_LINUX_SLL2:
        dissect_cooked(d, 20, 0);
        break;
    default:
        dissection_see(d, SL_PROTOCOL_UNKNOWN_LINK);
        dissection_stop(d, SL_DEFECT_LINK_TYPE);
    }
}

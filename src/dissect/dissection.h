/* SPDX-License-Identifier: MIT */
/* The state of dissecting one packet, and how one layer enters the next.
 *
 * A layer's function gets `at` on its header, moves `at` behind it and calls the layer inside. On
 * return the packet is dissected, or it has a defect. Depth is bounded: link layers nest in one
 * pseudowire alone, and TUNNELS_MAX tunnels are followed. */
#ifndef DISSECT_DISSECTION_H
#define DISSECT_DISSECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "sluice/dissect.h"

enum { LINK_ETHERNET = 1, TUNNELS_MAX = 4 };

/* Ports of UDP that tunnels have. */
enum { PORT_TEREDO = 3544, PORT_VXLAN = 4789, PORT_GENEVE = 6081 };

struct dissection {
    const uint8_t *bytes;  /* the packet's first */
    uint32_t captured_len; /* bytes that may be read */
    uint32_t limit;        /* where the layer at hand ends on the wire */
    uint32_t end;          /* the lower of captured_len and limit */
    uint32_t at;           /* first byte not dissected; never above end */
    uint32_t seen;         /* set of enum sl_protocol */
    uint32_t n_vlans;      /* ids in vlan */
    uint16_t vlan[2];
    uint32_t n_tunnels;       /* whose inner IP header was found */
    bool in_tunnel;           /* behind a tunnel's header, and not yet at its inner IP header */
    bool in_pseudowire;       /* behind one's control word: one is followed */
    struct sl_packet *packet; /* offset and len are the caller's, the rest is filled */
    struct sl_span *payload;  /* empty until it is found */
};

_Static_assert(SL_N_PROTOCOLS <= 32, "a set of protocols is a uint32_t");

static inline void dissection_see(struct dissection *d, enum sl_protocol protocol)
{
    d->seen |= 1u << protocol;
}

static inline void dissection_stop(struct dissection *d, enum sl_defect defect)
{
    d->packet->defect = (uint8_t)defect;
}

/* Sets the defect of a header that does not fit: a lie of the lengths, or a cut by the capture. */
static inline void dissection_stop_short(struct dissection *d, uint32_t len, enum sl_defect defect)
{
    if (d->limit - d->at >= len)
        dissection_stop(d, SL_DEFECT_SNAPPED);
    else
        dissection_stop(d, d->in_tunnel ? SL_DEFECT_TUNNEL_SHORT : defect);
}

/* Whether `len` bytes of a header can be read at `at`; if not, the packet has its defect. */
static inline bool dissection_has(struct dissection *d, uint32_t len, enum sl_defect defect)
{
    if (d->end - d->at >= len)
        return true;
    dissection_stop_short(d, len, defect);
    return false;
}

/* Sets the end of a layer from its header: at least `at`, at most the limit so far. */
static inline void dissection_narrow(struct dissection *d, uint32_t limit)
{
    d->limit = limit;
    d->end = limit < d->captured_len ? limit : d->captured_len;
}

/* Whether UDP with these ports may be a tunnel. */
static inline bool dissection_may_tunnel(uint16_t src, uint16_t dst)
{
    return dst == PORT_VXLAN || dst == PORT_GENEVE || dst == PORT_TEREDO || src == PORT_TEREDO;
}

/* All that was captured of the layer, from `at`, is the payload. */
static inline void dissection_set_payload(struct dissection *d)
{
    d->payload->offset = d->packet->offset + d->at;
    d->payload->len = d->end - d->at;
}

/* link_header.c */
void dissect_link(struct dissection *d, uint16_t link_type);
void dissect_ethernet(struct dissection *d);
void dissect_ppp(struct dissection *d);

/* network.c. dissect_ip reads the version field. `defect` is for a packet without a byte of IP. */
void dissect_ip(struct dissection *d, enum sl_defect defect);
void dissect_ipv4(struct dissection *d);
void dissect_ipv6(struct dissection *d);

/* tunnel.c: GRE or IP in IP, behind an IP header; VXLAN, Geneve or Teredo, behind UDP's. */
void dissect_tunnel(struct dissection *d);
void dissect_udp_tunnel(struct dissection *d, uint16_t src, uint16_t dst);

/* transport.c: the protocol of the IP header. */
void dissect_transport(struct dissection *d);

#endif

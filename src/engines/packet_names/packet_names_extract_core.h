/* SPDX-License-Identifier: MIT */
/* Names in one packet's bytes, as sluice/packet_names.h says. For host and CUDA code: no
 * allocation, every loop bounded by the bytes of the packet, nothing outside of them read. */
#ifndef PACKET_NAMES_EXTRACT_CORE_H
#define PACKET_NAMES_EXTRACT_CORE_H

#include "names/syntax/name_packet_core.h"
#include "packet_names_dns_core.h"
#include "packet_names_http_core.h"
#include "packet_names_tls_core.h"

enum {
    NAME_PORT_DNS = 53,
    NAME_PORT_MDNS = 5353,
    NAME_PORT_NDN = 6363,
    NAME_PORT_NDN_MULTICAST = 56363 /* of NFD's multicast faces */
};

enum name_carrier { NAME_CARRIER_NONE, NAME_CARRIER_UDP, NAME_CARRIER_TCP, NAME_CARRIER_LINK };

/* Where names are looked for. */
struct name_packet {
    const uint8_t *bytes;
    uint32_t len;
    uint32_t sent_len; /* bytes that UDP says there were, at least len */
    uint32_t base;     /* offset of `bytes` from the item's payload span */
    enum name_carrier carrier;
    uint16_t src_port, dst_port;
};

/* ---- NDN ------------------------------------------------------------------------------------- */

/* The miss that a packet without a name is counted as. Both enums have the same order. */
BYTES_INLINE enum sl_packet_names_miss name_ndn_miss(enum name_packet_why why)
{
    return why == NAME_PACKET_LONG
               ? SL_PACKET_NAMES_MISS_LONG
               : (enum sl_packet_names_miss)(SL_PACKET_NAMES_MISS_NDN_CUT + (int)why);
}

/* A datagram or frame holds one packet, a segment as many as follow one another. */
BYTES_INLINE void name_extract_ndn(struct name_out *out, const struct name_packet *packet)
{
    uint32_t at = 0;

    do {
        struct sl_packet_name *found = name_next_found(out);
        struct name_ndn ndn;

        if (found == NULL)
            return;
        const enum name_packet_why why = name_ndn_read(&ndn, packet->bytes, at, packet->len);
        if (why != NAME_PACKET_GOOD) {
            name_miss(out, name_ndn_miss(why));
            return;
        }
        const uint32_t len = ndn.name.end - ndn.name.at;

        found->ndn.data = ndn.data;
        name_keep(out, found, SL_PACKET_NAMES_NDN, packet->base + ndn.name.at, SL_NAME_NDN,
                  packet->bytes + ndn.name.at, len, len);
        at = ndn.end;
    } while (packet->carrier == NAME_CARRIER_TCP && at < packet->len);
}

/* ---- a packet -------------------------------------------------------------------------------- */

BYTES_INLINE bool name_has_port(const struct name_packet *packet, uint16_t port)
{
    return packet->src_port == port || packet->dst_port == port;
}

/* The protocol whose names may begin here; SL_N_PACKET_NAMES_PROTOCOLS: none. */
BYTES_INLINE enum sl_packet_names_protocol name_protocol(const struct name_packet *packet)
{
    const char *text = (const char *)packet->bytes;
    const bool dns = name_has_port(packet, NAME_PORT_DNS),
               ndn = name_has_port(packet, NAME_PORT_NDN);

    if (packet->len == 0 || packet->carrier == NAME_CARRIER_NONE)
        return SL_N_PACKET_NAMES_PROTOCOLS;
    if (packet->carrier == NAME_CARRIER_LINK)
        return SL_PACKET_NAMES_NDN;
    if (packet->carrier == NAME_CARRIER_UDP)
        return dns || name_has_port(packet, NAME_PORT_MDNS) ? SL_PACKET_NAMES_DNS
               : ndn || name_has_port(packet, NAME_PORT_NDN_MULTICAST)
                   ? SL_PACKET_NAMES_NDN
                   : SL_N_PACKET_NAMES_PROTOCOLS;
    if (dns || ndn)
        return dns ? SL_PACKET_NAMES_DNS : SL_PACKET_NAMES_NDN;
    if (*text == NAME_TLS_HANDSHAKE || *text == NAME_TLS_CHANGE_CIPHER)
        return SL_PACKET_NAMES_TLS;
    if (*text == '\r' || *text == '\n')
        return SL_PACKET_NAMES_HTTP;
    return *text >= 'A' && *text <= 'Z' && name_http_method(text, text + packet->len) != NULL
               ? SL_PACKET_NAMES_HTTP
               : SL_N_PACKET_NAMES_PROTOCOLS;
}

/* Finds the names of a packet. The protocol is what name_protocol returned for it. */
BYTES_INLINE void name_extract(struct name_out *out, const struct name_packet *packet,
                               enum sl_packet_names_protocol protocol)
{
    switch (protocol) {
    case SL_PACKET_NAMES_DNS:
        if (packet->carrier == NAME_CARRIER_TCP)
            name_extract_dns_tcp(out, packet->bytes, packet->len);
        else
            name_extract_dns(out, packet->bytes, packet->len, packet->sent_len, packet->base);
        break;
    case SL_PACKET_NAMES_HTTP:
        name_extract_http(out, packet->bytes, packet->len);
        break;
    case SL_PACKET_NAMES_TLS:
        name_extract_tls(out, packet->bytes, packet->len);
        break;
    case SL_PACKET_NAMES_NDN:
        name_extract_ndn(out, packet);
        break;
    case SL_N_PACKET_NAMES_PROTOCOLS:
        break;
    }
}

#endif

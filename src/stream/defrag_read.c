/* SPDX-License-Identifier: MIT */
/* A fragment, read from its packet. */
#include <string.h>

#include "base/bytes.h"
#include "defrag.h"

enum {
    ETHERNET = 1, /* LINKTYPE_ETHERNET */
    IPV6_FRAGMENT = 44,
    IPV6_AH = 51,
    IPV6_LEN = 40,
    FRAGMENT_LEN = 8
};

static void read_ipv4(struct defrag_fragment *f, const uint8_t *ip, uint32_t *ip_end)
{
    const uint16_t flags = load_be16(ip + 6);

    memset(f->src.byte + 10, 0xFF, 2);
    memset(f->dst.byte + 10, 0xFF, 2);
    memcpy(f->src.byte + 12, ip + 12, 4);
    memcpy(f->dst.byte + 12, ip + 16, 4);
    f->id = load_be16(ip + 4);
    f->protocol = ip[9];
    f->more = (flags & 0x2000) != 0;
    f->offset = (flags & 0x1FFFu) * 8;
    f->headers_len = (ip[0] & 0x0Fu) * 4;
    f->protocol_at = 9;
    f->bytes = ip + f->headers_len;
    *ip_end = load_be16(ip + 2);
}

/* The extension headers before the fragment header. The dissector has walked over them. */
static bool find_fragment_header(struct defrag_fragment *f, const uint8_t *ip, uint32_t ip_len)
{
    uint8_t protocol = ip[6];

    f->headers_len = IPV6_LEN;
    f->protocol_at = 6;
    while (protocol != IPV6_FRAGMENT) {
        const uint8_t *extension = ip + f->headers_len;

        if (f->headers_len + FRAGMENT_LEN > ip_len)
            return false;
        f->protocol_at = f->headers_len;
        f->headers_len += protocol == IPV6_AH ? (extension[1] + 2u) * 4 : (extension[1] + 1u) * 8;
        protocol = extension[0];
    }
    return f->headers_len + FRAGMENT_LEN <= ip_len;
}

static bool read_ipv6(struct defrag_fragment *f, const uint8_t *ip, uint32_t ip_len,
                      uint32_t *ip_end)
{
    const uint8_t *header;

    if (!find_fragment_header(f, ip, ip_len))
        return false;
    header = ip + f->headers_len;
    memcpy(f->src.byte, ip + 8, sizeof f->src.byte);
    memcpy(f->dst.byte, ip + 24, sizeof f->dst.byte);
    f->is_ipv6 = true;
    f->id = load_be32(header + 4);
    f->protocol = header[0];
    f->more = (header[3] & 1) != 0;
    f->offset = load_be16(header + 2) & 0xFFF8u;
    f->bytes = header + FRAGMENT_LEN;
    *ip_end = IPV6_LEN + load_be16(ip + 4);
    return true;
}

bool defrag_read(struct defrag_fragment *f, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];
    const struct sl_origin *origin = &batch->origin[item];
    const uint8_t *ip = batch->bytes + packet->offset + packet->network;
    const uint32_t ip_len = packet->len - packet->network; /* captured */
    uint32_t ip_end;                                       /* of the fragment, on the wire */
    uint32_t begin;

    if ((packet->flags & SL_PACKET_FRAGMENT) == 0)
        return false;
    *f = (struct defrag_fragment){
        .vlan = {origin->vlan[0], origin->vlan[1]}, .headers = ip, .time_ns = origin->time_ns};
    if ((packet->flags & SL_PACKET_IPV4) != 0)
        read_ipv4(f, ip, &ip_end);
    else if (!read_ipv6(f, ip, ip_len, &ip_end))
        return false;
    begin = (uint32_t)(f->bytes - ip);
    if (f->headers_len < 20 || begin > ip_end || begin > ip_len)
        return false;
    f->is_snapped = ip_end > ip_len;
    f->len = (f->is_snapped ? ip_len : ip_end) - begin;
    f->mac = origin->link_type == ETHERNET ? batch->bytes + packet->offset : NULL;
    return true;
}

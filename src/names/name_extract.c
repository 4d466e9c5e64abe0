/* SPDX-License-Identifier: MIT */
/* Items of a batch as packets that names are looked for in; reasons in words. */
#include "name_extract.h"

#include <stddef.h>

#include "sluice/dissect.h"

_Static_assert(SL_PACKET_NAMES_MAX *NAME_DNS_ROOM <= SL_PACKET_NAMES_LEN, "room for all of DNS");

const char *sl_names_protocol_text(enum sl_names_protocol protocol)
{
    static const char *const texts[SL_N_NAMES_PROTOCOLS] = {
        [SL_NAMES_DNS] = "dns",
        [SL_NAMES_HTTP] = "http",
        [SL_NAMES_TLS] = "tls",
        [SL_NAMES_NDN] = "ndn",
    };

    return texts[protocol];
}

static const struct {
    const char *name, *text;
} misses[SL_N_NAMES_MISSES] = {
    [SL_NAMES_MISS_MORE] = {"more", "more names in a packet than are looked at"},
    [SL_NAMES_MISS_LONG] = {"long", "a name longer than a table's may be"},
    [SL_NAMES_MISS_DNS_CUT] = {"dns-cut", "the message is cut off before its questions end"},
    [SL_NAMES_MISS_DNS_HEADER] = {"dns-header", "on a port of DNS, and no message of DNS"},
    [SL_NAMES_MISS_DNS_LABEL] = {"dns-label", "a label of an unknown type"},
    [SL_NAMES_MISS_DNS_POINTER] = {"dns-pointer", "a pointer that does not point backwards"},
    [SL_NAMES_MISS_DNS_LONG] = {"dns-long", "a name longer than 255 bytes"},
    [SL_NAMES_MISS_HTTP_CUT] = {"http-cut", "the request is cut off before its Host"},
    [SL_NAMES_MISS_HTTP_NO_HOST] = {"http-no-host", "a request without a Host"},
    [SL_NAMES_MISS_HTTP_HOSTS] = {"http-hosts", "a second Host, which does not count"},
    [SL_NAMES_MISS_HTTP_HOST] = {"http-host", "a Host that is no host name"},
    [SL_NAMES_MISS_HTTP_URL] = {"http-url", "a request target of no known form"},
    [SL_NAMES_MISS_TLS_CUT] = {"tls-cut", "the ClientHello is cut off before its server name"},
    [SL_NAMES_MISS_TLS_BAD] = {"tls-bad", "a ClientHello whose lengths contradict one another"},
    [SL_NAMES_MISS_TLS_NO_NAME] = {"tls-no-name", "a ClientHello without a server name"},
    [SL_NAMES_MISS_TLS_HOST] = {"tls-host", "a server name that is no host name"},
    [SL_NAMES_MISS_NDN_CUT] = {"ndn-cut", "the packet is cut off before its name ends"},
    [SL_NAMES_MISS_NDN_BAD] = {"ndn-bad", "numbers or lengths that NDN does not have"},
    [SL_NAMES_MISS_NDN_FRAGMENT] = {"ndn-fragment", "a fragment of an NDN packet"},
    [SL_NAMES_MISS_NDN_EMPTY] = {"ndn-empty", "a link packet that carries nothing"},
    [SL_NAMES_MISS_NDN_OTHER] = {"ndn-other", "neither an Interest nor a Data packet"},
    [SL_NAMES_MISS_NDN_NAME] = {"ndn-name", "a packet that does not begin with a name"},
    [SL_NAMES_MISS_NDN_COMPONENT] = {"ndn-component", "a component of a wrong type or length"},
};

const char *sl_names_miss_name(enum sl_names_miss miss)
{
    return misses[miss].name;
}

const char *sl_names_miss_text(enum sl_names_miss miss)
{
    return misses[miss].text;
}

/* ---- link layers ----------------------------------------------------------------------------- */

enum {
    LINK_ETHERNET = 1,
    LINK_LINUX_SLL = 113,
    LINK_LINUX_SLL2 = 276,
    ETHERTYPE_NDN = 0x8624,
    VLAN_TAGS_MAX = 8
};

static bool is_vlan(uint16_t type)
{
    return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200;
}

/* The dissector knows IP alone; what its packets without IP carry is asked for here. 0: not NDN;
 * otherwise where it begins. */
static uint32_t link_ndn(const uint8_t *bytes, uint32_t len, uint16_t link_type)
{
    const uint32_t header_len = link_type == LINK_ETHERNET     ? 14
                                : link_type == LINK_LINUX_SLL  ? 16
                                : link_type == LINK_LINUX_SLL2 ? 20
                                                               : 0;
    uint32_t at = header_len;

    if (header_len == 0 || len < header_len)
        return 0;
    uint16_t type = load_be16(bytes + (link_type == LINK_LINUX_SLL2 ? 0 : header_len - 2));
    for (int n = 0; n < VLAN_TAGS_MAX && is_vlan(type) && len - at >= 4; n++, at += 4)
        type = load_be16(bytes + at + 2);
    return type == ETHERTYPE_NDN && at < len ? at : 0;
}

/* ---- items ----------------------------------------------------------------------------------- */

static void take_transport(struct name_packet *to, const struct sl_batch *batch,
                           const struct sl_packet *packet, const struct sl_span *payload)
{
    const uint8_t *header = batch->bytes + packet->offset + packet->transport;

    if (packet->transport == 0 || (packet->protocol != SL_IP_TCP && packet->protocol != SL_IP_UDP))
        return;
    to->carrier = packet->protocol == SL_IP_TCP ? NAME_CARRIER_TCP : NAME_CARRIER_UDP;
    to->bytes = batch->bytes + payload->offset;
    to->len = to->sent_len = payload->len;
    to->src_port = load_be16(header);
    to->dst_port = load_be16(header + 2);
    if (to->carrier == NAME_CARRIER_UDP && load_be16(header + 4) > 8u + to->len)
        to->sent_len = load_be16(header + 4) - 8u;
}

void name_packet_of(struct name_packet *to, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];

    *to = (struct name_packet){0};
    if (batch->payload[item].len != 0) {
        take_transport(to, batch, packet, &batch->payload[item]);
        return;
    }
    if ((packet->flags & (SL_PACKET_IPV4 | SL_PACKET_IPV6)) != 0 || packet->defect != 0 ||
        batch->origin == NULL)
        return;
    const uint8_t *bytes = batch->bytes + packet->offset;
    const uint32_t begin = link_ndn(bytes, packet->len, batch->origin[item].link_type);
    if (begin == 0)
        return;
    to->carrier = NAME_CARRIER_LINK;
    to->bytes = bytes + begin;
    to->len = to->sent_len = packet->len - begin;
    to->base = begin;
}

uint32_t sl_packet_names(const struct sl_batch *batch, uint32_t item,
                         struct sl_packet_name names[SL_PACKET_NAMES_MAX], uint8_t *bytes,
                         uint32_t *miss_bits)
{
    struct name_out out = {.found = names, .bytes = bytes};
    struct name_packet packet;

    name_packet_of(&packet, batch, item);
    name_extract(&out, &packet);
    *miss_bits = out.misses;
    return out.n;
}

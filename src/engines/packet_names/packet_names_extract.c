/* SPDX-License-Identifier: MIT */
/* Items of a batch as packets that names are looked for in; reasons in words. */
#include "packet_names_extract.h"

#include "packet_names_item_core.h"

_Static_assert(SL_PACKET_NAMES_MISS_NDN_COMPONENT - SL_PACKET_NAMES_MISS_NDN_CUT ==
                       NAME_PACKET_COMPONENT &&
                   SL_PACKET_NAMES_MISS_NDN_OTHER - SL_PACKET_NAMES_MISS_NDN_CUT ==
                       NAME_PACKET_OTHER,
               "reasons in one order");
_Static_assert(SL_PACKET_NAMES_MAX *NAME_DNS_ROOM <= SL_PACKET_NAMES_LEN, "room for all of DNS");

const char *sl_packet_names_protocol_name(enum sl_packet_names_protocol protocol)
{
    static const char *const texts[SL_N_PACKET_NAMES_PROTOCOLS] = {
        [SL_PACKET_NAMES_DNS] = "dns",
        [SL_PACKET_NAMES_HTTP] = "http",
        [SL_PACKET_NAMES_TLS] = "tls",
        [SL_PACKET_NAMES_NDN] = "ndn",
    };

    return texts[protocol];
}

static const struct {
    const char *name, *text;
} misses[SL_N_PACKET_NAMES_MISSES] = {
    [SL_PACKET_NAMES_MISS_MORE] = {"more", "more names in a packet than are looked at"},
    [SL_PACKET_NAMES_MISS_LONG] = {"long", "a name longer than a table's may be"},
    [SL_PACKET_NAMES_MISS_DNS_CUT] = {"dns-cut", "the message is cut off before its questions end"},
    [SL_PACKET_NAMES_MISS_DNS_HEADER] = {"dns-header", "on a port of DNS, and no message of DNS"},
    [SL_PACKET_NAMES_MISS_DNS_LABEL] = {"dns-label", "a label of an unknown type"},
    [SL_PACKET_NAMES_MISS_DNS_POINTER] = {"dns-pointer", "more pointers than a name may have"},
    [SL_PACKET_NAMES_MISS_DNS_LONG] = {"dns-long", "a name longer than 255 bytes"},
    [SL_PACKET_NAMES_MISS_HTTP_CUT] = {"http-cut", "the request is cut off before its Host"},
    [SL_PACKET_NAMES_MISS_HTTP_NO_HOST] = {"http-no-host", "a request without a Host"},
    [SL_PACKET_NAMES_MISS_HTTP_HOSTS] = {"http-hosts", "a second Host, which does not count"},
    [SL_PACKET_NAMES_MISS_HTTP_HOST] = {"http-host", "a Host that is no host name"},
    [SL_PACKET_NAMES_MISS_HTTP_URL] = {"http-url", "a request target of no known form"},
    [SL_PACKET_NAMES_MISS_TLS_CUT] = {"tls-cut",
                                      "the ClientHello is cut off before its server name"},
    [SL_PACKET_NAMES_MISS_TLS_BAD] = {"tls-bad",
                                      "a ClientHello whose lengths contradict one another"},
    [SL_PACKET_NAMES_MISS_TLS_NO_NAME] = {"tls-no-name", "a ClientHello without a server name"},
    [SL_PACKET_NAMES_MISS_TLS_HOST] = {"tls-host", "a server name that is no host name"},
    [SL_PACKET_NAMES_MISS_NDN_CUT] = {"ndn-cut", "the packet is cut off before its name ends"},
    [SL_PACKET_NAMES_MISS_NDN_BAD] = {"ndn-bad", "numbers or lengths that NDN does not have"},
    [SL_PACKET_NAMES_MISS_NDN_FRAGMENT] = {"ndn-fragment", "a fragment of an NDN packet"},
    [SL_PACKET_NAMES_MISS_NDN_EMPTY] = {"ndn-empty", "a link packet that carries nothing"},
    [SL_PACKET_NAMES_MISS_NDN_OTHER] = {"ndn-other", "neither an Interest nor a Data packet"},
    [SL_PACKET_NAMES_MISS_NDN_NAME] = {"ndn-name", "a packet that does not begin with a name"},
    [SL_PACKET_NAMES_MISS_NDN_COMPONENT] = {"ndn-component",
                                            "a component of a wrong type or length"},
};

const char *sl_packet_names_miss_name(enum sl_packet_names_miss miss)
{
    return misses[miss].name;
}

const char *sl_packet_names_miss_text(enum sl_packet_names_miss miss)
{
    return misses[miss].text;
}

/* ---- items ----------------------------------------------------------------------------------- */

void name_packet_of(struct name_packet *to, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];

    *to = (struct name_packet){0};
    if (batch->payload[item].len != 0) {
        name_take_transport(to, batch->bytes, packet, batch->payload[item]);
        return;
    }
    if (!name_may_be_link(packet) || batch->origin == NULL)
        return;
    const uint8_t *bytes = batch->bytes + packet->offset;
    const uint32_t begin = name_link_ndn(bytes, packet->len, batch->origin[item].link_type);
    if (begin == 0)
        return;
    to->carrier = NAME_CARRIER_LINK;
    to->bytes = bytes + begin;
    to->len = to->sent_len = packet->len - begin;
    to->base = begin;
}

uint32_t sl_packet_names_find(const struct sl_batch *batch, uint32_t item,
                              struct sl_packet_name names[SL_PACKET_NAMES_MAX], uint8_t *bytes,
                              uint32_t *miss_bits)
{
    struct name_out out = name_out_of(names, bytes);
    struct name_packet packet;

    name_packet_of(&packet, batch, item);
    name_extract(&out, &packet, name_protocol(&packet));
    *miss_bits = out.misses;
    return out.n;
}

/* SPDX-License-Identifier: MIT */
#include "name_build.h"
#include "name_text.h"

static enum sl_name_syntax guess(const char *text, size_t len)
{
    if (text[0] == '/' || (len >= 4 && memcmp(text, "ndn:", 4) == 0))
        return SL_NAME_NDN;
    for (size_t i = 0; i < len; i++)
        if (text[i] == '/' || text[i] == ':' || text[i] == '?' || text[i] == '[')
            return SL_NAME_URL;
    return SL_NAME_DOMAIN;
}

const char *sl_name_read(struct sl_name *name, enum sl_name_syntax syntax, uint8_t *bytes,
                         uint32_t bytes_cap, const char *text, size_t text_len)
{
    struct name_build build = {.bytes = bytes, .cap = bytes_cap};
    const char *why;

    if (text_len == 0)
        return "an empty name";
    if (bytes_cap > SL_NAME_LEN_MAX)
        build.cap = SL_NAME_LEN_MAX;
    if (syntax == SL_NAME_AUTO)
        syntax = guess(text, text_len);
    uint32_t host_len = UINT32_MAX;
    if (syntax == SL_NAME_NDN)
        why = name_read_ndn(&build, text, text_len);
    else if (syntax == SL_NAME_DOMAIN)
        why = name_read_domain(&build, text, text_len);
    else
        why = name_read_url(&build, &host_len, text, text_len);
    if (why != NULL)
        return why;
    name->bytes = bytes;
    name->len = build.len;
    name->host_len = host_len == UINT32_MAX ? build.len : host_len;
    name->syntax = syntax;
    return NULL;
}

size_t sl_name_write(const struct sl_name *name, char *text, size_t text_cap)
{
    struct text_out out = {.text = text, .cap = text_cap == 0 ? 0 : text_cap - 1};
    struct sl_name_component component;
    size_t at = name->host_len;

    if (name->syntax == SL_NAME_NDN || name->syntax == SL_NAME_AUTO) {
        name_write_ndn(&out, name);
    } else {
        name_write_host(&out, name);
        while (sl_name_next(name->bytes, name->len, &at, &component)) {
            if (component.len == 0 || component.bytes[0] != '?')
                text_put(&out, "/", 1);
            text_put(&out, (const char *)component.bytes, component.len);
        }
    }
    if (text_cap != 0)
        text[out.len < text_cap ? out.len : text_cap - 1] = '\0';
    return out.len;
}

/* ---- packets --------------------------------------------------------------------------------- */

enum {
    TLV_INTEREST = 0x05,
    TLV_DATA = 0x06,
    TLV_NAME = 0x07,
    TLV_LP_PACKET = 0x64,
    TLV_LP_FRAGMENT = 0x50,
    TLV_LP_FRAG_COUNT = 0x53,
    DIGEST_LEN = 32
};

struct tlv {
    const uint8_t *bytes;
    uint32_t len, type;
};

/* The VAR-NUMBER at *at; false: it is not whole, could be shorter, or is larger than any packet. */
static bool take_number(const uint8_t *bytes, size_t len, size_t *at, uint32_t *number)
{
    if (*at >= len)
        return false;
    const uint8_t first = bytes[(*at)++];
    const uint32_t more = first < 253 ? 0 : first == 253 ? 2 : first == 254 ? 4 : 8;

    *number = more == 0 ? first : 0;
    if (more == 8 || more > len - *at)
        return false;
    for (uint32_t i = 0; i < more; i++)
        *number = *number << 8 | bytes[(*at)++];
    return name_number_len(*number) == more + 1;
}

/* The TLV at *at, whose value lies inside the bytes. */
static bool take_tlv(const uint8_t *bytes, size_t len, size_t *at, struct tlv *tlv)
{
    size_t to = *at;

    if (!take_number(bytes, len, &to, &tlv->type) || !take_number(bytes, len, &to, &tlv->len) ||
        tlv->len > len - to)
        return false;
    tlv->bytes = bytes + to;
    *at = to + tlv->len;
    return true;
}

static const char *check_components(const uint8_t *bytes, uint32_t len)
{
    struct tlv component;
    size_t at = 0;

    while (take_tlv(bytes, len, &at, &component)) {
        if (component.type == 0 || component.type > SL_NAME_TYPE_MAX)
            return "a component's type is not 1 to 65535";
        if (component.type <= 2 && component.len != DIGEST_LEN)
            return "a digest component is not 32 bytes";
    }
    return at == len ? NULL : "a component runs over the name's end";
}

/* NDNLPv2: header fields, then the fragment. A packet in several fragments is not looked into: its
 * name may not be whole in the first. */
static const char *open_lp_packet(struct tlv *packet)
{
    struct tlv field;
    size_t at = 0;

    while (take_tlv(packet->bytes, packet->len, &at, &field)) {
        if (field.type == TLV_LP_FRAG_COUNT && !(field.len == 1 && field.bytes[0] == 1))
            return "a fragment of a packet";
        if (field.type == TLV_LP_FRAGMENT) {
            const struct tlv fragment = field;

            at = 0;
            return take_tlv(fragment.bytes, fragment.len, &at, packet) ? NULL
                                                                       : "not a whole NDN packet";
        }
    }
    return at == packet->len ? "a link packet that carries nothing"
                             : "a field runs over the packet's end";
}

const char *sl_name_from_packet(struct sl_name *name, const uint8_t *packet, size_t packet_len)
{
    struct tlv tlv, inner;
    size_t at = 0;
    const char *why;

    if (!take_tlv(packet, packet_len, &at, &tlv))
        return "not a whole NDN packet";
    if (tlv.type == TLV_LP_PACKET) {
        why = open_lp_packet(&tlv);
        if (why != NULL)
            return why;
    }
    if (tlv.type != TLV_INTEREST && tlv.type != TLV_DATA)
        return "neither an Interest nor a Data packet";
    at = 0;
    if (!take_tlv(tlv.bytes, tlv.len, &at, &inner) || inner.type != TLV_NAME)
        return "the packet does not begin with a name";
    if (inner.len > SL_NAME_LEN_MAX)
        return name_too_long;
    *name = (struct sl_name){
        .bytes = inner.bytes, .len = inner.len, .host_len = inner.len, .syntax = SL_NAME_NDN};
    return check_components(inner.bytes, inner.len);
}

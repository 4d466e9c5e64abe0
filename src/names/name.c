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
    uint32_t n_host = UINT32_MAX;
    if (syntax == SL_NAME_NDN)
        why = name_read_ndn(&build, text, text_len);
    else if (syntax == SL_NAME_DOMAIN)
        why = name_read_domain(&build, text, text_len);
    else
        why = name_read_url(&build, &n_host, text, text_len);
    if (why != NULL)
        return why;
    name->bytes = bytes;
    name->len = build.len;
    name->n_components = build.n_components;
    name->n_host = n_host == UINT32_MAX ? build.n_components : n_host;
    name->syntax = syntax;
    return NULL;
}

size_t sl_name_write(const struct sl_name *name, char *text, size_t text_cap)
{
    struct text_out out = {.text = text, .cap = text_cap == 0 ? 0 : text_cap - 1};
    struct sl_name_component component;
    uint32_t at = 0, i = 0;

    if (name->syntax == SL_NAME_NDN || name->syntax == SL_NAME_AUTO) {
        name_write_ndn(&out, name);
    } else {
        name_write_host(&out, name);
        while (sl_name_next(name, &at, &component)) {
            if (i++ < name->n_host)
                continue;
            if (!(component.len != 0 && component.value[0] == '?'))
                text_put(&out, "/", 1);
            text_put(&out, (const char *)component.value, component.len);
        }
    }
    if (text_cap != 0)
        text[out.len < text_cap ? out.len : text_cap - 1] = '\0';
    return out.len;
}

/* The number at *at, in its shortest form; false: it is not whole, or could be shorter. */
static bool take_number(const uint8_t *bytes, uint32_t len, uint32_t *at, uint32_t *number)
{
    if (*at >= len)
        return false;
    const uint8_t first = bytes[(*at)++];
    const uint32_t more = first < 253 ? 0 : first == 253 ? 2 : first == 254 ? 4 : 8;

    if (more == 0) {
        *number = first;
        return true;
    }
    if (more == 8 || more > len - *at)
        return false; /* no name is that long */
    *number = 0;
    for (uint32_t i = 0; i < more; i++)
        *number = *number << 8 | bytes[(*at)++];
    return name_number_len(*number) == more + 1;
}

bool sl_name_next(const struct sl_name *name, uint32_t *at, struct sl_name_component *component)
{
    uint32_t to = *at;

    if (to >= name->len || !take_number(name->bytes, name->len, &to, &component->type) ||
        !take_number(name->bytes, name->len, &to, &component->len) ||
        component->len > name->len - to)
        return false;
    component->value = name->bytes + to;
    *at = to + component->len;
    return true;
}

/* ---- packets --------------------------------------------------------------------------------- */

enum {
    TLV_INTEREST = 0x05,
    TLV_DATA = 0x06,
    TLV_NAME = 0x07,
    TLV_LP_PACKET = 0x64,
    TLV_LP_FRAGMENT = 0x50,
    TLV_LP_FRAG_INDEX = 0x52,
    TLV_LP_FRAG_COUNT = 0x53,
    DIGEST_LEN = 32
};

/* One TLV of a packet; its value lies inside the packet. */
static bool take_tlv(const uint8_t *bytes, uint32_t len, uint32_t *at, struct sl_name_component *tlv)
{
    const struct sl_name whole = {.bytes = bytes, .len = len};

    return sl_name_next(&whole, at, tlv);
}

static const char *check_components(struct sl_name *name)
{
    struct sl_name_component component;
    uint32_t at = 0;

    name->n_components = 0;
    while (sl_name_next(name, &at, &component)) {
        if (component.type == 0 || component.type > SL_NAME_TYPE_MAX)
            return "a component's type is not 1 to 65535";
        if (component.type <= 2 && component.len != DIGEST_LEN)
            return "a digest component is not 32 bytes";
        if (name->n_components++ == SL_NAME_COMPONENTS_MAX)
            return name_too_long;
    }
    return at == name->len ? NULL : "a component runs over the name's end";
}

/* NDNLPv2: header fields, then the fragment; of fragmented packets only the first part holds the
 * name, and it may not be whole. */
static const char *open_lp_packet(const uint8_t **bytes, uint32_t *len)
{
    struct sl_name_component field;
    uint32_t at = 0;

    while (take_tlv(*bytes, *len, &at, &field)) {
        const bool fragmented =
            (field.type == TLV_LP_FRAG_COUNT && !(field.len == 1 && field.value[0] == 1)) ||
            (field.type == TLV_LP_FRAG_INDEX && !(field.len == 1 && field.value[0] == 0));
        if (fragmented)
            return "a fragment of a packet";
        if (field.type == TLV_LP_FRAGMENT) {
            *bytes = field.value;
            *len = field.len;
            return NULL;
        }
    }
    return at == *len ? "a link packet that carries nothing" : "a field runs over the packet's end";
}

const char *sl_name_from_packet(struct sl_name *name, const uint8_t *packet, size_t packet_len)
{
    const uint8_t *bytes = packet;
    uint32_t len = packet_len < UINT32_MAX ? (uint32_t)packet_len : UINT32_MAX, at = 0;
    struct sl_name_component tlv, inner;
    const char *why;

    if (!take_tlv(bytes, len, &at, &tlv))
        return "not one whole NDN packet";
    if (tlv.type == TLV_LP_PACKET) {
        bytes = tlv.value;
        len = tlv.len;
        why = open_lp_packet(&bytes, &len);
        at = 0;
        if (why != NULL)
            return why;
        if (!take_tlv(bytes, len, &at, &tlv))
            return "not one whole NDN packet";
    }
    if (tlv.type != TLV_INTEREST && tlv.type != TLV_DATA)
        return "neither an Interest nor a Data packet";
    at = 0;
    if (!take_tlv(tlv.value, tlv.len, &at, &inner) || inner.type != TLV_NAME)
        return "the packet does not begin with a name";
    if (inner.len > SL_NAME_LEN_MAX)
        return name_too_long;
    *name = (struct sl_name){.bytes = inner.value, .len = inner.len, .syntax = SL_NAME_NDN};
    why = check_components(name);
    name->n_host = name->n_components;
    return why;
}

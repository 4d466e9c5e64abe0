/* SPDX-License-Identifier: MIT */
/* Domains, turned around, and URLs, whose path follows their host: the reading, for texts of people
 * and of packets. For host and CUDA code: no library but memcpy, no allocation, every loop bounded
 * by the text. */
#ifndef NAMES_NAME_HOST_CORE_H
#define NAMES_NAME_HOST_CORE_H

#include "base/address_text.h"
#include "name_build.h"
#include "name_bytes_core.h"

enum {
    NAME_LABEL_MAX = 63,      /* bytes, RFC 1035 section 2.3.4 */
    NAME_HOST_TEXT_MAX = 253, /* characters of a host without the trailing dot: 255 bytes on the
                                 wire */
    NAME_LABELS_MAX = 128,    /* of a host: each takes two of those bytes */
    NAME_IPV4_TEXT_MAX = 15,
    NAME_IPV6_TEXT_MAX = ADDRESS_IPV6_LEN
};

/* The reason that a text is no name. */
enum name_why {
    NAME_GOOD,
    NAME_TOO_LONG,
    NAME_EMPTY,
    NAME_NUL,
    NAME_NO_IPV4,
    NAME_NO_IPV6,
    NAME_EMPTY_LABEL,
    NAME_LONG_LABEL,
    NAME_LONG_DOMAIN,
    NAME_BEYOND_ASCII,
    NAME_NO_HOST_BYTE,
    NAME_NO_PORT,
    NAME_BAD_PORT
};

/* The characters of host names, in lower case: letters, digits, '-', and the '_' of service names;
 * 0 elsewhere. */
BYTES_INLINE uint8_t name_host_byte(uint8_t byte)
{
    if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '_')
        return byte;
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : 0;
}

BYTES_INLINE bool name_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Four numbers up to 255 without leading zeros, as inet_pton reads them. */
BYTES_INLINE bool name_parse_ipv4(uint8_t address[4], const char *text, size_t len)
{
    size_t at = 0;

    for (int i = 0; i < 4; i++) {
        const size_t begin = at;
        uint32_t value = 0;

        if (i > 0 && (at == len || text[at] != '.'))
            return false;
        at += i > 0;
        const size_t first = i > 0 ? begin + 1 : begin;
        while (at < len && name_is_digit(text[at]) && at - first < 4)
            value = value * 10 + (uint32_t)(text[at++] - '0');
        if (at == first || value > 255 || (at - first > 1 && text[first] == '0'))
            return false;
        address[i] = (uint8_t)value;
    }
    return at == len;
}

/* As inet_pton reads it: RFC 4291, section 2.2. */
BYTES_INLINE bool name_parse_ipv6(uint8_t address[16], const char *text, size_t len)
{
    size_t at = 0, n = 0, gap = SIZE_MAX; /* bytes written; where "::" stands among them */

    if (len > NAME_IPV6_TEXT_MAX)
        return false;
    if (len >= 1 && text[0] == ':') {
        if (len < 2 || text[1] != ':')
            return false;
        gap = 0;
        at = 2;
    }
    while (at < len) {
        const size_t first = at;
        uint32_t value = 0;

        for (int digit; at < len && at - first < 5 && (digit = name_hex(text[at])) >= 0; at++)
            value = value << 4 | (uint32_t)digit;
        if (at < len && text[at] == '.') {
            if (n > 12 || !name_parse_ipv4(address + n, text + first, len - first))
                return false;
            n += 4;
            break;
        }
        if (at == first || at - first > 4 || n > 14)
            return false;
        address[n++] = (uint8_t)(value >> 8);
        address[n++] = (uint8_t)value;
        if (at == len)
            break;
        if (text[at] != ':' || ++at == len)
            return false;
        if (text[at] == ':') {
            if (gap != SIZE_MAX)
                return false;
            gap = n;
            at++;
        }
    }
    if (gap == SIZE_MAX)
        return n == 16;
    if (n == 16)
        return false;
    for (size_t i = n; i-- > gap;)
        address[i + 16 - n] = address[i];
    for (size_t i = gap; i < gap + 16 - n; i++)
        address[i] = 0;
    return true;
}

/* ---- domains --------------------------------------------------------------------------------- */

/* A name whose last label is a number is an address (URL standard, "ends in a number"). It has no
 * hierarchy that could be turned around, and is one component. */
BYTES_INLINE enum name_why name_read_ipv4(struct name_build *build, const char *text, size_t len)
{
    uint8_t address[4];

    if (!name_parse_ipv4(address, text, len))
        return NAME_NO_IPV4;
    return name_add(build, SL_NAME_GENERIC, text, len) ? NAME_GOOD : NAME_TOO_LONG;
}

BYTES_INLINE bool name_ends_in_number(const char *text, size_t len)
{
    size_t i = len;

    while (i > 0 && name_is_digit(text[i - 1]))
        i--;
    return i < len && (i == 0 || text[i - 1] == '.');
}

BYTES_INLINE enum name_why name_read_label(struct name_build *build, const char *label, size_t len)
{
    if (len == 0)
        return NAME_EMPTY_LABEL;
    if (len > NAME_LABEL_MAX)
        return NAME_LONG_LABEL;

    uint8_t *to = name_open_component(build, SL_NAME_GENERIC, len);
    if (to == NULL)
        return NAME_TOO_LONG;
    size_t i = 0;
    for (; i + 4 <= len; i += 4) {
        const uint32_t four = name_lower4(name_load4(label + i));
        if (!name_is_host4(four))
            break;
        memcpy(to + i, &four, sizeof four);
    }
    for (; i < len; i++) {
        to[i] = name_host_byte((uint8_t)label[i]);
        if (to[i] == 0)
            return (uint8_t)label[i] >= 0x80 ? NAME_BEYOND_ASCII : NAME_NO_HOST_BYTE;
    }
    return NAME_GOOD;
}

BYTES_INLINE enum name_why name_core_domain(struct name_build *build, const char *text,
                                            size_t text_len)
{
    if (text_len == 0)
        return NAME_EMPTY;
    if (text_len == 1 && text[0] == '.')
        return NAME_GOOD; /* the root */
    if (text[text_len - 1] == '.')
        text_len--;
    if (text_len > NAME_HOST_TEXT_MAX)
        return NAME_LONG_DOMAIN;
    if (name_ends_in_number(text, text_len))
        return name_read_ipv4(build, text, text_len);
    for (size_t end = text_len;;) {
        size_t begin = end;

        while (begin >= 4 && !name_has4(name_load4(text + begin - 4), '.'))
            begin -= 4;
        while (begin > 0 && text[begin - 1] != '.')
            begin--;
        const enum name_why why = name_read_label(build, text + begin, end - begin);
        if (why != NAME_GOOD || begin == 0)
            return why;
        end = begin - 1;
    }
}

/* ---- URLs ------------------------------------------------------------------------------------ */

BYTES_INLINE enum name_why name_read_ipv6(struct name_build *build, const char *text, size_t len)
{
    char written[NAME_IPV6_TEXT_MAX];
    uint8_t address[16];

    if (!name_parse_ipv6(address, text, len))
        return NAME_NO_IPV6;
    return name_add(build, SL_NAME_GENERIC, written, address_put_ipv6(written, address))
               ? NAME_GOOD
               : NAME_TOO_LONG;
}

/* ":PORT" or nothing; *port 0: none, or none that there can be. */
BYTES_INLINE enum name_why name_read_port(uint16_t *port, const char *text, const char *end)
{
    uint32_t value = 0;

    *port = 0;
    if (text == end)
        return NAME_GOOD;
    if (*text != ':')
        return NAME_NO_PORT;
    for (text++; text < end; text++) {
        if (!name_is_digit(*text))
            return NAME_BAD_PORT;
        value = value > UINT16_MAX ? value : value * 10 + (uint32_t)(*text - '0');
    }
    *port = value > UINT16_MAX ? 0 : (uint16_t)value;
    return NAME_GOOD;
}

/* [userinfo@]host[:port]; the host alone makes the name. */
BYTES_INLINE enum name_why name_read_authority(struct name_build *build, uint16_t *port,
                                               const char *text, const char *end)
{
    const char *at = text;

    for (const char *sign; (sign = name_find(at, end, '@')) < end;)
        at = sign + 1;
    const char *close = at < end && *at == '[' ? name_find(at, end, ']') : end;
    if (close < end) {
        const enum name_why why = name_read_port(port, close + 1, end);
        return why != NAME_GOOD ? why : name_read_ipv6(build, at + 1, (size_t)(close - at - 1));
    }
    const char *colon = name_find(at, end, ':');
    const enum name_why why = name_read_port(port, colon, end);
    return why != NAME_GOOD ? why : name_core_domain(build, at, (size_t)(colon - at));
}

/* RFC 3986, section 2.3. */
BYTES_INLINE bool name_is_unreserved(uint8_t byte)
{
    const uint8_t letter = byte | 0x20;

    return (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' ||
           byte == '.' || byte == '_' || byte == '~';
}

/* How many bytes of a segment make its next byte, and which: `raw` where it stands for itself, else
 * it is written %XX. Escapes of unreserved characters are undone, all others kept, in upper case
 * (RFC 3986, sections 6.2.2.1 and 6.2.2.2). A '%' that begins no escape stands for itself. */
BYTES_INLINE size_t name_segment_byte(const char *text, const char *end, uint8_t *byte, bool *raw)
{
    *byte = (uint8_t)*text;
    if (*byte == '%' && end - text >= 3 && name_hex(text[1]) >= 0 && name_hex(text[2]) >= 0) {
        *byte = (uint8_t)(name_hex(text[1]) << 4 | name_hex(text[2]));
        *raw = name_is_unreserved(*byte);
        return 3;
    }
    *raw = *byte > 0x20 && *byte < 0x7F && *byte != '%';
    return 1;
}

/* One component: a segment, or a query behind its '?'. */
BYTES_INLINE enum name_why name_read_segment(struct name_build *build, bool query, const char *text,
                                             const char *end)
{
    size_t len = query;
    uint8_t byte;
    bool raw;

    for (const char *at = text; at < end;) {
        if (end - at >= 4 && name_is_plain4(name_load4(at))) {
            at += 4;
            len += 4;
            continue;
        }
        at += name_segment_byte(at, end, &byte, &raw);
        len += raw ? 1 : 3;
    }
    uint8_t *to = name_open_component(build, SL_NAME_GENERIC, len);
    if (to == NULL)
        return NAME_TOO_LONG;
    if (query)
        *to++ = '?';
    while (text < end) {
        if (end - text >= 4 && name_is_plain4(name_load4(text))) {
            memcpy(to, text, 4);
            text += 4;
            to += 4;
            continue;
        }
        text += name_segment_byte(text, end, &byte, &raw);
        if (raw) {
            *to++ = byte;
        } else {
            *to++ = '%';
            *to++ = (uint8_t) "0123456789ABCDEF"[byte >> 4];
            *to++ = (uint8_t) "0123456789ABCDEF"[byte & 15];
        }
    }
    return NAME_GOOD;
}

/* "." is 1, ".." is 2, other segments 0; periods may be escaped. */
BYTES_INLINE int name_dots(const char *text, const char *end)
{
    int n = 0;

    while (text < end) {
        uint8_t byte;
        bool raw;

        text += name_segment_byte(text, end, &byte, &raw);
        if (byte != '.' || !raw || ++n > 2)
            return 0;
    }
    return n;
}

/* Takes the last component of the path away, if there is one. Components were written by
 * name_open_component: their types take one byte. */
BYTES_INLINE void name_drop_last(struct name_build *build, uint32_t host_len)
{
    uint32_t last = host_len;

    for (uint32_t at = host_len; at < build->len;) {
        const uint8_t *head = build->bytes + at;

        last = at;
        at += head[1] < 253 ? 2u + head[1] : 4u + load_be16(head + 2);
    }
    build->len = last;
}

/* Empty segments mean nothing, so neither do doubled and trailing slashes. */
BYTES_INLINE enum name_why name_read_path(struct name_build *build, uint32_t host_len,
                                          const char *text, const char *end)
{
    while (text < end) {
        const char *stop = name_find(text, end, '/');
        const int n_dots = name_dots(text, stop);

        if (n_dots == 2) {
            name_drop_last(build, host_len);
        } else if (n_dots == 0 && stop != text) {
            const enum name_why why = name_read_segment(build, false, text, stop);
            if (why != NAME_GOOD)
                return why;
        }
        text = stop < end ? stop + 1 : end;
    }
    return NAME_GOOD;
}

/* The text behind an authority: path, query, fragment. */
BYTES_INLINE enum name_why name_read_target(struct name_build *build, const char *text,
                                            const char *end)
{
    end = name_find(text, end, '#');
    const char *query = name_find(text, end, '?');
    const enum name_why why = name_read_path(build, build->len, text, query);

    if (why != NAME_GOOD || end - query <= 1)
        return why;
    return name_read_segment(build, true, query + 1, end);
}

/* Behind "scheme://", or the beginning where there is no scheme. */
BYTES_INLINE const char *name_skip_scheme(const char *text, const char *end)
{
    const char *at = text;

    while (at < end && (name_is_unreserved((uint8_t)*at) || *at == '+'))
        at++;
    return at > text && end - at >= 3 && at[0] == ':' && at[1] == '/' && at[2] == '/' ? at + 3
                                                                                      : text;
}

BYTES_INLINE enum name_why name_core_url(struct name_build *build, uint32_t *host_len,
                                         uint16_t *port, const char *text, size_t text_len)
{
    const char *end = text + text_len;

    if (name_find(text, end, '\0') < end)
        return NAME_NUL;
    end = name_find(text, end, '#');
    text = name_skip_scheme(text, end);
    const char *path = text;
    while (path < end && *path != '/' && *path != '?')
        path++;
    const enum name_why why = name_read_authority(build, port, text, path);
    *host_len = build->len;
    return why != NAME_GOOD ? why : name_read_target(build, path, end);
}

#endif

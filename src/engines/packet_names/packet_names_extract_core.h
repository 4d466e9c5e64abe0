/* SPDX-License-Identifier: MIT */
/* Names in one packet's bytes, as sluice/packet_names.h says. For host and CUDA code: no
 * allocation, every loop bounded by the bytes of the packet, nothing outside of them read. */
#ifndef NAMES_NAME_EXTRACT_CORE_H
#define NAMES_NAME_EXTRACT_CORE_H

#include "names/syntax/name_host_core.h"
#include "sluice/packet_names.h"

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

/* What is found. */
struct name_out {
    struct sl_packet_name *found; /* max_names of them, n used */
    uint32_t n, max_names;
    uint32_t misses; /* 1 << enum sl_packet_names_miss */
    uint8_t *bytes;  /* cap of them, len used */
    uint32_t len, cap;
};

BYTES_INLINE void name_miss(struct name_out *out, enum sl_packet_names_miss miss)
{
    out->misses |= 1u << miss;
}

/* Where the next name's bytes go. */
BYTES_INLINE void name_begin(const struct name_out *out, struct name_build *build)
{
    const uint32_t left = out->cap - out->len;

    build->bytes = out->bytes + out->len;
    build->cap = left < SL_NAME_LEN_MAX ? left : (uint32_t)SL_NAME_LEN_MAX;
    build->len = 0;
}

/* The next entry, or NULL: there are enough. */
BYTES_INLINE struct sl_packet_name *name_next_found(struct name_out *out)
{
    if (out->n < out->max_names)
        return &out->found[out->n];
    name_miss(out, SL_PACKET_NAMES_MISS_MORE);
    return NULL;
}

BYTES_INLINE void name_keep(struct name_out *out, struct sl_packet_name *found,
                            enum sl_packet_names_protocol protocol, uint32_t offset,
                            enum sl_name_syntax syntax, const uint8_t *bytes, uint32_t len,
                            uint32_t host_len)
{
    found->name.bytes = bytes;
    found->name.len = len;
    found->name.host_len = host_len;
    found->name.syntax = syntax;
    found->protocol = protocol;
    found->offset = offset;
    out->n++;
}

/* ---- DNS (RFC 1035, section 4.1) ------------------------------------------------------------- */

enum {
    NAME_DNS_HEADER_LEN = 12,
    NAME_DNS_QUESTION_LEN = 5, /* bytes of one, at least */
    NAME_DNS_WIRE_MAX = 254,   /* bytes of labels with their lengths, the root's not counted */
    NAME_DNS_ROOM = 384        /* the same as components: a byte more a label, 127 labels at most */
};

/* A question's name, written from its end to its beginning: labels turn around. */
struct name_dns {
    uint8_t bytes[NAME_DNS_ROOM];
    uint32_t begin;    /* of the name in bytes */
    uint32_t n_labels; /* and their bytes on the wire */
    uint32_t wire_len;
};

BYTES_INLINE void name_dns_label(struct name_dns *dns, const uint8_t *label, uint32_t len)
{
    dns->begin -= len + 2;
    uint8_t *to = dns->bytes + dns->begin;

    *to++ = SL_NAME_GENERIC;
    *to++ = (uint8_t)len;
    uint32_t i = 0;
    for (; i + 4 <= len; i += 4) {
        const uint32_t four = name_lower4(name_load4(label + i));
        memcpy(to + i, &four, sizeof four);
    }
    for (; i < len; i++)
        to[i] = label[i] >= 'A' && label[i] <= 'Z' ? label[i] | 0x20 : label[i];
    dns->n_labels++;
}

/* Reads the name at *at, which goes behind it. Each pointer leads to before the part that it stands
 * in, so that there are fewer pointers than bytes, and no circles. SL_N_PACKET_NAMES_MISSES: done.
 */
BYTES_INLINE enum sl_packet_names_miss name_dns_read(struct name_dns *dns, const uint8_t *message,
                                                     uint32_t len, uint32_t *at)
{
    uint32_t part = *at, from = *at;
    bool jumped = false;

    dns->begin = NAME_DNS_ROOM;
    dns->n_labels = dns->wire_len = 0;
    for (;;) {
        if (from >= len)
            return SL_PACKET_NAMES_MISS_DNS_CUT;
        const uint32_t label_len = message[from];

        if (label_len >= 0xC0) {
            if (len - from < 2)
                return SL_PACKET_NAMES_MISS_DNS_CUT;
            const uint32_t to = load_be16(message + from) & 0x3FFF;

            if (to >= part || to < NAME_DNS_HEADER_LEN)
                return SL_PACKET_NAMES_MISS_DNS_POINTER;
            if (!jumped)
                *at = from + 2;
            jumped = true;
            part = from = to;
            continue;
        }
        if (label_len > NAME_LABEL_MAX)
            return SL_PACKET_NAMES_MISS_DNS_LABEL;
        from++;
        if (label_len == 0)
            break;
        dns->wire_len += label_len + 1;
        if (dns->wire_len > NAME_DNS_WIRE_MAX)
            return SL_PACKET_NAMES_MISS_DNS_LONG;
        if (label_len > len - from)
            return SL_PACKET_NAMES_MISS_DNS_CUT;
        name_dns_label(dns, message + from, label_len);
        from += label_len;
    }
    if (!jumped)
        *at = from;
    return SL_N_PACKET_NAMES_MISSES;
}

/* Who asks for an address as if it were a name means what tables hold as one component. */
BYTES_INLINE bool name_dns_address(const struct name_dns *dns, char text[NAME_IPV4_TEXT_MAX],
                                   uint32_t *text_len)
{
    const uint8_t *name = dns->bytes + dns->begin;
    uint32_t len = dns->wire_len - 1, at = 0; /* labels with a period before all but the first */
    uint8_t address[4];

    if (dns->n_labels != 4 || len > NAME_IPV4_TEXT_MAX || !name_is_digit((char)name[2]))
        return false;
    *text_len = len;
    while (len > 0) {
        const uint32_t label_len = name[at + 1];

        len -= label_len;
        for (uint32_t i = 0; i < label_len; i++)
            text[len + i] = (char)name[at + 2 + i];
        if (len > 0)
            text[--len] = '.';
        at += 2 + label_len;
    }
    return name_parse_ipv4(address, text, *text_len);
}

BYTES_INLINE void name_dns_keep(struct name_out *out, struct sl_packet_name *found,
                                const struct name_dns *dns, uint32_t offset)
{
    char text[NAME_IPV4_TEXT_MAX];
    uint32_t text_len;
    struct name_build build;

    name_begin(out, &build);
    if (build.cap < NAME_DNS_ROOM) {
        name_miss(out, SL_PACKET_NAMES_MISS_LONG);
        return;
    }
    if (name_dns_address(dns, text, &text_len)) {
        (void)name_add(&build, SL_NAME_GENERIC, text, text_len);
    } else {
        build.len = NAME_DNS_ROOM - dns->begin;
        memcpy(build.bytes, dns->bytes + dns->begin, build.len);
    }
    out->len += build.len;
    name_keep(out, found, SL_PACKET_NAMES_DNS, offset, SL_NAME_DOMAIN, build.bytes, build.len,
              build.len);
}

/* A message of message_len bytes, of which len are here. */
BYTES_INLINE void name_extract_dns(struct name_out *out, const uint8_t *message, uint32_t len,
                                   uint32_t message_len, uint32_t base)
{
    uint32_t at = NAME_DNS_HEADER_LEN;
    struct name_dns dns;

    if (len < NAME_DNS_HEADER_LEN) {
        name_miss(out, len < message_len ? SL_PACKET_NAMES_MISS_DNS_CUT
                                         : SL_PACKET_NAMES_MISS_DNS_HEADER);
        return;
    }
    uint32_t left = load_be16(message + 4);
    /* More questions than fit: no message, or a segment that begins inside of one. */
    if (left * NAME_DNS_QUESTION_LEN > message_len - NAME_DNS_HEADER_LEN) {
        name_miss(out, SL_PACKET_NAMES_MISS_DNS_HEADER);
        return;
    }
    for (; left > 0; left--) {
        struct sl_packet_name *found = name_next_found(out);
        const uint32_t begin = at;

        if (found == NULL)
            return;
        enum sl_packet_names_miss miss = name_dns_read(&dns, message, len, &at);
        if (miss == SL_N_PACKET_NAMES_MISSES && len - at < 4)
            miss = SL_PACKET_NAMES_MISS_DNS_CUT;
        if (miss != SL_N_PACKET_NAMES_MISSES) {
            name_miss(out, miss);
            return;
        }
        found->dns.id = load_be16(message);
        found->dns.flags = load_be16(message + 2);
        found->dns.rrtype = load_be16(message + at);
        found->dns.rrclass = load_be16(message + at + 2);
        at += 4;
        name_dns_keep(out, found, &dns, base + begin);
    }
}

/* Messages behind their lengths (section 4.2.2). */
BYTES_INLINE void name_extract_dns_tcp(struct name_out *out, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t at = 0; at < len;) {
        if (len - at < 2) {
            name_miss(out, SL_PACKET_NAMES_MISS_DNS_CUT);
            return;
        }
        const uint32_t message_len = load_be16(bytes + at);
        const uint32_t here = len - at - 2 < message_len ? len - at - 2 : message_len;

        at += 2;
        name_extract_dns(out, bytes + at, here, message_len, at);
        if (out->misses != 0)
            return;
        at += here;
    }
}

/* ---- HTTP/1.x (RFC 9112) --------------------------------------------------------------------- */

enum { NAME_METHOD_MAX = 20 /* bytes; the longest registered has 17 */ };

/* What of a request's head matters. */
struct name_http {
    const char *method, *method_end, *target, *target_end;
    const char *host, *host_end; /* host NULL: none */
    bool hosts, whole;           /* a second Host; the head ends in the segment */
    uint32_t body_len;           /* bytes; UINT32_MAX: not known */
};

BYTES_INLINE bool name_is_field(const char *line, const char *end, const char *name, uint32_t len)
{
    if (end - line < (ptrdiff_t)len)
        return false;
    for (uint32_t i = 0; i < len; i++)
        if ((line[i] | (line[i] >= 'A' && line[i] <= 'Z' ? 0x20 : 0)) != name[i])
            return false;
    return true;
}

/* METHOD SP, or NULL. Methods are upper-case words; SIP's and RTSP's requests differ in what stands
 * at the line's end, which is looked at later. */
BYTES_INLINE const char *name_http_method(const char *text, const char *end)
{
    const char *at = text;

    while (at < end && at - text <= NAME_METHOD_MAX &&
           ((*at >= 'A' && *at <= 'Z') || *at == '-' || *at == '_'))
        at++;
    return at < end && at > text && at - text <= NAME_METHOD_MAX && *at == ' ' ? at : NULL;
}

/* The line's end without its CR. */
BYTES_INLINE const char *name_http_line(const char *line, const char *newline)
{
    return newline > line && newline[-1] == '\r' ? newline - 1 : newline;
}

/* A length that a segment may hold; UINT32_MAX: another one, or no number. */
BYTES_INLINE uint32_t name_http_number(const char *text, const char *end)
{
    uint32_t value = 0;

    while (text < end && (*text == ' ' || *text == '\t'))
        text++;
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (text == end)
        return UINT32_MAX;
    for (; text < end; text++) {
        if (!name_is_digit(*text) || value > 1000000)
            return UINT32_MAX;
        value = value * 10 + (uint32_t)(*text - '0');
    }
    return value;
}

BYTES_INLINE void name_http_field(struct name_http *http, const char *line, const char *end)
{
    if (name_is_field(line, end, "host:", 5)) {
        line += 5;
        while (line < end && (*line == ' ' || *line == '\t'))
            line++;
        while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        http->hosts |= http->host != NULL;
        if (http->host == NULL) {
            http->host = line;
            http->host_end = end;
        }
    } else if (name_is_field(line, end, "content-length:", 15)) {
        http->body_len = http->body_len == 0 ? name_http_number(line + 15, end) : UINT32_MAX;
    } else if (name_is_field(line, end, "transfer-encoding:", 18)) {
        http->body_len = UINT32_MAX;
    }
}

/* Reads fields up to the empty line; where the head or the segment ends. */
BYTES_INLINE const char *name_http_fields(struct name_http *http, const char *text, const char *end)
{
    while (text < end) {
        const char *newline = name_find(text, end, '\n');

        if (newline == end)
            break;
        const char *line_end = name_http_line(text, newline);
        if (line_end == text) {
            http->whole = true;
            return newline + 1;
        }
        name_http_field(http, text, line_end);
        text = newline + 1;
    }
    return end;
}

/* METHOD SP TARGET SP HTTP/1.x, and where its line ends; NULL: it is none. A target may hold
 * blanks, as what browsers and servers let pass. */
BYTES_INLINE const char *name_http_request(struct name_http *http, const char *text,
                                           const char *end, bool *cut)
{
    const char *blank = name_http_method(text, end);

    *cut = false;
    if (blank == NULL)
        return NULL;
    const char *newline = name_find(blank, end, '\n');
    if (newline == end) { /* a URL longer than the segment */
        *cut = end - blank > 1 && (blank[1] == '/' || name_is_field(blank + 1, end, "http", 4));
        return NULL;
    }
    const char *line_end = name_http_line(blank, newline);
    if (line_end - blank < 11 || !name_is_field(line_end - 8, line_end, "http/1.", 7) ||
        line_end[-9] != ' ' || !name_is_digit(line_end[-1]))
        return NULL;
    http->method = text;
    http->method_end = blank;
    http->target = blank + 1;
    http->target_end = line_end - 9;
    return newline + 1;
}

/* Whether the field would be the authority of a URL, as a whole. */
BYTES_INLINE bool name_http_is_authority(const char *text, const char *end)
{
    while (text < end && *text != '/' && *text != '?' && *text != '#' && *text != '\0')
        text++;
    return text == end;
}

/* The name of a request, into build. SL_N_PACKET_NAMES_MISSES: done. */
BYTES_INLINE enum sl_packet_names_miss name_http_name(const struct name_http *http,
                                                      struct name_build *build, uint32_t *host_len,
                                                      uint16_t *port)
{
    const char *target = http->target, *target_end = http->target_end;
    const bool connect = name_is_field(http->method, http->method_end, "connect", 7) &&
                         http->method_end - http->method == 7;
    const bool asterisk = target_end - target == 1 && *target == '*';
    enum name_why why;

    if (name_find(target, target_end, '\0') < target_end)
        return SL_PACKET_NAMES_MISS_HTTP_URL;
    if (*target != '/' && !asterisk) { /* the target says it, whatever Host says: section 3.2.2 */
        if (!connect && name_skip_scheme(target, target_end) == target)
            return SL_PACKET_NAMES_MISS_HTTP_URL;
        why = name_core_url(build, host_len, port, target, (size_t)(target_end - target));
    } else {
        if (http->host == NULL || http->host == http->host_end)
            return http->whole || http->host != NULL ? SL_PACKET_NAMES_MISS_HTTP_NO_HOST
                                                     : SL_PACKET_NAMES_MISS_HTTP_CUT;
        if (!name_http_is_authority(http->host, http->host_end))
            return SL_PACKET_NAMES_MISS_HTTP_HOST;
        why = name_read_authority(build, port, http->host, http->host_end);
        *host_len = build->len;
        if (why == NAME_GOOD && !asterisk)
            why = name_read_target(build, target, target_end);
    }
    return why == NAME_GOOD       ? SL_N_PACKET_NAMES_MISSES
           : why == NAME_TOO_LONG ? SL_PACKET_NAMES_MISS_LONG
                                  : SL_PACKET_NAMES_MISS_HTTP_HOST;
}

BYTES_INLINE void name_extract_http(struct name_out *out, const uint8_t *bytes, uint32_t len)
{
    const char *begin = (const char *)bytes, *end = begin + len, *text = begin;

    while (text < end) {
        struct name_http http;
        struct name_build build;
        uint32_t host_len;
        uint16_t port = 0;
        bool cut;

        memset(&http, 0, sizeof http);
        /* Empty lines before a request mean nothing: section 2.2. */
        while (text < end && (*text == '\r' || *text == '\n'))
            text++;
        const char *fields = name_http_request(&http, text, end, &cut);
        if (fields == NULL) {
            if (cut)
                name_miss(out, SL_PACKET_NAMES_MISS_HTTP_CUT);
            return;
        }
        struct sl_packet_name *found = name_next_found(out);
        if (found == NULL)
            return;
        text = name_http_fields(&http, fields, end);
        if (http.hosts)
            name_miss(out, SL_PACKET_NAMES_MISS_HTTP_HOSTS);
        name_begin(out, &build);
        const enum sl_packet_names_miss miss = name_http_name(&http, &build, &host_len, &port);
        if (miss == SL_N_PACKET_NAMES_MISSES) {
            found->http.method.offset = (uint32_t)(http.method - begin);
            found->http.method.len = (uint32_t)(http.method_end - http.method);
            found->http.target.offset = (uint32_t)(http.target - begin);
            found->http.target.len = (uint32_t)(http.target_end - http.target);
            found->http.port = port;
            found->http.minor = (uint8_t)(http.target_end[8] - '0');
            out->len += build.len;
            name_keep(out, found, SL_PACKET_NAMES_HTTP, found->http.target.offset, SL_NAME_URL,
                      build.bytes, build.len, host_len);
        } else {
            name_miss(out, miss);
        }
        if (http.body_len > (uint32_t)(end - text))
            return;
        text += http.body_len;
    }
}

/* ---- TLS (RFC 8446) -------------------------------------------------------------------------- */

enum {
    NAME_TLS_CHANGE_CIPHER = 20,
    NAME_TLS_HANDSHAKE = 22,
    NAME_TLS_CLIENT_HELLO = 1,
    NAME_TLS_SERVER_NAME = 0,
    NAME_TLS_SUPPORTED_VERSIONS = 43,
    NAME_TLS_RECORD_MAX = 16384 + 2048 /* bytes; RFC 5246, section 6.2.3 */
};

/* Goes over a message that may be spread over records. */
struct name_tls {
    const uint8_t *bytes;
    uint32_t len, at;
    uint32_t record_left; /* bytes of the present record */
    bool cut, bad;        /* why there is nothing more */
};

/* False: the next byte is not here. */
BYTES_INLINE bool name_tls_open_record(struct name_tls *tls)
{
    if (tls->record_left == 0) {
        if (tls->len - tls->at < 5) {
            tls->cut = true;
            return false;
        }
        const uint8_t *head = tls->bytes + tls->at;

        tls->record_left = load_be16(head + 3);
        if (head[0] != NAME_TLS_HANDSHAKE || head[1] != 3 || tls->record_left == 0 ||
            tls->record_left > NAME_TLS_RECORD_MAX) {
            tls->bad = true;
            return false;
        }
        tls->at += 5;
    }
    tls->cut = tls->at == tls->len;
    return !tls->cut;
}

BYTES_INLINE bool name_tls_skip(struct name_tls *tls, uint32_t n)
{
    while (n > 0) {
        if (!name_tls_open_record(tls))
            return false;
        uint32_t step = n < tls->record_left ? n : tls->record_left;

        if (step > tls->len - tls->at)
            step = tls->len - tls->at;
        tls->at += step;
        tls->record_left -= step;
        n -= step;
    }
    return true;
}

/* A number of n bytes, out of the *left that belong to what is read. */
BYTES_INLINE bool name_tls_number(struct name_tls *tls, uint32_t *left, uint32_t n,
                                  uint32_t *number)
{
    if (*left < n) {
        tls->bad = true;
        return false;
    }
    *left -= n;
    for (*number = 0; n > 0; n--) {
        if (!name_tls_open_record(tls))
            return false;
        *number = *number << 8 | tls->bytes[tls->at++];
        tls->record_left--;
    }
    return true;
}

/* A vector of bytes behind its length of n bytes, passed over. */
BYTES_INLINE bool name_tls_vector(struct name_tls *tls, uint32_t *left, uint32_t n)
{
    uint32_t len;

    if (!name_tls_number(tls, left, n, &len))
        return false;
    if (len > *left) {
        tls->bad = true;
        return false;
    }
    *left -= len;
    return name_tls_skip(tls, len);
}

/* The host name of an extension server_name (RFC 6066, section 3) of `left` bytes, into
 * host[NAME_HOST_TEXT_MAX + 1]; *host_len is what it has, maybe more. */
BYTES_INLINE bool name_tls_host(struct name_tls *tls, uint32_t left, char *host, uint32_t *host_len,
                                uint32_t *offset)
{
    uint32_t list, type, len;

    if (!name_tls_number(tls, &left, 2, &list))
        return false;
    if (list != left) {
        tls->bad = true;
        return false;
    }
    while (left > 0) {
        if (!name_tls_number(tls, &left, 1, &type) || !name_tls_number(tls, &left, 2, &len))
            return false;
        if (len > left) {
            tls->bad = true;
            return false;
        }
        left -= len;
        if (type != 0 || *offset != 0) {
            if (!name_tls_skip(tls, len))
                return false;
            continue;
        }
        for (uint32_t i = 0; i < len; i++) {
            uint32_t one = 1, byte;

            if (!name_tls_number(tls, &one, 1, &byte)) {
                *offset = 0;
                return false;
            }
            if (i == 0)
                *offset = tls->at - 1;
            if (i <= NAME_HOST_TEXT_MAX)
                host[i] = (char)byte;
        }
        *host_len = len;
        if (len == 0)
            *offset = tls->at; /* empty, and there all the same */
    }
    return true;
}

/* The highest version of an extension supported_versions (RFC 8446, section 4.2.1); others than
 * those that there are, as GREASE, do not count. */
BYTES_INLINE bool name_tls_versions(struct name_tls *tls, uint32_t left, uint32_t *version)
{
    uint32_t len, offered;

    if (!name_tls_number(tls, &left, 1, &len))
        return false;
    while (left >= 2) {
        if (!name_tls_number(tls, &left, 2, &offered))
            return false;
        if (offered >= 0x0300 && offered <= 0x0304 && offered > *version)
            *version = offered;
    }
    return name_tls_skip(tls, left);
}

struct name_tls_hello {
    char host[NAME_HOST_TEXT_MAX + 1];
    uint32_t host_len, offset; /* offset 0: no server name */
    uint32_t version;
};

BYTES_INLINE bool name_tls_extensions(struct name_tls *tls, uint32_t left,
                                      struct name_tls_hello *hello)
{
    uint32_t all, type, len;

    if (left == 0)
        return true;
    if (!name_tls_number(tls, &left, 2, &all))
        return false;
    if (all != left) {
        tls->bad = true;
        return false;
    }
    while (left > 0) {
        if (!name_tls_number(tls, &left, 2, &type) || !name_tls_number(tls, &left, 2, &len))
            return false;
        if (len > left) {
            tls->bad = true;
            return false;
        }
        left -= len;
        const bool good =
            type == NAME_TLS_SERVER_NAME && hello->offset == 0
                ? name_tls_host(tls, len, hello->host, &hello->host_len, &hello->offset)
            : type == NAME_TLS_SUPPORTED_VERSIONS ? name_tls_versions(tls, len, &hello->version)
                                                  : name_tls_skip(tls, len);
        if (!good)
            return false;
    }
    return true;
}

/* False: no ClientHello. What of it can be read is read, also where its end is cut off. */
BYTES_INLINE bool name_tls_read(struct name_tls *tls, struct name_tls_hello *hello)
{
    uint32_t head = 6, left, type;

    if (!name_tls_number(tls, &head, 1, &type) || type != NAME_TLS_CLIENT_HELLO)
        return false;
    if (!name_tls_number(tls, &head, 3, &left))
        return true;
    if (!name_tls_number(tls, &left, 2, &hello->version))
        return true;
    if (hello->version >> 8 != 3)
        return false; /* encrypted bytes that begin with a 1 */
    if (left < 32) {
        tls->bad = true;
        return true;
    }
    left -= 32;
    if (name_tls_skip(tls, 32) && name_tls_vector(tls, &left, 1) &&
        name_tls_vector(tls, &left, 2) && name_tls_vector(tls, &left, 1))
        (void)name_tls_extensions(tls, left, hello);
    return true;
}

/* A client that is asked to try again sends a record of its own before its second ClientHello, for
 * middleboxes that know no better (appendix D.4). */
BYTES_INLINE bool name_tls_is_change_cipher(const uint8_t *bytes, uint32_t len)
{
    return len >= 6 && bytes[0] == NAME_TLS_CHANGE_CIPHER && bytes[1] == 3 &&
           load_be16(bytes + 3) == 1;
}

BYTES_INLINE void name_extract_tls(struct name_out *out, const uint8_t *bytes, uint32_t len)
{
    struct name_tls tls = {bytes, len, 0, 0, false, false};
    struct sl_packet_name *found = &out->found[out->n];
    struct name_tls_hello hello;
    struct name_build build;

    if (name_tls_is_change_cipher(bytes, len))
        tls.at = 6;
    if (len - tls.at < 2 || bytes[tls.at] != NAME_TLS_HANDSHAKE || bytes[tls.at + 1] != 3)
        return;
    hello.host_len = hello.offset = hello.version = 0;
    if (!name_tls_read(&tls, &hello)) {
        if (tls.cut)
            name_miss(out, SL_PACKET_NAMES_MISS_TLS_CUT);
        return;
    }
    if (hello.offset == 0 || tls.bad) {
        name_miss(out, tls.bad   ? SL_PACKET_NAMES_MISS_TLS_BAD
                       : tls.cut ? SL_PACKET_NAMES_MISS_TLS_CUT
                                 : SL_PACKET_NAMES_MISS_TLS_NO_NAME);
        return;
    }
    name_begin(out, &build);
    if (hello.host_len > NAME_HOST_TEXT_MAX + 1 ||
        name_core_domain(&build, hello.host, hello.host_len) != NAME_GOOD) {
        name_miss(out, SL_PACKET_NAMES_MISS_TLS_HOST);
        return;
    }
    found->tls.version = (uint16_t)hello.version;
    out->len += build.len;
    name_keep(out, found, SL_PACKET_NAMES_TLS, hello.offset, SL_NAME_DOMAIN, build.bytes, build.len,
              build.len);
}

/* ---- NDN (packet format 0.3) ----------------------------------------------------------------- */

enum {
    NAME_NDN_INTEREST = 0x05,
    NAME_NDN_DATA = 0x06,
    NAME_NDN_NAME = 0x07,
    NAME_NDN_LP_PACKET = 0x64,
    NAME_NDN_LP_FRAGMENT = 0x50,
    NAME_NDN_LP_FRAG_COUNT = 0x53,
    NAME_NDN_DIGEST_LEN = 32
};

/* A value: [at, end) as its length says, of which the bytes before `have` are here. */
struct name_range {
    uint32_t at, end, have;
};

/* The VAR-NUMBER at range->at. */
BYTES_INLINE enum sl_packet_names_miss name_ndn_number(const uint8_t *bytes,
                                                       struct name_range *range, uint32_t *number)
{
    const enum sl_packet_names_miss short_of =
        range->have < range->end ? SL_PACKET_NAMES_MISS_NDN_CUT : SL_PACKET_NAMES_MISS_NDN_BAD;

    if (range->at >= range->have)
        return short_of;
    const uint32_t first = bytes[range->at];
    const uint32_t more = first < 253 ? 0 : first == 253 ? 2 : first == 254 ? 4 : 8;

    if (more > range->have - range->at - 1)
        return short_of;
    range->at++;
    if (more == 8) /* could be shorter, or is larger than any packet */
        return SL_PACKET_NAMES_MISS_NDN_BAD;
    *number = more == 0 ? first : 0;
    for (uint32_t i = 0; i < more; i++)
        *number = *number << 8 | bytes[range->at++];
    return name_number_len(*number) == more + 1 ? SL_N_PACKET_NAMES_MISSES
                                                : SL_PACKET_NAMES_MISS_NDN_BAD;
}

/* The TLV at range->at, which goes behind it. */
BYTES_INLINE enum sl_packet_names_miss name_ndn_take(const uint8_t *bytes, struct name_range *range,
                                                     uint32_t *type, struct name_range *value)
{
    uint32_t len;
    enum sl_packet_names_miss miss = name_ndn_number(bytes, range, type);

    if (miss == SL_N_PACKET_NAMES_MISSES)
        miss = name_ndn_number(bytes, range, &len);
    if (miss != SL_N_PACKET_NAMES_MISSES)
        return miss;
    if (len > range->end - range->at)
        return SL_PACKET_NAMES_MISS_NDN_BAD;
    value->at = range->at;
    value->end = range->at + len;
    value->have = value->end < range->have ? value->end : range->have;
    if (value->have < value->at)
        value->have = value->at;
    range->at = value->end;
    return SL_N_PACKET_NAMES_MISSES;
}

/* NDNLPv2: header fields, then the fragment, which *value becomes. A packet in several fragments is
 * not looked into: its name may not be whole in the first. */
BYTES_INLINE enum sl_packet_names_miss name_ndn_open_link(const uint8_t *bytes, uint32_t *type,
                                                          struct name_range *value)
{
    struct name_range packet = *value, field;

    while (packet.at < packet.end) {
        enum sl_packet_names_miss miss = name_ndn_take(bytes, &packet, type, &field);

        if (miss != SL_N_PACKET_NAMES_MISSES)
            return miss;
        if (*type == NAME_NDN_LP_FRAG_COUNT) {
            if (field.have < field.end)
                return SL_PACKET_NAMES_MISS_NDN_CUT;
            if (field.end - field.at != 1 || bytes[field.at] != 1)
                return SL_PACKET_NAMES_MISS_NDN_FRAGMENT;
        }
        if (*type == NAME_NDN_LP_FRAGMENT)
            return name_ndn_take(bytes, &field, type, value);
    }
    return SL_PACKET_NAMES_MISS_NDN_EMPTY;
}

BYTES_INLINE enum sl_packet_names_miss name_ndn_check(const uint8_t *bytes, struct name_range name)
{
    struct name_range component;
    uint32_t type;

    while (name.at < name.end) {
        const enum sl_packet_names_miss miss = name_ndn_take(bytes, &name, &type, &component);

        if (miss != SL_N_PACKET_NAMES_MISSES)
            return miss;
        if (type == 0 || type > SL_NAME_TYPE_MAX ||
            (type <= 2 && component.end - component.at != NAME_NDN_DIGEST_LEN))
            return SL_PACKET_NAMES_MISS_NDN_COMPONENT;
    }
    return SL_N_PACKET_NAMES_MISSES;
}

struct name_ndn {
    struct name_range name;
    uint32_t end; /* of the packet, which may be behind what is here */
    bool data;
};

/* The name of the packet at `at`. SL_N_PACKET_NAMES_MISSES: done. */
BYTES_INLINE enum sl_packet_names_miss name_ndn_read(struct name_ndn *ndn, const uint8_t *bytes,
                                                     uint32_t at, uint32_t len)
{
    struct name_range all = {at, UINT32_MAX, len}, value;
    uint32_t type;
    enum sl_packet_names_miss miss = name_ndn_take(bytes, &all, &type, &value);

    if (miss != SL_N_PACKET_NAMES_MISSES)
        return miss;
    ndn->end = all.at;
    if (type == NAME_NDN_LP_PACKET) {
        miss = name_ndn_open_link(bytes, &type, &value);
        if (miss != SL_N_PACKET_NAMES_MISSES)
            return miss;
    }
    if (type != NAME_NDN_INTEREST && type != NAME_NDN_DATA)
        return SL_PACKET_NAMES_MISS_NDN_OTHER;
    ndn->data = type == NAME_NDN_DATA;
    miss = name_ndn_take(bytes, &value, &type, &ndn->name);
    if (miss != SL_N_PACKET_NAMES_MISSES)
        return miss;
    if (type != NAME_NDN_NAME)
        return SL_PACKET_NAMES_MISS_NDN_NAME;
    if (ndn->name.have < ndn->name.end)
        return SL_PACKET_NAMES_MISS_NDN_CUT;
    if (ndn->name.end - ndn->name.at > SL_NAME_LEN_MAX)
        return SL_PACKET_NAMES_MISS_LONG;
    return name_ndn_check(bytes, ndn->name);
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
        const enum sl_packet_names_miss miss = name_ndn_read(&ndn, packet->bytes, at, packet->len);
        if (miss != SL_N_PACKET_NAMES_MISSES) {
            name_miss(out, miss);
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

/* Whose names may begin here; SL_N_PACKET_NAMES_PROTOCOLS: nobody's. */
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

/* Finds the names of a packet of which name_protocol says this. */
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

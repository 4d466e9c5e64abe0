/* SPDX-License-Identifier: MIT */
/* URLs of requests of HTTP/1.x (RFC 9112). For host and CUDA code. */
#ifndef PACKET_NAMES_HTTP_CORE_H
#define PACKET_NAMES_HTTP_CORE_H

#include "packet_names_out_core.h"

enum { NAME_METHOD_MAX = 20 /* bytes; the longest registered has 17 */ };

/* The parts of a request's head that matter. */
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

/* METHOD SP, or NULL. Methods are upper-case words. SIP's and RTSP's requests differ at the line's
 * end, which is checked later. */
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

#endif

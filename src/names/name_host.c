/* SPDX-License-Identifier: MIT */
/* Domains, turned around, and URLs, whose path follows their host. */
#include <arpa/inet.h>

#include "name_build.h"
#include "name_text.h"

enum {
    LABEL_MAX = 63,      /* bytes, RFC 1035 section 2.3.4 */
    HOST_TEXT_MAX = 253, /* characters of a host without the trailing dot: 255 bytes on the wire */
    MAX_LABELS = 128     /* of a host: each takes two of those bytes */
};

/* What host names are made of, lower-cased: letters, digits, '-', and the '_' of service names; 0
 * elsewhere. */
static uint8_t host_byte(uint8_t byte)
{
    if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '_')
        return byte;
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : 0;
}

/* A name whose last label is a number is an address (URL standard, "ends in a number"): it has no
 * hierarchy that could be turned around, and is one component. */
static const char *read_ipv4(struct name_build *build, const char *text, size_t len)
{
    char copy[INET_ADDRSTRLEN];
    struct in_addr address;

    if (len >= sizeof copy)
        return "the last label is a number, and it is no IPv4 address";
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (inet_pton(AF_INET, copy, &address) != 1)
        return "the last label is a number, and it is no IPv4 address";
    return name_add(build, SL_NAME_GENERIC, text, len) ? NULL : name_too_long;
}

static bool ends_in_number(const char *text, size_t len)
{
    size_t i = len;

    while (i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9')
        i--;
    return i < len && (i == 0 || text[i - 1] == '.');
}

static const char *read_label(struct name_build *build, const char *label, size_t len)
{
    if (len == 0)
        return "an empty label";
    if (len > LABEL_MAX)
        return "a label longer than 63 bytes";

    uint8_t *to = name_open_component(build, SL_NAME_GENERIC, len);
    if (to == NULL)
        return name_too_long;
    for (size_t i = 0; i < len; i++) {
        to[i] = host_byte((uint8_t)label[i]);
        if (to[i] == 0)
            return (uint8_t)label[i] >= 0x80
                       ? "a letter beyond ASCII (write the label as IDNA does, xn--...)"
                       : "a character that no host name has";
    }
    return NULL;
}

const char *name_read_domain(struct name_build *build, const char *text, size_t text_len)
{
    if (text_len == 0)
        return "an empty name";
    if (text_len == 1 && text[0] == '.')
        return NULL; /* the root */
    if (text[text_len - 1] == '.')
        text_len--;
    if (text_len > HOST_TEXT_MAX)
        return "a domain longer than 253 characters";
    if (ends_in_number(text, text_len))
        return read_ipv4(build, text, text_len);
    for (size_t end = text_len;;) {
        size_t begin = end;

        while (begin > 0 && text[begin - 1] != '.')
            begin--;
        const char *why = read_label(build, text + begin, end - begin);
        if (why != NULL || begin == 0)
            return why;
        end = begin - 1;
    }
}

/* ---- URLs ------------------------------------------------------------------------------------ */

static const char *read_ipv6(struct name_build *build, const char *text, size_t len)
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (len >= sizeof copy)
        return "what stands in brackets is no IPv6 address";
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (inet_pton(AF_INET6, copy, &address) != 1 ||
        inet_ntop(AF_INET6, &address, copy, sizeof copy) == NULL)
        return "what stands in brackets is no IPv6 address";
    return name_add(build, SL_NAME_GENERIC, copy, strlen(copy)) ? NULL : name_too_long;
}

static const char *check_port(const char *text, const char *end)
{
    if (text == end)
        return NULL;
    if (*text != ':')
        return "something other than a port stands behind the host";
    for (text++; text < end; text++)
        if (*text < '0' || *text > '9')
            return "the port is no number";
    return NULL;
}

/* [userinfo@]host[:port]; only the host tells who is named. */
static const char *read_authority(struct name_build *build, const char *text, const char *end)
{
    const char *at = end;

    while (at > text && at[-1] != '@')
        at--;
    const char *close = at < end && *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
    if (close != NULL) {
        const char *why = check_port(close + 1, end);
        return why != NULL ? why : read_ipv6(build, at + 1, (size_t)(close - at - 1));
    }
    const char *colon = memchr(at, ':', (size_t)(end - at));
    const char *host_end = colon != NULL ? colon : end;
    const char *why = check_port(host_end, end);
    return why != NULL ? why : name_read_domain(build, at, (size_t)(host_end - at));
}

/* How many bytes of a segment make its next byte, and which: `raw` where it stands for itself, else
 * it is written %XX. Escapes of unreserved characters are undone, all others kept, in upper case
 * (RFC 3986, sections 6.2.2.1 and 6.2.2.2); a '%' that begins no escape stands for itself. */
static size_t segment_byte(const char *text, const char *end, uint8_t *byte, bool *raw)
{
    *byte = (uint8_t)*text;
    if (*byte == '%' && end - text >= 3 && text_hex(text[1]) >= 0 && text_hex(text[2]) >= 0) {
        *byte = (uint8_t)(text_hex(text[1]) << 4 | text_hex(text[2]));
        *raw = text_is_unreserved(*byte);
        return 3;
    }
    *raw = *byte > 0x20 && *byte < 0x7F && *byte != '%';
    return 1;
}

/* One component: a segment, or `lead` and a query. */
static const char *read_segment(struct name_build *build, const char *lead, const char *text,
                                const char *end)
{
    size_t len = strlen(lead);
    uint8_t byte;
    bool raw;

    for (const char *at = text; at < end; len += raw ? 1 : 3)
        at += segment_byte(at, end, &byte, &raw);
    uint8_t *to = name_open_component(build, SL_NAME_GENERIC, len);
    if (to == NULL)
        return name_too_long;
    while (*lead != '\0')
        *to++ = (uint8_t)*lead++;
    while (text < end) {
        text += segment_byte(text, end, &byte, &raw);
        if (raw) {
            *to++ = byte;
        } else {
            *to++ = '%';
            *to++ = (uint8_t) "0123456789ABCDEF"[byte >> 4];
            *to++ = (uint8_t) "0123456789ABCDEF"[byte & 15];
        }
    }
    return NULL;
}

/* "." is 1, ".." is 2, other segments 0; periods may be escaped. */
static int dots(const char *text, const char *end)
{
    int n = 0;

    while (text < end) {
        uint8_t byte;
        bool raw;

        text += segment_byte(text, end, &byte, &raw);
        if (byte != '.' || !raw || ++n > 2)
            return 0;
    }
    return n;
}

/* Takes the last component of the path away, if there is one. */
static void drop_last(struct name_build *build, uint32_t host_len)
{
    struct sl_name_component component;
    size_t at = host_len, last = host_len;

    while (sl_name_next(build->bytes, build->len, &at, &component))
        if (at < build->len)
            last = at;
    build->len = (uint32_t)last;
}

/* Empty segments mean nothing, so neither do doubled and trailing slashes. */
static const char *read_path(struct name_build *build, uint32_t host_len, const char *text,
                             const char *end)
{
    while (text < end) {
        const char *slash = memchr(text, '/', (size_t)(end - text));
        const char *stop = slash != NULL ? slash : end;
        const int n_dots = dots(text, stop);

        if (n_dots == 2) {
            drop_last(build, host_len);
        } else if (n_dots == 0 && stop != text) {
            const char *why = read_segment(build, "", text, stop);
            if (why != NULL)
                return why;
        }
        text = slash != NULL ? slash + 1 : end;
    }
    return NULL;
}

static const char *find_any(const char *text, const char *end, const char *set)
{
    while (text < end && strchr(set, *text) == NULL)
        text++;
    return text;
}

/* Behind "scheme://", or the beginning where there is no scheme. */
static const char *skip_scheme(const char *text, const char *end)
{
    const char *at = text;

    while (at < end && (text_is_unreserved((uint8_t)*at) || *at == '+'))
        at++;
    return at > text && end - at >= 3 && memcmp(at, "://", 3) == 0 ? at + 3 : text;
}

const char *name_read_url(struct name_build *build, uint32_t *host_len, const char *text,
                          size_t text_len)
{
    const char *end = text + text_len;
    const char *fragment = memchr(text, '#', text_len);

    if (memchr(text, '\0', text_len) != NULL)
        return "a NUL byte";
    if (fragment != NULL)
        end = fragment;
    text = skip_scheme(text, end);
    const char *path = find_any(text, end, "/?");
    const char *query = find_any(path, end, "?");
    const char *why = read_authority(build, text, path);
    if (why != NULL)
        return why;
    *host_len = build->len;
    why = read_path(build, *host_len, path, query);
    if (why == NULL && end - query > 1)
        why = read_segment(build, "?", query + 1, end);
    return why;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* RFC 1035, section 5.1: what is no host name's character is written \DDD, or behind '\'. */
static void put_label(struct text_out *out, const struct sl_name_component *label, bool alone)
{
    for (uint32_t i = 0; i < label->len; i++) {
        const uint8_t byte = label->bytes[i];
        char text[8];

        if ((byte == '.' && !alone) || byte == '\\' || byte == '"' || byte == ';')
            text_put(out, "\\", 1);
        if (byte > 0x20 && byte < 0x7F)
            text_put(out, (const char *)&byte, 1);
        else
            text_put(out, text, (size_t)snprintf(text, sizeof text, "\\%03u", byte));
    }
}

void name_write_host(struct text_out *out, const struct sl_name *name)
{
    struct sl_name_component label[MAX_LABELS];
    size_t at = 0;
    uint32_t n = 0;

    while (n < MAX_LABELS && sl_name_next(name->bytes, name->host_len, &at, &label[n]))
        n++;
    if (n == 0)
        text_put(out, ".", 1);
    /* An address is one component with periods or colons of its own. */
    const bool bracket = n == 1 && memchr(label[0].bytes, ':', label[0].len) != NULL;
    if (bracket)
        text_put(out, "[", 1);
    for (uint32_t i = n; i-- > 0;) {
        put_label(out, &label[i], n == 1);
        if (i > 0)
            text_put(out, ".", 1);
    }
    if (bracket)
        text_put(out, "]", 1);
}

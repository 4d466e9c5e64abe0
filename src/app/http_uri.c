/* SPDX-License-Identifier: MIT */
#include "http_uri.h"

#include "base/hex.h"

/* ---- parts ----------------------------------------------------------------------------------- */

static struct app_span first_of(struct app_span span, uint32_t len)
{
    return (struct app_span){span.bytes, len};
}

static struct app_span behind(struct app_span span, uint32_t len)
{
    return (struct app_span){span.bytes + len, span.len - len};
}

/* Bytes before the first that is among the stops, which may repeat. */
static uint32_t len_before(struct app_span span, const char stops[4])
{
    uint32_t len = 0;

    for (; len < span.len; len++) {
        const char byte = (char)span.bytes[len];

        if (byte == stops[0] || byte == stops[1] || byte == stops[2] || byte == stops[3])
            break;
    }
    return len;
}

static bool begins(struct app_span span, const char *with)
{
    const uint32_t len = (uint32_t)strlen(with);

    return span.len >= len && memcmp(span.bytes, with, len) == 0;
}

static struct app_span without_blanks(struct app_span span)
{
    while (span.len != 0 && span.bytes[0] == ' ')
        span = behind(span, 1);
    while (span.len != 0 && span.bytes[span.len - 1] == ' ')
        span.len--;
    return span;
}

/* Cuts "host:port" off the begin of *rest. */
static void cut_host(struct app_span *host, struct app_span *port, struct app_span *rest)
{
    struct app_span text = *rest;

    *host = *port = (struct app_span){0};
    if (begins(text, "//"))
        text = behind(text, 2);
    if (text.len == 0 || text.bytes[0] == '/')
        return;
    const bool is_v6 = text.bytes[0] == '[';
    uint32_t len = len_before(text, is_v6 ? "]/?#" : "/?#:");

    if (is_v6 && len < text.len && text.bytes[len] == ']')
        len++;
    *host = without_blanks(first_of(text, len));
    *rest = behind(text, len);
    if (rest->len == 0 || rest->bytes[0] != ':')
        return;
    len = len_before(*rest, "/?##");
    *port = without_blanks(behind(first_of(*rest, len), 1));
    *rest = behind(*rest, len);
}

void http_host_cut(struct app_span *host, struct app_span *port, struct app_span text)
{
    cut_host(host, port, &text);
}

/* A URI that does not begin with '/' begins with a scheme, if a colon follows anywhere. */
static void cut_scheme(struct http_uri *uri, struct app_span *rest)
{
    const uint8_t *colon =
        rest->len != 0 && rest->bytes[0] != '/' ? memchr(rest->bytes, ':', rest->len) : NULL;

    if (colon == NULL)
        return;
    uri->scheme = first_of(*rest, (uint32_t)(colon - rest->bytes));
    *rest = behind(*rest, uri->scheme.len + 1);

    const uint8_t *at =
        begins(*rest, "//") && !begins(*rest, "///") ? memchr(rest->bytes, '@', rest->len) : NULL;
    if (at != NULL) /* a name and a password */
        *rest = behind(*rest, (uint32_t)(at + 1 - rest->bytes));
    cut_host(&uri->host, &uri->port, rest);
}

void http_uri_cut(struct http_uri *uri, struct app_span text)
{
    *uri = (struct http_uri){0};
    cut_scheme(uri, &text);
    const uint32_t path_len = len_before(text, "??##");

    if (path_len != 0)
        uri->path = first_of(text, path_len);
    text = behind(text, path_len);
    if (text.len != 0 && text.bytes[0] == '?') {
        text = behind(text, 1);
        uri->query = first_of(text, len_before(text, "####"));
        text = behind(text, uri->query.len);
    }
    if (text.len != 0)
        uri->fragment = behind(text, 1);
}

/* ---- characters ------------------------------------------------------------------------------ */

/* The byte that servers take for a character: Latin 1, else a similar one, else '?'. */
static uint8_t byte_of(uint32_t character)
{
    static const char latin_extended[] = /* U+0100 to U+017F */
        "AaAaAaCcCcCcCcDd?dEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi??JjKk?LlLlLl??LlNnNnNn???OoOoOo??RrRrR"
        "rSsSsSs??TtTtTtUuUuUuUuUuUuWwYy?Z?Zz???";
    static const struct {
        uint16_t character;
        char byte;
    } alike[] = {{0x2010, '-'}, {0x2011, '-'}, {0x2032, '\''}, {0x2035, '`'}, {0x2044, '/'},
                 {0x2212, '-'}, {0x2215, '/'}, {0x2216, '\\'}, {0x2217, '*'}, {0x2223, '|'},
                 {0x2236, ':'}, {0x223C, '~'}, {0x2329, '<'},  {0x232A, '>'}, {0x3000, ' '},
                 {0x3008, '<'}, {0x3009, '>'}, {0x301A, '['},  {0x301B, ']'}};

    if (character < 0x100)
        return (uint8_t)character;
    if (character < 0x180)
        return (uint8_t)latin_extended[character - 0x100];
    if (character >= 0xFF01 && character <= 0xFF5E) /* the full width forms of ASCII */
        return (uint8_t)(character - 0xFF01 + '!');
    for (uint32_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (alike[i].character == character)
            return (uint8_t)alike[i].byte;
    return '?';
}

/* The number of n hexadecimal digits; -1: they are none. */
static int32_t hex_number(struct app_span span, uint32_t n)
{
    int32_t number = 0;

    if (span.len < n)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        const int digit = hex_digit((char)span.bytes[i]);

        if (digit < 0)
            return -1;
        number = number * 16 + digit;
    }
    return number;
}

/* The next byte of *span, decoded. A percent sign that begins nothing stays. */
static uint8_t next_byte(struct app_span *span)
{
    const uint8_t byte = span->bytes[0];
    int32_t number = -1;

    *span = behind(*span, 1);
    if (byte != '%' || span->len == 0)
        return byte;
    if ((span->bytes[0] | 0x20) == 'u') {
        number = hex_number(behind(*span, 1), 4);
        if (number >= 0)
            *span = behind(*span, 5);
        return number >= 0 ? byte_of((uint32_t)number) : byte;
    }
    number = hex_number(*span, 2);
    if (number >= 0)
        *span = behind(*span, 2);
    return number >= 0 ? (uint8_t)number : byte;
}

static void add_decoded(struct app_text *text, struct app_span span)
{
    while (span.len != 0) {
        const uint8_t *escape = memchr(span.bytes, '%', span.len);
        const uint32_t len = escape != NULL ? (uint32_t)(escape - span.bytes) : span.len;

        app_text_add(text, span.bytes, len);
        span = behind(span, len);
        if (span.len != 0)
            app_text_add_byte(text, next_byte(&span));
    }
}

/* ---- the path -------------------------------------------------------------------------------- */

/* Decodes in place: nothing gets longer. Returns the new length. */
static uint32_t decode_path(uint8_t *path, uint32_t len)
{
    struct app_span left = {path, len};
    uint32_t to = 0;

    while (left.len != 0) {
        uint8_t byte = next_byte(&left);

        if (byte == '\\')
            byte = '/';
        if (byte != '/' || to == 0 || path[to - 1] != '/')
            path[to++] = byte;
    }
    return to;
}

/* Bytes of the character that a byte begins; 0: it begins none. */
static uint32_t utf8_len(uint8_t byte)
{
    if (byte < 0x80)
        return 1;
    return byte < 0xC0 || byte > 0xF4 ? 0 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/* Reads a character. Returns its bytes, or those before the one that breaks it; *whole is false
 * then. Forms that are longer than need be count, as servers took them. */
static uint32_t read_utf8(struct app_span left, uint32_t *character, bool *whole)
{
    const uint8_t first = left.bytes[0];
    const uint32_t n = utf8_len(first);
    uint32_t at = 1;

    *character = n > 1 ? first & (0x7FU >> n) : first;
    while (at < n && at < left.len && (left.bytes[at] & 0xC0) == 0x80) {
        const bool beyond = at == 1 && ((first == 0xED && left.bytes[1] >= 0xA0) ||
                                        (first == 0xF4 && left.bytes[1] >= 0x90));
        if (beyond) /* surrogates, and what is no character */
            break;
        *character = *character << 6 | (left.bytes[at++] & 0x3F);
    }
    *whole = at == n;
    return at;
}

/* Makes each character a byte. A sequence that is no character becomes one, too. A character that
 * the end cuts off becomes a byte less than it has. */
static uint32_t narrow_path(uint8_t *path, uint32_t len)
{
    uint32_t to = 0;

    for (uint32_t at = 0; at < len;) {
        uint32_t character;
        bool whole;
        const uint32_t n = read_utf8((struct app_span){path + at, len - at}, &character, &whole);
        const bool is_cut = !whole && at + n == len && utf8_len(path[at]) != 0;
        const uint32_t n_bytes = is_cut ? n - 1 : 1;

        for (uint32_t i = 0; i < n_bytes; i++)
            path[to++] = whole ? byte_of(character) : '?';
        at += n;
    }
    return to;
}

/* One or two periods from `at` on that a slash or the end follows; 0: there is none such. */
static uint32_t dots_at(const uint8_t *path, uint32_t len, uint32_t at)
{
    uint32_t n = 0;

    while (n < 2 && at + n < len && path[at + n] == '.')
        n++;
    return at + n == len || path[at + n] == '/' ? n : 0;
}

/* Takes dot segments out, as RFC 3986, 5.2.4, has it. But none leaves a slash at the end, and the
 * second of two slashes begins no segment. */
static uint32_t remove_dots(uint8_t *path, uint32_t len)
{
    uint32_t at = 0, to = 0, n = dots_at(path, len, 0);

    for (; n != 0; n = dots_at(path, len, at))
        at += n + (at + n < len);
    while (at < len) {
        n = path[at] == '/' ? dots_at(path, len, at + 1) : 0;
        if (n == 0) {
            const bool twice = path[at] == '/' && at + 1 < len;

            path[to++] = path[at++];
            if (twice)
                path[to++] = path[at++];
            continue;
        }
        while (n == 2 && to != 0 && path[--to] != '/')
            ;
        at += 1 + n;
        if (at + 1 == len)
            break;
    }
    return to;
}

static uint32_t normalise(uint8_t *path, uint32_t len)
{
    return remove_dots(path, narrow_path(path, decode_path(path, len)));
}

/* Whether a path is normal as it is. Most are. */
static bool is_plain(struct app_span path)
{
    uint8_t before = '/';

    for (uint32_t i = 0; i < path.len; i++) {
        const uint8_t byte = path.bytes[i];

        if (byte >= 0x80 || byte == '%' || byte == '\\' ||
            (i != 0 && before == '/' && byte == '/') || (before == '/' && byte == '.'))
            return false;
        before = byte;
    }
    return true;
}

void http_uri_normal(struct app_text *text, const struct http_uri *uri)
{
    if (uri->path.len != 0) {
        uint8_t *const path = app_text_room(text, uri->path.len);

        if (path == NULL)
            return;
        memcpy(path, uri->path.bytes, uri->path.len);
        text->len += is_plain(uri->path) ? uri->path.len : normalise(path, uri->path.len);
    }
    if (uri->query.bytes != NULL) {
        app_text_add_byte(text, '?');
        add_decoded(text, uri->query);
    }
    if (uri->fragment.bytes != NULL) {
        app_text_add_byte(text, '#');
        add_decoded(text, uri->fragment);
    }
}

void http_host_normal(struct app_text *text, struct app_span host, bool of_uri)
{
    const uint32_t begin = text->len;

    if (of_uri)
        add_decoded(text, host);
    else
        app_text_add(text, host.bytes, host.len);
    for (uint32_t i = begin; i < text->len; i++)
        if (text->bytes[i] >= 'A' && text->bytes[i] <= 'Z')
            text->bytes[i] |= 0x20;
    while (of_uri && text->len != begin && text->bytes[text->len - 1] == '.')
        text->len--;
}

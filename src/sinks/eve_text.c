/* SPDX-License-Identifier: MIT */
#include "eve_text.h"

#include "base/utf8.h"

enum { SHORT_LEN = 1024 }; /* bytes of a string that is checked before it is written */

enum { BLOCK = 16, HALF = BLOCK / 2 };

typedef int8_t block __attribute__((vector_size(BLOCK)));

/* Whether all bytes of two half blocks are plain. Those beyond ASCII are negative. */
static bool are_plain(const uint8_t *left, const uint8_t *right)
{
    block bytes;
    uint64_t halves[2];

    memcpy(&halves[0], left, sizeof halves[0]);
    memcpy(&halves[1], right, sizeof halves[1]);
    memcpy(&bytes, halves, sizeof bytes);
    const block special = (block)(bytes < 0x20) | (block)(bytes == '"') | (block)(bytes == '\\') |
                          (block)(bytes == 0x7F);

    memcpy(halves, &special, sizeof halves);
    return (halves[0] | halves[1]) == 0;
}

/* How many of the first bytes are plain. The last halves may overlap bytes that were checked. */
static size_t plain_len(const uint8_t *text, const uint8_t *end)
{
    const uint8_t *at = text;

    while (end - at >= BLOCK && are_plain(at, at + HALF))
        at += BLOCK;
    if (end - at < BLOCK && end - text >= HALF &&
        are_plain(end - at < HALF ? end - HALF : at, end - HALF))
        return (size_t)(end - text);
    while (at < end && eve_is_plain(*at))
        at++;
    return (size_t)(at - text);
}

bool eve_are_plain(const void *text, size_t len)
{
    return plain_len(text, (const uint8_t *)text + len) == len;
}

static void put_control(struct line_sink *out, uint8_t code)
{
    static const char hex[] = "0123456789abcdef";
    const char escaped[6] = {'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]};

    line_bytes(out, escaped, sizeof escaped);
}

/* Writes the character at text, which is not plain; returns its bytes. */
static size_t put_special(struct line_sink *out, const uint8_t *text, const uint8_t *end)
{
    const size_t len = utf8_len(text, end);

    if (len == 0) {
        char escaped[UTF8_ESCAPE_LEN];

        utf8_escape(escaped, *text);
        line_text(out, "\\");
        line_bytes(out, escaped, sizeof escaped);
        return 1;
    }
    if (len == 2 && utf8_is_control(text))
        put_control(out, text[1]);
    else if (len > 1)
        line_bytes(out, text, len);
    else if (*text == '"')
        line_text(out, "\\\"");
    else if (*text == '\\')
        line_text(out, "\\\\");
    else if (*text == '\n')
        line_text(out, "\\n");
    else if (*text == '\r')
        line_text(out, "\\r");
    else
        put_control(out, *text);
    return len;
}

void eve_put_characters(struct line_sink *out, const void *text, size_t len)
{
    const uint8_t *at = text;
    const uint8_t *const end = at + len;

    while (at < end) {
        const size_t plain = plain_len(at, end);

        line_bytes(out, at, plain);
        at += plain;
        if (at < end)
            at += put_special(out, at, end);
    }
}

void eve_put_string(struct line_sink *out, const void *text, size_t len)
{
    if (len <= SHORT_LEN && eve_are_plain(text, len)) {
        char *at = line_room(out, len + 2);

        *at = '"';
        if (len != 0) /* an empty text may have no bytes */
            memcpy(at + 1, text, len);
        at[1 + len] = '"';
        out->len += len + 2;
        return;
    }
    line_text(out, "\"");
    eve_put_characters(out, text, len);
    line_text(out, "\"");
}

/* SPDX-License-Identifier: MIT */
#include "unpack/transfer.h"

#include <string.h>

#include "base/base64_groups.h"
#include "base/hex.h"

size_t transfer_line(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));

    return newline != NULL ? (size_t)(newline + 1 - at) : (size_t)(end - at);
}

/* The length of a line without its end. */
static size_t text_len(const uint8_t *line, size_t len)
{
    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
        len--;
    return len;
}

static bool is_blank(const uint8_t *line, size_t len)
{
    size_t n = 0;

    while (n < len && (line[n] == ' ' || (line[n] >= '\t' && line[n] <= '\r')))
        n++;
    return len > 0 && n == len;
}

void transfer_plain(const uint8_t *in, size_t len, struct transfer_joins joins,
                    struct unpack_buffer *buffer)
{
    const uint8_t *const end = in + len;
    size_t room = len + 1, n = 0;
    uint8_t *to = len > 0 ? unpack_buffer_room(buffer, &room) : NULL;
    bool after_empty = false, after_blank = false;

    while (to != NULL && in < end && n < room) {
        const size_t line = transfer_line(in, end);
        size_t text = line - (in[line - 1] == '\n');

        text -= text > 0 && text < line && in[text - 1] == '\r';
        const bool blank = is_blank(in, text);
        text = blank ? 1 : text;
        text = text < room - n - 1 ? text : room - n - 1;
        if (!(text == 0 && joins.empty && after_empty) && !(blank && joins.blanks && after_blank)) {
            memcpy(to + n, blank ? (const uint8_t *)" " : in, text);
            to[n + text] = '\n';
            n += text + 1;
        }
        after_empty = text == 0;
        after_blank = blank;
        in += line;
    }
    buffer->len += n;
}

void transfer_base64(const uint8_t *in, size_t len, bool by_line, struct unpack_buffer *buffer)
{
    size_t room = len / 4 * 3 + 3;
    uint8_t *to = unpack_buffer_room(buffer, &room);
    uint32_t bits = 0;
    unsigned n_bits = 0;
    size_t n = 0;

    if (to == NULL)
        return;
    for (size_t i = 0; i < len && n + 3 <= room;) {
        if (n_bits == 0) { /* most are whole groups */
            const size_t fit = (room - n) / 3 * 4;
            const size_t n_groups = base64_groups(in + i, len - i < fit ? len - i : fit, to + n);

            i += 4 * n_groups;
            n += 3 * n_groups;
            if (i == len || n + 3 > room)
                break;
        }
        const unsigned digit = base64_values[in[i++]];
        if (digit == BASE64_PAD && by_line)
            i += transfer_line(in + i, in + len);
        else if (digit == BASE64_PAD) /* bodies may be joined */
            n_bits = 0;
        if (digit >= BASE64_PAD)
            continue;
        bits = bits << 6 | digit;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            to[n++] = (uint8_t)(bits >> n_bits);
        }
    }
    /* A text without padding may be cut. */
    if (n < room && (bits & ((UINT32_C(1) << n_bits) - 1)) != 0)
        to[n++] = (uint8_t)(bits << (8 - n_bits));
    buffer->len += n;
}

/* One line without its end. Returns whether the line goes on in the next one. */
static bool quoted_line(const uint8_t *line, size_t len, struct unpack_buffer *buffer)
{
    for (size_t i = 0; i < len; i++) {
        int high, low;

        if (line[i] != '=') {
            (void)unpack_buffer_add(buffer, line + i, 1);
        } else if (i + 1 == len) {
            return true;
        } else if (i + 2 < len && (high = hex_digit((char)line[i + 1])) >= 0 &&
                   (low = hex_digit((char)line[i + 2])) >= 0) {
            const uint8_t byte = (uint8_t)(high << 4 | low);

            (void)unpack_buffer_add(buffer, &byte, 1);
            i += 2;
        } else {
            (void)unpack_buffer_add(buffer, line + i, 1);
        }
    }
    return false;
}

void transfer_quoted(const uint8_t *in, size_t len, bool joins, struct unpack_buffer *buffer)
{
    const uint8_t *end = in + len;
    bool after_empty = false;

    while (in < end && !buffer->cut) {
        const size_t n = transfer_line(in, end);
        const bool empty = text_len(in, n) == 0;
        size_t text = text_len(in, n);

        while (text > 0 && (in[text - 1] == ' ' || in[text - 1] == '\t'))
            text--;
        if (!(joins && empty && after_empty) && !quoted_line(in, text, buffer))
            (void)unpack_buffer_add(buffer, "\n", 1);
        after_empty = empty;
        in += n;
    }
}

/* ---- uuencode -------------------------------------------------------------------------------- */

bool transfer_begins_uuencode(const uint8_t *line, size_t len)
{
    if (len < 11 || memcmp(line, "begin ", 6) != 0)
        return false;
    size_t i = 6;
    while (i < len && line[i] >= '0' && line[i] <= '7')
        i++;
    return (i == 9 || i == 10) && i < len && line[i] == ' ';
}

static void uu_line(const uint8_t *line, size_t len, struct unpack_buffer *buffer)
{
    size_t left = (size_t)(line[0] - ' ') & 63;

    for (size_t i = 1; left > 0 && i < len; i += 4) {
        uint8_t digits[4] = {0}, bytes[3];

        for (size_t k = 0; k < 4 && i + k < len; k++)
            digits[k] = (uint8_t)((line[i + k] - ' ') & 63);
        bytes[0] = (uint8_t)(digits[0] << 2 | digits[1] >> 4);
        bytes[1] = (uint8_t)(digits[1] << 4 | digits[2] >> 2);
        bytes[2] = (uint8_t)(digits[2] << 6 | digits[3]);
        const size_t n = left < 3 ? left : 3;
        (void)unpack_buffer_add(buffer, bytes, n);
        left -= n;
    }
}

size_t transfer_uuencode(const uint8_t *in, size_t len, struct unpack_buffer *buffer, bool *whole)
{
    const uint8_t *at = in + transfer_line(in, in + len), *end = in + len;

    *whole = false;
    while (at < end && !*whole && !buffer->cut) {
        const size_t n = transfer_line(at, end), text = text_len(at, n);

        *whole = text >= 3 && memcmp(at, "end", 3) == 0;
        if (!*whole && text > 1)
            uu_line(at, text, buffer);
        at += n;
    }
    return (size_t)(at - in);
}

/* ---- yEnc ------------------------------------------------------------------------------------ */

bool transfer_begins_yenc(const uint8_t *line, size_t len)
{
    return len > 8 && memcmp(line, "=ybegin ", 8) == 0;
}

size_t transfer_yenc(const uint8_t *in, size_t len, struct unpack_buffer *buffer, bool *whole)
{
    const uint8_t *at = in + transfer_line(in, in + len), *end = in + len;

    *whole = false;
    while (at < end && !*whole && !buffer->cut) {
        const size_t n = transfer_line(at, end), text = text_len(at, n);

        *whole = text >= 5 && memcmp(at, "=yend", 5) == 0;
        if (!*whole && !(text >= 6 && memcmp(at, "=ypart", 6) == 0))
            for (size_t i = 0; i < text; i++) {
                const bool escaped = at[i] == '=' && i + 1 < text;
                const uint8_t byte = (uint8_t)(escaped ? at[++i] - 64 - 42 : at[i] - 42);

                (void)unpack_buffer_add(buffer, &byte, 1);
            }
        at += n;
    }
    return (size_t)(at - in);
}

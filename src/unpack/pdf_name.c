/* SPDX-License-Identifier: MIT */
#include "unpack/pdf_name.h"

#include <ctype.h>
#include <string.h>

#include "base/hex.h"

const uint8_t *pdf_find(const uint8_t *at, const uint8_t *end, const char *text)
{
    return at < end ? memmem(at, (size_t)(end - at), text, strlen(text)) : NULL;
}

const uint8_t *pdf_skip_blanks(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (isspace(*at) || *at == '\0'))
        at++;
    return at;
}

static bool is_of_name(uint8_t byte)
{
    return byte > ' ' && byte < 0x7F && strchr("/[]<>(){}%", byte) == NULL;
}

size_t pdf_name_len(const uint8_t *at, const uint8_t *end)
{
    size_t n = 0;

    while (at + n < end && is_of_name(at[n]))
        n++;
    return n;
}

bool pdf_is_name(const uint8_t *at, size_t len, const char *name)
{
    size_t i = 0;

    for (; i < len && *name != '\0'; name++) {
        const int high =
            *name != '#' && at[i] == '#' && len - i > 2 ? hex_digit((char)at[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit((char)at[i + 2]) : -1;

        if ((low >= 0 ? high << 4 | low : at[i]) != (uint8_t)*name)
            return false;
        i += low >= 0 ? 3 : 1;
    }
    return i == len && *name == '\0';
}

const uint8_t *pdf_find_key(const uint8_t *at, const uint8_t *end, const char *key)
{
    while (at < end && (at = memchr(at, '/', (size_t)(end - at))) != NULL) {
        const size_t len = pdf_name_len(++at, end);

        if (pdf_is_name(at, len, key))
            return pdf_skip_blanks(at + len, end);
        at += len;
    }
    return NULL;
}

int64_t pdf_number(const uint8_t *at, const uint8_t *end, int64_t otherwise)
{
    const int64_t max = INT64_C(1) << 40;
    const bool negative = at != NULL && at < end && *at == '-';
    int64_t value = 0;

    if (at == NULL || at + negative >= end || !isdigit(at[negative]))
        return otherwise;
    for (at += negative; at < end && isdigit(*at) && value < max; at++)
        value = 10 * value + (*at - '0');
    return negative ? -value : value;
}

/* A number that ends before `at`. Returns the place where it begins, or NULL. */
static const uint8_t *number_before(const uint8_t *begin, const uint8_t *at, uint32_t *value)
{
    uint32_t unit = 1;
    unsigned n = 0;

    while (at > begin && (isspace(at[-1]) || at[-1] == '\0'))
        at--;
    for (*value = 0; at > begin && isdigit(at[-1]) && n < 9; n++) {
        *value += unit * (uint32_t)(*--at - '0');
        unit *= 10;
    }
    return n > 0 ? at : NULL;
}

bool pdf_object_number(const uint8_t *begin, const uint8_t *mark, uint32_t *number,
                       uint32_t *generation)
{
    const uint8_t *at = number_before(begin, mark, generation);

    if (at != NULL && number_before(begin, at, number) == NULL)
        *number = *generation;
    return at != NULL;
}

static void add_byte(struct unpack_buffer *buffer, int byte)
{
    const uint8_t added = (uint8_t)byte;

    (void)unpack_buffer_add(buffer, &added, 1);
}

/* Behind a "\". Returns the place behind it. */
static const uint8_t *read_escape(const uint8_t *at, const uint8_t *end,
                                  struct unpack_buffer *buffer)
{
    static const char escaped[] = "nrtbf", meant[] = "\n\r\t\b\f";
    const char *escape = memchr(escaped, *at, sizeof escaped - 1);
    int value = 0;

    if (*at >= '0' && *at <= '7') {
        for (int i = 0; i < 3 && at < end && *at >= '0' && *at <= '7'; i++)
            value = value * 8 + (*at++ - '0');
        add_byte(buffer, value);
        return at;
    }
    if (escape != NULL)
        add_byte(buffer, meant[escape - escaped]);
    else if (*at != '\n' && *at != '\r')
        add_byte(buffer, *at);
    return at + 1;
}

static const uint8_t *read_literal(const uint8_t *at, const uint8_t *end,
                                   struct unpack_buffer *buffer)
{
    unsigned depth = 1;

    while (at < end && !buffer->cut) {
        if (*at == '\\' && at + 1 < end) {
            at = read_escape(at + 1, end, buffer);
            continue;
        }
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0)
            return at + 1;
        add_byte(buffer, *at++);
    }
    return at;
}

static const uint8_t *read_digits(const uint8_t *at, const uint8_t *end,
                                  struct unpack_buffer *buffer)
{
    int high = -1;

    for (; at < end && *at != '>' && !buffer->cut; at++) {
        const int digit = hex_digit((char)*at);

        if (digit < 0)
            continue;
        if (high >= 0)
            add_byte(buffer, high << 4 | digit);
        high = high >= 0 ? -1 : digit;
    }
    if (high >= 0)
        add_byte(buffer, high << 4);
    return at < end ? at + 1 : at;
}

const uint8_t *pdf_text(const uint8_t *at, const uint8_t *end, struct unpack_buffer *buffer)
{
    if (at < end && *at == '(')
        return read_literal(at + 1, end, buffer);
    return at + 1 < end && *at == '<' && at[1] != '<' ? read_digits(at + 1, end, buffer) : at;
}

/* SPDX-License-Identifier: MIT */
/* RTF: embedded objects, which are hexadecimal digits (MS-OLEDS, 2.2.5). */
#include <string.h>

#include "base/hex.h"
#include "unpack/little.h"
#include "unpack/unpack.h"

/* Control words in the midst of the digits are left out, as Word leaves them out. */
static const uint8_t *read_digits(const uint8_t *at, const uint8_t *end,
                                  struct unpack_buffer *buffer)
{
    unsigned depth = 1;
    int high = -1;

    for (; at < end && depth > 0; at++) {
        const int digit = hex_digit((char)*at);

        if (*at == '\\') {
            while (at + 1 < end && ((at[1] | 32) >= 'a' ? (at[1] | 32) <= 'z' : at[1] == '\''))
                at++;
            while (at + 1 < end && at[1] >= '0' && at[1] <= '9')
                at++;
        } else if (*at == '{' || *at == '}') {
            depth += *at == '{';
            depth -= *at == '}';
        } else if (digit >= 0 && high < 0) {
            high = digit;
        } else if (digit >= 0) {
            const uint8_t byte = (uint8_t)(high << 4 | digit);

            high = -1;
            (void)unpack_buffer_add(buffer, &byte, 1);
        }
    }
    return at;
}

/* Skips a text with its length before it. NULL: the object ends before. */
static const uint8_t *skip_text(const uint8_t *at, const uint8_t *end)
{
    if (at == NULL || end - at < 4 || little32(at) > (size_t)(end - at) - 4)
        return NULL;
    return at + 4 + little32(at);
}

/* An embedded object: a version, a format, three texts, a length, and the data. */
static void give_object(struct unpack *unpack, const struct unpack_object *object,
                        const struct unpack_buffer *buffer)
{
    enum { HEAD = 8, TEXTS = 3 };

    if (buffer->len == 0)
        return;
    const uint8_t *end = buffer->bytes + buffer->len;
    const uint8_t *at = buffer->len > HEAD ? buffer->bytes + HEAD : NULL;
    for (int i = 0; i < TEXTS; i++)
        at = skip_text(at, end);
    if (at == NULL || end - at < 4) {
        (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
        return;
    }
    const uint32_t len = little32(at);
    at += 4;
    const size_t have = len < (size_t)(end - at) ? len : (size_t)(end - at);
    if (have < len)
        unpack_incomplete(unpack, object, "an object is cut");
    if (!unpack_child(unpack, object, at, have, KINDS))
        return;
    if (have > 4 && kind_of(at, have) != KIND_OLE2)
        office_give_native(unpack, object, at - 4, have + 4);
}

void unpack_rtf(struct unpack *unpack, const struct unpack_object *object)
{
    static const char mark[] = "\\objdata";
    const uint8_t *at = object->bytes, *end = at + object->len;

    while (at < end && !unpack_is_over(unpack) &&
           (at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1)) != NULL) {
        struct unpack_buffer *buffer = unpack_buffer(unpack, object);

        at = read_digits(at + sizeof mark - 1, end, buffer);
        if (buffer->cut)
            unpack_cut(unpack, buffer);
        give_object(unpack, object, buffer);
    }
}

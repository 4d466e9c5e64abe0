/* SPDX-License-Identifier: MIT */
/* Texts in ClamAV's normal form: lower case, one space for all blanks, and printable ASCII alone.
 */
#include "unpack/unpack.h"

enum { TEXT_MAX = 20 << 20 /* bytes; clamscan's --max-scriptnormalize */ };

/* The form of a byte: 0: it is left out; ' ': a blank. */
static uint8_t normal_form(unsigned byte)
{
    if (byte == ' ' || (byte >= '\t' && byte <= '\r'))
        return ' ';
    if (byte >= 'A' && byte <= 'Z')
        return (uint8_t)(byte + 'a' - 'A');
    return byte > ' ' && byte <= 0x7F ? (uint8_t)byte : 0;
}

size_t text_normalize(const uint8_t *in, size_t len, uint8_t *out)
{
    static uint8_t forms[256];
    uint8_t last = 0;
    size_t n = 0;

    if (forms['A'] == 0)
        for (unsigned byte = 0; byte < 256; byte++)
            forms[byte] = normal_form(byte);
    for (size_t i = 0; i < len; i++) {
        const uint8_t form = forms[in[i]];

        out[n] = form;
        n += form != 0 && (form != ' ' || last != ' ');
        last = form != 0 ? form : last;
    }
    return n;
}

bool text_is_normalized(const struct unpack *unpack, const struct unpack_object *object)
{
    return unpack_wishes(unpack)->normalizes && object->kind == KIND_TEXT_ASCII &&
           object->len <= TEXT_MAX;
}

void unpack_text(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer *buffer;
    size_t room = object->len;

    if (!unpack_wishes(unpack)->normalizes || object->len > TEXT_MAX)
        return;
    if (kind_has_tag(object->bytes, object->len)) { /* behind the head, by which it is a text */
        unpack_html(unpack, object);
        return;
    }
    buffer = unpack_buffer(unpack, object);
    buffer->max = TEXT_MAX;
    uint8_t *to = unpack_buffer_room(buffer, &room);
    if (to != NULL)
        (void)unpack_form(unpack, object, to, text_normalize(object->bytes, room, to),
                          object->kind);
}

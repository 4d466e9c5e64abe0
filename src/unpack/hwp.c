/* SPDX-License-Identifier: MIT */
/* Documents of Hangul Word Processor 3, whose text is packed as one. */
#include <zlib.h>

#include "unpack/little.h"
#include "unpack/streams.h"

void unpack_hwp3(struct unpack *unpack, const struct unpack_object *object)
{
    enum { PACKED_AT = 154, INFO_LEN_AT = 156, INFO_AT = 1166 };
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    const uint8_t *bytes = object->bytes;
    const size_t at = object->len > INFO_AT ? INFO_AT + little16(bytes + INFO_LEN_AT) : 0;
    size_t used;

    if (at == 0 || at > object->len) {
        unpack_incomplete(unpack, object, "cut");
    } else if (bytes[PACKED_AT] != 0) {
        if (!stream_inflate(bytes + at, object->len - at, -MAX_WBITS, buffer, &used))
            unpack_incomplete(unpack, object, "cut or damaged");
        if (buffer->cut)
            unpack_cut(unpack, buffer);
        (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
    }
}

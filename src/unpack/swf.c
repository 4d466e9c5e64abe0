/* SPDX-License-Identifier: MIT */
/* SWF: a head of 8 bytes, and the rest packed by zlib or LZMA. The plain film is the child. */
#include <string.h>

#include "unpack/streams.h"
#include "unpack/unpack.h"

enum { HEAD = 8, PROPERTIES_AT = 12, PROPERTIES = 5 };

void unpack_swf(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    const uint8_t *bytes = object->bytes;
    size_t used;
    bool whole = false;

    if (object->len < HEAD)
        return;
    (void)unpack_buffer_add(buffer, "F", 1);
    (void)unpack_buffer_add(buffer, bytes + 1, HEAD - 1);
    const uint64_t full_len =
        bytes[4] | (uint64_t)bytes[5] << 8 | (uint64_t)bytes[6] << 16 | (uint64_t)bytes[7] << 24;
    if (bytes[0] == 'C')
        whole = stream_inflate(bytes + HEAD, object->len - HEAD, INFLATE_ZLIB, buffer, &used);
    else if (object->len > PROPERTIES_AT + PROPERTIES)
        whole = stream_lzma1(bytes + PROPERTIES_AT, bytes + PROPERTIES_AT + PROPERTIES,
                             object->len - PROPERTIES_AT - PROPERTIES, full_len, buffer, &used);
    if (buffer->cut)
        unpack_cut(unpack, buffer);
    if (!whole)
        unpack_incomplete(unpack, object, "cut or damaged");
    if (buffer->len > HEAD)
        (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
}

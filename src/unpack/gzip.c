/* SPDX-License-Identifier: MIT */
/* gzip (RFC 1952): members one behind another are one object, as gunzip has it. Other formats have
 * deflated streams. */
#include "unpack/streams.h"
#include "unpack/unpack.h"

void unpack_gzip(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    size_t at = 0, used;
    bool whole;

    do {
        whole = stream_inflate(object->bytes + at, object->len - at, INFLATE_GZIP, buffer, &used);
        at += used;
    } while (whole && !buffer->cut && at < object->len && object->bytes[at] == 0x1F);
    if (buffer->cut) { /* clamscan scans none of it */
        unpack_cut(unpack, buffer);
        return;
    }
    if (!whole)
        unpack_incomplete(unpack, object, "cut or damaged");
    (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
    unpack_rest(unpack, object, at);
}

void unpack_deflated(struct unpack *unpack, const struct unpack_object *object, const uint8_t *in,
                     size_t len, enum inflate_format format, const char *reason)
{
    struct unpack_buffer buffer = {0};
    size_t used;

    unpack_buffer_init(unpack, &buffer);
    const bool whole = stream_inflate(in, len, format, &buffer, &used);
    if (!whole && reason != NULL)
        unpack_incomplete(unpack, object, reason);
    if (buffer.cut)
        unpack_cut(unpack, &buffer);
    if (whole || reason != NULL)
        (void)unpack_child(unpack, object, buffer.bytes, buffer.len, KINDS);
    unpack_buffer_free(&buffer);
}

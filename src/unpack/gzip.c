/* SPDX-License-Identifier: MIT */
/* gzip (RFC 1952): members one behind another are one object, as gunzip has it. Other formats have
 * deflated streams. */
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "unpack/streams.h"
#include "unpack/unpack.h"

/* Inflates one member. Returns zlib's status. */
static int inflate_member(z_stream *stream, struct unpack_buffer *buffer)
{
    int status = Z_OK;

    while (status == Z_OK) {
        size_t room;
        uint8_t *to = unpack_buffer_step(buffer, &room);

        if (to == NULL)
            return Z_MEM_ERROR;
        stream->next_out = to;
        stream->avail_out = (uInt)room;
        status = inflate(stream, Z_NO_FLUSH);
        unpack_buffer_stepped(buffer, room - stream->avail_out);
    }
    return status;
}

void unpack_gzip(struct unpack *unpack, const struct unpack_object *object)
{
    struct unpack_buffer *buffer = unpack_buffer(unpack, object);
    z_stream stream = {0};
    bool whole = false, more = inflateInit2(&stream, MAX_WBITS + 16) == Z_OK;

    stream.next_in = (Bytef *)(uintptr_t)object->bytes;
    while (more) {
        const size_t left = (size_t)(object->bytes + object->len - stream.next_in);

        stream.avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
        const int status = inflate_member(&stream, buffer);
        whole = status == Z_STREAM_END || (status == Z_BUF_ERROR && left > UINT_MAX);
        more =
            whole && stream.next_in < object->bytes + object->len &&
            (status != Z_STREAM_END || (stream.next_in[0] == 0x1F && inflateReset(&stream) == 0));
    }
    (void)inflateEnd(&stream);
    if (buffer->cut) { /* clamscan scans none of it */
        unpack_cut(unpack, buffer);
        return;
    }
    if (!whole)
        unpack_incomplete(unpack, object, "cut or damaged");
    (void)unpack_child(unpack, object, buffer->bytes, buffer->len, KINDS);
    unpack_rest(unpack, object, (size_t)(stream.next_in - object->bytes));
}

void unpack_deflated(struct unpack *unpack, const struct unpack_object *object, const uint8_t *in,
                     size_t len, int window_bits, const char *reason)
{
    struct unpack_buffer buffer = {0};
    size_t used;

    unpack_buffer_init(unpack, &buffer);
    const bool whole = stream_inflate(in, len, window_bits, &buffer, &used);
    if (!whole && reason != NULL)
        unpack_incomplete(unpack, object, reason);
    if (buffer.cut)
        unpack_cut(unpack, &buffer);
    if (whole || reason != NULL)
        (void)unpack_child(unpack, object, buffer.bytes, buffer.len, KINDS);
    unpack_buffer_free(&buffer);
}

/* SPDX-License-Identifier: MIT */
#include "base/inflate_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/inflate_state.h"

/* Bytes come out where matches look for them: no window is copied at each call. */
enum { WINDOW = 1 << 15, BUFFER = WINDOW + 2 * INFLATE_ROOM };

struct inflate_stream {
    struct inflate inflate;
    size_t at; /* bytes of the buffer in use */
    uint8_t buffer[BUFFER];
};

struct inflate_stream *inflate_stream_open(enum inflate_format format)
{
    struct inflate_stream *stream = malloc(sizeof *stream);

    if (stream == NULL)
        return NULL;
    inflate_begin(&stream->inflate, format);
    stream->at = 0;
    return stream;
}

void inflate_stream_close(struct inflate_stream *stream)
{
    free(stream);
}

uint32_t inflate_stream_held(void)
{
    return sizeof(struct inflate_stream);
}

enum inflate_status inflate_some(struct inflate_stream *stream, const uint8_t **in, size_t *len,
                                 size_t room, const uint8_t **out, uint32_t *out_len)
{
    room = room < INFLATE_ROOM ? room : INFLATE_ROOM;
    if (stream->at + room > BUFFER) {
        memmove(stream->buffer, stream->buffer + stream->at - WINDOW, WINDOW);
        stream->at = WINDOW;
    }
    struct inflate_out to = {stream->buffer, stream->at, stream->at + room};
    const enum inflate_status status = inflate_into(&stream->inflate, in, len, &to);

    *out = stream->buffer + stream->at;
    *out_len = (uint32_t)(to.at - stream->at);
    stream->at = to.at;
    return status;
}

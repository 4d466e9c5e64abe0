/* SPDX-License-Identifier: MIT */
#include "unpack/lzh_internal.h"

bool lzh_put(struct lzh_stream *stream, uint8_t byte)
{
    if (stream->n < stream->out_len)
        stream->out[stream->n++] = byte;
    return stream->n < stream->out_len;
}

bool lzh_copy(struct lzh_stream *stream, size_t distance, size_t len)
{
    bool more = true;

    for (; len > 0 && more; len--)
        more = lzh_put(stream,
                       distance <= stream->n ? stream->out[stream->n - distance] : (uint8_t)' ');
    return more;
}

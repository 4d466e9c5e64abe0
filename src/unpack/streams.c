/* SPDX-License-Identifier: MIT */
#include "unpack/streams.h"

#include <bzlib.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>

#include "unpack/bunzip2.h"
#include "unpack/unxz.h"

bool stream_inflate(const uint8_t *in, size_t len, enum inflate_format format,
                    struct unpack_buffer *buffer, size_t *used)
{
    struct inflate *const inflate = inflate_open(format);
    enum inflate_status status = INFLATE_GOES_ON;
    struct inflate_out out = {NULL, 0, 0};
    const uint8_t *at = in;
    const size_t begin = buffer->len;
    size_t room;

    while (inflate != NULL && status == INFLATE_GOES_ON && out.at == out.end) {
        uint8_t *const to = unpack_buffer_step(buffer, &room);

        if (to == NULL)
            break;
        out = (struct inflate_out){buffer->bytes + begin, buffer->len - begin,
                                   buffer->len - begin + room};
        status = inflate_into(inflate, &at, &len, &out);
        unpack_buffer_stepped(buffer, out.at - (buffer->len - begin));
    }
    *used = (size_t)(at - in);
    inflate_close(inflate);
    return status == INFLATE_OVER || buffer->cut;
}

static bool run_libbz2(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used)
{
    bz_stream stream = {.next_in = (char *)(uintptr_t)in,
                        .avail_in = len < UINT_MAX ? (unsigned)len : UINT_MAX};
    int status = BZ2_bzDecompressInit(&stream, 0, 0);

    while (status == BZ_OK) {
        size_t room;
        uint8_t *to = unpack_buffer_step(buffer, &room);

        if (to == NULL)
            break;
        stream.next_out = (char *)to;
        stream.avail_out = (unsigned)room;
        status = BZ2_bzDecompress(&stream);
        unpack_buffer_stepped(buffer, room - stream.avail_out);
        if (status == BZ_OK && stream.avail_in == 0 && stream.avail_out > 0)
            break; /* cut */
    }
    *used = (size_t)((const uint8_t *)stream.next_in - in);
    (void)BZ2_bzDecompressEnd(&stream);
    return status == BZ_STREAM_END || buffer->cut;
}

/* What is not a whole stream is libbz2's: it gives the intact part. At a limit it would give the
 * same bytes again. */
bool stream_bzip2(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used)
{
    const size_t before = buffer->len;

    if (bunzip2(in, len, buffer, used) || buffer->cut)
        return true;
    buffer->len = before;
    return run_libbz2(in, len, buffer, used);
}

static lzma_ret run_lzma(lzma_stream *stream, struct unpack_buffer *buffer)
{
    lzma_ret status = LZMA_OK;

    while (status == LZMA_OK) {
        size_t room;
        uint8_t *to = unpack_buffer_step(buffer, &room);

        if (to == NULL)
            break;
        stream->next_out = to;
        stream->avail_out = room;
        status = lzma_code(stream, LZMA_RUN);
        unpack_buffer_stepped(buffer, room - stream->avail_out);
        if (status == LZMA_OK && stream->avail_in == 0 && stream->avail_out > 0)
            break;
    }
    return status;
}

static bool run_liblzma(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret status = lzma_stream_decoder(&stream, UINT64_MAX, 0);

    stream.next_in = in;
    stream.avail_in = len;
    if (status == LZMA_OK)
        status = run_lzma(&stream, buffer);
    *used = len - stream.avail_in;
    lzma_end(&stream);
    return status == LZMA_STREAM_END || buffer->cut;
}

/* What is not a whole stream, or has other filters, is liblzma's. */
bool stream_xz(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used)
{
    const size_t before = buffer->len;
    const bool was_cut = buffer->cut;

    if (unxz(in, len, buffer, used))
        return true;
    buffer->len = before;
    buffer->cut = was_cut;
    return run_liblzma(in, len, buffer, used);
}

/* The properties of the format lead the stream. */
bool stream_lzma1(const uint8_t properties[5], const uint8_t *in, size_t len, uint64_t full_len,
                  struct unpack_buffer *buffer, size_t *used)
{
    lzma_filter filters[2] = {{.id = LZMA_FILTER_LZMA1}, {.id = LZMA_VLI_UNKNOWN}};
    lzma_stream stream = LZMA_STREAM_INIT;

    if (lzma_properties_decode(&filters[0], NULL, properties, 5) != LZMA_OK)
        return false;
    /* No match reaches back beyond the first byte: a larger dictionary is not needed. */
    lzma_options_lzma *options = filters[0].options;
    if (options->dict_size > buffer->max && buffer->max >= LZMA_DICT_SIZE_MIN)
        options->dict_size = (uint32_t)buffer->max;
    lzma_ret status = lzma_raw_decoder(&stream, filters);
    stream.next_in = in;
    stream.avail_in = len;
    if (status == LZMA_OK)
        status = run_lzma(&stream, buffer);
    *used = len - stream.avail_in;
    lzma_end(&stream);
    free(filters[0].options);
    return status == LZMA_STREAM_END || buffer->cut || buffer->len >= full_len;
}

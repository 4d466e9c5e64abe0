/* SPDX-License-Identifier: MIT */
#include "inflate_ref.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/inflate_stream.h"
#include "inflate64_ref.h"

static void inflate_by_zlib(struct inflated *to, int window_bits, const uint8_t *in, size_t len)
{
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)in, .avail_in = (uInt)len};
    int status = inflateInit2(&stream, window_bits);

    stream.next_out = to->bytes;
    stream.avail_out = INFLATED_MAX;
    if (status == Z_OK)
        status = inflate(&stream, Z_NO_FLUSH);
    to->len = (uint32_t)stream.total_out;
    to->used = (size_t)(stream.next_in - in);
    to->status = status == Z_STREAM_END                    ? INFLATE_OVER
                 : status == Z_OK || status == Z_BUF_ERROR ? INFLATE_GOES_ON
                                                           : INFLATE_DAMAGED;
    (void)inflateEnd(&stream);
}

void inflate_by_judge(struct inflated *to, enum inflate_format format, const uint8_t *in,
                      size_t len)
{
    static const int window_bits[] = {
        [INFLATE_BARE] = -MAX_WBITS, [INFLATE_ZLIB] = MAX_WBITS, [INFLATE_GZIP] = MAX_WBITS + 16};

    if (format == INFLATE_64)
        inflate64_by_bits(to, in, len);
    else
        inflate_by_zlib(to, window_bits[format], in, len);
}

/* One of both ways. */
struct decoder {
    struct inflate_stream *stream;
    struct inflate *inflate;
};

static uint32_t inflate_call(const struct decoder *by, struct inflated *to, const uint8_t **in,
                             size_t *left, size_t room)
{
    struct inflate_out out = {to->bytes, to->len, to->len + room};
    const uint8_t *bytes;
    uint32_t n;

    if (by->stream != NULL) {
        to->status = inflate_some(by->stream, in, left, room, &bytes, &n);
        memcpy(to->bytes + to->len, bytes, n);
    } else {
        to->status = inflate_into(by->inflate, in, left, &out);
        n = (uint32_t)(out.at - to->len);
    }
    to->len += n;
    return n;
}

/* Takes a piece, from memory of its own: a byte beyond it is found. */
static void take_piece(const struct decoder *by, struct inflated *to, const uint8_t *in, size_t len,
                       inflate_cut *cut, void *user)
{
    uint8_t *const own = malloc(len);
    const uint8_t *from = own;
    size_t left = len;
    uint32_t room, n;

    if (own == NULL)
        abort();
    memcpy(own, in, len);
    do {
        room = cut(user);
        if (room > INFLATED_MAX - to->len)
            room = INFLATED_MAX - to->len;
        if (by->stream != NULL && room > INFLATE_ROOM)
            room = INFLATE_ROOM;
        n = room != 0 ? inflate_call(by, to, &from, &left, room) : 0;
    } while (to->status == INFLATE_GOES_ON && n == room && room != 0);
    if (to->status == INFLATE_GOES_ON && room != 0 && left != 0)
        abort(); /* it took less than it could */
    to->used += len - left;
    free(own);
}

static void take_pieces(const struct decoder *by, struct inflated *to, const uint8_t *in,
                        size_t len, inflate_cut *cut, void *user)
{
    to->status = INFLATE_GOES_ON;
    to->len = 0;
    to->used = 0;
    for (size_t at = 0; at < len && to->status == INFLATE_GOES_ON && to->len < INFLATED_MAX;) {
        const uint32_t piece = cut(user);
        const size_t n = piece < len - at ? piece : len - at;

        take_piece(by, to, in + at, n, cut, user);
        at += n;
    }
}

void inflate_by_stream(struct inflated *to, enum inflate_format format, const uint8_t *in,
                       size_t len, inflate_cut *cut, void *user)
{
    const struct decoder by = {.stream = inflate_stream_open(format)};

    take_pieces(&by, to, in, len, cut, user);
    inflate_stream_close(by.stream);
}

void inflate_by_pieces(struct inflated *to, enum inflate_format format, const uint8_t *in,
                       size_t len, inflate_cut *cut, void *user)
{
    const struct decoder by = {.inflate = inflate_open(format)};

    take_pieces(&by, to, in, len, cut, user);
    inflate_close(by.inflate);
}

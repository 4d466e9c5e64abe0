/* SPDX-License-Identifier: MIT */
/* What zlib gives of a stream, as a judge of inflate.h, and the same by inflate.h with cuts. */
#ifndef BASE_INFLATE_REF_H
#define BASE_INFLATE_REF_H

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/inflate.h"

/* What came out of a stream, up to INFLATED_MAX bytes, and how it ended. */
enum { INFLATED_MAX = 1 << 21 };

struct inflated {
    enum inflate_status status;
    uint32_t len;
    uint8_t bytes[INFLATED_MAX];
};

static inline void inflate_by_zlib(struct inflated *to, bool is_zlib, const uint8_t *in, size_t len)
{
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)in, .avail_in = (uInt)len};
    int status = inflateInit2(&stream, is_zlib ? MAX_WBITS : -MAX_WBITS);

    stream.next_out = to->bytes;
    stream.avail_out = INFLATED_MAX;
    if (status == Z_OK)
        status = inflate(&stream, Z_NO_FLUSH);
    to->len = (uint32_t)stream.total_out;
    to->status = status == Z_STREAM_END                    ? INFLATE_OVER
                 : status == Z_OK || status == Z_BUF_ERROR ? INFLATE_GOES_ON
                                                           : INFLATE_DAMAGED;
    (void)inflateEnd(&stream);
}

/* The bytes of the next piece, and the room for what comes out of a call: 1 or more. */
typedef uint32_t inflate_cut(void *user);

static inline void inflate_in_pieces(struct inflated *to, bool is_zlib, const uint8_t *in,
                                     size_t len, inflate_cut *cut, void *user)
{
    struct inflate *inflate = inflate_open(is_zlib);

    to->status = INFLATE_GOES_ON;
    to->len = 0;
    for (size_t at = 0; at < len && to->status == INFLATE_GOES_ON && to->len < INFLATED_MAX;) {
        const uint32_t piece = cut(user);
        size_t left = piece < len - at ? piece : len - at;
        uint8_t *const own = (uint8_t *)malloc(left); /* a byte beyond it is found */
        const uint8_t *from = own, *out;
        uint32_t room, n;

        if (own == NULL)
            abort();
        memcpy(own, in + at, left);
        at += left;
        do {
            room = cut(user);
            if (room > INFLATED_MAX - to->len)
                room = INFLATED_MAX - to->len;
            if (room > INFLATE_ROOM)
                room = INFLATE_ROOM;
            to->status = inflate_some(inflate, &from, &left, room, &out, &n);
            memcpy(to->bytes + to->len, out, n);
            to->len += n;
        } while (to->status == INFLATE_GOES_ON && n == room && room != 0);
        if (to->status == INFLATE_GOES_ON && room != 0 && left != 0)
            abort(); /* it took less than it could */
        free(own);
    }
    inflate_close(inflate);
}

#endif

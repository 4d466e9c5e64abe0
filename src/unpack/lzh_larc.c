/* SPDX-License-Identifier: MIT */
/* LArc's methods: places in a ring, which holds bytes before the first is written. */
#include <string.h>

#include "unpack/lzh_internal.h"

enum { LZS_RING = 1 << 11, LZ5_RING = 1 << 12 };

struct ring {
    struct lzh_stream *stream;
    size_t at, len;
    uint8_t bytes[LZ5_RING];
};

static bool put(struct ring *ring, uint8_t byte)
{
    ring->bytes[ring->at] = byte;
    ring->at = (ring->at + 1) % ring->len;
    return lzh_put(ring->stream, byte);
}

static bool copy(struct ring *ring, size_t from, size_t len)
{
    bool more = true;

    for (; len > 0 && more; len--, from++)
        more = put(ring, ring->bytes[from % ring->len]);
    return more;
}

bool lzh_lzs(struct lzh_stream *stream)
{
    enum { BEGIN = LZS_RING - 17, PLACE_BITS = 11, LEN_BITS = 4, LEN_MIN = 2 };
    struct ring ring = {.stream = stream, .at = BEGIN, .len = LZS_RING};
    bool more = true;

    memset(ring.bytes, ' ', LZS_RING);
    while (more && !stream->reader.ended) {
        if (canonical_bits(&stream->reader, 1) == 1) {
            more = put(&ring, (uint8_t)canonical_bits(&stream->reader, 8));
        } else {
            const size_t place = canonical_bits(&stream->reader, PLACE_BITS);

            more = copy(&ring, place, canonical_bits(&stream->reader, LEN_BITS) + LEN_MIN);
        }
    }
    return !more;
}

/* 13 bytes of each value, all values upwards and downwards, zeros, blanks. */
static void fill_lz5(uint8_t bytes[LZ5_RING])
{
    enum { RUN = 13, ZEROS = 128, BLANKS = 110 };
    size_t at = 0;

    memset(bytes, 0, LZ5_RING);
    for (unsigned value = 0; value < 256; value++, at += RUN)
        memset(bytes + at, (int)value, RUN);
    for (unsigned value = 0; value < 256; value++)
        bytes[at++] = (uint8_t)value;
    for (unsigned value = 0; value < 256; value++)
        bytes[at++] = (uint8_t)(255 - value);
    memset(bytes + at + ZEROS, ' ', BLANKS);
}

bool lzh_lz5(struct lzh_stream *stream)
{
    enum { BEGIN = LZ5_RING - 18, LEN_MIN = 3 };
    struct ring ring = {.stream = stream, .at = BEGIN, .len = LZ5_RING};
    bool more = true;

    fill_lz5(ring.bytes);
    while (more && !stream->reader.ended) {
        const unsigned flags = canonical_bits(&stream->reader, 8);

        for (unsigned i = 0; i < 8 && more && !stream->reader.ended; i++) {
            const unsigned byte = canonical_bits(&stream->reader, 8);

            if ((flags >> i & 1) != 0) {
                more = !stream->reader.ended && put(&ring, (uint8_t)byte);
                continue;
            }
            const unsigned next = canonical_bits(&stream->reader, 8);
            more = copy(&ring, byte | (next & 0xF0) << 4, (next & 0xF) + LEN_MIN);
        }
    }
    return !stream->reader.ended || stream->n == stream->out_len;
}

/* SPDX-License-Identifier: MIT */
/* LHA's blocks of static codes (-lh4- to -lh7-, ARJ), and ARJ's fastest method. Codes are decoded
 * bit by bit: the formats are rare. */
#include "unpack/lzh_internal.h"

enum { LITERALS = 256, LENGTHS = 510, LENGTH_MIN = 3 };

/* ---- static codes ---------------------------------------------------------------------------- */

/* Code lengths as three bits, and more in unary; *n lengths of `max`. A run of zeros may stand
 * behind the length number `zeros_at`. */
static bool read_lengths(struct lzh_stream *stream, struct canonical *code, unsigned count_bits,
                         unsigned max, unsigned zeros_at)
{
    uint8_t lengths[32] = {0};
    const unsigned n = canonical_bits(&stream->reader, count_bits);

    if (n == 0) {
        code->only = (int)canonical_bits(&stream->reader, count_bits);
        return true;
    }
    if (n > max)
        return false;
    for (unsigned i = 0; i < n;) {
        unsigned bits = canonical_bits(&stream->reader, 3);

        if (bits == 7)
            while (bits < CANONICAL_BITS && canonical_bits(&stream->reader, 1) == 1)
                bits++;
        lengths[i++] = (uint8_t)bits;
        if (i == zeros_at)
            for (unsigned zeros = canonical_bits(&stream->reader, 2); zeros > 0 && i < n; zeros--)
                lengths[i++] = 0;
    }
    return canonical_make(code, lengths, max);
}

/* The lengths of the code for literals and lengths, which are in a code themselves. */
static bool read_long_lengths(struct lzh_stream *stream, const struct canonical *of_lengths,
                              struct canonical *code)
{
    enum { COUNT_BITS = 9 };
    uint8_t lengths[LENGTHS] = {0};
    const unsigned n = canonical_bits(&stream->reader, COUNT_BITS);

    if (n == 0) {
        code->only = (int)canonical_bits(&stream->reader, COUNT_BITS);
        return true;
    }
    for (unsigned i = 0; i < n && i < LENGTHS;) {
        const int symbol = canonical_symbol(&stream->reader, of_lengths);

        if (symbol < 0)
            return false;
        if (symbol > 2)
            lengths[i++] = (uint8_t)(symbol - 2);
        else
            i += symbol == 0   ? 1
                 : symbol == 1 ? canonical_bits(&stream->reader, 4) + 3
                               : canonical_bits(&stream->reader, COUNT_BITS) + 20;
    }
    return canonical_make(code, lengths, LENGTHS);
}

struct codes {
    struct canonical literals, distances;
};

static bool read_codes(struct lzh_stream *stream, struct codes *codes, unsigned distance_bits)
{
    enum { LENGTH_LENGTHS = 19, LENGTH_BITS = 5, ZEROS_AT = 3 };
    struct canonical of_lengths;

    return read_lengths(stream, &of_lengths, LENGTH_BITS, LENGTH_LENGTHS, ZEROS_AT) &&
           read_long_lengths(stream, &of_lengths, &codes->literals) &&
           read_lengths(stream, &codes->distances, distance_bits, distance_bits == 4 ? 14 : 21, 0);
}

static bool run_static(struct lzh_stream *stream, unsigned distance_bits)
{
    struct codes codes;
    bool more = true;

    while (more && !stream->reader.ended) {
        unsigned left = canonical_bits(&stream->reader, 16);

        if (left == 0)
            left = 1 << 16;
        if (stream->reader.ended || !read_codes(stream, &codes, distance_bits))
            return false;
        for (; left > 0 && more && !stream->reader.ended; left--) {
            const int symbol = canonical_symbol(&stream->reader, &codes.literals);

            if (symbol < 0)
                return false;
            if (symbol < LITERALS) {
                more = lzh_put(stream, (uint8_t)symbol);
                continue;
            }
            const int bits = canonical_symbol(&stream->reader, &codes.distances);
            if (bits < 0 || bits > 22)
                return false;
            const size_t distance = bits <= 1
                                        ? (size_t)bits
                                        : ((size_t)1 << (bits - 1)) +
                                              canonical_bits(&stream->reader, (unsigned)bits - 1);
            more = lzh_copy(stream, distance + 1, (size_t)symbol - LITERALS + LENGTH_MIN);
        }
    }
    return !more;
}

/* ---- ARJ's fastest method -------------------------------------------------------------------- */

/* A number of `first` bits, or, for each one before a zero, of one more. */
static unsigned read_growing(struct lzh_stream *stream, unsigned first, unsigned last)
{
    unsigned bits = first, base = 0;

    while (bits < last && canonical_bits(&stream->reader, 1) == 1)
        base += 1u << bits++;
    return base + (bits > 0 ? canonical_bits(&stream->reader, bits) : 0);
}

static bool run_fastest(struct lzh_stream *stream)
{
    bool more = true;

    while (more && !stream->reader.ended) {
        const unsigned len = read_growing(stream, 0, 7);

        more = len == 0 ? lzh_put(stream, (uint8_t)canonical_bits(&stream->reader, 8))
                        : lzh_copy(stream, read_growing(stream, 9, 13) + (size_t)1,
                                   len - 1 + LENGTH_MIN);
    }
    return !more;
}

/* ---------------------------------------------------------------------------------------------- */

static bool run(struct lzh_stream *stream, enum lzh_method method)
{
    switch (method) {
    case LZH_ADAPTIVE:
        return lzh_adaptive(stream);
    case LZH_LZS:
        return lzh_lzs(stream);
    case LZH_LZ5:
        return lzh_lz5(stream);
    case LZH_FASTEST:
        return run_fastest(stream);
    default:
        return run_static(stream, method == LZH_4K ? 4 : 5);
    }
}

bool lzh_unpack(enum lzh_method method, const uint8_t *in, size_t len, uint64_t out_len,
                struct unpack_buffer *buffer)
{
    size_t room = out_len < SIZE_MAX / 4 ? (size_t)out_len : SIZE_MAX / 4;

    if (method == LZH_STORED) {
        (void)unpack_buffer_add(buffer, in, room < len ? room : len);
        return room <= len;
    }
    uint8_t *out = unpack_buffer_room(buffer, &room);
    if (out == NULL)
        return out_len == 0;
    struct lzh_stream stream = {
        .reader = {.in = in, .len = len, .highest_first = true}, .out = out, .out_len = room};
    const bool whole = run(&stream, method);
    buffer->len += stream.n;
    return whole;
}

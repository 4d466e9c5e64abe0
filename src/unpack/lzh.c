/* SPDX-License-Identifier: MIT */
/* LHA's blocks of static codes (-lh4- to -lh7-, ARJ), and ARJ's fastest method. Codes are decoded
 * bit by bit: the formats are rare. */
#include "unpack/lzh_internal.h"

enum { LITERALS = 256, LENGTHS = 510, LENGTH_MIN = 3 };

/* ---- static codes ---------------------------------------------------------------------------- */

/* Code lengths as three bits, and more in unary; *n lengths of `max`. A run of zeros may stand
 * behind the length number `zeros_at`. */
static bool read_lengths(struct lzh_stream *stream, struct lzh_code *code, unsigned count_bits,
                         unsigned max, unsigned zeros_at)
{
    uint8_t lengths[32] = {0};
    const unsigned n = lzh_bits(stream, count_bits);

    if (n == 0) {
        code->only = (int)lzh_bits(stream, count_bits);
        return true;
    }
    if (n > max)
        return false;
    for (unsigned i = 0; i < n;) {
        unsigned bits = lzh_bits(stream, 3);

        if (bits == 7)
            while (bits < LZH_BITS_MAX && lzh_bits(stream, 1) == 1)
                bits++;
        lengths[i++] = (uint8_t)bits;
        if (i == zeros_at)
            for (unsigned zeros = lzh_bits(stream, 2); zeros > 0 && i < n; zeros--)
                lengths[i++] = 0;
    }
    return lzh_code_make(code, lengths, max);
}

/* The lengths of the code for literals and lengths, which are in a code themselves. */
static bool read_long_lengths(struct lzh_stream *stream, const struct lzh_code *of_lengths,
                              struct lzh_code *code)
{
    enum { COUNT_BITS = 9 };
    uint8_t lengths[LENGTHS] = {0};
    const unsigned n = lzh_bits(stream, COUNT_BITS);

    if (n == 0) {
        code->only = (int)lzh_bits(stream, COUNT_BITS);
        return true;
    }
    for (unsigned i = 0; i < n && i < LENGTHS;) {
        const int symbol = lzh_symbol(stream, of_lengths);

        if (symbol < 0)
            return false;
        if (symbol > 2)
            lengths[i++] = (uint8_t)(symbol - 2);
        else
            i += symbol == 0   ? 1
                 : symbol == 1 ? lzh_bits(stream, 4) + 3
                               : lzh_bits(stream, COUNT_BITS) + 20;
    }
    return lzh_code_make(code, lengths, LENGTHS);
}

struct codes {
    struct lzh_code literals, distances;
};

static bool read_codes(struct lzh_stream *stream, struct codes *codes, unsigned distance_bits)
{
    enum { LENGTH_LENGTHS = 19, LENGTH_BITS = 5, ZEROS_AT = 3 };
    struct lzh_code of_lengths;

    return read_lengths(stream, &of_lengths, LENGTH_BITS, LENGTH_LENGTHS, ZEROS_AT) &&
           read_long_lengths(stream, &of_lengths, &codes->literals) &&
           read_lengths(stream, &codes->distances, distance_bits, distance_bits == 4 ? 14 : 21, 0);
}

static bool run_static(struct lzh_stream *stream, unsigned distance_bits)
{
    struct codes codes;
    bool more = true;

    while (more && !stream->ended) {
        unsigned left = lzh_bits(stream, 16);

        if (left == 0)
            left = 1 << 16;
        if (stream->ended || !read_codes(stream, &codes, distance_bits))
            return false;
        for (; left > 0 && more && !stream->ended; left--) {
            const int symbol = lzh_symbol(stream, &codes.literals);

            if (symbol < 0)
                return false;
            if (symbol < LITERALS) {
                more = lzh_put(stream, (uint8_t)symbol);
                continue;
            }
            const int bits = lzh_symbol(stream, &codes.distances);
            if (bits < 0 || bits > 22)
                return false;
            const size_t distance =
                bits <= 1 ? (size_t)bits
                          : ((size_t)1 << (bits - 1)) + lzh_bits(stream, (unsigned)bits - 1);
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

    while (bits < last && lzh_bits(stream, 1) == 1)
        base += 1u << bits++;
    return base + (bits > 0 ? lzh_bits(stream, bits) : 0);
}

static bool run_fastest(struct lzh_stream *stream)
{
    bool more = true;

    while (more && !stream->ended) {
        const unsigned len = read_growing(stream, 0, 7);

        more = len == 0 ? lzh_put(stream, (uint8_t)lzh_bits(stream, 8))
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
    struct lzh_stream stream = {.in = in, .len = len, .out = out, .out_len = room};
    const bool whole = run(&stream, method);
    buffer->len += stream.n;
    return whole;
}

/* SPDX-License-Identifier: MIT */
#include "unpack/inflate64.h"

#include <string.h>

#include "unpack/canonical.h"

enum { LITERALS = 288, DISTANCES = 32 };

static bool add_byte(struct unpack_buffer *buffer, uint8_t byte)
{
    return unpack_buffer_add(buffer, &byte, 1);
}

static bool copy_match(struct unpack_buffer *buffer, size_t distance, size_t len)
{
    if (distance > buffer->len)
        return false;
    while (len-- > 0)
        if (!add_byte(buffer, buffer->bytes[buffer->len - distance]))
            return false;
    return true;
}

static size_t take_len(struct canonical_reader *reader, unsigned symbol)
{
    static const uint16_t base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 3};
    static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 16};

    return base[symbol] + canonical_bits(reader, extra[symbol]);
}

static size_t take_distance(struct canonical_reader *reader, unsigned symbol)
{
    if (symbol < 2)
        return symbol + 1;
    const unsigned extra = symbol / 2 - 1;
    return (((size_t)2 + symbol % 2) << extra) + 1 + canonical_bits(reader, extra);
}

static bool take_block(struct canonical_reader *reader, struct unpack_buffer *buffer,
                       const struct canonical *literals, const struct canonical *distances)
{
    enum { END = 256, FIRST_LEN = 257, LAST_LEN = 285 };

    while (!reader->ended) {
        const int symbol = canonical_symbol(reader, literals);

        if (symbol == END)
            return true;
        if (symbol < 0 || symbol > LAST_LEN)
            return false;
        if (symbol < END) {
            if (!add_byte(buffer, (uint8_t)symbol))
                return false;
            continue;
        }
        const size_t len = take_len(reader, (unsigned)symbol - FIRST_LEN);
        const int distance = canonical_symbol(reader, distances);
        if (distance < 0 || !copy_match(buffer, take_distance(reader, (unsigned)distance), len))
            return false;
    }
    return false;
}

static bool take_stored(struct canonical_reader *reader, struct unpack_buffer *buffer)
{
    (void)canonical_bits(reader, reader->n_bits % 8);
    const uint32_t len = canonical_bits(reader, 16);

    (void)canonical_bits(reader, 16);
    for (uint32_t i = 0; i < len && !reader->ended; i++)
        if (!add_byte(buffer, (uint8_t)canonical_bits(reader, 8)))
            return false;
    return !reader->ended;
}

/* The lengths of both codes, which are themselves packed. */
static bool take_codes(struct canonical_reader *reader, struct canonical *literals,
                       struct canonical *distances)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    const unsigned n_literals = canonical_bits(reader, 5) + 257,
                   n_distances = canonical_bits(reader, 5) + 1;
    const unsigned n = canonical_bits(reader, 4) + 4;
    struct canonical code;

    for (unsigned i = 0; i < n; i++)
        lengths[order[i]] = (uint8_t)canonical_bits(reader, 3);
    if (n_literals > LITERALS || !canonical_make(&code, lengths, sizeof order))
        return false;
    memset(lengths, 0, sizeof lengths);
    for (unsigned i = 0; i < n_literals + n_distances;) {
        const int symbol = canonical_symbol(reader, &code);
        const uint8_t last = i > 0 ? lengths[i - 1] : 0;

        if (symbol < 0 || (symbol == 16 && i == 0))
            return false;
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        unsigned times = symbol == 16   ? 3 + canonical_bits(reader, 2)
                         : symbol == 17 ? 3 + canonical_bits(reader, 3)
                                        : 11 + canonical_bits(reader, 7);
        if (times > n_literals + n_distances - i)
            return false;
        while (times-- > 0)
            lengths[i++] = symbol == 16 ? last : 0;
    }
    return canonical_make(literals, lengths, n_literals) &&
           canonical_make(distances, lengths + n_literals, n_distances);
}

static bool make_fixed(struct canonical *literals, struct canonical *distances)
{
    uint8_t lengths[LITERALS];

    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    if (!canonical_make(literals, lengths, LITERALS))
        return false;
    memset(lengths, 5, DISTANCES);
    return canonical_make(distances, lengths, DISTANCES);
}

bool inflate64(const uint8_t *in, size_t len, struct unpack_buffer *buffer, size_t *used)
{
    struct canonical_reader reader = {.in = in, .len = len};
    struct canonical literals, distances;
    bool last = false, good = true;

    while (!last && good) {
        last = canonical_bits(&reader, 1) != 0;
        switch (canonical_bits(&reader, 2)) {
        case 0:
            good = take_stored(&reader, buffer);
            break;
        case 1:
            good = make_fixed(&literals, &distances) &&
                   take_block(&reader, buffer, &literals, &distances);
            break;
        case 2:
            good = take_codes(&reader, &literals, &distances) &&
                   take_block(&reader, buffer, &literals, &distances);
            break;
        default:
            good = false;
        }
        good = good && !reader.ended;
    }
    *used = reader.at;
    return good;
}

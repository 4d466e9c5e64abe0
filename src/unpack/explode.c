/* SPDX-License-Identifier: MIT */
#include "unpack/explode.h"

#include "unpack/canonical.h"

enum { LARGE = 2, LITERALS = 4, /* flags: a window of 8 KiB, bytes have a code */ BYTES = 256 };

struct codes {
    struct canonical literals, lengths, distances;
};

/* The lengths of a code, in runs: of each the length, and how many symbols have it. */
static bool take_code(struct canonical_reader *reader, struct canonical *code, unsigned n)
{
    uint8_t lengths[BYTES];
    unsigned have = 0;

    for (unsigned runs = canonical_bits(reader, 8) + 1; runs > 0; runs--) {
        const unsigned len = canonical_bits(reader, 4) + 1;
        const unsigned times = canonical_bits(reader, 4) + 1;

        if (times > n - have)
            return false;
        for (unsigned i = 0; i < times; i++)
            lengths[have++] = (uint8_t)len;
    }
    if (have < n || reader->ended || !canonical_make(code, lengths, n))
        return false;
    code->inverted = true;
    return true;
}

static bool take_codes(struct canonical_reader *reader, unsigned flags, struct codes *codes)
{
    enum { N = 64 };

    return ((flags & LITERALS) == 0 || take_code(reader, &codes->literals, BYTES)) &&
           take_code(reader, &codes->lengths, N) && take_code(reader, &codes->distances, N);
}

static bool add_byte(struct unpack_buffer *buffer, int byte)
{
    const uint8_t value = (uint8_t)byte;

    return byte >= 0 && unpack_buffer_add(buffer, &value, 1);
}

/* Before the first byte lie zeros. */
static bool take_match(struct canonical_reader *reader, unsigned flags, const struct codes *codes,
                       uint64_t end, struct unpack_buffer *buffer)
{
    enum { LONGEST = 63 };
    const unsigned n_low = (flags & LARGE) != 0 ? 7 : 6;
    const unsigned low = canonical_bits(reader, n_low);
    const int high = canonical_symbol(reader, &codes->distances);
    const int symbol = canonical_symbol(reader, &codes->lengths);

    if (high < 0 || symbol < 0)
        return false;
    const size_t distance = ((size_t)high << n_low | low) + 1;
    unsigned len = (unsigned)symbol + ((flags & LITERALS) != 0 ? 3 : 2);
    if (symbol == LONGEST)
        len += canonical_bits(reader, 8);
    for (; len > 0 && buffer->len < end; len--)
        if (!add_byte(buffer, distance <= buffer->len ? buffer->bytes[buffer->len - distance] : 0))
            return false;
    return true;
}

bool explode(const uint8_t *in, size_t len, unsigned flags, uint64_t full_len,
             struct unpack_buffer *buffer, size_t *used)
{
    struct canonical_reader reader = {.in = in, .len = len};
    const uint64_t end = buffer->len + full_len;
    struct codes codes;
    bool good = take_codes(&reader, flags, &codes);

    while (good && buffer->len < end) {
        if (canonical_bits(&reader, 1) == 0)
            good = take_match(&reader, flags, &codes, end, buffer);
        else
            good = add_byte(buffer, (flags & LITERALS) != 0
                                        ? canonical_symbol(&reader, &codes.literals)
                                        : (int)canonical_bits(&reader, 8));
        good = good && !reader.ended;
    }
    *used = reader.at;
    return good || buffer->cut;
}

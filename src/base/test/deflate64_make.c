/* SPDX-License-Identifier: MIT */
#include "deflate64_make.h"

#include "test.h"

enum { CODE_LEN_MAX = 15, SYMBOLS = 286, DISTANCES = 32, END = 256, OUT_MAX = 1 << 20 };

struct writer {
    uint8_t *to;
    uint64_t *seed;
    uint32_t bits; /* that are written */
    uint32_t out;  /* bytes that they stand for */
};

static void put_bits(struct writer *writer, uint32_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++, writer->bits++) {
        uint8_t *const byte = writer->to + writer->bits / 8;

        *byte =
            (uint8_t)((writer->bits % 8 == 0 ? 0 : *byte) | (value >> i & 1) << writer->bits % 8);
    }
}

/* The lengths and the codes of symbols; length 0: the symbol is not used. */
struct code {
    uint8_t lengths[SYMBOLS];
    uint16_t codes[SYMBOLS];
};

static void number_codes(struct code *code, unsigned n)
{
    unsigned next = 0;

    for (unsigned len = 1; len <= CODE_LEN_MAX; len++, next *= 2)
        for (unsigned i = 0; i < n; i++)
            if (code->lengths[i] == len)
                code->codes[i] = (uint16_t)next++;
}

/* A random code of two symbols or more, of which one is `needed`. */
static void make_code(struct writer *writer, struct code *code, unsigned n, unsigned needed)
{
    const unsigned wanted = 2 + test_below(writer->seed, n - 1);
    uint8_t leaves[SYMBOLS] = {1, 1};

    for (unsigned n_leaves = 2; n_leaves < wanted;) {
        uint8_t *const leaf = &leaves[test_below(writer->seed, n_leaves)];

        if (*leaf < CODE_LEN_MAX)
            leaves[n_leaves++] = ++*leaf;
    }
    memset(code, 0, sizeof *code);
    for (unsigned i = 0, at = needed; i < wanted; i++) {
        code->lengths[at] = leaves[i];
        while (code->lengths[at] != 0 && i + 1 < wanted)
            at = test_below(writer->seed, n);
    }
    number_codes(code, n);
}

/* The first bit of a code is its highest. */
static void put_symbol(struct writer *writer, const struct code *code, unsigned symbol)
{
    for (unsigned i = code->lengths[symbol]; i-- > 0;)
        put_bits(writer, code->codes[symbol] >> i, 1);
}

/* Lengths of 4 bits each. */
static void put_codes(struct writer *writer, const struct code *symbols,
                      const struct code *distances)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    struct code code = {{0}, {0}};

    put_bits(writer, SYMBOLS - 257, 5);
    put_bits(writer, DISTANCES - 1, 5);
    put_bits(writer, sizeof order - 4, 4);
    for (unsigned i = 0; i < sizeof order; i++)
        put_bits(writer, order[i] < 16 ? 4 : 0, 3);
    memset(code.lengths, 4, 16);
    number_codes(&code, 16);
    for (unsigned i = 0; i < SYMBOLS; i++)
        put_symbol(writer, &code, symbols->lengths[i]);
    for (unsigned i = 0; i < DISTANCES; i++)
        put_symbol(writer, &code, distances->lengths[i]);
}

static void make_fixed(struct code *symbols, struct code *distances)
{
    memset(symbols->lengths, 8, 144);
    memset(symbols->lengths + 144, 9, 112);
    memset(symbols->lengths + 256, 7, 24);
    memset(symbols->lengths + 280, 8, 6);
    memset(distances->lengths, 5, DISTANCES);
    number_codes(symbols, SYMBOLS);
    number_codes(distances, DISTANCES);
}

/* The length of a symbol, whose extra bits are random. */
static uint32_t put_len(struct writer *writer, const struct code *code, unsigned symbol)
{
    static const uint16_t base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 3};
    static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 16};
    const unsigned n = extra[symbol - END - 1];
    const uint32_t more = test_below(writer->seed, UINT32_C(1) << n);

    put_symbol(writer, code, symbol);
    put_bits(writer, more, n);
    return base[symbol - END - 1] + more;
}

/* A literal, or a match where the window has its distance. */
static void put_random(struct writer *writer, const struct code *symbols,
                       const struct code *distances)
{
    const unsigned symbol = test_below(writer->seed, SYMBOLS);
    const unsigned far = test_below(writer->seed, DISTANCES);
    const unsigned n = far < 2 ? 0 : far / 2 - 1;
    const uint32_t base = far < 2 ? far + 1 : ((2 + far % 2) << n) + 1;

    if (symbols->lengths[symbol] == 0 || symbol == END)
        return;
    if (symbol < END) {
        put_symbol(writer, symbols, symbol);
        writer->out++;
    } else if (distances->lengths[far] != 0 && base <= writer->out) {
        const uint32_t room = writer->out - base + 1, most = UINT32_C(1) << n;

        writer->out += put_len(writer, symbols, symbol);
        put_symbol(writer, distances, far);
        put_bits(writer, test_below(writer->seed, room < most ? room : most), n);
    }
}

static void put_stored(struct writer *writer)
{
    const uint32_t len = test_below(writer->seed, 300);

    put_bits(writer, 0, (8 - writer->bits % 8) % 8);
    put_bits(writer, len, 16);
    put_bits(writer, ~len, 16);
    for (uint32_t i = 0; i < len; i++)
        put_bits(writer, test_below(writer->seed, 256), 8);
    writer->out += len;
}

static void put_block(struct writer *writer, bool is_last)
{
    struct code symbols = {{0}, {0}}, distances = {{0}, {0}};
    const uint32_t kind = test_below(writer->seed, 3), times = test_below(writer->seed, 4000);

    put_bits(writer, is_last, 1);
    put_bits(writer, kind, 2);
    if (kind == 0) {
        put_stored(writer);
        return;
    }
    if (kind == 1) {
        make_fixed(&symbols, &distances);
    } else {
        make_code(writer, &symbols, SYMBOLS, END);
        make_code(writer, &distances, DISTANCES, 0);
        put_codes(writer, &symbols, &distances);
    }
    for (uint32_t i = 0; i < times && writer->out < OUT_MAX; i++)
        put_random(writer, &symbols, &distances);
    put_symbol(writer, &symbols, END);
}

/* A block of 4,000 symbols has at most 4,000 times 60 bits. */
uint32_t deflate64_make(uint8_t *to, uint32_t room, uint64_t *seed)
{
    enum { BLOCK_MAX = 32 << 10 };
    struct writer writer = {.to = to, .seed = seed};
    uint32_t blocks = test_below(seed, 6);

    while (blocks-- > 0 && writer.bits / 8 + 2 * BLOCK_MAX < room)
        put_block(&writer, false);
    put_block(&writer, true);
    return (writer.bits + 7) / 8;
}

/* SPDX-License-Identifier: MIT */
#include "inflate64_ref.h"

#include <stdbool.h>
#include <string.h>

enum { CODE_LEN_MAX = 15, SYMBOLS = 288, DISTANCES = 32 };

struct reader {
    const uint8_t *in;
    size_t len, at; /* `at` counts bits */
    bool ended;     /* more bits were asked for than there are: what was read means nothing */
};

static uint32_t read_bits(struct reader *reader, unsigned n)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < n; i++, reader->at++) {
        if (reader->at / 8 >= reader->len) {
            reader->ended = true;
            return 0;
        }
        value |= (uint32_t)(reader->in[reader->at / 8] >> reader->at % 8 & 1) << i;
    }
    return value;
}

/* ---- codes ----------------------------------------------------------------------------------- */

struct code {
    uint16_t n[CODE_LEN_MAX + 1]; /* codes of each length */
    uint16_t symbols[SYMBOLS];    /* in the order of their codes */
    unsigned n_symbols;
};

/* False: the code has too many symbols, or too few. */
static bool make_code(struct code *code, const uint8_t *lengths, unsigned n, bool may_be_single)
{
    unsigned at = 0, longest = 0;
    int left = 1;

    memset(code, 0, sizeof *code);
    for (unsigned len = 1; len <= CODE_LEN_MAX; len++) {
        for (unsigned i = 0; i < n; i++)
            if (lengths[i] == len) {
                code->symbols[at++] = (uint16_t)i;
                code->n[len]++;
                longest = len;
            }
        left = 2 * left - code->n[len];
        if (left < 0)
            return false;
    }
    code->n_symbols = at;
    return left == 0 || at == 0 || (longest == 1 && may_be_single);
}

/* -1: no code, of one bit. */
static int read_symbol(struct reader *reader, const struct code *code)
{
    int value = 0, first = 0, index = 0;

    for (unsigned len = 1; len <= CODE_LEN_MAX && !reader->ended; len++) {
        value |= (int)read_bits(reader, 1);
        if (value - code->n[len] < first)
            return code->symbols[index + value - first];
        if (code->n_symbols < 2)
            return -1;
        index += code->n[len];
        first = (first + code->n[len]) << 1;
        value <<= 1;
    }
    return -1;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

struct work {
    struct reader reader;
    struct code symbols, distances;
    struct inflated *to;
};

static void add_byte(struct inflated *to, uint8_t byte)
{
    if (to->len < INFLATED_MAX)
        to->bytes[to->len++] = byte;
}

static size_t read_len(struct reader *reader, unsigned symbol)
{
    static const uint16_t base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 3};
    static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 16};

    return base[symbol] + read_bits(reader, extra[symbol]);
}

static size_t read_distance(struct reader *reader, unsigned symbol)
{
    const unsigned extra = symbol < 2 ? 0 : symbol / 2 - 1;

    return symbol < 2 ? symbol + 1
                      : (((size_t)2 + symbol % 2) << extra) + 1 + read_bits(reader, extra);
}

/* False: it is damaged, or its end is not there. */
static bool read_block(struct work *work)
{
    enum { END = 256, FIRST_LEN = 257, LAST_LEN = 285 };
    struct reader *const reader = &work->reader;
    struct inflated *const to = work->to;

    for (;;) {
        const int symbol = read_symbol(reader, &work->symbols);

        if (reader->ended || symbol < 0 || symbol > LAST_LEN)
            return false;
        if (symbol == END)
            return true;
        if (symbol < END) {
            add_byte(to, (uint8_t)symbol);
            continue;
        }
        size_t len = read_len(reader, (unsigned)symbol - FIRST_LEN);
        const int far = read_symbol(reader, &work->distances);
        const size_t distance = far >= 0 ? read_distance(reader, (unsigned)far) : 0;
        if (reader->ended || far < 0 || distance > to->len)
            return false;
        while (len-- > 0 && to->len < INFLATED_MAX)
            add_byte(to, to->bytes[to->len - distance]);
    }
}

static bool read_stored(struct work *work)
{
    struct reader *const reader = &work->reader;

    reader->at = (reader->at + 7) / 8 * 8;
    const uint32_t len = read_bits(reader, 16), inverted = read_bits(reader, 16);

    if (reader->ended || (len ^ inverted) != 0xFFFF)
        return false;
    for (uint32_t i = 0; i < len; i++) {
        const uint8_t byte = (uint8_t)read_bits(reader, 8);

        if (reader->ended)
            return false;
        add_byte(work->to, byte);
    }
    return true;
}

static bool read_lengths(struct reader *reader, const struct code *code, uint8_t *lengths,
                         unsigned n)
{
    static const uint8_t base[] = {3, 3, 11}, extra[] = {2, 3, 7};

    for (unsigned i = 0; i < n;) {
        int symbol = read_symbol(reader, code);

        if (code->n_symbols == 0)
            symbol = 0;
        if (reader->ended)
            return false;
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        unsigned times = base[symbol - 16] + read_bits(reader, extra[symbol - 16]);
        if (reader->ended || (symbol == 16 && i == 0) || times > n - i)
            return false;
        for (const uint8_t last = symbol == 16 ? lengths[i - 1] : 0; times > 0; times--)
            lengths[i++] = last;
    }
    return true;
}

static bool read_codes(struct work *work)
{
    enum { SYMBOLS_MAX = 286, END = 256 };
    static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    struct reader *const reader = &work->reader;
    uint8_t lengths[SYMBOLS + DISTANCES] = {0};
    const unsigned n_symbols = read_bits(reader, 5) + 257, n_distances = read_bits(reader, 5) + 1;
    const unsigned n = read_bits(reader, 4) + 4;
    struct code code;

    if (reader->ended || n_symbols > SYMBOLS_MAX)
        return false;
    for (unsigned i = 0; i < n; i++)
        lengths[order[i]] = (uint8_t)read_bits(reader, 3);
    if (reader->ended || !make_code(&code, lengths, sizeof order, false))
        return false;
    memset(lengths, 0, sizeof lengths);
    return read_lengths(reader, &code, lengths, n_symbols + n_distances) && lengths[END] != 0 &&
           make_code(&work->symbols, lengths, n_symbols, true) &&
           make_code(&work->distances, lengths + n_symbols, n_distances, true);
}

static void make_fixed(struct work *work)
{
    uint8_t lengths[SYMBOLS];

    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    (void)make_code(&work->symbols, lengths, SYMBOLS, false);
    memset(lengths, 5, DISTANCES);
    (void)make_code(&work->distances, lengths, DISTANCES, false);
}

void inflate64_by_bits(struct inflated *to, const uint8_t *in, size_t len)
{
    struct work work = {.reader = {.in = in, .len = len}, .to = to};
    bool last = false, good = true;

    to->len = 0;
    while (!last && good) {
        last = read_bits(&work.reader, 1) != 0;
        const uint32_t kind = read_bits(&work.reader, 2);

        if (kind == 1)
            make_fixed(&work);
        good = !work.reader.ended && kind != 3 &&
               (kind == 0 ? read_stored(&work)
                          : (kind == 1 || read_codes(&work)) && read_block(&work));
    }
    to->used = work.reader.ended ? len : (work.reader.at + 7) / 8;
    to->status = good ? INFLATE_OVER : work.reader.ended ? INFLATE_GOES_ON : INFLATE_DAMAGED;
}

/* SPDX-License-Identifier: MIT */
#include "unpack/bunzip2_code.h"

#include <string.h>

enum {
    GROUP = 50, /* symbols that a selector is for */
    TABLES_MIN = 2,
    RUN_A = 0,
    RUN_B = 1,
    LENGTH_BITS = 5 /* of a code, in an entry of a table */
};

/* ---- bits ------------------------------------------------------------------------------------ */

static void fill(struct bzip2_bits *bits)
{
    while (bits->n <= 56 && bits->at < bits->end) {
        bits->bits |= (uint64_t)*bits->at++ << (56 - bits->n);
        bits->n += 8;
    }
}

static void drop(struct bzip2_bits *bits, unsigned n)
{
    bits->ended |= n > bits->n;
    bits->bits <<= n;
    bits->n = n < bits->n ? bits->n - n : 0;
}

uint32_t bzip2_take(struct bzip2_bits *bits, unsigned n)
{
    if (bits->n < n)
        fill(bits);
    const uint32_t value = (uint32_t)(bits->bits >> (64 - n));
    drop(bits, n);
    return value;
}

size_t bzip2_used(const struct bzip2_bits *bits, const uint8_t *in)
{
    return (size_t)(bits->at - in) - bits->n / 8;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The lengths of codes are told by their differences. */
static bool take_lengths(struct bzip2_bits *bits, uint8_t *lengths, unsigned n)
{
    unsigned length = bzip2_take(bits, 5);

    for (unsigned i = 0; i < n; i++) {
        while (length >= 1 && length <= BZIP2_BITS_MAX && bzip2_take(bits, 1) != 0)
            length += bzip2_take(bits, 1) != 0 ? -1u : 1u;
        if (length < 1 || length > BZIP2_BITS_MAX)
            return false;
        lengths[i] = (uint8_t)length;
    }
    return !bits->ended;
}

/* Enters a code into the places that begin with it. */
static void enter_near(struct bzip2_table *table, uint32_t code, unsigned length, unsigned symbol)
{
    const unsigned spare = BZIP2_BITS_NEAR - length;

    for (uint32_t i = 0; i < 1u << spare; i++)
        table->near[(code << spare) + i] = (uint16_t)(symbol << LENGTH_BITS | length);
}

static bool make_table(struct bzip2_table *table, const uint8_t *lengths, unsigned n)
{
    uint32_t code = 0;
    unsigned at = 0;

    memset(table->near, 0, sizeof table->near);
    for (unsigned length = 1; length <= BZIP2_BITS_MAX; length++) {
        code <<= 1;
        table->first[length] = code;
        table->at[length] = (uint16_t)at;
        for (unsigned symbol = 0; symbol < n; symbol++) {
            if (lengths[symbol] != length)
                continue;
            if (code >> length != 0) /* more codes than there are */
                return false;
            if (length <= BZIP2_BITS_NEAR)
                enter_near(table, code, length, symbol);
            table->symbols[at++] = (uint16_t)symbol;
            code++;
        }
        table->end[length] = code << (BZIP2_BITS_MAX - length);
    }
    return true;
}

/* A symbol; BZIP2_SYMBOLS_MAX: there is no such code. */
static unsigned take_symbol(struct bzip2_bits *bits, const struct bzip2_table *table)
{
    if (bits->n < BZIP2_BITS_MAX)
        fill(bits);
    const unsigned near = table->near[bits->bits >> (64 - BZIP2_BITS_NEAR)];
    if (near != 0) {
        drop(bits, near & ((1u << LENGTH_BITS) - 1));
        return near >> LENGTH_BITS;
    }
    const uint32_t code = (uint32_t)(bits->bits >> (64 - BZIP2_BITS_MAX));
    for (unsigned length = BZIP2_BITS_NEAR + 1; length <= BZIP2_BITS_MAX; length++)
        if (code < table->end[length]) {
            const uint32_t number =
                (code >> (BZIP2_BITS_MAX - length)) - table->first[length] + table->at[length];

            drop(bits, length);
            return table->symbols[number];
        }
    return BZIP2_SYMBOLS_MAX;
}

/* ---- the head of a block --------------------------------------------------------------------- */

/* The bytes that a block has, in order. */
static bool take_list(struct bzip2_code *code)
{
    const uint32_t groups = bzip2_take(&code->bits, 16);
    unsigned n = 0;

    for (unsigned group = 0; group < 16; group++) {
        const uint32_t some = (groups >> (15 - group) & 1) != 0 ? bzip2_take(&code->bits, 16) : 0;

        for (unsigned i = 0; i < 16; i++)
            if ((some >> (15 - i) & 1) != 0)
                code->list[n++] = (uint8_t)(16 * group + i);
    }
    code->n_symbols = n + 2;
    return n > 0;
}

static bool take_selectors(struct bzip2_code *code)
{
    uint8_t order[BZIP2_TABLES_MAX] = {0, 1, 2, 3, 4, 5};

    code->n_tables = bzip2_take(&code->bits, 3);
    code->n_selectors = bzip2_take(&code->bits, 15);
    if (code->n_tables < TABLES_MIN || code->n_tables > BZIP2_TABLES_MAX || code->n_selectors == 0)
        return false;
    for (unsigned i = 0; i < code->n_selectors; i++) {
        unsigned at = 0;

        while (bzip2_take(&code->bits, 1) != 0)
            if (++at == code->n_tables)
                return false;
        const uint8_t selector = order[at];
        memmove(order + 1, order, at);
        order[0] = code->selectors[i] = selector;
    }
    return !code->bits.ended;
}

static bool take_tables(struct bzip2_code *code)
{
    uint8_t lengths[BZIP2_SYMBOLS_MAX] = {0};

    for (unsigned i = 0; i < code->n_tables; i++)
        if (!take_lengths(&code->bits, lengths, code->n_symbols) ||
            !make_table(&code->tables[i], lengths, code->n_symbols))
            return false;
    return true;
}

/* ---- symbols --------------------------------------------------------------------------------- */

/* The byte at a place of the list, which becomes the first. */
static uint8_t move_to_front(uint8_t *list, unsigned at)
{
    const uint8_t byte = list[at];

    memmove(list + 1, list, at);
    list[0] = byte;
    return byte;
}

/* Symbols up to the last one, whose number is the highest. */
static bool take_rows(struct bzip2_code *code, uint32_t *rows, uint32_t len_max, uint32_t *n)
{
    uint32_t at = 0, run = 0, place = 1;

    for (unsigned group = 0; group < code->n_selectors; group++) {
        const struct bzip2_table *table = &code->tables[code->selectors[group]];

        for (unsigned i = 0; i < GROUP; i++) {
            const unsigned symbol = take_symbol(&code->bits, table);

            if (symbol <= RUN_B) {
                if (place > len_max)
                    return false;
                run += place << symbol;
                place <<= 1;
                continue;
            }
            if (run > len_max - at)
                return false;
            for (; run > 0; run--)
                rows[at++] = code->list[0];
            place = 1;
            *n = at;
            if (symbol >= code->n_symbols - 1)
                return symbol == code->n_symbols - 1 && !code->bits.ended;
            if (at == len_max || code->bits.ended)
                return false;
            rows[at++] = move_to_front(code->list, symbol - 1);
        }
    }
    return false;
}

bool bzip2_code_block(struct bzip2_code *code, uint32_t *rows, uint32_t len_max, uint32_t *n,
                      uint32_t *origin, uint32_t *sum)
{
    *sum = bzip2_take(&code->bits, 32);
    const bool randomised = bzip2_take(&code->bits, 1) != 0;
    *origin = bzip2_take(&code->bits, 24);
    return !randomised && take_list(code) && take_selectors(code) && take_tables(code) &&
           take_rows(code, rows, len_max, n) && *origin < *n;
}

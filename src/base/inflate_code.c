/* SPDX-License-Identifier: MIT */
#include "base/inflate_code.h"

#include <string.h>

/* ---- entries, without the bits of their codes ------------------------------------------------ */

typedef uint32_t entry_of(unsigned symbol);

static uint32_t symbol_entry(unsigned symbol)
{
    static const uint16_t base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

    if (symbol < INFLATE_END_OF_BLOCK)
        return INFLATE_LITERAL | symbol << INFLATE_BASE_SHIFT;
    if (symbol == INFLATE_END_OF_BLOCK)
        return INFLATE_END;
    symbol -= INFLATE_END_OF_BLOCK + 1;
    if (symbol >= sizeof base / sizeof base[0])
        return INFLATE_INVALID;
    return (uint32_t)base[symbol] << INFLATE_BASE_SHIFT | extra[symbol];
}

/* Deflate64's last length has 16 extra bits. */
static uint32_t symbol_64_entry(unsigned symbol)
{
    enum { LAST_LEN = 285 };

    if (symbol != LAST_LEN)
        return symbol_entry(symbol);
    return INFLATE_LONG | 16 | 3u << INFLATE_BASE_SHIFT;
}

static uint32_t distance_64_entry(unsigned symbol)
{
    const uint32_t extra = symbol < 2 ? 0 : symbol / 2 - 1;
    const uint32_t base = symbol < 2 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;

    return base << INFLATE_BASE_SHIFT | extra;
}

static uint32_t distance_entry(unsigned symbol)
{
    enum { N = 30 };

    return symbol < N ? distance_64_entry(symbol) : INFLATE_INVALID;
}

static uint32_t length_entry(unsigned symbol)
{
    return symbol << INFLATE_BASE_SHIFT;
}

/* ---- codes ----------------------------------------------------------------------------------- */

/* The symbols of a code in the order of their codes, the shortest first. */
struct order {
    uint16_t count[INFLATE_CODE_LEN_MAX + 1]; /* of each length */
    uint16_t symbol[INFLATE_SYMBOLS];
    unsigned n, longest;
};

/* False: no such code can be. One may be incomplete if it has no symbol, or one of a single bit. A
 * code of lengths may not have the one. */
static bool sort_symbols(struct order *order, const uint8_t *lengths, unsigned n, bool of_lengths)
{
    uint16_t at[INFLATE_CODE_LEN_MAX + 2] = {0};
    int left = 1;

    memset(order, 0, sizeof *order);
    for (unsigned i = 0; i < n; i++)
        order->count[lengths[i]]++;
    for (unsigned len = 1; len <= INFLATE_CODE_LEN_MAX; len++) {
        left = 2 * left - order->count[len];
        if (left < 0)
            return false;
        if (order->count[len] != 0)
            order->longest = len;
        at[len + 1] = (uint16_t)(at[len] + order->count[len]);
    }
    order->n = at[INFLATE_CODE_LEN_MAX + 1];
    for (unsigned i = 0; i < n; i++)
        if (lengths[i] != 0)
            order->symbol[at[lengths[i]]++] = (uint16_t)i;
    return left == 0 || order->longest == 0 || (order->longest == 1 && !of_lengths);
}

/* The first bit of a code comes in the lowest bit. */
static unsigned reversed(unsigned code, unsigned len)
{
    unsigned to = 0;

    for (unsigned i = 0; i < len; i++)
        to |= (code >> i & 1) << (len - 1 - i);
    return to;
}

/* Bits that the table of a link decides. Its first code has len bits, and `count` has what is left
 * of each length. */
static unsigned bits_of_link(const uint16_t *count, unsigned len, unsigned root, unsigned longest)
{
    unsigned bits = len - root;
    int left = 1 << bits;

    while (bits + root < longest) {
        left -= count[bits + root];
        if (left <= 0)
            break;
        bits++;
        left *= 2;
    }
    return bits;
}

/* A table whose entries are written. */
struct making {
    uint32_t *table;
    unsigned root;
    uint32_t used;                         /* entries */
    uint32_t link, link_bits, linked_from; /* the last link: its table, and its own place */
};

static void fill(uint32_t *table, uint32_t from, uint32_t step, uint32_t n, uint32_t entry)
{
    for (uint32_t i = from; i < n; i += step)
        table[i] = entry;
}

static void add_code(struct making *making, const struct order *order, unsigned code, unsigned len,
                     uint32_t entry)
{
    const unsigned root = making->root, at = reversed(code, len);
    const uint32_t place = at & ((1u << root) - 1);

    if (len <= root) {
        fill(making->table, at, 1u << len, 1u << root, entry);
        return;
    }
    if (place != making->linked_from) {
        making->linked_from = place;
        making->link_bits = bits_of_link(order->count, len, root, order->longest);
        making->link = making->used;
        making->used += 1u << making->link_bits;
        making->table[place] = INFLATE_LINK | making->link_bits << INFLATE_CODE_SHIFT |
                               making->link << INFLATE_BASE_SHIFT;
    }
    fill(making->table + making->link, at >> root, 1u << (len - root), 1u << making->link_bits,
         entry);
}

static bool make(uint32_t *table, unsigned root, const uint8_t *lengths, unsigned n,
                 entry_of *entry)
{
    struct making making = {table, root, 1u << root, 0, 0, UINT32_MAX};
    struct order order;
    unsigned code = 0, len = 1;

    if (!sort_symbols(&order, lengths, n, entry == length_entry))
        return false;
    fill(table, 0, 1, making.used, INFLATE_INVALID | INFLATE_CODE_BIT);
    for (unsigned i = 0; i < order.n; i++, code++, order.count[len]--) {
        for (; order.count[len] == 0; len++)
            code *= 2;
        add_code(&making, &order, code, len, entry(order.symbol[i]) + len * INFLATE_CODE_BIT);
    }
    return true;
}

bool inflate_make_symbols(uint32_t *table, const uint8_t *lengths, unsigned n, bool is_64)
{
    return make(table, INFLATE_SYMBOL_BITS, lengths, n, is_64 ? symbol_64_entry : symbol_entry);
}

bool inflate_make_distances(uint32_t *table, const uint8_t *lengths, unsigned n, bool is_64)
{
    return make(table, INFLATE_DISTANCE_BITS, lengths, n,
                is_64 ? distance_64_entry : distance_entry);
}

bool inflate_make_lengths(uint32_t *table, const uint8_t *lengths)
{
    return make(table, INFLATE_LENGTH_BITS, lengths, INFLATE_LENGTHS, length_entry);
}

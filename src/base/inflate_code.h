/* SPDX-License-Identifier: MIT */
/* The codes of deflate as tables: a look at the next bits finds the symbol. */
#ifndef BASE_INFLATE_CODE_H
#define BASE_INFLATE_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    INFLATE_SYMBOLS = 288,
    INFLATE_DISTANCES = 32,
    INFLATE_CODE_LEN_MAX = 15,
    INFLATE_LENGTHS = 19, /* symbols of the code of lengths */
    INFLATE_END_OF_BLOCK = 256
};

/* Bits that the first table decides, and entries of all tables of the worst code. */
enum {
    INFLATE_SYMBOL_BITS = 10,
    INFLATE_SYMBOL_ENTRIES = 1334,
    INFLATE_DISTANCE_BITS = 8,
    INFLATE_DISTANCE_ENTRIES = 402,
    INFLATE_LENGTH_BITS = 7
};

/* An entry: the bits of the code and the extra bits behind it, those of the code alone, flags, and
 * a base. */
enum {
    INFLATE_BITS_MASK = 63,
    INFLATE_CODE_SHIFT = 6,
    INFLATE_CODE_MASK = 15,
    INFLATE_CODE_BIT = 1 | 1 << INFLATE_CODE_SHIFT,
    INFLATE_LONG = 1 << 11, /* a length of Deflate64 with 16 extra bits */
    INFLATE_LINK = 1 << 12, /* base: the first entry of another table, which decides as many bits as
                               the code is said to have */
    INFLATE_END = 1 << 13,
    INFLATE_INVALID = 1 << 14,
    INFLATE_SPECIAL = INFLATE_LINK | INFLATE_END | INFLATE_INVALID,
    INFLATE_SLOW = INFLATE_SPECIAL | INFLATE_LONG,
    INFLATE_LITERAL = 1 << 15, /* base: the byte */
    INFLATE_BASE_SHIFT = 16    /* base: a length, a distance, a byte or a symbol */
};

/* The code whose n symbols have these lengths, of deflate or Deflate64. A table has
 * INFLATE_*_ENTRIES, for lengths 1 << INFLATE_LENGTH_BITS. False: there is no such code, by zlib's
 * rules. */
bool inflate_make_symbols(uint32_t *table, const uint8_t *lengths, unsigned n, bool is_64);
bool inflate_make_distances(uint32_t *table, const uint8_t *lengths, unsigned n, bool is_64);
bool inflate_make_lengths(uint32_t *table, const uint8_t *lengths);

static inline uint32_t inflate_low_bits(uint64_t bits, unsigned n)
{
    return (uint32_t)(bits & ((UINT64_C(1) << n) - 1));
}

static inline unsigned inflate_bits_of(uint32_t entry)
{
    return entry & INFLATE_BITS_MASK;
}

static inline unsigned inflate_code_bits_of(uint32_t entry)
{
    return entry >> INFLATE_CODE_SHIFT & INFLATE_CODE_MASK;
}

static inline uint32_t inflate_base_of(uint32_t entry)
{
    return entry >> INFLATE_BASE_SHIFT;
}

/* The base and the extra bits of an entry whose code the bits begin with. */
static inline uint32_t inflate_value_of(uint32_t entry, uint64_t bits)
{
    return inflate_base_of(entry) +
           (inflate_low_bits(bits, inflate_bits_of(entry)) >> inflate_code_bits_of(entry));
}

/* The entry of the code that the bits begin with, never a link. Bits that are not there yet may be
 * anything: then the entry has more bits than are there. */
static inline uint32_t inflate_look_up(const uint32_t *table, unsigned root, uint64_t bits)
{
    const uint32_t entry = table[inflate_low_bits(bits, root)];

    if ((entry & INFLATE_LINK) == 0)
        return entry;
    return table[inflate_base_of(entry) +
                 inflate_low_bits(bits >> root, inflate_code_bits_of(entry))];
}

#endif

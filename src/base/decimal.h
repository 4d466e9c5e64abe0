/* SPDX-License-Identifier: MIT */
/* Numbers as decimal digits, without a terminator. */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "bytes.h"

enum { DECIMAL_LEN = 20 }; /* bytes of the longest number */

/* The eight digits of a number below 10^8, the first in the lowest byte, each 0 to 9. Halves of
 * numbers become numbers of half as many digits side by side: 4 and 4, then 2, then 1. */
static inline uint64_t decimal_eight(uint32_t value)
{
    const uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    const uint64_t hundreds = fours * 10486 >> 20 & 0x0000007F0000007F;
    const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const uint64_t tens = twos * 103 >> 10 & 0x000F000F000F000F;

    return tens | (twos - 10 * tens) << 8;
}

static inline void decimal_store(char *to, uint64_t digits)
{
    digits = htole64(digits);
    memcpy(to, &digits, sizeof digits);
}

/* Writes the last n_digits of a number below 10^8, with zeros before it. `to` has room for eight
 * bytes. */
static inline char *decimal_fixed(char *to, uint32_t value, int n_digits)
{
    const uint64_t digits = decimal_eight(value) | 0x3030303030303030;

    decimal_store(to, digits >> 8 * (8 - n_digits));
    return to + n_digits;
}

static inline char *decimal_below_1e8(char *to, uint32_t value)
{
    const uint64_t digits = decimal_eight(value);
    const int n_zeros = value == 0 ? 7 : __builtin_ctzll(digits) / 8;

    decimal_store(to, (digits | 0x3030303030303030) >> 8 * n_zeros);
    return to + 8 - n_zeros;
}

/* Writes a number; returns what is behind its last digit. `to` has room for DECIMAL_LEN bytes,
 * which a short number may write to as well. */
static inline char *decimal_write(char *to, uint64_t value)
{
    const uint64_t eight = 100000000;

    if (value < eight)
        return decimal_below_1e8(to, (uint32_t)value);
    if (value >= eight * eight) {
        to = decimal_below_1e8(to, (uint32_t)(value / eight / eight));
        to = decimal_fixed(to, (uint32_t)(value / eight % eight), 8);
    } else {
        to = decimal_below_1e8(to, (uint32_t)(value / eight));
    }
    return decimal_fixed(to, (uint32_t)(value % eight), 8);
}

/* The same for at most 255. `to` has room for four bytes. For CUDA code, too. */
BYTES_INLINE char *decimal_octet(char *to, uint8_t value)
{
    const uint32_t hundreds = value * 41u >> 12, rest = value - 100 * hundreds;
    const uint32_t tens = rest * 103 >> 10, ones = rest - 10 * tens;
    const uint32_t n_zeros = (value < 100) + (value < 10);
    const uint32_t digits = (0x303030 | hundreds | tens << 8 | ones << 16) >> 8 * n_zeros;

    put_le((uint8_t *)to, digits, 4);
    return to + 3 - n_zeros;
}

#endif

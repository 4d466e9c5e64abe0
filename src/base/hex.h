/* SPDX-License-Identifier: MIT */
/* Hexadecimal digits: of texts from outside, and of bytes. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* The value of a digit in either case; -1: it is none. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Writes two digits a byte, lower case, and a NUL: 2 * len + 1 characters. */
static inline void hex_write(char *text, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
    *text = '\0';
}

#endif

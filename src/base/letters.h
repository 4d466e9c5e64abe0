/* SPDX-License-Identifier: MIT */
/* The letters of ASCII, whatever the locale. */
#ifndef BASE_LETTERS_H
#define BASE_LETTERS_H

#include <stdint.h>

/* The small letter of a capital; any other byte as it is. Without a branch, for loops over text. */
static inline uint8_t letter_lower(uint8_t byte)
{
    return (uint8_t)(byte | (byte >= 'A' && byte <= 'Z') << 5);
}

#endif

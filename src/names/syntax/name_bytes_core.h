/* SPDX-License-Identifier: MIT */
/* Bytes of a text several at a time: finding a byte, and classifying four characters in a word. For
 * host and CUDA code. A thread of a GPU waits some forty cycles for each load, so it should make
 * few.
 *
 * Words hold a byte's answer in the highest of its bits. Of sums no byte carries into the next:
 * their addends are below 0x80. */
#ifndef NAMES_NAME_BYTES_CORE_H
#define NAMES_NAME_BYTES_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

#define NAME_HIGH4 UINT32_C(0x80808080)
#define NAME_ALL4(byte) ((byte)*UINT32_C(0x01010101))

/* ---- a byte of a text ------------------------------------------------------------------------ */

enum { NAME_BLOCK = 16 };

/* The bits before the lowest byte that is 0; 64: there is none. */
BYTES_INLINE uint32_t name_bits_before_zero(uint64_t word)
{
    const uint64_t zeros =
        (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);

    if (zeros == 0)
        return 64;
#if defined(__CUDA_ARCH__)
    return (uint32_t)__ffsll((long long)zeros) - 8;
#else
    return (uint32_t)__builtin_ctzll(zeros) - 7;
#endif
}

/* As name_find, by blocks at multiples of NAME_BLOCK: reads all of those that the text lies in. */
BYTES_INLINE const char *name_find_blocks(const char *text, const char *end, char byte)
{
    const uint64_t wanted = (uint8_t)byte * UINT64_C(0x0101010101010101);
    uint32_t before = (uint32_t)((uintptr_t)text % NAME_BLOCK) * 8; /* bits of the first block */

    for (const char *block = text - before / 8; block < end; block += NAME_BLOCK, before = 0) {
        uint64_t word[2];

#if defined(__CUDA_ARCH__)
        const ulonglong2 both = *(const ulonglong2 *)block;
        word[0] = both.x;
        word[1] = both.y;
#else
        memcpy(word, block, sizeof word);
#endif
        word[0] ^= wanted;
        word[1] ^= wanted;
        if (before != 0) { /* bytes there are not searched */
            word[0] |= before < 64 ? (UINT64_C(1) << before) - 1 : UINT64_MAX;
            word[1] |= before > 64 ? (UINT64_C(1) << (before - 64)) - 1 : 0;
        }
        uint32_t bits = name_bits_before_zero(word[0]);
        if (bits == 64)
            bits += name_bits_before_zero(word[1]);
        if (bits != 128)
            return end - block > (ptrdiff_t)(bits / 8) ? block + bits / 8 : end;
    }
    return end;
}

/* The first such byte, or the end. On GPUs texts lie in a batch's arena, which begins at a multiple
 * of a block and has slack behind it. */
BYTES_INLINE const char *name_find(const char *text, const char *end, char byte)
{
#if defined(__CUDA_ARCH__)
    return name_find_blocks(text, end, byte);
#else
    const char *found = text < end ? (const char *)memchr(text, byte, (size_t)(end - text)) : NULL;

    return found != NULL ? found : end;
#endif
}

/* ---- four characters ------------------------------------------------------------------------- */

BYTES_INLINE uint32_t name_load4(const void *text)
{
    uint32_t four;

    memcpy(&four, text, sizeof four);
    return four;
}

/* Of which bytes `first` to `last`, below 0x80, are. */
BYTES_INLINE uint32_t name_in_range4(uint32_t four, uint8_t first, uint8_t last)
{
    const uint32_t low = four & ~NAME_HIGH4;

    return (low + NAME_ALL4(0x80u - first)) & ~(low + NAME_ALL4(0x7Fu - last)) & ~four & NAME_HIGH4;
}

/* In lower case. */
BYTES_INLINE uint32_t name_lower4(uint32_t four)
{
    return four | name_in_range4(four, 'A', 'Z') >> 2;
}

/* Whether all may stand in a host name, in lower case. */
BYTES_INLINE bool name_is_host4(uint32_t four)
{
    return (name_in_range4(four, 'a', 'z') | name_in_range4(four, '0', '9') |
            name_in_range4(four, '-', '-') | name_in_range4(four, '_', '_')) == NAME_HIGH4;
}

/* Whether all stand for themselves in a URL's segment: visible ASCII, and no '%'. */
BYTES_INLINE bool name_is_plain4(uint32_t four)
{
    return (name_in_range4(four, 0x21, 0x7E) & ~name_in_range4(four, '%', '%')) == NAME_HIGH4;
}

BYTES_INLINE bool name_has4(uint32_t four, char byte)
{
    return name_in_range4(four, (uint8_t)byte, (uint8_t)byte) != 0;
}

#endif

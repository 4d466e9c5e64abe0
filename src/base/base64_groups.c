/* SPDX-License-Identifier: MIT */
#include "base/base64_groups.h"

const uint8_t base64_values[256] = {
#define N BASE64_NONE
#define P BASE64_PAD
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0x00 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0x10 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  62, N,  N,  N,  63, /* ' ' to '/' */
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, N,  N,  N,  P,  N,  N,  /* '0' to '?' */
    N,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, /* '@' to 'O' */
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, N,  N,  N,  N,  N,  /* 'P' to '_' */
    N,  26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, /* '`' to 'o' */
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, N,  N,  N,  N,  N,  /* 'p' to 0x7F */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0x80 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0x90 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0xA0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0xB0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0xC0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0xD0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0xE0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  /* 0xF0 */
#undef N
#undef P
};

size_t base64_groups(const uint8_t *text, size_t len, uint8_t *out)
{
    size_t n = 0;

    for (; len - 4 * n >= 4; n++, text += 4) {
        const uint8_t a = base64_values[text[0]], b = base64_values[text[1]];
        const uint8_t c = base64_values[text[2]], d = base64_values[text[3]];

        if (((a | b | c | d) & BASE64_PAD) != 0)
            break;
        if (out == NULL)
            continue;
        out[3 * n] = (uint8_t)(a << 2 | b >> 4);
        out[3 * n + 1] = (uint8_t)(b << 4 | c >> 2);
        out[3 * n + 2] = (uint8_t)(c << 6 | d);
    }
    return n;
}

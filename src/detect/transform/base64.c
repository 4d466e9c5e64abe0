/* SPDX-License-Identifier: MIT */
#include "base64.h"

#include <stdbool.h>
#include <stddef.h>

enum { PAD = 64, NONE = 65 };

/* The value of a letter, PAD, or NONE. */
static const uint8_t values[256] = {
#define N NONE
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0x00 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0x10 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  62, N,  N,   N,  63, /* ' ' to '/' */
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, N,  N,  N,  PAD, N,  N,  /* '0' to '?' */
    N,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,  13, 14, /* '@' to 'O' */
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, N,  N,  N,   N,  N,  /* 'P' to '_' */
    N,  26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,  39, 40, /* '`' to 'o' */
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, N,  N,  N,   N,  N,  /* 'p' to 0x7F */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0x80 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0x90 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0xA0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0xB0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0xC0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0xD0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0xE0 */
    N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,  N,   N,  N,  /* 0xF0 */
#undef N
};

/* Writes the bytes of four letters, unless `out` is NULL. Returns how many: 0 where padding stands
 * before the third letter. */
static uint32_t put_group(const uint8_t group[4], uint8_t *out)
{
    const uint32_t n = group[2] == PAD ? 1 : group[3] == PAD ? 2 : 3;
    const uint32_t bits = (uint32_t)group[0] << 18 | (uint32_t)group[1] << 12 |
                          (group[2] & 63u) << 6 | (group[3] & 63u);

    if (group[0] == PAD || group[1] == PAD)
        return 0;
    for (uint32_t i = 0; out != NULL && i < n; i++)
        out[i] = (uint8_t)(bits >> (16 - 8 * i));
    return n;
}

/* Whether four letters may stand in a text of the strict mode: padding only at its end, and no bits
 * that belong to no byte. */
static bool is_strict(const uint8_t group[4], bool last)
{
    if (group[2] == PAD)
        return last && group[3] == PAD && (group[1] & 15) == 0;
    return group[3] != PAD || (last && (group[2] & 3) == 0);
}

/* Decodes groups of four letters up to another byte, or only counts where `out` is NULL. Returns
 * how many. */
static uint32_t put_groups(const uint8_t *text, uint32_t len, uint8_t *out)
{
    uint32_t n = 0;

    for (; len - 4 * n >= 4; n++, text += 4) {
        const uint8_t a = values[text[0]], b = values[text[1]];
        const uint8_t c = values[text[2]], d = values[text[3]];

        if (((a | b | c | d) & PAD) != 0)
            break;
        if (out == NULL)
            continue;
        out[3 * n] = (uint8_t)(a << 2 | b >> 4);
        out[3 * n + 1] = (uint8_t)(b << 4 | c >> 2);
        out[3 * n + 2] = (uint8_t)(c << 6 | d);
    }
    return n;
}

/* Decodes to `out`, or only counts where it is NULL. */
static uint32_t decode(enum base64_mode mode, const uint8_t *text, uint32_t len, uint8_t *out)
{
    const uint32_t n_groups = put_groups(text, len, out);
    uint32_t n = 3 * n_groups, n_letters = 0;
    uint8_t group[4];

    for (uint32_t i = 4 * n_groups; i < len; i++) {
        const uint8_t value = values[text[i]];

        if (value == NONE && mode == BASE64_STRICT)
            return 0;
        if (value == NONE && mode == BASE64_RFC2045)
            continue;
        if (value == NONE)
            break;
        group[n_letters++] = value;
        if (n_letters < 4)
            continue;
        const uint32_t more = put_group(group, out != NULL ? out + n : NULL);

        if (more == 0 || (mode == BASE64_STRICT && !is_strict(group, i + 1 == len)))
            return 0;
        n += more;
        n_letters = 0;
    }
    if (n_letters == 0 || mode == BASE64_RFC2045)
        return n;
    while (n_letters < 4)
        group[n_letters++] = PAD;
    const uint32_t more =
        mode == BASE64_RFC4648 ? put_group(group, out != NULL ? out + n : NULL) : 0;

    return more != 0 ? n + more : 0;
}

uint32_t base64_decode(enum base64_mode mode, const uint8_t *text, uint32_t len, uint8_t *out)
{
    return decode(mode, text, len, out);
}

uint32_t base64_decode_over(enum base64_mode mode, const uint8_t *text, uint32_t len, uint8_t *out)
{
    return decode(mode, text, len, NULL) != 0 ? decode(mode, text, len, out) : 0;
}

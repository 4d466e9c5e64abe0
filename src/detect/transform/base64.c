/* SPDX-License-Identifier: MIT */
#include "base64.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/base64_groups.h"

enum { PAD = BASE64_PAD, NONE = BASE64_NONE };

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

/* Decodes to `out`, or only counts where it is NULL. */
static uint32_t decode(enum base64_mode mode, const uint8_t *text, uint32_t len, uint8_t *out)
{
    const uint32_t n_groups = (uint32_t)base64_groups(text, len, out);
    uint32_t n = 3 * n_groups, n_letters = 0;
    uint8_t group[4];

    for (uint32_t i = 4 * n_groups; i < len; i++) {
        const uint8_t value = base64_values[text[i]];

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

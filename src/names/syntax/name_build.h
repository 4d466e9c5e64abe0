/* SPDX-License-Identifier: MIT */
/* Writing a name's components one after another into a caller's bytes, in the encoding of
 * sluice/name_syntax.h. */
#ifndef NAMES_NAME_BUILD_H
#define NAMES_NAME_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "sluice/name_syntax.h"

struct name_build {
    uint8_t *bytes;
    uint32_t cap, len;
};

/* A VAR-NUMBER's bytes: 1, 3 or 5, the shortest. */
BYTES_INLINE uint32_t name_number_len(uint32_t number)
{
    return number < 253 ? 1 : number <= UINT16_MAX ? 3 : 5;
}

BYTES_INLINE uint8_t *name_put_number(uint8_t *to, uint32_t number)
{
    if (number < 253) {
        *to++ = (uint8_t)number;
        return to;
    }
    *to++ = 253; /* nothing in a name is above 65535 */
    *to++ = (uint8_t)(number >> 8);
    *to++ = (uint8_t)number;
    return to;
}

/* The hexadecimal digit's value, or -1. */
BYTES_INLINE int name_hex(char digit)
{
    const uint32_t letter = ((uint32_t)(uint8_t)digit | 0x20) - 'a';

    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return letter < 6 ? (int)letter + 10 : -1;
}

/* Opens a component of value_len bytes and returns their place, so that readers decode in place.
 * NULL: the name grows beyond the limit of names. */
BYTES_INLINE uint8_t *name_open_component(struct name_build *build, uint32_t type, size_t value_len)
{
    if (value_len > SL_NAME_LEN_MAX)
        return NULL;
    const uint32_t head = name_number_len(type) + name_number_len((uint32_t)value_len);
    uint8_t *to = build->bytes + build->len;

    if (head + value_len > build->cap - build->len)
        return NULL;
    to = name_put_number(name_put_number(to, type), (uint32_t)value_len);
    build->len += head + (uint32_t)value_len;
    return to;
}

BYTES_INLINE bool name_add(struct name_build *build, uint32_t type, const void *value,
                           size_t value_len)
{
    uint8_t *to = name_open_component(build, type, value_len);

    if (to == NULL)
        return false;
    if (value_len != 0)
        memcpy(to, value, value_len);
    return true;
}

/* Readers of one syntax each: NULL, or why the text is no name (static). */
const char *name_read_ndn(struct name_build *build, const char *text, size_t text_len);
const char *name_read_domain(struct name_build *build, const char *text, size_t text_len);
const char *name_read_url(struct name_build *build, uint32_t *host_len, const char *text,
                          size_t text_len);

extern const char name_too_long[];

#endif

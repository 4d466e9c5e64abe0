/* SPDX-License-Identifier: MIT */
/* Writing a name's components one after another into a caller's bytes, in the encoding of
 * sluice/fib.h. */
#ifndef NAMES_NAME_BUILD_H
#define NAMES_NAME_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sluice/names.h"

enum { NAME_GENERIC = 8 }; /* GenericNameComponent: what labels and path segments are */

struct name_build {
    uint8_t *bytes;
    uint32_t cap, len;
    uint32_t n_components;
};

/* NDN packet format, "Variable Size Encoding": 1, 3 or 5 bytes, the shortest. */
static inline uint32_t name_number_len(uint32_t number)
{
    return number < 253 ? 1 : number <= UINT16_MAX ? 3 : 5;
}

static inline uint8_t *name_put_number(uint8_t *to, uint32_t number)
{
    if (number < 253) {
        *to++ = (uint8_t)number;
        return to;
    }
    if (number > UINT16_MAX) {
        *to++ = 254;
        *to++ = (uint8_t)(number >> 24);
        *to++ = (uint8_t)(number >> 16);
    } else {
        *to++ = 253;
    }
    *to++ = (uint8_t)(number >> 8);
    *to++ = (uint8_t)number;
    return to;
}

/* Opens a component of value_len bytes and returns where they go; NULL: the name grows beyond what
 * a name may hold. */
static inline uint8_t *name_open_component(struct name_build *build, uint32_t type,
                                           uint32_t value_len)
{
    const uint32_t head = name_number_len(type) + name_number_len(value_len);
    uint8_t *to = build->bytes + build->len;

    if (value_len > build->cap || head + value_len > build->cap - build->len ||
        build->n_components == SL_NAME_COMPONENTS_MAX)
        return NULL;
    to = name_put_number(name_put_number(to, type), value_len);
    build->len += head + value_len;
    build->n_components++;
    return to;
}

static inline bool name_add(struct name_build *build, uint32_t type, const void *value,
                            uint32_t value_len)
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
const char *name_read_url(struct name_build *build, uint32_t *n_host, const char *text,
                          size_t text_len);

extern const char name_too_long[];

#endif

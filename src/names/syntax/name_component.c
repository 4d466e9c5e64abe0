/* SPDX-License-Identifier: MIT */
/* Names in memory: components back to back, as NDN's packets have them. */
#include <string.h>

#include "sluice/name_syntax.h"

static size_t number_len(uint64_t number)
{
    return number < 253 ? 1 : number <= UINT16_MAX ? 3 : 5;
}

static size_t put_number(uint8_t *to, uint32_t number)
{
    const size_t len = number_len(number);

    to[0] = len == 1 ? (uint8_t)number : len == 3 ? 253 : 254;
    for (size_t i = 1; i < len; i++)
        to[i] = (uint8_t)(number >> (len - 1 - i) * 8);
    return len;
}

bool sl_name_append(uint8_t *name, size_t cap, size_t *name_len, uint32_t type, const void *bytes,
                    size_t len)
{
    if (type == 0 || type > SL_NAME_TYPE_MAX || len > UINT32_MAX || *name_len > cap)
        return false;
    if (number_len(type) + number_len(len) > cap - *name_len ||
        len > cap - *name_len - number_len(type) - number_len(len))
        return false;

    uint8_t *to = name + *name_len;
    to += put_number(to, type);
    to += put_number(to, (uint32_t)len);
    if (len != 0)
        memcpy(to, bytes, len);
    *name_len = (size_t)(to - name) + len;
    return true;
}

/* A VAR-NUMBER; returns its bytes, 0 where it is none of 32 bits in its shortest form. */
static size_t get_number(const uint8_t *from, size_t left, uint32_t *number)
{
    if (left == 0)
        return 0;

    const size_t n = from[0] < 253 ? 0 : from[0] == 253 ? 2 : from[0] == 254 ? 4 : 8;
    uint32_t value = n == 0 ? from[0] : 0;

    if (n == 8 || n >= left)
        return 0;
    for (size_t i = 1; i <= n; i++)
        value = value << 8 | from[i];
    if (number_len(value) != n + 1)
        return 0;
    *number = value;
    return n + 1;
}

bool sl_name_next(const uint8_t *name, size_t len, size_t *at, struct sl_name_component *component)
{
    if (*at >= len)
        return false;

    uint32_t type, bytes;
    const size_t type_len = get_number(name + *at, len - *at, &type);
    if (type_len == 0 || type == 0 || type > SL_NAME_TYPE_MAX)
        return false;

    const size_t after_type = *at + type_len;
    const size_t len_len = get_number(name + after_type, len - after_type, &bytes);
    if (len_len == 0 || bytes > len - after_type - len_len)
        return false;
    component->type = type;
    component->len = bytes;
    component->bytes = name + after_type + len_len;
    *at = after_type + len_len + bytes;
    return true;
}

size_t sl_name_well_formed(const uint8_t *name, size_t len)
{
    struct sl_name_component component;
    size_t at = 0;

    while (sl_name_next(name, len, &at, &component))
        ;
    return at;
}

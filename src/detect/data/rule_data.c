/* SPDX-License-Identifier: MIT */
#include "rule_data.h"

#include <string.h>

enum { LABELS_MAX = 128 /* of a name */ };

/* Whether the set has the value, or a domain that it is below. */
static bool find(const struct rule_data *data, const struct data_set *set, const uint8_t *bytes,
                 uint32_t len, uint16_t *reputation)
{
    const uint8_t *end = bytes + len, *dot = bytes;

    if (data_set_find(set, bytes, len, reputation))
        return true;
    for (uint32_t i = 0; data->by_parents && i < LABELS_MAX && end - dot > 1; i++) {
        dot = memchr(dot + 1, '.', (size_t)(end - dot - 1));
        if (dot == NULL)
            return false;
        if (data_set_find(set, dot, (uint32_t)(end - dot), reputation))
            return true;
    }
    return false;
}

bool rule_data_holds(const struct rule_data *data, const struct data_set *set, const uint8_t *bytes,
                     uint32_t len)
{
    uint16_t reputation;
    const bool found = find(data, set, bytes, len, &reputation);

    switch (data->act) {
    case DATA_IS_SET:
    case DATA_UNSET:
        return found;
    case DATA_IS_NOT_SET:
    case DATA_SET:
        return !found;
    case DATA_LESS:
        return found && reputation < data->reputation;
    case DATA_GREATER:
        return found && reputation > data->reputation;
    default:
        return found && reputation == data->reputation;
    }
}

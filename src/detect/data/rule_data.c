/* SPDX-License-Identifier: MIT */
#include "rule_data.h"

bool rule_data_holds(const struct rule_data *data, const struct data_set *set, const uint8_t *bytes,
                     uint32_t len)
{
    uint16_t reputation;
    const bool found = data_set_find(set, bytes, len, &reputation);

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

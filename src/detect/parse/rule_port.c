/* SPDX-License-Identifier: MIT */
#include "rule_list.h"

#include <string.h>

bool rule_port_read(struct rule_text text, struct rule_range *range)
{
    struct rule_text rest = text, first;
    int64_t low = 0, high = 65535;

    if (memchr(text.at, ':', text.len) == NULL) {
        if (!rule_text_number(text, 0, 65535, &low))
            return false;
        high = low;
    } else {
        rule_text_split(&rest, ':', &first);
        rest = rule_trim(rest);
        if ((first.len == 0 && rest.len == 0) ||
            (first.len != 0 && !rule_text_number(first, 0, 65535, &low)) ||
            (rest.len != 0 && !rule_text_number(rest, 0, 65535, &high)))
            return false;
    }
    *range = (struct rule_range){(uint64_t)low, (uint64_t)high};
    return low <= high;
}

/* SPDX-License-Identifier: MIT */
#include "base/grouped.h"

#include <stddef.h>
#include <stdio.h>

struct grouped grouped(uint64_t n)
{
    struct grouped out;
    char digits[21];
    const int n_digits = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    size_t len = 0;

    for (int i = 0; i < n_digits; i++) {
        if (i != 0 && (n_digits - i) % 3 == 0)
            out.text[len++] = ',';
        out.text[len++] = digits[i];
    }
    out.text[len] = '\0';
    return out;
}

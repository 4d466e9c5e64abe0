/* SPDX-License-Identifier: MIT */
/* Counts for people. */
#ifndef BASE_GROUPED_H
#define BASE_GROUPED_H

#include <stdint.h>

/* "1,234,567". Used as grouped(n).text. */
struct grouped {
    char text[27];
};
struct grouped grouped(uint64_t n);

#endif

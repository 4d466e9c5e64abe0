/* SPDX-License-Identifier: MIT */
/* The lesser of two numbers. */
#ifndef BASE_LEAST_H
#define BASE_LEAST_H

#include <stdint.h>

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif

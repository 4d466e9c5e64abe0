/* SPDX-License-Identifier: MIT */
/* The checksum of what is kept in files. */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "base/mapped_file.h"

/* XXH3 by steps, each seeded with the one before. `mapped`: of a mapped file that nobody has
 * written to, which need not be in memory as a whole for that. */
static inline uint64_t checksum_of(const void *from, size_t len, bool mapped)
{
    enum { STEP = 1 << 20 };
    const uint8_t *at = (const uint8_t *)from;
    uint64_t sum = 0;

    for (size_t n; len > 0; at += n, len -= n) {
        n = len < STEP ? len : STEP;
        sum = XXH3_64bits_withSeed(at, n, sum);
        if (mapped)
            mapped_file_let_go(at, n);
    }
    return sum;
}

#endif

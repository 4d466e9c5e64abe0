/* SPDX-License-Identifier: MIT */
/* Reading and copying, once for each width. A file that includes this defines VECTOR, LOAD, STORE
 * (past the caches), SUM and WIDTH. */
#ifndef CLI_BENCH_SWEEP_H
#define CLI_BENCH_SWEEP_H

#include <string.h>

enum { AT_ONCE = 512 / WIDTH /* loads under way before the first is needed */ };

static uint64_t sweep_read(const void *from, size_t len)
{
    const uint8_t *at = from;
    VECTOR sum[AT_ONCE];
    uint64_t words[sizeof sum / 8], total = 0;

    memset(sum, 0, sizeof sum);
    for (size_t i = 0; i < len; i += 512)
        for (size_t k = 0; k < AT_ONCE; k++)
            sum[k] = SUM(sum[k], LOAD(at + i + k * WIDTH));
    memcpy(words, sum, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        total += words[i];
    return total;
}

static void sweep_copy(void *to, const void *from, size_t len)
{
    const uint8_t *at = from;
    uint8_t *target = to;

    for (size_t i = 0; i < len; i += WIDTH)
        STORE(target + i, LOAD(at + i));
    _mm_sfence();
}

#endif

/* SPDX-License-Identifier: MIT */
/* The hash plane with half a bucket in a register, and keys compared 32 bytes at a time. */
#include <immintrin.h>

#include "fib_hash_core.h"

/* Aligned vector loads give each 64-bit slot whole. */
static uint32_t match_half(const uint64_t *slots, __m256i tag)
{
    const __m256i mask = _mm256_set1_epi64x((long long)HASH_TAG_MASK);
    const __m256i masked = _mm256_and_si256(_mm256_load_si256((const __m256i *)slots), mask);

    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(masked, tag)));
}

static uint32_t lanes_match(const uint64_t *bucket, uint64_t tag)
{
    const __m256i wanted = _mm256_set1_epi64x((long long)tag);

    return match_half(bucket, wanted) | match_half(bucket + 4, wanted) << 4;
}

/* Loads reach up to 31 bytes behind the key and the name: both have that much behind them. */
static bool lanes_key_is(const uint32_t *record, const struct fib_reader *name, uint32_t len)
{
    const uint8_t *bytes = (const uint8_t *)name->words;
    const uint8_t *key = (const uint8_t *)record + (len < 255 ? 5 : 8);
    const uint32_t head = record[1];

    if (len < 255 ? (head & 0xFF) != len : head != (255 | len << 8))
        return false;
    for (uint32_t at = 0; at < len; at += 32) {
        const __m256i equal = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(key + at)),
                                                _mm256_loadu_si256((const __m256i *)(bytes + at)));
        const uint32_t differ = ~(uint32_t)_mm256_movemask_epi8(equal);

        if ((len - at < 32 ? differ << (32 - (len - at)) : differ) != 0)
            return false;
    }
    return true;
}

#include "fib_hash_lanes.h"

FIB_CPU_BACKEND(fib_hash_avx2, "avx2", fib_cpu_usable_avx2, lanes_lookup);

/* SPDX-License-Identifier: MIT */
/* The hash plane with half a bucket in a register, and keys compared 16 bytes at a time. */
#include <immintrin.h>

#include "fib_hash_core.h"
#include "names/fib/fib_internal.h"

/* Aligned vector loads give each 64-bit slot whole. */
FIB_LOADS_WORDS static uint32_t match_half(const uint64_t *slots, __m256i tag)
{
    const __m256i mask = _mm256_set1_epi64x((long long)HASH_TAG_MASK);
    const __m256i masked = _mm256_and_si256(_mm256_load_si256((const __m256i *)slots), mask);

    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(masked, tag)));
}

static uint32_t lanes_match(const uint64_t *bucket, uint64_t tag, uint64_t *first)
{
    const __m256i wanted = _mm256_set1_epi64x((long long)tag);
    const uint32_t match = match_half(bucket, wanted) | match_half(bucket + 4, wanted) << 4;
    const uint64_t slot = fib_load64(&bucket[__builtin_ctz(match | 1 << (HASH_SLOTS - 1))]);

    *first = hash_has_tag(slot, tag) ? slot : 0; /* it may have changed since */
    return match;
}

FIB_LOADS_WORDS static uint32_t differ16(const uint8_t *key, const uint8_t *bytes, uint32_t at)
{
    const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(key + at)),
                                         _mm_loadu_si128((const __m128i *)(bytes + at)));

    return (uint32_t)_mm_movemask_epi8(equal) ^ 0xFFFF;
}

/* No load reaches behind the key: it would cost a miss where the key ends its line. So the last 16
 * bytes are compared from the end back, over some that were compared before. */
static bool lanes_key_is(const uint32_t *record, const struct fib_reader *name, uint32_t len)
{
    const uint8_t *bytes = (const uint8_t *)name->words;
    const uint8_t *key = (const uint8_t *)record + (len < 255 ? 5 : 8);
    const uint32_t head = fib_load32(&record[1]);
    uint32_t differ;

    if (len < 16)
        return hash_key_is(record, name, len);
    differ = len < 255 ? (head & 0xFF) ^ len : head ^ (255 | len << 8);
    for (uint32_t at = 0; at + 16 < len; at += 16)
        differ |= differ16(key, bytes, at);
    return (differ | differ16(key, bytes, len - 16)) == 0;
}

#include "fib_hash_lanes.h"

static void avx2_lookup(const struct fib_view *view, const struct sl_batch *batch,
                        uint32_t *next_hop, uint32_t *prefix_len)
{
    lanes_lookup(view, batch, next_hop, prefix_len, hash_lanes);
}

FIB_CPU_BACKEND(fib_hash_avx2, "avx2", fib_cpu_usable_avx2, avx2_lookup);

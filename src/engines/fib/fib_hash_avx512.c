/* SPDX-License-Identifier: MIT */
/* The hash plane with a bucket in one register, and keys compared 64 bytes at a time. */
#include <immintrin.h>

#include "fib_hash_core.h"

/* Aligned vector loads give each 64-bit slot whole. */
static uint32_t lanes_match(const uint64_t *bucket, uint64_t tag)
{
    const __m512i slots = _mm512_load_si512(bucket);

    return _mm512_testn_epi64_mask(_mm512_xor_si512(slots, _mm512_set1_epi64((long long)tag)),
                                   _mm512_set1_epi64((long long)HASH_TAG_MASK));
}

static __mmask64 low_bits(uint32_t n)
{
    return n >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
}

/* Masked loads touch no byte behind the key. */
static bool lanes_key_is(const uint32_t *record, const struct fib_reader *name, uint32_t len)
{
    const uint8_t *bytes = (const uint8_t *)name->words;
    const uint8_t *key = (const uint8_t *)record + (len < 255 ? 5 : 8);
    const uint32_t head = record[1];

    if (len < 255 ? (head & 0xFF) != len : head != (255 | len << 8))
        return false;
    for (uint32_t at = 0; at < len; at += 64) {
        const __mmask64 mask = low_bits(len - at);

        if (_mm512_mask_cmpneq_epi8_mask(mask, _mm512_maskz_loadu_epi8(mask, key + at),
                                         _mm512_maskz_loadu_epi8(mask, bytes + at)) != 0)
            return false;
    }
    return true;
}

#include "fib_hash_lanes.h"

FIB_CPU_BACKEND(fib_hash_avx512, "avx512", fib_cpu_usable_avx512, lanes_lookup);

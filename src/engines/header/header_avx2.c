/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "base/cpu.h"
#include "header_cpu.h"

/* Loaded at byte 32 - n, the first n bytes of a vector are kept. */
static const uint8_t keep_first[64] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};

static __m256i load(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)bytes);
}

/* Adds 16-bit words in pairs: no lane of 32 bits overflows within 65,535 x 32 bytes. */
static __m256i add_words(__m256i sum, __m256i words)
{
    const __m256i low = _mm256_and_si256(words, _mm256_set1_epi32(0xFFFF));

    return _mm256_add_epi32(_mm256_add_epi32(sum, low), _mm256_srli_epi32(words, 16));
}

static uint32_t add_lanes(__m256i lanes)
{
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));

    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(1, 0, 3, 2)));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t)_mm_cvtsi128_si32(sum);
}

uint64_t header_sum_avx2(const uint8_t *bytes, uint32_t begin, uint32_t end)
{
    __m256i even = _mm256_setzero_si256();
    __m256i odd = _mm256_setzero_si256();
    uint64_t first = 0;
    uint32_t i = begin;

    if ((i & 1) != 0 && i < end)
        first = (uint64_t)bytes[i++] << 8;
    for (; i + 64 <= end; i += 64) {
        __builtin_prefetch(bytes + i + HEADER_SUM_AHEAD);
        even = add_words(even, load(bytes + i));
        odd = add_words(odd, load(bytes + i + 32));
    }
    if (i + 32 <= end) {
        even = add_words(even, load(bytes + i));
        i += 32;
    }
    odd = add_words(odd, _mm256_and_si256(load(bytes + i), load(keep_first + 32 - (end - i))));
    return first + add_lanes(_mm256_add_epi32(even, odd));
}

static void avx2_run(const struct sl_header_table *table, const struct sl_batch *batch,
                     struct sl_hits *hits)
{
    header_loop(table, batch, hits, header_sum_avx2);
}

static bool avx2_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX2, why);
}

HEADER_CPU_BACKEND(header_avx2, "avx2", avx2_usable, avx2_run);

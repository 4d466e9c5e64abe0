/* SPDX-License-Identifier: MIT */
/* Local maxima, 32 positions at a time. */
#include <immintrin.h>

#include "base/cpu.h"
#include "maxp.h"

enum { WIDTH = 32 };

static inline __m256i load(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

static inline void store(uint8_t *to, __m256i bytes)
{
    _mm256_storeu_si256((__m256i *)to, bytes);
}

static inline __m256i highest(__m256i a, __m256i b)
{
    return _mm256_max_epu8(a, b);
}

static inline __m256i turned(__m256i bytes)
{
    return _mm256_xor_si256(bytes, _mm256_set1_epi8(-1));
}

static inline uint64_t equal(__m256i bytes, uint8_t byte)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8((char)byte)));
}

static inline uint64_t equal_turned(__m256i bytes, __m256i others)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(turned(bytes), others));
}

#include "maxp_vector.h"

void maxp_scan_avx2(const struct maxp_table *table, const struct sl_batch *batch,
                    struct sl_hits *hits)
{
    scan_items(table, batch, hits);
}

bool maxp_avx2_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX2, why);
}

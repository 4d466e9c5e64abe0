/* SPDX-License-Identifier: MIT */
/* Local maxima, 8 positions at a time. */
#include <immintrin.h>

#include "base/cpu.h"
#include "maxp.h"

enum { LANES = 8 };

static inline __m256i load(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

static inline void store(uint32_t *to, __m256i values)
{
    _mm256_storeu_si256((__m256i *)to, values);
}

/* Of the positions from `from` on: each one's four bytes, the first highest. */
static inline __m256i values(const uint8_t *from)
{
    const __m128i source = _mm_set_epi32(0x03040506, 0x02030405, 0x01020304, 0x00010203);
    const __m128i low = _mm_loadu_si128((const __m128i *)from);
    const __m128i high = _mm_loadu_si128((const __m128i *)(from + 4));

    return _mm256_xor_si256(
        _mm256_set_m128i(_mm_shuffle_epi8(high, source), _mm_shuffle_epi8(low, source)),
        _mm256_set1_epi32((int)MAXP_TURN));
}

static inline __m256i higher(__m256i a, __m256i b)
{
    return _mm256_max_epu32(a, b);
}

static inline uint32_t reaching(__m256i values, __m256i others)
{
    const __m256i yes = _mm256_cmpeq_epi32(higher(values, others), values);

    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(yes));
}

static inline uint32_t exceeding(__m256i values, __m256i others)
{
    return reaching(others, values) ^ 0xFF;
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

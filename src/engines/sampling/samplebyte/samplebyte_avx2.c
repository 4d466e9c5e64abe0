/* SPDX-License-Identifier: MIT */
/* Markers 32 at a time. A value's low four bits choose a byte of the set, and its high four a bit
 * of that. */
#include <immintrin.h>

#include "base/cpu.h"
#include "samplebyte.h"

enum { WIDTH = 32 };

struct vector_marks {
    __m256i low_half, high_half;
    __m256i bit;
};

static struct vector_marks load_marks(const struct samplebyte_marks *marks)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)marks->low_half);
    const __m128i high = _mm_loadu_si128((const __m128i *)marks->high_half);

    return (struct vector_marks){.low_half = _mm256_broadcastsi128_si256(low),
                                 .high_half = _mm256_broadcastsi128_si256(high),
                                 .bit = _mm256_set1_epi64x((long long)0x8040201008040201)};
}

static inline uint64_t marked_from(const struct vector_marks *vectors, const uint8_t *from)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)from);
    const __m256i low = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
    const __m256i rows = _mm256_blendv_epi8(_mm256_shuffle_epi8(vectors->low_half, low),
                                            _mm256_shuffle_epi8(vectors->high_half, low), bytes);
    const __m256i bit = _mm256_shuffle_epi8(vectors->bit, high);
    const __m256i is_marker = _mm256_cmpeq_epi8(_mm256_and_si256(rows, bit), bit);

    return (uint32_t)_mm256_movemask_epi8(is_marker);
}

#include "samplebyte_vector.h"

void samplebyte_scan_avx2(const struct sl_sampling_table *head,
                          const struct samplebyte_marks *marks, const struct sl_batch *batch,
                          struct sl_hits *hits)
{
    scan_items(head, marks, batch, hits);
}

bool samplebyte_avx2_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX2, why);
}

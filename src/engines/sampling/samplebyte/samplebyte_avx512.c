/* SPDX-License-Identifier: MIT */
/* Markers 64 at a time. The set of byte values is a table of 32 bytes in one register. A value's
 * high five bits choose a byte of it, and its low three a bit of that. */
#include <immintrin.h>

#include "base/cpu.h"
#include "samplebyte.h"

enum { WIDTH = 64 };

struct vector_marks {
    __m512i set; /* two copies, as look-ups take six bits */
    __m512i bit;
};

static struct vector_marks load_marks(const struct samplebyte_marks *marks)
{
    const __m256i set = _mm256_loadu_si256((const __m256i *)marks->state.marker);

    return (struct vector_marks){.set = _mm512_broadcast_i64x4(set),
                                 .bit = _mm512_set1_epi64((long long)0x8040201008040201)};
}

static inline uint64_t marked_from(const struct vector_marks *vectors, const uint8_t *from)
{
    const __m512i bytes = _mm512_loadu_si512(from);
    const __m512i high = _mm512_srli_epi16(bytes, 3); /* bit 5 names one of the copies */
    const __m512i low = _mm512_and_si512(bytes, _mm512_set1_epi8(7));

    return _mm512_test_epi8_mask(_mm512_permutexvar_epi8(high, vectors->set),
                                 _mm512_shuffle_epi8(vectors->bit, low));
}

#include "samplebyte_vector.h"

void samplebyte_scan_avx512(const struct sl_sampling_table *head,
                            const struct samplebyte_marks *marks, const struct sl_batch *batch,
                            struct sl_hits *hits)
{
    scan_items(head, marks, batch, hits);
}

bool samplebyte_avx512_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX512, why);
}

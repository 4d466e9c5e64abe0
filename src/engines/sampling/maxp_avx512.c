/* SPDX-License-Identifier: MIT */
/* Local maxima, 64 positions at a time. */
#include <immintrin.h>

#include "base/cpu.h"
#include "maxp.h"

enum { WIDTH = 64 };

static inline __m512i load(const uint8_t *from)
{
    return _mm512_loadu_si512(from);
}

static inline void store(uint8_t *to, __m512i bytes)
{
    _mm512_storeu_si512(to, bytes);
}

static inline __m512i highest(__m512i a, __m512i b)
{
    return _mm512_max_epu8(a, b);
}

static inline __m512i turned(__m512i bytes)
{
    return _mm512_xor_si512(bytes, _mm512_set1_epi8(-1));
}

static inline uint64_t equal(__m512i bytes, uint8_t byte)
{
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8((char)byte));
}

static inline uint64_t equal_turned(__m512i bytes, __m512i others)
{
    return _mm512_cmpeq_epi8_mask(turned(bytes), others);
}

#include "maxp_vector.h"

void maxp_scan_avx512(const struct maxp_table *table, const struct sl_batch *batch,
                      struct sl_hits *hits)
{
    scan_items(table, batch, hits);
}

bool maxp_avx512_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX512, why);
}

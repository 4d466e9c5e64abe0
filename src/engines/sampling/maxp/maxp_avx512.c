/* SPDX-License-Identifier: MIT */
/* Local maxima, 16 positions at a time. */
#include <immintrin.h>

#include "base/cpu.h"
#include "maxp.h"

enum { LANES = 16 };

static inline __m512i load(const uint32_t *from)
{
    return _mm512_loadu_si512(from);
}

static inline void store(uint32_t *to, __m512i values)
{
    _mm512_storeu_si512(to, values);
}

/* Of the positions from `from` on: each one's four bytes, the first highest. */
static inline __m512i values(const uint8_t *from)
{
    const __m512i source =
        _mm512_set_epi32(0x0F101112, 0x0E0F1011, 0x0D0E0F10, 0x0C0D0E0F, 0x0B0C0D0E, 0x0A0B0C0D,
                         0x090A0B0C, 0x08090A0B, 0x0708090A, 0x06070809, 0x05060708, 0x04050607,
                         0x03040506, 0x02030405, 0x01020304, 0x00010203);
    const __m512i bytes = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)from));

    return _mm512_xor_si512(_mm512_permutexvar_epi8(source, bytes),
                            _mm512_set1_epi32((int)MAXP_TURN));
}

static inline __m512i higher(__m512i a, __m512i b)
{
    return _mm512_max_epu32(a, b);
}

static inline uint32_t exceeding(__m512i values, __m512i others)
{
    return _mm512_cmpgt_epu32_mask(values, others);
}

static inline uint32_t reaching(__m512i values, __m512i others)
{
    return _mm512_cmpge_epu32_mask(values, others);
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

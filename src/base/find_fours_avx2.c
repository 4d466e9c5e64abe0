/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "base/find_fours.h"

enum { WIDTH = 32 };

typedef uint32_t mask;

/* Each 16 bytes of a vector are a table. */
struct tables {
    __m256i low[FIND_FOURS_BYTES], high[FIND_FOURS_BYTES];
};

static inline __m256i load_table(const uint8_t table[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table));
}

static inline void load_tables(struct tables *tables, const struct find_fours *fours)
{
    for (int i = 0; i < FIND_FOURS_BYTES; i++) {
        tables->low[i] = load_table(fours->low[i]);
        tables->high[i] = load_table(fours->high[i]);
    }
}

/* The buckets that have byte i. */
static inline __m256i buckets_of(const struct tables *tables, int i, const uint8_t *text)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)(text + i));
    const __m256i low = _mm256_shuffle_epi8(tables->low[i], _mm256_and_si256(bytes, nibble));
    const __m256i shifted = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);

    return _mm256_and_si256(low, _mm256_shuffle_epi8(tables->high[i], shifted));
}

static inline mask may_lie(const struct tables *tables, const uint8_t *text)
{
    const __m256i first =
        _mm256_and_si256(buckets_of(tables, 0, text), buckets_of(tables, 1, text));
    const __m256i last = _mm256_and_si256(buckets_of(tables, 2, text), buckets_of(tables, 3, text));
    const __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(first, last), _mm256_setzero_si256());

    return ~(uint32_t)_mm256_movemask_epi8(none);
}

#include "base/find_fours_vector.h"

size_t find_fours_avx2(const struct find_fours *fours, const uint8_t *text, size_t n,
                       uint16_t *places)
{
    return find_places(fours, text, n, places);
}

/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "base/find_fours.h"

enum { WIDTH = 64 };

typedef uint64_t mask;

/* Each 16 bytes of a vector are a table. */
struct tables {
    __m512i low[FIND_FOURS_BYTES], high[FIND_FOURS_BYTES];
};

static inline __m512i load_table(const uint8_t table[16])
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)table));
}

static inline void load_tables(struct tables *tables, const struct find_fours *fours)
{
    for (int i = 0; i < FIND_FOURS_BYTES; i++) {
        tables->low[i] = load_table(fours->low[i]);
        tables->high[i] = load_table(fours->high[i]);
    }
}

/* The buckets that have byte i. */
static inline __m512i buckets_of(const struct tables *tables, int i, const uint8_t *text)
{
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i bytes = _mm512_loadu_si512(text + i);
    const __m512i low = _mm512_shuffle_epi8(tables->low[i], _mm512_and_si512(bytes, nibble));
    const __m512i shifted = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), nibble);

    return _mm512_and_si512(low, _mm512_shuffle_epi8(tables->high[i], shifted));
}

static inline mask may_lie(const struct tables *tables, const uint8_t *text)
{
    const __m512i first =
        _mm512_and_si512(buckets_of(tables, 0, text), buckets_of(tables, 1, text));
    const __m512i last = _mm512_and_si512(buckets_of(tables, 2, text), buckets_of(tables, 3, text));

    return _mm512_test_epi8_mask(first, last);
}

#include "base/find_fours_vector.h"

size_t find_fours_avx512(const struct find_fours *fours, const uint8_t *text, size_t n,
                         uint16_t *places)
{
    return find_places(fours, text, n, places);
}

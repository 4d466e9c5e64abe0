/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "clamav/find.h"

enum { WIDTH = 64 };

typedef uint64_t mask;

/* The probed bytes, in every lane. */
struct probes {
    __m512i fold[CLAM_PROBES], value[CLAM_PROBES];
};

static inline void load_probe(struct probes *probes, int i, uint8_t fold, uint8_t value)
{
    probes->fold[i] = _mm512_set1_epi8((char)fold);
    probes->value[i] = _mm512_set1_epi8((char)value);
}

/* Of the places in `among` those where probe i stands. */
static inline __mmask64 stands(const struct probes *probes, int i, __mmask64 among,
                               const uint8_t *text)
{
    const __m512i bytes = _mm512_or_si512(_mm512_loadu_si512(text), probes->fold[i]);

    return _mm512_mask_cmpeq_epi8_mask(among, bytes, probes->value[i]);
}

/* Bit i: all of them stand at place i of the text. Written out: the compiler keeps the loop, which
 * takes half as long again. */
static inline mask all_stand(const struct probes *probes, const size_t at[CLAM_PROBES],
                             const uint8_t *text)
{
    __mmask64 places = stands(probes, 0, ~(__mmask64)0, text + at[0]);

    places = stands(probes, 1, places, text + at[1]);
    places = stands(probes, 2, places, text + at[2]);
    return stands(probes, 3, places, text + at[3]);
}

#include "clamav/find_vector.h"

size_t clam_find_avx512(const struct clam_needle *needle, const uint8_t *text, size_t n)
{
    return find(needle, text, n);
}

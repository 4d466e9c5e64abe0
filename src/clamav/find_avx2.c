/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "clamav/find.h"

enum { WIDTH = 32 };

typedef uint32_t mask;

/* The probed bytes, in every lane. */
struct probes {
    __m256i fold[CLAM_PROBES], value[CLAM_PROBES];
};

static inline void load_probe(struct probes *probes, int i, uint8_t fold, uint8_t value)
{
    probes->fold[i] = _mm256_set1_epi8((char)fold);
    probes->value[i] = _mm256_set1_epi8((char)value);
}

/* The bytes where probe i stands are all ones. */
static inline __m256i stands(const struct probes *probes, int i, const uint8_t *text)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)text);

    return _mm256_cmpeq_epi8(_mm256_or_si256(bytes, probes->fold[i]), probes->value[i]);
}

/* Bit i: all of them stand at place i of the text. Written out: the compiler keeps the loop, which
 * takes half as long again. */
static inline mask all_stand(const struct probes *probes, const size_t at[CLAM_PROBES],
                             const uint8_t *text)
{
    const __m256i first = _mm256_and_si256(stands(probes, 0, text + at[0]), //
                                           stands(probes, 1, text + at[1]));
    const __m256i last = _mm256_and_si256(stands(probes, 2, text + at[2]), //
                                          stands(probes, 3, text + at[3]));

    return (uint32_t)_mm256_movemask_epi8(_mm256_and_si256(first, last));
}

#include "clamav/find_vector.h"

size_t clam_find_avx2(const struct clam_needle *needle, const uint8_t *text, size_t n)
{
    return find(needle, text, n);
}

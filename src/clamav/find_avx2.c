/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "clamav/find.h"

enum { WIDTH = 32 };

/* Bit i: the probed bytes stand at place i of the text. */
static inline uint32_t probe(const struct clam_needle *needle, const uint8_t *text)
{
    __m256i all = _mm256_set1_epi8(-1);

    for (int i = 0; i < CLAM_PROBES; i++) {
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)(text + needle->at[i]));
        const __m256i folded = _mm256_or_si256(bytes, _mm256_set1_epi8((char)needle->fold[i]));

        all = _mm256_and_si256(
            all, _mm256_cmpeq_epi8(folded, _mm256_set1_epi8((char)needle->value[i])));
    }
    return (uint32_t)_mm256_movemask_epi8(all);
}

size_t clam_find_avx2(const struct clam_needle *needle, const uint8_t *text, size_t n)
{
    if (n < WIDTH)
        return clam_find_scalar(needle, text, n);
    for (size_t at = 0; at < n; at += WIDTH) {
        if (at > n - WIDTH)
            at = n - WIDTH; /* the last places once more */
        for (uint32_t places = probe(needle, text + at); places != 0; places &= places - 1) {
            const size_t place = at + (size_t)__builtin_ctz(places);

            if (clam_needle_equals(needle, text + place))
                return place;
        }
    }
    return n;
}

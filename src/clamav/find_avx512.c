/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "clamav/find.h"

enum { WIDTH = 64 };

/* Bit i: the probed bytes stand at place i of the text. */
static inline __mmask64 probe(const struct clam_needle *needle, const uint8_t *text)
{
    __mmask64 all = ~(__mmask64)0;

    for (int i = 0; i < CLAM_PROBES; i++) {
        const __m512i bytes = _mm512_loadu_si512(text + needle->at[i]);
        const __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8((char)needle->fold[i]));

        all = _mm512_mask_cmpeq_epi8_mask(all, folded, _mm512_set1_epi8((char)needle->value[i]));
    }
    return all;
}

size_t clam_find_avx512(const struct clam_needle *needle, const uint8_t *text, size_t n)
{
    if (n < WIDTH)
        return clam_find_scalar(needle, text, n);
    for (size_t at = 0; at < n; at += WIDTH) {
        if (at > n - WIDTH)
            at = n - WIDTH; /* the last places once more */
        for (uint64_t places = probe(needle, text + at); places != 0; places &= places - 1) {
            const size_t place = at + (size_t)__builtin_ctzll(places);

            if (clam_needle_equals(needle, text + place))
                return place;
        }
    }
    return n;
}

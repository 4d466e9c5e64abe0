/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "clamav/find.h"

enum { WIDTH = 64 };

/* The probed bytes, in every lane. */
struct probes {
    __m512i fold[CLAM_PROBES], value[CLAM_PROBES];
};

/* Of the places in `among` those where probe i stands. */
static inline __mmask64 stands(const struct probes *probes, int i, __mmask64 among,
                               const uint8_t *text)
{
    const __m512i bytes = _mm512_or_si512(_mm512_loadu_si512(text), probes->fold[i]);

    return _mm512_mask_cmpeq_epi8_mask(among, bytes, probes->value[i]);
}

/* Bit i: all of them stand at place i of the text. Written out: the compiler keeps the loop, which
 * takes half as long again. */
static inline uint64_t all_stand(const struct probes *probes, const size_t at[CLAM_PROBES],
                                 const uint8_t *text)
{
    __mmask64 places = stands(probes, 0, ~(__mmask64)0, text + at[0]);

    places = stands(probes, 1, places, text + at[1]);
    places = stands(probes, 2, places, text + at[2]);
    return stands(probes, 3, places, text + at[3]);
}

/* The first place from `at` on at whose block some place has all of them; *places says which. A
 * function of its own, so that nothing in it is called and all stays in registers. */
static __attribute__((noinline)) size_t first_block(const struct clam_needle *needle,
                                                    const uint8_t *text, size_t at, size_t n,
                                                    uint64_t *places)
{
    struct probes probes;

    for (int i = 0; i < CLAM_PROBES; i++) {
        probes.fold[i] = _mm512_set1_epi8((char)needle->fold[i]);
        probes.value[i] = _mm512_set1_epi8((char)needle->value[i]);
    }
    for (; at + WIDTH <= n; at += WIDTH)
        if ((*places = all_stand(&probes, needle->at, text + at)) != 0)
            return at;
    if (at < n) { /* the last places, some of them once more */
        at = n - WIDTH;
        *places = all_stand(&probes, needle->at, text + at);
    }
    return at;
}

size_t clam_find_avx512(const struct clam_needle *needle, const uint8_t *text, size_t n)
{
    if (n < WIDTH)
        return clam_find_scalar(needle, text, n);
    for (size_t at = 0; at < n; at += WIDTH) {
        uint64_t places = 0;

        at = first_block(needle, text, at, n, &places);
        for (; places != 0; places &= places - 1) {
            const size_t place = at + (size_t)__builtin_ctzll(places);

            if (clam_needle_equals(needle, text + place))
                return place;
        }
    }
    return n;
}

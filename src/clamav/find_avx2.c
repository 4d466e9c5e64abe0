/* SPDX-License-Identifier: MIT */
#include <immintrin.h>

#include "clamav/find.h"

enum { WIDTH = 32 };

/* The probed bytes, in every lane. */
struct probes {
    __m256i fold[CLAM_PROBES], value[CLAM_PROBES];
};

/* The bytes where probe i stands are all ones. */
static inline __m256i stands(const struct probes *probes, int i, const uint8_t *text)
{
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)text);

    return _mm256_cmpeq_epi8(_mm256_or_si256(bytes, probes->fold[i]), probes->value[i]);
}

/* Bit i: all of them stand at place i of the text. Written out: the compiler keeps the loop, which
 * takes half as long again. */
static inline uint32_t all_stand(const struct probes *probes, const size_t at[CLAM_PROBES],
                                 const uint8_t *text)
{
    const __m256i first = _mm256_and_si256(stands(probes, 0, text + at[0]), //
                                           stands(probes, 1, text + at[1]));
    const __m256i last = _mm256_and_si256(stands(probes, 2, text + at[2]), //
                                          stands(probes, 3, text + at[3]));

    return (uint32_t)_mm256_movemask_epi8(_mm256_and_si256(first, last));
}

/* The first place from `at` on at whose block some place has all of them; *places says which. A
 * function of its own, so that nothing in it is called and all stays in registers. */
static __attribute__((noinline)) size_t first_block(const struct clam_needle *needle,
                                                    const uint8_t *text, size_t at, size_t n,
                                                    uint32_t *places)
{
    struct probes probes;

    for (int i = 0; i < CLAM_PROBES; i++) {
        probes.fold[i] = _mm256_set1_epi8((char)needle->fold[i]);
        probes.value[i] = _mm256_set1_epi8((char)needle->value[i]);
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

size_t clam_find_avx2(const struct clam_needle *needle, const uint8_t *text, size_t n)
{
    if (n < WIDTH)
        return clam_find_scalar(needle, text, n);
    for (size_t at = 0; at < n; at += WIDTH) {
        uint32_t places = 0;

        at = first_block(needle, text, at, n, &places);
        for (; places != 0; places &= places - 1) {
            const size_t place = at + (size_t)__builtin_ctz(places);

            if (clam_needle_equals(needle, text + place))
                return place;
        }
    }
    return n;
}

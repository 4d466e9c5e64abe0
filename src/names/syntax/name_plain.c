/* SPDX-License-Identifier: MIT */
#include "name_plain.h"

#include <emmintrin.h>
#include <string.h>

#include "sluice/name_syntax.h"

enum { VECTOR = 16 };

/* ---- marks ----------------------------------------------------------------------------------- */

/* Marks of 64 bytes. */
struct classes {
    uint64_t ends, slashes, periods;
    uint64_t letters; /* other characters that are unreserved: RFC 3986, section 2.3 */
};

static inline __m128i equal_to(__m128i bytes, char byte)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte));
}

static inline __m128i between(__m128i bytes, char first, char last)
{
    return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8((char)(first - 1))),
                         _mm_cmplt_epi8(bytes, _mm_set1_epi8((char)(last + 1))));
}

static inline uint64_t bits(__m128i mask, uint32_t at)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(mask) << at;
}

static inline void classify(struct classes *classes, const char *text, uint32_t at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(text + at));
    const __m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const __m128i alnum = _mm_or_si128(between(lower, 'a', 'z'), between(bytes, '0', '9'));
    const __m128i other = _mm_or_si128(_mm_or_si128(equal_to(bytes, '-'), equal_to(bytes, '_')),
                                       equal_to(bytes, '~'));

    classes->ends |= bits(equal_to(bytes, '\n'), at);
    classes->slashes |= bits(equal_to(bytes, '/'), at);
    classes->periods |= bits(equal_to(bytes, '.'), at);
    classes->letters |= bits(_mm_or_si128(alnum, other), at);
}

void name_mark(const char *text, size_t len, struct name_marks *marks)
{
    uint64_t begins = 0; /* of components: a bit for the byte behind each slash */
    size_t i = 0;

    for (; i * NAME_MARKS_LEN < len; i++) {
        struct classes classes = {0};

        for (uint32_t at = 0; at < NAME_MARKS_LEN; at += VECTOR)
            classify(&classes, text + i * NAME_MARKS_LEN, at);
        const uint64_t no_begins = classes.slashes | classes.periods;
        begins |= classes.slashes << 1;
        marks[i] =
            (struct name_marks){.ends = classes.ends,
                                .slashes = classes.slashes,
                                .others = ~(classes.letters | no_begins) | (begins & no_begins)};
        begins = classes.slashes >> 63;
    }
    marks[i] = (struct name_marks){.ends = UINT64_MAX};
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A component seldom takes more than one round. */
static inline void copy(uint8_t *to, const char *from, uint32_t n)
{
    uint32_t i = 0;

    do {
        memcpy(to + i, from + i, VECTOR);
        memcpy(to + i + VECTOR, from + i + VECTOR, VECTOR);
        i += 2 * VECTOR;
    } while (i < n);
}

uint64_t name_plain_read(uint8_t *to, uint32_t *len, const char *text,
                         const struct name_plain *plain)
{
    uint64_t slashes = plain->slashes, heads = 0;
    uint32_t n = 0;

    for (uint32_t at = 1; at < plain->len;) {
        slashes &= slashes - 1;
        const uint32_t end = slashes != 0 ? (uint32_t)__builtin_ctzll(slashes) : plain->len;

        heads |= UINT64_C(1) << n % 64;
        to[n] = SL_NAME_GENERIC;
        to[n + 1] = (uint8_t)(end - at);
        copy(to + n + 2, text + at, end - at);
        n += 2 + end - at;
        at = end + 1;
    }
    *len = n;
    return n <= 64 ? heads : 0;
}

/* SPDX-License-Identifier: MIT */
/* Sixteen places at once: gathers wait for their lines together. */
#include <immintrin.h>

#include "seam_look.h"

enum { LANES = 16 };

static inline __m512i fold(__m512i bytes)
{
    return _mm512_or_si512(
        bytes, _mm512_and_si512(_mm512_srli_epi32(bytes, 1), _mm512_set1_epi32(0x20202020)));
}

/* As seam_key. */
static inline __m512i key_of(enum seam_way way, __m512i before, __m512i behind)
{
    switch (way) {
    case SEAM_BOTH:
        return _mm512_or_si512(_mm512_srli_epi32(before, 16), _mm512_slli_epi32(behind, 16));
    case SEAM_ONE_BEFORE:
        return _mm512_or_si512(_mm512_srli_epi32(before, 24), _mm512_slli_epi32(behind, 8));
    case SEAM_ONE_BEHIND:
        return _mm512_or_si512(_mm512_srli_epi32(before, 8), _mm512_slli_epi32(behind, 24));
    default:
        return _mm512_or_si512(
            _mm512_srli_epi32(before, 24),
            _mm512_slli_epi32(_mm512_and_si512(behind, _mm512_set1_epi32(0xFF)), 8));
    }
}

/* The bit of a byte's class, `from` bits up. */
static inline __m512i class_bit(__m512i byte, int from)
{
    const __m512i class = _mm512_and_si512(_mm512_xor_si512(byte, _mm512_srli_epi32(byte, 4)),
                                           _mm512_set1_epi32(SEAM_CLASSES - 1));

    return _mm512_sllv_epi32(_mm512_set1_epi32(1 << from), class);
}

/* As seam_next. */
static inline __m512i next_of(enum seam_way way, __m512i before, __m512i behind)
{
    const __m512i byte = _mm512_set1_epi32(0xFF);
    const __m512i left = _mm512_srli_epi32(before, 8 * (3 - seam_key_before(way)));
    const __m512i right = _mm512_srli_epi32(behind, 8 * seam_key_behind(way));

    return _mm512_or_si512(class_bit(_mm512_and_si512(left, byte), 0),
                           class_bit(_mm512_and_si512(right, byte), SEAM_CLASSES));
}

/* Those of the places that the way's next bytes pass. */
static inline __mmask16 pass_next(const struct seam_set *set, enum seam_way way, __mmask16 places,
                                  __m512i before, __m512i behind)
{
    const __m512i hash =
        _mm512_mullo_epi32(key_of(way, before, behind), _mm512_set1_epi32(SEAM_KEY_FACTOR));
    const __m512i at =
        _mm512_add_epi32(_mm512_set1_epi32((int)set->from[way]),
                         _mm512_srl_epi32(hash, _mm_cvtsi32_si128((int)set->shift[way])));
    const __m512i slots = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), places, at, set->slot,
                                                      sizeof(struct seam_slot));
    const __m512i next = next_of(way, before, behind);

    return _mm512_mask_cmpeq_epi32_mask(places, _mm512_and_si512(slots, next), next);
}

/* As seam_ways_any. */
static inline __m512i ways_any(const struct seam_set *set, __mmask16 places, __m512i before,
                               __m512i behind)
{
    const __m512i at = key_of(SEAM_FEW, before, behind);
    const __m512i numbers = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), places,
                                                        _mm512_srli_epi32(at, 3), set->any, 4);
    const __m512i from = _mm512_slli_epi32(_mm512_and_si512(at, _mm512_set1_epi32(7)), 2);

    return _mm512_and_si512(_mm512_srlv_epi32(numbers, from), _mm512_set1_epi32(15));
}

/* Looks at LANES places from `from` on. */
static inline uint32_t look(const struct seam_set *set, struct seam_places *places, uint32_t from,
                            __mmask16 places_asked)
{
    const __m512i before = fold(_mm512_loadu_si512(places->before + from));
    const __m512i behind = fold(_mm512_loadu_si512(places->behind + from));
    const __m512i any = ways_any(set, places_asked, before, behind);
    __m512i ways = _mm512_setzero_si512();

    _mm512_storeu_si512(places->before + from, before);
    _mm512_storeu_si512(places->behind + from, behind);
#pragma GCC unroll 4
    for (enum seam_way way = SEAM_BOTH; way < SEAM_WAYS; way++) {
        const __m512i bit = _mm512_set1_epi32(1 << way);
        const __mmask16 asked = _mm512_test_epi32_mask(any, bit);

        if (asked != 0)
            ways =
                _mm512_mask_or_epi32(ways, pass_next(set, way, asked, before, behind), ways, bit);
    }
    const __mmask16 passed = _mm512_test_epi32_mask(ways, ways);

    _mm512_mask_storeu_epi32(places->ways + from, passed, ways);
    return passed;
}

uint32_t seam_look_avx512(const struct seam_set *set, struct seam_places *places, uint32_t asked)
{
    uint32_t passed = 0;

    for (uint32_t from = 0; from < SEAM_PLACES; from += LANES)
        if ((uint16_t)(asked >> from) != 0)
            passed |= look(set, places, from, (__mmask16)(asked >> from)) << from;
    return passed;
}

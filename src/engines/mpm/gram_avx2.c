/* SPDX-License-Identifier: MIT */
/* The gram matcher's filters with AVX2: 8 windows a gather, 32 bytes a compare. */
#include <immintrin.h>

#include "base/cpu.h"
#include "gram_cpu.h"

/* Sources of the bytes of four windows' first and rest, as vpshufb takes them, for both halves. */
struct lanes {
    __m256i first;
    __m256i rest; /* bytes 4 and 5 in the upper halves, the lower ones zero */
};

static struct lanes make_lanes(uint32_t stride)
{
    uint8_t first[32], rest[32];

    for (uint32_t lane = 0; lane < 8; lane++)
        for (uint32_t i = 0; i < 4; i++) {
            first[4 * lane + i] = (uint8_t)(lane % 4 * stride + i);
            rest[4 * lane + i] = (uint8_t)(i < 2 ? 0x80 : lane % 4 * stride + 2 + i);
        }
    return (struct lanes){_mm256_loadu_si256((const __m256i *)first),
                          _mm256_loadu_si256((const __m256i *)rest)};
}

static inline __m256i fold(__m256i bytes)
{
    return _mm256_or_si256(
        bytes, _mm256_and_si256(_mm256_srli_epi32(bytes, 1), _mm256_set1_epi8(0x20)));
}

static inline __m256i load_fold(const uint8_t *from)
{
    return fold(_mm256_loadu_si256((const __m256i *)from));
}

/* gram_probe of 8 windows: bit i of the result. */
static inline uint32_t probe(const uint32_t *words, __m256i first, __m256i rest, __m128i word_shift,
                             __m128i bit_shift)
{
    const __m256i seven = _mm256_set1_epi32(GRAM_FIELD_BITS - 1);
    const __m256i hash = _mm256_mullo_epi32(_mm256_slli_epi32(first, 8),
                                            _mm256_set1_epi32((int)GRAM_HASH_FIRST));
    const __m256i word =
        _mm256_i32gather_epi32((const int *)words, _mm256_srl_epi32(hash, word_shift), 4);
    const __m256i fourth = _mm256_and_si256(_mm256_srli_epi32(first, 24), seven);
    const __m256i more =
        _mm256_or_si256(_mm256_and_si256(_mm256_srl_epi32(hash, bit_shift), seven),
                        _mm256_set1_epi32(GRAM_FIELD_BITS));
    const __m256i last = _mm256_or_si256(
        _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_xor_si256(first, rest),
                                             _mm256_set1_epi32((int)GRAM_HASH_LAST)),
                          28),
        _mm256_set1_epi32(GRAM_LAST_SHIFT));
    const __m256i all = _mm256_and_si256(
        _mm256_srlv_epi32(word, fourth),
        _mm256_and_si256(_mm256_srlv_epi32(word, more), _mm256_srlv_epi32(word, last)));

    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(all, 31)));
}

static uint32_t windows(const struct gram_view *view, const uint8_t *text, uint32_t from,
                        uint32_t to, uint32_t *out)
{
    const uint32_t stride = view->stride;
    const struct lanes lanes = make_lanes(stride);
    const __m128i word_shift = _mm_cvtsi32_si128((int)(32 - view->words_log));
    const __m128i bit_shift = _mm_cvtsi32_si128((int)(32 - 3 - view->words_log));
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 8 * stride) {
        const __m128i low = _mm_loadu_si128((const __m128i *)(text + at));
        const __m128i high = _mm_loadu_si128((const __m128i *)(text + at + 4 * stride));
        const __m256i bytes = fold(_mm256_set_m128i(high, low));
        uint32_t passed = probe(view->words, _mm256_shuffle_epi8(bytes, lanes.first),
                                _mm256_shuffle_epi8(bytes, lanes.rest), word_shift, bit_shift);

        for (; passed != 0; passed &= passed - 1)
            out[n++] = at + (uint32_t)__builtin_ctz(passed) * stride;
    }
    while (n > 0 && out[n - 1] >= to)
        n--;
    return n;
}

static uint32_t runs(const uint8_t *text, uint32_t from, uint32_t to, uint32_t *out)
{
    uint32_t before = from > 0 && gram_fold4(text[from - 1]) == gram_fold4(text[from]);
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 32) {
        const __m256i bytes = load_fold(text + at);
        const __m256i equal = _mm256_cmpeq_epi8(bytes, load_fold(text + at + 1));
        const __m256i all = _mm256_and_si256(
            equal, _mm256_and_si256(_mm256_cmpeq_epi8(bytes, load_fold(text + at + 2)),
                                    _mm256_cmpeq_epi8(bytes, load_fold(text + at + 3))));
        const uint32_t next = (uint32_t)_mm256_movemask_epi8(equal);
        uint32_t begin = (uint32_t)_mm256_movemask_epi8(all) & ~(next << 1 | before);

        for (; begin != 0; begin &= begin - 1)
            out[n++] = at + (uint32_t)__builtin_ctz(begin);
        before = next >> 31;
    }
    while (n > 0 && out[n - 1] >= to)
        n--;
    return n;
}

static bool avx2_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX2, why);
}

static enum sl_status avx2_open(void **context, const void *table, const struct sl_limits *limits,
                                struct sl_diag *diag)
{
    static struct gram_filters filters;

    filters = (struct gram_filters){windows, runs, gram_filters_scalar.tiny};
    return gram_open(context, table, limits, &filters, diag);
}

extern const struct sl_backend mpm_gram_avx2;
const struct sl_backend mpm_gram_avx2 = {.name = "avx2",
                                         .device = SL_DEVICE_CPU,
                                         .usable = avx2_usable,
                                         .open = avx2_open,
                                         .submit = gram_submit,
                                         .wait = mpm_cpu_wait,
                                         .close = mpm_cpu_close};

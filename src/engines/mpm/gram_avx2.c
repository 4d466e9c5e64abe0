/* SPDX-License-Identifier: MIT */
/* The gram matcher's filters with AVX2: 8 windows a gather, 32 bytes a compare. */
#include <immintrin.h>

#include "base/cpu.h"
#include "gram_cpu.h"

/* Sources, as vpshufb takes them, of the bytes of four windows at a stride, for both halves: bytes
 * 0 to 2 above a zero, and the bytes that name bits. */
#define WORD(at) 0x80, (at) + 1, (at) + 2, (at) + 3
#define BITS(at) (at), (at) + 4, (at) + 5, (at) + 6
#define WINDOWS_4(bytes, stride) bytes(0), bytes(stride), bytes(2 * (stride)), bytes(3 * (stride))
#define BOTH(bytes, stride)                                \
    {                                                      \
        WINDOWS_4(bytes, stride), WINDOWS_4(bytes, stride) \
    }

static const uint8_t word_source[GRAM_STRIDE_MAX][32] = {BOTH(WORD, 1), BOTH(WORD, 2)};
static const uint8_t bits_source[GRAM_STRIDE_MAX][32] = {BOTH(BITS, 1), BOTH(BITS, 2)};

static inline __m256i fold(__m256i bytes)
{
    return _mm256_or_si256(bytes,
                           _mm256_and_si256(_mm256_srli_epi32(bytes, 1), _mm256_set1_epi8(0x20)));
}

static inline __m256i load_fold(const uint8_t *from)
{
    return fold(_mm256_loadu_si256((const __m256i *)from));
}

/* Bytes from the one before `at` on; before a text's first there is a zero. */
static inline __m128i load_before(const uint8_t *text, uint32_t at)
{
    if (at == 0)
        return _mm_slli_si128(_mm_loadu_si128((const __m128i *)text), 1);
    return _mm_loadu_si128((const __m128i *)(text + at - 1));
}

/* Whether all bytes that 8 windows look at, and two or ten behind them, are one: no window of a
 * literal is there unless some lies in a run. */
static inline bool is_run(__m256i bytes)
{
    const __m256i first = _mm256_broadcastb_epi8(_mm256_castsi256_si128(bytes));

    return _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, first)) == -1;
}

static uint32_t windows(const struct gram_view *view, const uint8_t *text, uint32_t from,
                        uint32_t to, uint32_t *out)
{
    const uint32_t stride = view->stride;
    const bool in_runs = view->body->n_in_runs != 0;
    const __m256i to_word = _mm256_loadu_si256((const __m256i *)word_source[stride - 1]);
    const __m256i to_bits = _mm256_loadu_si256((const __m256i *)bits_source[stride - 1]);
    const __m256i bit = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    const __m256i hash = _mm256_set1_epi32((int)view->multiplier);
    const __m128i shift = _mm_cvtsi32_si128((int)(32 - view->words_log));
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 8 * stride) {
        _mm_prefetch((const char *)text + at + GRAM_AHEAD, _MM_HINT_T0);

        const __m128i low = load_before(text, at);
        const __m128i high = load_before(text, at + 4 * stride);
        const __m256i bytes = fold(_mm256_set_m128i(high, low));
        if (is_run(bytes) && !in_runs)
            continue;

        const __m256i first = _mm256_shuffle_epi8(bytes, to_word);
        const __m256i word = _mm256_i32gather_epi32(
            (const int *)view->words, _mm256_srl_epi32(_mm256_mullo_epi32(first, hash), shift), 4);
        const __m256i naming = _mm256_shuffle_epi8(bytes, to_bits);
        const __m256i named = _mm256_and_si256(
            _mm256_xor_si256(naming, _mm256_srli_epi32(naming, 3)), _mm256_set1_epi8(7));
        const __m256i clear = _mm256_cmpeq_epi32(
            _mm256_and_si256(word, _mm256_shuffle_epi8(bit, named)), _mm256_setzero_si256());
        uint32_t passed = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(clear));

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
        const __m256i all =
            _mm256_and_si256(equal, _mm256_cmpeq_epi8(bytes, load_fold(text + at + 2)));
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
    static const struct gram_filters filters = {
        windows, runs, gram_tiny_scalar, gram_keys_scalar, gram_find_scalar, gram_compare_scalar};

    return gram_open(context, table, limits, &filters, diag);
}

extern const struct sl_backend mpm_gram_avx2;
const struct sl_backend mpm_gram_avx2 = {.name = "avx2",
                                         .device = SL_DEVICE_CPU,
                                         .usable = avx2_usable,
                                         .open = avx2_open,
                                         .submit = gram_submit,
                                         .wait = cpu_backend_wait,
                                         .close = cpu_backend_close};

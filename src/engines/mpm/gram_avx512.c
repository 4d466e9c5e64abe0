/* SPDX-License-Identifier: MIT */
/* The gram matcher's filters with AVX-512: 16 windows a gather, 64 bytes a compare. */
#include <immintrin.h>

#include "base/cpu.h"
#include "gram_cpu.h"

/* Sources of the bytes of 16 windows' first and rest, as vpermb takes them. */
struct lanes {
    __m512i first;
    __m512i rest; /* for the upper halves: bytes 4 and 5 */
    __m512i at;   /* window's position */
};

static struct lanes make_lanes(uint32_t stride)
{
    uint8_t first[64], rest[64];
    uint32_t at[16];

    for (uint32_t lane = 0; lane < 16; lane++) {
        at[lane] = lane * stride;
        for (uint32_t i = 0; i < 4; i++) {
            first[4 * lane + i] = (uint8_t)(lane * stride + i);
            rest[4 * lane + i] = (uint8_t)(lane * stride + 2 + i);
        }
    }
    return (struct lanes){_mm512_loadu_si512(first), _mm512_loadu_si512(rest),
                          _mm512_loadu_si512(at)};
}

static inline __m512i fold(__m512i bytes)
{
    return _mm512_or_si512(bytes, _mm512_and_si512(_mm512_srli_epi32(bytes, 1),
                                                   _mm512_set1_epi8(0x20)));
}

/* gram_probe of 16 windows. */
static inline __mmask16 probe(const uint32_t *words, __m512i first, __m512i rest,
                              __m128i word_shift, __m128i bit_shift)
{
    const __m512i seven = _mm512_set1_epi32(GRAM_FIELD_BITS - 1);
    const __m512i hash = _mm512_mullo_epi32(_mm512_slli_epi32(first, 8),
                                            _mm512_set1_epi32((int)GRAM_HASH_FIRST));
    const __m512i word = _mm512_i32gather_epi32(_mm512_srl_epi32(hash, word_shift), words, 4);
    const __m512i fourth = _mm512_and_si512(_mm512_srli_epi32(first, 24), seven);
    const __m512i more =
        _mm512_or_si512(_mm512_and_si512(_mm512_srl_epi32(hash, bit_shift), seven),
                        _mm512_set1_epi32(GRAM_FIELD_BITS));
    const __m512i last = _mm512_or_si512(
        _mm512_srli_epi32(_mm512_mullo_epi32(_mm512_xor_si512(first, rest),
                                             _mm512_set1_epi32((int)GRAM_HASH_LAST)),
                          28),
        _mm512_set1_epi32(GRAM_LAST_SHIFT));
    const __m512i all = _mm512_ternarylogic_epi32(_mm512_srlv_epi32(word, fourth),
                                                  _mm512_srlv_epi32(word, more),
                                                  _mm512_srlv_epi32(word, last), 0x80);

    return _mm512_test_epi32_mask(all, _mm512_set1_epi32(1));
}

static uint32_t windows(const struct gram_view *view, const uint8_t *text, uint32_t from,
                        uint32_t to, uint32_t *out)
{
    const struct lanes lanes = make_lanes(view->stride);
    const __m128i word_shift = _mm_cvtsi32_si128((int)(32 - view->words_log));
    const __m128i bit_shift = _mm_cvtsi32_si128((int)(32 - 3 - view->words_log));
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 16 * view->stride) {
        const __m512i bytes = fold(_mm512_loadu_si512(text + at));
        const __m512i first = _mm512_permutexvar_epi8(lanes.first, bytes);
        const __m512i rest =
            _mm512_maskz_permutexvar_epi8(0xCCCCCCCCCCCCCCCC, lanes.rest, bytes);
        const __mmask16 passed = probe(view->words, first, rest, word_shift, bit_shift);
        const __m512i positions = _mm512_add_epi32(lanes.at, _mm512_set1_epi32((int)at));

        _mm512_storeu_si512(out + n, _mm512_maskz_compress_epi32(passed, positions));
        n += (uint32_t)__builtin_popcount(passed);
    }
    while (n > 0 && out[n - 1] >= to)
        n--;
    return n;
}

static uint32_t write_positions(uint64_t passed, uint32_t at, uint32_t *out, uint32_t n)
{
    for (; passed != 0; passed &= passed - 1)
        out[n++] = at + (uint32_t)__builtin_ctzll(passed);
    return n;
}

static uint64_t below(uint32_t at, uint32_t to)
{
    return to - at >= 64 ? UINT64_MAX : (UINT64_C(1) << (to - at)) - 1;
}

static uint32_t runs(const uint8_t *text, uint32_t from, uint32_t to, uint32_t *out)
{
    uint64_t before = from > 0 && gram_fold4(text[from - 1]) == gram_fold4(text[from]);
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 64) {
        const __m512i bytes = fold(_mm512_loadu_si512(text + at));
        const uint64_t next = _mm512_cmpeq_epi8_mask(bytes, fold(_mm512_loadu_si512(text + at + 1)));
        const uint64_t second =
            _mm512_cmpeq_epi8_mask(bytes, fold(_mm512_loadu_si512(text + at + 2)));
        const uint64_t third =
            _mm512_cmpeq_epi8_mask(bytes, fold(_mm512_loadu_si512(text + at + 3)));

        n = write_positions(next & second & third & ~(next << 1 | before) & below(at, to), at, out,
                            n);
        before = next >> 63;
    }
    return n;
}

/* table[byte] for 64 bytes. */
static inline __m512i look_up(const __m512i table[4], __m512i bytes)
{
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes),
                                  _mm512_permutex2var_epi8(table[0], bytes, table[1]),
                                  _mm512_permutex2var_epi8(table[2], bytes, table[3]));
}

static uint32_t tiny(const struct gram_table *body, const uint8_t *text, uint32_t from, uint32_t to,
                     uint32_t *out)
{
    __m512i first[4], second[4];
    uint32_t n = 0;

    memcpy(first, body->tiny_first, sizeof first);
    memcpy(second, body->tiny_second, sizeof second);
    for (uint32_t at = from; at < to; at += 64) {
        const __m512i a = look_up(first, _mm512_loadu_si512(text + at));
        const __m512i b = look_up(second, _mm512_loadu_si512(text + at + 1));

        n = write_positions(_mm512_test_epi8_mask(a, b) & below(at, to), at, out, n);
    }
    return n;
}

static bool avx512_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX512, why);
}

static enum sl_status avx512_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    static const struct gram_filters filters = {windows, runs, tiny};

    return gram_open(context, table, limits, &filters, diag);
}

extern const struct sl_backend mpm_gram_avx512;
const struct sl_backend mpm_gram_avx512 = {.name = "avx512",
                                           .device = SL_DEVICE_CPU,
                                           .usable = avx512_usable,
                                           .open = avx512_open,
                                           .submit = gram_submit,
                                           .wait = mpm_cpu_wait,
                                           .close = mpm_cpu_close};

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

/* The lanes of eight that are set in a mask, a byte each, the lowest lane lowest. */
#define IS_SET(mask, lane) ((mask) >> (lane)&UINT64_C(1))
#define BEFORE(mask, lane, lanes) ((lanes) << 8 * IS_SET(mask, lane) | (lane)*IS_SET(mask, lane))
#define LANES_FROM_4(mask) \
    BEFORE(mask, 4, BEFORE(mask, 5, BEFORE(mask, 6, BEFORE(mask, 7, UINT64_C(0)))))
#define LANES(mask) \
    BEFORE(mask, 0, BEFORE(mask, 1, BEFORE(mask, 2, BEFORE(mask, 3, LANES_FROM_4(mask)))))
#define LANES_4(mask) LANES(mask), LANES((mask) + 1), LANES((mask) + 2), LANES((mask) + 3)
#define LANES_16(mask) LANES_4(mask), LANES_4((mask) + 4), LANES_4((mask) + 8), LANES_4((mask) + 12)
#define LANES_64(mask) \
    LANES_16(mask), LANES_16((mask) + 16), LANES_16((mask) + 32), LANES_16((mask) + 48)

static const uint64_t set_lanes[256] = {LANES_64(0), LANES_64(64), LANES_64(128), LANES_64(192)};

/* Writes those of eight lanes that are set in a mask one behind another, and anything behind them;
 * returns how many they are. */
static inline uint32_t compress(uint32_t *out, uint32_t mask, __m256i lanes)
{
    const __m256i from = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)&set_lanes[mask]));

    _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(lanes, from));
    return (uint32_t)__builtin_popcount(mask);
}

/* The sign bits of eight lanes. */
static inline uint32_t mask_of(__m256i lanes)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
}

static inline __m256i gather(const uint32_t *words, __m256i index)
{
    return _mm256_i32gather_epi32((const int *)words, index, 4);
}

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

/* How windows at a stride are looked at. */
struct probe {
    __m256i to_word;
    __m256i to_bits;
    __m256i hash;
    __m128i shift;
    const uint32_t *words;
};

static inline struct probe make_probe(const struct gram_view *view)
{
    const uint32_t at = view->stride - 1;

    return (struct probe){.to_word = _mm256_loadu_si256((const __m256i *)word_source[at]),
                          .to_bits = _mm256_loadu_si256((const __m256i *)bits_source[at]),
                          .hash = _mm256_set1_epi32((int)view->multiplier),
                          .shift = _mm_cvtsi32_si128((int)(32 - view->words_log)),
                          .words = view->words};
}

/* What 8 windows look at, four in each half. */
static inline __m256i load_8_windows(const uint8_t *text, uint32_t at, uint32_t stride)
{
    const __m128i high = _mm_loadu_si128((const __m128i *)(text + at + 4 * stride - 1));

    return fold(_mm256_set_m128i(high, load_before(text, at)));
}

/* Whether all bytes that 16 windows look at, and two or ten behind them, are one: no window of a
 * literal is there unless some lies in a run. */
static inline bool is_run(__m256i low, __m256i high)
{
    const __m256i first = _mm256_broadcastb_epi8(_mm256_castsi256_si128(low));
    const __m256i equal =
        _mm256_and_si256(_mm256_cmpeq_epi8(low, first), _mm256_cmpeq_epi8(high, first));

    return _mm256_movemask_epi8(equal) == -1;
}

/* Of 8 windows those that pass. */
static inline uint8_t probe_8(const struct probe *probe, __m256i bytes)
{
    const __m256i bit = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    const __m256i first = _mm256_shuffle_epi8(bytes, probe->to_word);
    const __m256i word = gather(
        probe->words, _mm256_srl_epi32(_mm256_mullo_epi32(first, probe->hash), probe->shift));
    const __m256i naming = _mm256_shuffle_epi8(bytes, probe->to_bits);
    const __m256i named = _mm256_and_si256(_mm256_xor_si256(naming, _mm256_srli_epi32(naming, 3)),
                                           _mm256_set1_epi8(7));
    const __m256i wanted = _mm256_and_si256(word, _mm256_shuffle_epi8(bit, named));

    return (uint8_t)mask_of(_mm256_cmpeq_epi32(wanted, _mm256_setzero_si256()));
}

/* The positions below `to` that are set in masks of 8, from `from` on at a stride. */
static uint32_t write_positions(const uint8_t *masks, uint32_t n_masks, uint32_t from, uint32_t to,
                                uint32_t stride, uint32_t *out)
{
    const __m256i step = _mm256_set1_epi32((int)(8 * stride));
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i position = _mm256_add_epi32(_mm256_set1_epi32((int)from),
                                        _mm256_mullo_epi32(lane, _mm256_set1_epi32((int)stride)));
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_masks; i++) {
        n += compress(out + n, masks[i], position);
        position = _mm256_add_epi32(position, step);
    }
    while (n > 0 && out[n - 1] >= to)
        n--;
    return n;
}

/* What passes is kept in masks at first: where positions go depends on all that passed before, and
 * loads may have to wait until a core knows where its stores go. */
static uint32_t windows(const struct gram_view *view, const uint8_t *text, uint32_t from,
                        uint32_t to, uint32_t *out)
{
    const struct probe probe = make_probe(view);
    const uint32_t stride = view->stride;
    const bool in_runs = view->body->n_in_runs != 0;
    uint8_t masks[GRAM_CHUNK / 8];
    uint32_t n_masks = 0;

    for (uint32_t at = from; at < to; at += 16 * stride) {
        _mm_prefetch((const char *)text + at + GRAM_AHEAD, _MM_HINT_T0);

        const __m256i low = load_8_windows(text, at, stride);
        const __m256i high = load_8_windows(text, at + 8 * stride, stride);
        const bool skip = is_run(low, high) && !in_runs;

        masks[n_masks++] = skip ? 0 : probe_8(&probe, low);
        masks[n_masks++] = skip ? 0 : probe_8(&probe, high);
    }
    return write_positions(masks, n_masks, from, to, stride, out);
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

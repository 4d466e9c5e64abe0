/* SPDX-License-Identifier: MIT */
/* The hash plane with a bucket in one register, keys compared a cache line at a time, and eight
 * names hashed at once. */
#include <immintrin.h>

#include "fib_hash_core.h"
#include "names/fib/fib_internal.h"

enum { EIGHT = 8, LINE_LEN = 64, SHORT_HEAD = 5 };

/* Aligned vector loads give each 64-bit slot whole. */
FIB_LOADS_WORDS static uint32_t lanes_match(const uint64_t *bucket, uint64_t tag, uint64_t *first)
{
    const __m512i slots = _mm512_load_si512(bucket);
    const __mmask8 match =
        _mm512_testn_epi64_mask(_mm512_xor_si512(slots, _mm512_set1_epi64((long long)tag)),
                                _mm512_set1_epi64((long long)HASH_TAG_MASK));
    const __m512i matching = _mm512_maskz_compress_epi64(match, slots);

    *first = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(matching));
    return match;
}

static const uint8_t up[LINE_LEN] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

/* A record that fits a line is taken out of it. A load that crossed into the next line would cost a
 * miss, even with a mask. */
FIB_LOADS_WORDS static bool lanes_key_is(const uint32_t *record, const struct fib_reader *name,
                                         uint32_t len)
{
    if (len > LINE_LEN - SHORT_HEAD)
        return hash_key_is(record, name, len);

    const uint32_t at = (uint32_t)((uintptr_t)record % LINE_LEN);
    const __m512i line = _mm512_load_si512((const uint8_t *)record - at);
    const __m512i from =
        _mm512_add_epi8(_mm512_loadu_si512(up), _mm512_set1_epi8((char)(at + SHORT_HEAD)));
    const __mmask64 mask = _bzhi_u64(~UINT64_C(0), len);
    const __mmask64 differ = _mm512_mask_cmpneq_epi8_mask(
        mask, _mm512_permutexvar_epi8(from, line), _mm512_maskz_loadu_epi8(mask, name->words));

    return (differ | ((fib_load32(&record[1]) & 0xFF) ^ len)) == 0;
}

#include "fib_hash_lanes.h"

/* ---- hashes of eight names ------------------------------------------------------------------- */

/* core_fold, from products of halves. */
static __m512i fold_product(__m512i x, __m512i y)
{
    const __m512i low32 = _mm512_set1_epi64(0xFFFFFFFF);
    const __m512i x_high = _mm512_srli_epi64(x, 32), y_high = _mm512_srli_epi64(y, 32);
    const __m512i low = _mm512_mul_epu32(x, y);
    const __m512i a = _mm512_add_epi64(_mm512_mul_epu32(x_high, y), _mm512_srli_epi64(low, 32));
    const __m512i b = _mm512_add_epi64(_mm512_mul_epu32(x, y_high), _mm512_and_epi64(a, low32));
    const __m512i high = _mm512_add_epi64(
        _mm512_add_epi64(_mm512_mul_epu32(x_high, y_high), _mm512_srli_epi64(a, 32)),
        _mm512_srli_epi64(b, 32));

    return _mm512_xor_epi64(high, _mm512_mask_mov_epi32(_mm512_slli_epi64(b, 32), 0x5555, low));
}

/* The low n_bits of each, all of them from 64 on. */
static __m512i low_bits(__m512i values, __m512i n_bits)
{
    const __m512i ones = _mm512_set1_epi64(-1);

    return _mm512_andnot_epi64(_mm512_sllv_epi64(ones, n_bits), values);
}

static __m512i gather(__mmask8 lanes, __m512i at, const uint8_t *bytes)
{
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), lanes, at, bytes, 1);
}

/* Eight names on their way down, level by level. */
struct eight {
    __m512i begin, len; /* of the names, in the batch's bytes */
    __m512i hash, end, level;
    __m512i at, head, left; /* of the component: where, its first bytes, how many there are */
    __mmask8 on;            /* names that have another component */
    __mmask8 more;          /* with bytes that are not in the hash yet */
    __mmask8 odd;           /* with a component that is hashed one by one */
};

static inline void begin_eight(struct eight *eight, const struct fib_view *view,
                               const struct sl_batch *batch, const struct lanes *lanes,
                               uint32_t first)
{
    const uint32_t n = lanes->n > first ? lanes->n - first : 0;
    const __mmask8 all = (__mmask8)(n < EIGHT ? (1u << n) - 1 : 0xFF);
    const __m512i spans = _mm512_maskz_loadu_epi64(all, &batch->payload[lanes->first + first]);

    eight->begin = _mm512_and_epi64(spans, _mm512_set1_epi64(0xFFFFFFFF));
    eight->len = _mm512_srli_epi64(spans, 32);
    eight->hash = _mm512_set1_epi64((long long)view->secret.start);
    eight->end = eight->level = _mm512_setzero_si512();
    eight->on = all;
    eight->odd = 0;
}

/* The lanes whose next component has a head of two bytes; those with a longer one go to `odd`.
 * `len` becomes bytes of the component, head included. */
static __mmask8 next_components(__mmask8 lanes, __m512i head, __m512i left, __m512i *len,
                                __mmask8 *odd)
{
    const __m512i byte = _mm512_set1_epi64(0xFF), two = _mm512_set1_epi64(2);
    const __m512i type = _mm512_and_epi64(head, byte);
    const __m512i label = _mm512_and_epi64(_mm512_srli_epi64(head, 8), byte);
    const __mmask8 there = _mm512_mask_cmpge_epi64_mask(lanes, left, two);
    const __mmask8 plain = _mm512_cmplt_epu64_mask(_mm512_sub_epi64(type, _mm512_set1_epi64(1)),
                                                   _mm512_set1_epi64(252)) &
                           _mm512_cmplt_epi64_mask(label, _mm512_set1_epi64(253));

    *odd |= there & (__mmask8)~plain;
    *len = _mm512_add_epi64(label, two);
    return there & plain & _mm512_cmple_epi64_mask(*len, left);
}

static inline void begin_components(struct eight *eight, const uint8_t *bytes)
{
    eight->at = _mm512_add_epi64(eight->begin, eight->end);
    eight->head = gather(eight->on, eight->at, bytes);
    eight->on = next_components(eight->on, eight->head, _mm512_sub_epi64(eight->len, eight->end),
                                &eight->left, &eight->odd);
    eight->more = eight->on;
    eight->end = _mm512_mask_add_epi64(eight->end, eight->on, eight->end, eight->left);
    eight->level =
        _mm512_mask_add_epi64(eight->level, eight->on, eight->level, _mm512_set1_epi64(1));
}

/* A step of fib_hash_component: the next 16 bytes. */
static inline void hash_step(struct eight *eight, const struct fib_secret *secret,
                             const uint8_t *bytes)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i a = _mm512_set1_epi64((long long)secret->a);
    const __m512i b = _mm512_set1_epi64((long long)secret->b);
    const __m512i n_bits = _mm512_slli_epi64(eight->left, 3);
    const __m512i n_high = _mm512_max_epi64(_mm512_sub_epi64(n_bits, _mm512_set1_epi64(64)), zero);
    const __m512i low = low_bits(eight->head, n_bits);
    const __m512i high = low_bits(gather(eight->more, eight->at, bytes + 8), n_high);
    const __m512i x = _mm512_xor_epi64(_mm512_xor_epi64(low, eight->hash), a);
    const __m512i hash = fold_product(x, _mm512_xor_epi64(high, b));

    eight->hash = _mm512_mask_mov_epi64(eight->hash, eight->more, hash);
    eight->left = _mm512_sub_epi64(eight->left, _mm512_set1_epi64(16));
    eight->more &= _mm512_cmpgt_epi64_mask(eight->left, zero);
}

static inline void go_on(struct eight *eight, const uint8_t *bytes)
{
    eight->at = _mm512_add_epi64(eight->at, _mm512_set1_epi64(16));
    eight->head = gather(eight->more, eight->at, bytes);
}

static inline void keep_level(const struct eight *eight, struct lanes *lanes, uint32_t level,
                              uint32_t first)
{
    _mm512_store_si512(&lanes->hash[level][first], eight->hash);
    _mm256_store_si256((__m256i *)&lanes->end[level][first], _mm512_cvtepi64_epi32(eight->end));
}

static inline void end_eight(const struct eight *eight, const struct fib_view *view,
                             const struct sl_batch *batch, struct lanes *lanes, uint32_t first)
{
    const __m512i n_places = _mm512_set1_epi64(view->n_places[0]);
    const __m512i upper = _mm512_srli_epi64(eight->hash, 32);

    _mm256_storeu_si256((__m256i *)&lanes->level[first], _mm512_cvtepi64_epi32(eight->level));
    _mm512_store_si512(&lanes->place[first],
                       _mm512_srli_epi64(_mm512_mul_epu32(upper, n_places), 32));
    for (uint32_t i = first; i < first + EIGHT; i++)
        fetch_place(view, lanes, i);
    for (uint32_t odd = eight->odd; odd != 0; odd &= odd - 1)
        hash_lane(view, batch, lanes, first + (uint32_t)__builtin_ctz(odd));
}

/* Two times eight names, step by step together: a step of one waits for most of its time, and the
 * other's goes on meanwhile. */
static void hash_sixteen(const struct fib_view *view, const struct sl_batch *batch,
                         struct lanes *lanes, uint32_t first)
{
    const uint8_t *bytes = batch->bytes;
    struct eight a, b;

    begin_eight(&a, view, batch, lanes, first);
    begin_eight(&b, view, batch, lanes, first + EIGHT);
    for (uint32_t level = 1; level <= view->split && (a.on | b.on) != 0; level++) {
        begin_components(&a, bytes);
        begin_components(&b, bytes);
        for (;;) {
            hash_step(&a, &view->secret, bytes);
            hash_step(&b, &view->secret, bytes);
            if ((a.more | b.more) == 0)
                break;
            go_on(&a, bytes);
            go_on(&b, bytes);
        }
        keep_level(&a, lanes, level, first);
        keep_level(&b, lanes, level, first + EIGHT);
    }
    end_eight(&a, view, batch, lanes, first);
    end_eight(&b, view, batch, lanes, first + EIGHT);
}

static void hash_sixteens(const struct fib_view *view, const struct sl_batch *batch,
                          struct lanes *lanes)
{
    for (uint32_t first = 0; first < lanes->n; first += 2 * EIGHT)
        hash_sixteen(view, batch, lanes, first);
}

static void avx512_lookup(const struct fib_view *view, const struct sl_batch *batch,
                          uint32_t *next_hop, uint32_t *prefix_len)
{
    lanes_lookup(view, batch, next_hop, prefix_len, hash_sixteens);
}

FIB_CPU_BACKEND(fib_hash_avx512, "avx512", fib_cpu_usable_avx512, avx512_lookup);

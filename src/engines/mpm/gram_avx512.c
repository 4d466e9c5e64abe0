/* SPDX-License-Identifier: MIT */
/* The gram matcher's filters with AVX-512: 16 windows a gather, 64 bytes a compare. */
#include <immintrin.h>
#include <stddef.h>

#include "base/cpu.h"
#include "gram_cpu.h"

enum { MANY_PASSED = 8 }; /* of 16: it must be a run, which can only pass by collision */

/* Sources, as vpermb takes them, of the bytes of 16 windows at a stride: bytes 0 to 2 above a byte
 * that is masked away, and the bytes that name bits. */
#define WORD(at) 0, (at) + 1, (at) + 2, (at) + 3
#define BITS(at) (at), (at) + 4, (at) + 5, (at) + 6
#define WINDOWS_8(bytes, at, stride)                                                           \
    bytes(at), bytes((at) + (stride)), bytes((at) + 2 * (stride)), bytes((at) + 3 * (stride)), \
        bytes((at) + 4 * (stride)), bytes((at) + 5 * (stride)), bytes((at) + 6 * (stride)),    \
        bytes((at) + 7 * (stride))
#define WINDOWS_16(bytes, stride) \
    WINDOWS_8(bytes, 0, stride), WINDOWS_8(bytes, 8 * (stride), stride)

static const uint8_t word_source[GRAM_STRIDE_MAX][64] = {{WINDOWS_16(WORD, 1)},
                                                         {WINDOWS_16(WORD, 2)}};
static const uint8_t bits_source[GRAM_STRIDE_MAX][64] = {{WINDOWS_16(BITS, 1)},
                                                         {WINDOWS_16(BITS, 2)}};

/* 1 << (byte ^ byte >> 3 & 7), by a byte's low six bits. */
#define BIT(byte) (uint8_t)(1 << (((byte) ^ (byte) >> 3) & 7))
#define BITS_8(byte)                                                               \
    BIT(byte), BIT((byte) + 1), BIT((byte) + 2), BIT((byte) + 3), BIT((byte) + 4), \
        BIT((byte) + 5), BIT((byte) + 6), BIT((byte) + 7)

static const uint8_t bit_named[64] = {BITS_8(0),  BITS_8(8),  BITS_8(16), BITS_8(24),
                                      BITS_8(32), BITS_8(40), BITS_8(48), BITS_8(56)};

static inline __m512i fold(__m512i bytes)
{
    return _mm512_or_si512(bytes,
                           _mm512_and_si512(_mm512_srli_epi32(bytes, 1), _mm512_set1_epi8(0x20)));
}

/* 64 bytes from the one before `at` on; before a text's first there is a zero. */
static inline __m512i load_before(const uint8_t *text, uint32_t at)
{
    return _mm512_maskz_loadu_epi8(at == 0 ? ~UINT64_C(1) : ~UINT64_C(0), text + at - 1);
}

/* Of 16 windows of a block, those that lie in a run, the byte before included. */
static __attribute__((noinline)) __mmask16 in_run(const uint8_t *text, uint32_t at, __m512i bytes,
                                                  uint32_t stride)
{
    const uint64_t next = _mm512_cmpeq_epi8_mask(bytes, fold(_mm512_loadu_si512(text + at)));
    const uint64_t run = next & next >> 1 & next >> 2 & next >> 3 & next >> 4 & next >> 5;

    return (__mmask16)_pext_u64(run, stride == 1 ? 0xFFFF : 0x55555555);
}

static uint32_t windows(const struct gram_view *view, const uint8_t *text, uint32_t from,
                        uint32_t to, uint32_t *out)
{
    const uint32_t stride = view->stride;
    const bool in_runs = view->body->n_in_runs != 0;
    const __m512i to_word = _mm512_loadu_si512(word_source[stride - 1]);
    const __m512i to_bits = _mm512_loadu_si512(bits_source[stride - 1]);
    const __m512i bit = _mm512_loadu_si512(bit_named);
    const __m512i hash = _mm512_set1_epi32((int)view->multiplier);
    const __m128i shift = _mm_cvtsi32_si128((int)(32 - view->words_log));
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i step = _mm512_set1_epi32((int)(16 * stride));
    __m512i position = _mm512_add_epi32(_mm512_set1_epi32((int)from),
                                        _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)stride)));
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 16 * stride) {
        _mm_prefetch((const char *)text + at + GRAM_AHEAD, _MM_HINT_T0);

        const __m512i bytes = fold(load_before(text, at));
        const __m512i first = _mm512_maskz_permutexvar_epi8(0xEEEEEEEEEEEEEEEE, to_word, bytes);
        const __m512i word = _mm512_i32gather_epi32(
            _mm512_srl_epi32(_mm512_mullo_epi32(first, hash), shift), view->words, 4);
        const __m512i bits = _mm512_permutexvar_epi8(_mm512_permutexvar_epi8(to_bits, bytes), bit);
        __mmask16 passed = _mm512_testn_epi32_mask(word, bits);

        if (__builtin_popcount(passed) > MANY_PASSED && !in_runs)
            passed &= ~in_run(text, at, bytes, stride);
        _mm512_storeu_si512(out + n, _mm512_maskz_compress_epi32(passed, position));
        n += (uint32_t)__builtin_popcount(passed);
        position = _mm512_add_epi32(position, step);
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

/* table[byte] for 64 bytes. */
static inline __m512i look_up(const __m512i table[4], __m512i bytes)
{
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes),
                                  _mm512_permutex2var_epi8(table[0], bytes, table[1]),
                                  _mm512_permutex2var_epi8(table[2], bytes, table[3]));
}

/* Bit i: byte i is coarsely equal to the next. */
static inline uint64_t equal_to_next(const uint8_t *text)
{
    return _mm512_cmpeq_epi8_mask(fold(_mm512_loadu_si512(text)),
                                  fold(_mm512_loadu_si512(text + 1)));
}

/* Most words have a bit or two, and how many is as good as random: no branch on that. */
static uint32_t runs(const uint8_t *text, uint32_t from, uint32_t to, uint32_t *out)
{
    uint64_t before = from > 0 && gram_fold4(text[from - 1]) == gram_fold4(text[from]);
    uint64_t equal = equal_to_next(text + from);
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 64) {
        const uint64_t next = equal_to_next(text + at + 64);
        uint64_t begin = equal & (equal >> 1 | next << 63) & ~(equal << 1 | before);
        uint32_t *const first = out + n;

        n += (uint32_t)__builtin_popcountll(begin);
        first[0] = at + (uint32_t)_tzcnt_u64(begin);
        begin &= begin - 1;
        first[1] = at + (uint32_t)_tzcnt_u64(begin);
        begin &= begin - 1;
        (void)write_positions(begin, at, first, 2);
        before = equal >> 63;
        equal = next;
    }
    while (n > 0 && out[n - 1] >= to)
        n--;
    return n;
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

/* Of 16 lanes the first n. */
static __mmask16 first_lanes(uint32_t n)
{
    return n < 16 ? (__mmask16)((1u << n) - 1) : 0xFFFF;
}

/* As gram_may_have. */
static inline __mmask16 may_have(const struct gram_view *view, __mmask16 some, __m512i key)
{
    const __m128i shift = _mm_cvtsi32_si128((int)(32 - GRAM_PRESENT_LOG - view->slots_log));
    const __m512i mixed = _mm512_xor_si512(key, _mm512_srli_epi32(key, 15));
    const __m512i bit =
        _mm512_srl_epi32(_mm512_mullo_epi32(mixed, _mm512_set1_epi32((int)GRAM_HASH_SLOT)), shift);
    const __m512i word = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), some,
                                                     _mm512_srli_epi32(bit, 5), view->present, 4);
    const __m512i one = _mm512_set1_epi32(1);

    return _mm512_test_epi32_mask(
        word, _mm512_sllv_epi32(one, _mm512_and_si512(bit, _mm512_set1_epi32(31))));
}

static inline void add_keys(const struct gram_view *view, struct gram_keys *keys, __mmask16 some,
                            __m512i at, __m512i key)
{
    const __mmask16 left = may_have(view, some, key);

    _mm512_storeu_si512(keys->at + keys->n, _mm512_maskz_compress_epi32(left, at));
    _mm512_storeu_si512(keys->key + keys->n, _mm512_maskz_compress_epi32(left, key));
    keys->n += (uint32_t)__builtin_popcount(left);
}

/* Of 16 windows the bytes -1 to 2, and 3 to 6. Before a text's first byte there is a zero. */
static inline void load_windows(const uint8_t *text, __mmask16 live, __m512i at, __m512i *low,
                                __m512i *high)
{
    const __m512i zero = _mm512_setzero_si512();
    const __m512i evens =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
    const __mmask16 inside = _mm512_test_epi32_mask(at, at);
    const __m512i from = _mm512_mask_sub_epi32(at, inside, at, _mm512_set1_epi32(1));
    __m512i a =
        _mm512_mask_i32gather_epi64(zero, (__mmask8)live, _mm512_castsi512_si256(from), text, 1);
    const __m512i b = _mm512_mask_i32gather_epi64(zero, (__mmask8)(live >> 8),
                                                  _mm512_extracti64x4_epi64(from, 1), text, 1);

    a = fold(
        _mm512_mask_slli_epi64(a, (__mmask8)~inside, a, 8)); /* positions ascend: one of them */
    *low = _mm512_permutex2var_epi32(a, evens, fold(b));
    *high = _mm512_permutex2var_epi32(a, odds, fold(b));
}

static inline __mmask16 all_clear(__mmask16 some, __m512i word, enum gram_kind kind)
{
    return _mm512_mask_testn_epi32_mask(some, word, _mm512_set1_epi32((int)gram_unnamed(kind)));
}

static inline __m512i mix(__m512i bytes, __m512i more, uint32_t hash)
{
    const __m512i some = _mm512_add_epi32(more, _mm512_set1_epi32(1));

    return _mm512_xor_si512(bytes, _mm512_mullo_epi32(some, _mm512_set1_epi32((int)hash)));
}

static void keys(const struct gram_view *view, const uint8_t *text, const uint32_t *passed,
                 uint32_t n, struct gram_keys out[GRAM_KINDS])
{
    const __m512i hash = _mm512_set1_epi32((int)view->multiplier);
    const __m128i shift = _mm_cvtsi32_si128((int)(32 - view->words_log));
    const __m512i three = _mm512_set1_epi32(0xFFFFFF);
    const __mmask16 in_runs = view->body->n_in_runs != 0 ? 0xFFFF : 0;

    for (int kind = 0; kind < GRAM_KINDS; kind++)
        out[kind].n = 0;
    for (uint32_t i = 0; i < n; i += 16) {
        const __mmask16 live = first_lanes(n - i);
        const __m512i at = _mm512_maskz_loadu_epi32(live, passed + i);
        __m512i low, high;

        load_windows(text, live, at, &low, &high);
        const __m512i last = _mm512_and_si512(high, three);
        /* Bytes 0 to 2, above a byte that the hash drops. */
        const __m512i first = _mm512_andnot_si512(_mm512_set1_epi32(0xFF), low);
        const __m512i word = _mm512_mask_i32gather_epi32(
            _mm512_setzero_si512(), live, _mm512_srl_epi32(_mm512_mullo_epi32(first, hash), shift),
            view->words, 4);
        /* Seven equal bytes. */
        const __mmask16 equal = _mm512_cmpeq_epi32_mask(low, _mm512_rol_epi32(low, 8)) &
                                _mm512_cmpeq_epi32_mask(last, _mm512_and_si512(low, three));
        const __mmask16 some = live & (~equal | in_runs);

        add_keys(view, &out[GRAM_KIND_7], some, at, mix(low, last, GRAM_HASH_7));
        add_keys(view, &out[GRAM_KIND_5], all_clear(some, word, GRAM_KIND_5), at,
                 mix(low, _mm512_and_si512(high, _mm512_set1_epi32(0xFF)), GRAM_HASH_5));
        add_keys(view, &out[GRAM_KIND_4], all_clear(some, word, GRAM_KIND_4), at, low);
        add_keys(view, &out[GRAM_KIND_FIRST], all_clear(some, word, GRAM_KIND_FIRST), at,
                 _mm512_xor_si512(
                     _mm512_or_si512(_mm512_srli_epi32(low, 8), _mm512_slli_epi32(high, 24)),
                     _mm512_set1_epi32((int)GRAM_HASH_FIRST)));
    }
}

static inline void add_candidates(struct gram_candidates *out, __mmask16 found, __m512i at,
                                  __m512i entry)
{
    _mm512_storeu_si512(out->at + out->n, _mm512_maskz_compress_epi32(found, at));
    _mm512_storeu_si512(out->entry + out->n, _mm512_maskz_compress_epi32(found, entry));
    out->n += (uint32_t)__builtin_popcount(found);
}

/* Of 16 slots the keys and what is beside them; where not asked for, no key at all. */
static inline void load_slots(const struct gram_view *view, __mmask16 some, __m512i slot,
                              __m512i *key, __m512i *entry)
{
    const __m512i no_slot = _mm512_set1_epi64((int64_t)GRAM_NONE << 32);
    const __m512i evens =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
    const __m512i low = _mm512_mask_i32gather_epi64(no_slot, (__mmask8)some,
                                                    _mm512_castsi512_si256(slot), view->slots, 8);
    const __m512i high = _mm512_mask_i32gather_epi64(
        no_slot, (__mmask8)(some >> 8), _mm512_extracti64x4_epi64(slot, 1), view->slots, 8);

    *key = _mm512_permutex2var_epi32(low, evens, high);
    *entry = _mm512_permutex2var_epi32(low, odds, high);
}

/* As gram_find, of those of 16 keys that are live. */
static inline __m512i find_16(const struct gram_view *view, __mmask16 live, __m512i key)
{
    const __m128i shift = _mm_cvtsi32_si128((int)(32 - view->slots_log));
    const __m512i mixed = _mm512_xor_si512(key, _mm512_srli_epi32(key, 15));
    const __m512i none = _mm512_set1_epi32((int)GRAM_NONE);
    const __m512i last = _mm512_set1_epi32((int)((1u << view->slots_log) - 1));
    __m512i slot =
        _mm512_srl_epi32(_mm512_mullo_epi32(mixed, _mm512_set1_epi32((int)GRAM_HASH_SLOT)), shift);
    __m512i found = none;

    for (;;) {
        __m512i its_key, entry;

        load_slots(view, live, slot, &its_key, &entry);
        const __mmask16 equal = _mm512_mask_cmpeq_epi32_mask(live, key, its_key);
        found = _mm512_mask_and_epi32(found, equal, entry, none);
        /* Negative: other keys wanted this slot too, and lie behind it. */
        live &= _mm512_movepi32_mask(entry) & ~equal;
        if (live == 0)
            return found;
        slot = _mm512_and_si512(_mm512_add_epi32(slot, _mm512_set1_epi32(1)), last);
    }
}

static void find(const struct gram_view *view, const struct gram_keys *keys,
                 struct gram_candidates *out)
{
    const __m512i none = _mm512_set1_epi32((int)GRAM_NONE);

    out->n = 0;
    for (uint32_t i = 0; i < keys->n; i += 16) {
        const __mmask16 live = first_lanes(keys->n - i);
        const __m512i entry = find_16(view, live, _mm512_maskz_loadu_epi32(live, keys->key + i));

        add_candidates(out, _mm512_mask_cmpneq_epi32_mask(live, entry, none),
                       _mm512_maskz_loadu_epi32(live, keys->at + i), entry);
    }
    for (uint32_t i = 0; i < out->n; i++)
        _mm_prefetch((const char *)&view->entries[out->entry[i]], _MM_HINT_T0);
}

/* An entry is four words of eight bytes: its bytes, its mask, and two more. */
enum { ENTRY_WORDS = sizeof(struct gram_entry) / 8 };

#define WORD_OF(field) ((int)(offsetof(struct gram_entry, field) / 8))
#define SHIFT_OF(field) ((int)(offsetof(struct gram_entry, field) % 8 * 8))

/* A word of each of eight entries. */
static inline __m512i load_words(const struct gram_view *view, __mmask8 live, __m512i entry,
                                 int word)
{
    _Static_assert(ENTRY_WORDS == 4, "an entry's number is shifted by two");
    return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), live, _mm512_slli_epi64(entry, 2),
                                       (const uint64_t *)view->entries + word, 8);
}

/* As gram_fold8_unless. */
static inline __m512i fold_unless(__mmask8 exact, __m512i text)
{
    const uint64_t upper = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(text, _mm512_set1_epi8('A')),
                                                  _mm512_set1_epi8('Z' - 'A' + 1));
    const __m512i to_lower = _mm512_maskz_mov_epi64((__mmask8)~exact, _mm512_set1_epi8(0x20));

    return _mm512_mask_add_epi8(text, upper, text, to_lower);
}

static void compare(const struct gram_view *view, const uint8_t *text, enum gram_kind kind,
                    uint8_t left_out, struct gram_candidates *candidates,
                    struct gram_candidates *out)
{
    const __m512i exact = _mm512_set1_epi64((int64_t)GRAM_ENTRY_EXACT << SHIFT_OF(flags));
    const __m512i last =
        _mm512_set1_epi64((int64_t)(GRAM_ENTRY_LAST | left_out) << SHIFT_OF(flags));
    const __m512i wanted = _mm512_set1_epi64((int64_t)kind << SHIFT_OF(kind));
    const __m512i told =
        _mm512_set1_epi64((int64_t)0xFF << SHIFT_OF(kind) | (int64_t)left_out << SHIFT_OF(flags));
    uint32_t n = 0, n_more = 0;

    for (uint32_t i = 0; i < candidates->n; i += 8) {
        const __mmask8 live = (__mmask8)first_lanes(candidates->n - i);
        const __m256i at = _mm256_maskz_loadu_epi32(live, candidates->at + i);
        const __m256i number = _mm256_maskz_loadu_epi32(live, candidates->entry + i);
        const __m512i entry = _mm512_cvtepu32_epi64(number);
        const __m512i rest = load_words(view, live, entry, WORD_OF(flags));
        const __m512i lead =
            _mm512_and_si512(_mm512_srli_epi64(rest, SHIFT_OF(lead)), _mm512_set1_epi64(0xFFFF));
        /* Where there is no such text the entry will not lie in one. */
        const __m512i from = _mm512_max_epi64(_mm512_sub_epi64(_mm512_cvtepu32_epi64(at), lead),
                                              _mm512_setzero_si512());
        const __m512i given =
            _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), live, from, text, 1);
        const __m512i folded = fold_unless(_mm512_test_epi64_mask(rest, exact), given);
        const __m512i differ = _mm512_and_si512(
            _mm512_xor_si512(folded, load_words(view, live, entry, WORD_OF(bytes))),
            load_words(view, live, entry, WORD_OF(mask)));
        const __mmask8 equal =
            _mm512_mask_cmpeq_epi64_mask(_mm512_mask_testn_epi64_mask(live, differ, differ),
                                         _mm512_and_si512(rest, told), wanted);
        const __mmask8 more = _mm512_mask_testn_epi64_mask(live, rest, last);

        _mm256_storeu_si256((__m256i *)(out->at + n), _mm256_maskz_compress_epi32(equal, at));
        _mm256_storeu_si256((__m256i *)(out->entry + n),
                            _mm256_maskz_compress_epi32(equal, number));
        n += (uint32_t)__builtin_popcount(equal);
        /* No further than what has been read. */
        _mm256_storeu_si256((__m256i *)(candidates->at + n_more),
                            _mm256_maskz_compress_epi32(more, at));
        _mm256_storeu_si256(
            (__m256i *)(candidates->entry + n_more),
            _mm256_maskz_compress_epi32(more, _mm256_add_epi32(number, _mm256_set1_epi32(1))));
        n_more += (uint32_t)__builtin_popcount(more);
    }
    candidates->n = n_more;
    out->n = n;
}

extern const struct gram_filters gram_filters_avx512;
const struct gram_filters gram_filters_avx512 = {windows, runs, tiny, keys, find, compare};

static bool avx512_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX512, why);
}

static enum sl_status avx512_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{

    return gram_open(context, table, limits, &gram_filters_avx512, diag);
}

extern const struct sl_backend mpm_gram_avx512;
const struct sl_backend mpm_gram_avx512 = {.name = "avx512",
                                           .device = SL_DEVICE_CPU,
                                           .usable = avx512_usable,
                                           .open = avx512_open,
                                           .submit = gram_submit,
                                           .wait = cpu_backend_wait,
                                           .close = cpu_backend_close};

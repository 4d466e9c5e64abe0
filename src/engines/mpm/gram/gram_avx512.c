/* SPDX-License-Identifier: MIT */
/* The gram matcher's filters with AVX-512: 16 windows a gather, 64 bytes a compare. */
#include <immintrin.h>
#include <stddef.h>

#include "base/cpu.h"
#include "gram_cpu.h"

/* Sources, as vpermb takes them, of the bytes of 16 windows at a stride. They are bytes 0 to 2
 * above a byte that is masked away, and the bytes that name bits. */
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

#define PLACES_8(at) (at), (at) + 1, (at) + 2, (at) + 3, (at) + 4, (at) + 5, (at) + 6, (at) + 7

static const uint8_t places_64[64] = {PLACES_8(0),  PLACES_8(8),  PLACES_8(16), PLACES_8(24),
                                      PLACES_8(32), PLACES_8(40), PLACES_8(48), PLACES_8(56)};

static inline __m512i fold(__m512i bytes)
{
    return _mm512_or_si512(bytes,
                           _mm512_and_si512(_mm512_srli_epi32(bytes, 1), _mm512_set1_epi8(0x20)));
}

/* 64 bytes from the one before `at` on; before a text's first there is a zero. Only that load is
 * masked, as those take longer. */
static inline __m512i load_before(const uint8_t *text, uint32_t at)
{
    if (at == 0)
        return _mm512_maskz_loadu_epi8(~UINT64_C(1), text - 1);
    return _mm512_loadu_si512(text + at - 1);
}

/* Whether all bytes that 16 windows read are equal, as in fillers. No window of a literal is there
 * unless some lies in a run. */
static inline bool is_run(__m512i bytes, uint32_t stride)
{
    const __m512i first = _mm512_broadcastb_epi8(_mm512_castsi512_si128(bytes));
    const uint64_t looked_at = UINT64_MAX >> (63 - 15 * stride - GRAM_WINDOW);

    return (~_mm512_cmpeq_epi8_mask(bytes, first) & looked_at) == 0;
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
    const __m512i behind = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)stride));
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 16 * stride) {
        _mm_prefetch((const char *)text + at + GRAM_AHEAD, _MM_HINT_T0);

        const __m512i bytes = fold(load_before(text, at));
        if (is_run(bytes, stride) && !in_runs)
            continue;

        const __m512i first = _mm512_maskz_permutexvar_epi8(0xEEEEEEEEEEEEEEEE, to_word, bytes);
        const __m512i word = _mm512_i32gather_epi32(
            _mm512_srl_epi32(_mm512_mullo_epi32(first, hash), shift), view->words, 4);
        const __m512i bits = _mm512_permutexvar_epi8(_mm512_permutexvar_epi8(to_bits, bytes), bit);
        const __mmask16 passed = _mm512_testn_epi32_mask(word, bits);
        const __m512i position = _mm512_add_epi32(_mm512_set1_epi32((int)at), behind);

        _mm512_storeu_si512(out + n, _mm512_maskz_compress_epi32(passed, position));
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

/* Tables of classes by a byte's lower sextet, and by its upper one. Where both have a class, a
 * few more bytes pass. One of 256 entries takes twice as long. */
struct sextets {
    __m512i low, high;
};

/* Of each four bytes all bits: 16 bytes. */
static inline __m128i join_4(__m512i bytes)
{
    const __m512i two = _mm512_or_si512(bytes, _mm512_srli_epi32(bytes, 8));

    return _mm512_cvtepi32_epi8(_mm512_or_si512(two, _mm512_srli_epi32(two, 16)));
}

static struct sextets make_sextets(const uint8_t classes[256])
{
    const __m512i a = _mm512_loadu_si512(classes), b = _mm512_loadu_si512(classes + 64);
    const __m512i c = _mm512_loadu_si512(classes + 128), d = _mm512_loadu_si512(classes + 192);
    const __m256i lower = _mm256_set_m128i(join_4(b), join_4(a));
    const __m256i upper = _mm256_set_m128i(join_4(d), join_4(c));

    return (struct sextets){.low = _mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d)),
                            .high = _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1)};
}

/* The classes of 64 bytes. */
static inline __m512i classes_of(const struct sextets *sextets, const uint8_t *text)
{
    const __m512i bytes = _mm512_loadu_si512(text);

    return _mm512_and_si512(_mm512_permutexvar_epi8(bytes, sextets->low),
                            _mm512_permutexvar_epi8(_mm512_srli_epi16(bytes, 2), sextets->high));
}

/* Bit i: byte i is coarsely equal to the next. */
static inline uint64_t equal_to_next(const uint8_t *text)
{
    return _mm512_cmpeq_epi8_mask(fold(_mm512_loadu_si512(text)),
                                  fold(_mm512_loadu_si512(text + 1)));
}

/* Bit i: a run of four or more begins at byte at + i. */
static inline uint64_t run_begins(const uint8_t *text, uint32_t at)
{
    const uint64_t before = at > 0 && gram_fold4(text[at - 1]) == gram_fold4(text[at]);
    const uint64_t equal = equal_to_next(text + at), next = equal_to_next(text + at + 64);

    return equal & (equal >> 1 | next << 63) & (equal >> 2 | next << 62) & ~(equal << 1 | before);
}

/* Of 16 quads, whether two side by side are of coarsely equal bytes. */
static inline bool has_quads(const uint8_t *text)
{
    const __m512i bytes = fold(_mm512_loadu_si512(text));
    const uint32_t equal = _mm512_cmpeq_epi32_mask(bytes, _mm512_rol_epi32(bytes, 8));

    return (equal & equal >> 1) != 0;
}

/* Blocks are listed first: whether a block may have a run is hard to foresee. */
static uint32_t runs(const uint8_t *text, uint32_t from, uint32_t to, uint32_t min, uint32_t *out)
{
    enum { BLOCK = 60 }; /* the quads that two side by side may begin at */
    uint32_t block[GRAM_CHUNK / BLOCK + 1], n_blocks = 0, n = 0;

    for (uint32_t at = from; at < to; at += BLOCK) {
        block[n_blocks] = at;
        n_blocks += min < GRAM_QUADS_RUN || has_quads(text + at + 3);
    }
    for (uint32_t i = 0; i < n_blocks; i++)
        n = write_positions(run_begins(text, block[i]) << 4 >> 4, block[i], out, n);
    while (n > 0 && out[n - 1] >= to)
        n--;
    return n;
}

/* Of 16 lanes the first n. */
static __mmask16 first_lanes(uint32_t n)
{
    return n < 16 ? (__mmask16)((1u << n) - 1) : 0xFFFF;
}

/* As gram_may_have. */
static inline __mmask16 may_have(const struct gram_view *view, __m512i key)
{
    const __m128i shift = _mm_cvtsi32_si128((int)(32 - GRAM_PRESENT_LOG - view->slots_log));
    const __m512i mixed = _mm512_xor_si512(key, _mm512_srli_epi32(key, 15));
    const __m512i bit =
        _mm512_srl_epi32(_mm512_mullo_epi32(mixed, _mm512_set1_epi32((int)GRAM_HASH_SLOT)), shift);
    const __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(bit, 5), view->present, 4);
    const __m512i one = _mm512_set1_epi32(1);

    return _mm512_test_epi32_mask(
        word, _mm512_sllv_epi32(one, _mm512_and_si512(bit, _mm512_set1_epi32(31))));
}

static inline void add_keys(struct gram_keys *keys, __mmask16 some, __m512i at, __m512i key)
{
    _mm512_storeu_si512(keys->at + keys->n, _mm512_maskz_compress_epi32(some, at));
    _mm512_storeu_si512(keys->key + keys->n, _mm512_maskz_compress_epi32(some, key));
    keys->n += (uint32_t)__builtin_popcount(some);
}

/* Keys without those that are surely not in the dictionary. */
static void keep_keys(const struct gram_view *view, struct gram_keys *keys)
{
    const uint32_t n = keys->n;

    keys->n = 0;
    for (uint32_t i = 0; i < n; i += 16) {
        const __m512i at = _mm512_loadu_si512(keys->at + i);
        const __m512i key = _mm512_loadu_si512(keys->key + i);

        add_keys(keys, first_lanes(n - i) & may_have(view, key), at, key);
    }
}

/* Eight bytes from each of two places: `from` and `scale` times an index. */
static inline __m128i load_2(const char *from, size_t scale, const uint32_t index[2])
{
    const __m128i first = _mm_loadl_epi64((const __m128i *)(from + scale * index[0]));
    const __m64 *second = (const __m64 *)(from + scale * index[1]);

    return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(first), second));
}

/* From each of eight. Gathers take an AMD Zen 5 twice as long, even where most is masked. */
static inline __m512i load_8(const void *base, size_t scale, const uint32_t index[8])
{
    const char *const from = (const char *)base;
    const __m256i low =
        _mm256_set_m128i(load_2(from, scale, index + 2), load_2(from, scale, index));
    const __m256i high =
        _mm256_set_m128i(load_2(from, scale, index + 6), load_2(from, scale, index + 4));

    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* The same of 16, apart: the lower halves, and the upper ones. */
static inline void load_16(const void *base, __m512i index, size_t scale, __m512i *low,
                           __m512i *high)
{
    const __m512i evens =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
    uint32_t at[16] __attribute__((aligned(64)));

    _mm512_store_si512(at, index);
    const __m512i first = load_8(base, scale, at);
    const __m512i second = load_8(base, scale, at + 8);
    *low = _mm512_permutex2var_epi32(first, evens, second);
    *high = _mm512_permutex2var_epi32(first, odds, second);
}

/* As gram_fold8_unless. */
static inline __m512i fold_unless(__mmask8 exact, __m512i text)
{
    const uint64_t upper = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(text, _mm512_set1_epi8('A')),
                                                  _mm512_set1_epi8('Z' - 'A' + 1));
    const __m512i to_lower = _mm512_maskz_mov_epi64((__mmask8)~exact, _mm512_set1_epi8(0x20));

    return _mm512_mask_add_epi8(text, upper, text, to_lower);
}

/* Of 64 positions from `at` on, those that passed. Their number is as good as random, and rarely
 * above 16: there is no other branch on it. */
static inline uint32_t write_some(uint64_t passed, uint32_t at, uint32_t *out, uint32_t n)
{
    const uint32_t some = (uint32_t)__builtin_popcountll(passed);
    uint8_t places[64] __attribute__((aligned(64)));

    _mm512_store_si512(places, _mm512_maskz_compress_epi8(passed, _mm512_loadu_si512(places_64)));
    for (uint32_t i = 0; i == 0 || i < some; i += 16) {
        const __m512i place = _mm512_cvtepu8_epi32(_mm_load_si128((const __m128i *)(places + i)));

        _mm512_storeu_si512(out + n + i, _mm512_add_epi32(_mm512_set1_epi32((int)at), place));
    }
    return n + some;
}

/* As gram_tiny_bit, of 16 places' bytes: whether the bits are set. */
static inline __mmask16 is_present(const struct gram_table *body, __m512i bytes, uint32_t len)
{
    const __m512i own = _mm512_and_si512(bytes, _mm512_set1_epi32((1 << 8 * len) - 1));
    const __m512i bit =
        _mm512_srli_epi32(_mm512_mullo_epi32(_mm512_add_epi32(own, _mm512_set1_epi32((int)len)),
                                             _mm512_set1_epi32((int)GRAM_HASH_SLOT)),
                          32 - GRAM_TINY_PRESENT_LOG);
    const __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(bit, 5), body->tiny_present, 4);

    return _mm512_test_epi32_mask(
        word,
        _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(bit, _mm512_set1_epi32(31))));
}

/* As gram_may_be_tiny, of n places. */
static uint32_t keep_tiny(const struct gram_table *body, const uint8_t *text, uint32_t *places,
                          uint32_t n)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i += 16) {
        const __mmask16 live = first_lanes(n - i);
        const __m512i at = _mm512_maskz_loadu_epi32(live, places + i);
        const __m512i bytes =
            fold_unless(0, _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), live, at, text, 1));
        const __mmask16 some = live & (is_present(body, bytes, 1) | is_present(body, bytes, 2) |
                                       is_present(body, bytes, 3));

        _mm512_storeu_si512(places + kept, _mm512_maskz_compress_epi32(some, at));
        kept += (uint32_t)__builtin_popcount(some);
    }
    return kept;
}

static uint32_t tiny(const struct gram_table *body, const uint8_t *text, uint32_t from, uint32_t to,
                     uint32_t *out)
{
    const struct sextets first = make_sextets(body->tiny_classes[0]);
    const struct sextets second = make_sextets(body->tiny_classes[1]);
    const struct sextets third = make_sextets(body->tiny_classes[2]);
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 64) {
        const __m512i two =
            _mm512_and_si512(classes_of(&first, text + at), classes_of(&second, text + at + 1));
        const uint64_t passed = _mm512_test_epi8_mask(two, classes_of(&third, text + at + 2));

        n = write_some(passed & below(at, to), at, out, n);
    }
    return keep_tiny(body, text, out, n);
}

/* Of 16 windows the bytes -1 to 2, and 3 to 6. Before a text's first byte there is a zero. */
static inline void load_windows(const uint8_t *text, __m512i at, __m512i *low, __m512i *high)
{
    const __mmask16 first = _mm512_testn_epi32_mask(at, at);
    const __m512i from = _mm512_mask_sub_epi32(at, (__mmask16)~first, at, _mm512_set1_epi32(1));
    __m512i a, b;

    load_16(text, from, 1, &a, &b);
    a = fold(a);
    b = fold(b);
    if (first != 0) { /* those bytes are one further on */
        b = _mm512_mask_or_epi32(b, first, _mm512_slli_epi32(b, 8), _mm512_srli_epi32(a, 24));
        a = _mm512_mask_slli_epi32(a, first, a, 8);
    }
    *low = a;
    *high = b;
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

        load_windows(text, at, &low, &high);
        const __m512i last = _mm512_and_si512(high, three);
        /* Bytes 0 to 2, above a byte that the hash drops. */
        const __m512i first = _mm512_andnot_si512(_mm512_set1_epi32(0xFF), low);
        const __m512i word = _mm512_i32gather_epi32(
            _mm512_srl_epi32(_mm512_mullo_epi32(first, hash), shift), view->words, 4);
        /* Seven equal bytes. */
        const __mmask16 equal = _mm512_cmpeq_epi32_mask(low, _mm512_rol_epi32(low, 8)) &
                                _mm512_cmpeq_epi32_mask(last, _mm512_and_si512(low, three));
        const __mmask16 some = live & (~equal | in_runs);

        add_keys(&out[GRAM_KIND_7], some, at, mix(low, last, GRAM_HASH_7));
        add_keys(&out[GRAM_KIND_5], all_clear(some, word, GRAM_KIND_5), at,
                 mix(low, _mm512_and_si512(high, _mm512_set1_epi32(0xFF)), GRAM_HASH_5));
        add_keys(&out[GRAM_KIND_4], all_clear(some, word, GRAM_KIND_4), at, low);
        add_keys(&out[GRAM_KIND_FIRST], all_clear(some, word, GRAM_KIND_FIRST), at,
                 _mm512_xor_si512(
                     _mm512_or_si512(_mm512_srli_epi32(low, 8), _mm512_slli_epi32(high, 24)),
                     _mm512_set1_epi32((int)GRAM_HASH_FIRST)));
    }
    for (int kind = 0; kind < GRAM_KINDS; kind++)
        keep_keys(view, &out[kind]);
}

static inline void add_candidates(struct gram_candidates *out, __mmask16 found, __m512i at,
                                  __m512i entry)
{
    _mm512_storeu_si512(out->at + out->n, _mm512_maskz_compress_epi32(found, at));
    _mm512_storeu_si512(out->entry + out->n, _mm512_maskz_compress_epi32(found, entry));
    out->n += (uint32_t)__builtin_popcount(found);
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

        load_16(view->slots, slot, sizeof *view->slots, &its_key, &entry);
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

#define WORD_OF(field) ((int)(offsetof(struct gram_entry, field) / 8))
#define SHIFT_OF(field) ((int)(offsetof(struct gram_entry, field) % 8 * 8))

/* Two entries, side by side. */
static inline __m512i load_entries(const struct gram_view *view, uint32_t low, uint32_t high)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)&view->entries[low]);
    const __m256i b = _mm256_loadu_si256((const __m256i *)&view->entries[high]);

    return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

/* Eight entries' words of eight bytes: their bytes, masks, and modes of comparison. */
static inline void load_words(const struct gram_view *view, const uint32_t entry[8], __m512i *bytes,
                              __m512i *mask, __m512i *rest)
{
    _Static_assert(WORD_OF(bytes) == 0 && WORD_OF(mask) == 1 && WORD_OF(flags) == 3 &&
                       sizeof(struct gram_entry) == 32,
                   "an entry's words are picked by their places");
    const __m512i firsts = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i lasts = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const __m512i e04 = load_entries(view, entry[0], entry[4]);
    const __m512i e15 = load_entries(view, entry[1], entry[5]);
    const __m512i e26 = load_entries(view, entry[2], entry[6]);
    const __m512i e37 = load_entries(view, entry[3], entry[7]);
    const __m512i odd_0145 = _mm512_unpackhi_epi64(e04, e15);
    const __m512i odd_2367 = _mm512_unpackhi_epi64(e26, e37);

    *bytes = _mm512_permutex2var_epi64(_mm512_unpacklo_epi64(e04, e15), firsts,
                                       _mm512_unpacklo_epi64(e26, e37));
    *mask = _mm512_permutex2var_epi64(odd_0145, firsts, odd_2367);
    *rest = _mm512_permutex2var_epi64(odd_0145, lasts, odd_2367);
}

static void compare(const struct gram_view *view, const uint8_t *text, enum gram_kind kind,
                    uint8_t left_out, struct gram_candidates *candidates,
                    struct gram_candidates *out)
{
    const __m512i exact = _mm512_set1_epi64((int64_t)GRAM_ENTRY_EXACT << SHIFT_OF(flags));
    const __m512i last =
        _mm512_set1_epi64((int64_t)(GRAM_ENTRY_LAST | left_out) << SHIFT_OF(flags));
    const __m512i wanted = _mm512_set1_epi64((int64_t)kind << SHIFT_OF(kind));
    const __m512i fields =
        _mm512_set1_epi64((int64_t)0xFF << SHIFT_OF(kind) | (int64_t)left_out << SHIFT_OF(flags));
    uint32_t n = 0, n_more = 0;

    for (uint32_t i = 0; i < candidates->n; i += 8) {
        const __mmask8 live = (__mmask8)first_lanes(candidates->n - i);
        const __m256i at = _mm256_maskz_loadu_epi32(live, candidates->at + i);
        const __m256i number = _mm256_maskz_loadu_epi32(live, candidates->entry + i);
        uint32_t entry[8] __attribute__((aligned(32))), from[8] __attribute__((aligned(32)));
        __m512i bytes, mask, rest;

        _mm256_store_si256((__m256i *)entry, number);
        load_words(view, entry, &bytes, &mask, &rest);
        const __m256i lead =
            _mm256_and_si256(_mm512_cvtepi64_epi32(_mm512_srli_epi64(rest, SHIFT_OF(lead))),
                             _mm256_set1_epi32(0xFFFF));
        /* Where there is no such text the entry will not lie in one. */
        _mm256_store_si256((__m256i *)from,
                           _mm256_maskz_sub_epi32(_mm256_cmpge_epu32_mask(at, lead), at, lead));
        const __m512i folded =
            fold_unless(_mm512_test_epi64_mask(rest, exact), load_8(text, 1, from));
        const __m512i differ = _mm512_and_si512(_mm512_xor_si512(folded, bytes), mask);
        const __mmask8 equal =
            _mm512_mask_cmpeq_epi64_mask(_mm512_mask_testn_epi64_mask(live, differ, differ),
                                         _mm512_and_si512(rest, fields), wanted);
        const __mmask8 more = _mm512_mask_testn_epi64_mask(live, rest, last);

        _mm256_storeu_si256((__m256i *)(out->at + n), _mm256_maskz_compress_epi32(equal, at));
        _mm256_storeu_si256((__m256i *)(out->entry + n),
                            _mm256_maskz_compress_epi32(equal, number));
        n += (uint32_t)__builtin_popcount(equal);
        /* Not beyond the bytes that have been read. */
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

static bool avx512_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX512, why);
}

static enum sl_status avx512_open(void **context, const void *table, const struct sl_limits *limits,
                                  struct sl_diag *diag)
{
    static const struct gram_filters filters = {windows, runs, tiny, keys, find, compare};

    return gram_open(context, table, limits, &filters, diag);
}

extern const struct sl_backend mpm_gram_avx512;
const struct sl_backend mpm_gram_avx512 = {.name = "avx512",
                                           .device = SL_DEVICE_CPU,
                                           .usable = avx512_usable,
                                           .open = avx512_open,
                                           .submit = gram_submit,
                                           .wait = cpu_backend_wait,
                                           .close = cpu_backend_close};

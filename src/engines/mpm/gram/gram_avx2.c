/* SPDX-License-Identifier: MIT */
/* The gram matcher's filters with AVX2: 8 windows a gather, 32 bytes a compare. Gathers are for
 * 32-bit words alone, where 8 loads took longer; words of eight bytes are loaded one by one. */
#include <immintrin.h>
#include <stddef.h>

#include "base/cpu.h"
#include "gram_cpu.h"

/* Sources, as vpshufb takes them, of the bytes of four windows at a stride, for both halves. They
 * are bytes 0 to 2 above a zero, and the bytes that name bits. */
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

/* How the windows at a stride are tested. */
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

/* The bytes of 8 windows, four in each half. */
static inline __m256i load_8_windows(const uint8_t *text, uint32_t at, uint32_t stride)
{
    const __m128i high = _mm_loadu_si128((const __m128i *)(text + at + 4 * stride - 1));

    return fold(_mm256_set_m128i(high, load_before(text, at)));
}

/* Whether all bytes that 16 windows read, and two or ten behind them, are equal. No window of a
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

/* Masks keep the windows that pass at first. The place of a position depends on all that passed
 * before, and loads may wait until a core knows the addresses of its stores. */
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

/* Tables of classes by a byte's halves, in both halves of a vector. */
struct halves {
    __m256i low, high;
};

static struct halves load_halves(const uint8_t low[16], const uint8_t high[16])
{
    return (struct halves){_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)low)),
                           _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)high))};
}

/* The classes of 32 bytes. */
static inline __m256i classes_of(const struct halves *halves, const uint8_t *text)
{
    const __m256i half = _mm256_set1_epi8(15);
    const __m256i bytes = fold(_mm256_loadu_si256((const __m256i *)text));
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);

    return _mm256_and_si256(_mm256_shuffle_epi8(halves->low, _mm256_and_si256(bytes, half)),
                            _mm256_shuffle_epi8(halves->high, high));
}

static uint32_t tiny(const struct gram_table *body, const uint8_t *text, uint32_t from, uint32_t to,
                     uint32_t *out)
{
    const struct halves first = load_halves(body->tiny_low[0], body->tiny_high[0]);
    const struct halves second = load_halves(body->tiny_low[1], body->tiny_high[1]);
    const struct halves third = load_halves(body->tiny_low[2], body->tiny_high[2]);
    uint8_t masks[GRAM_CHUNK / 8 + 4];
    uint32_t n_masks = 0;

    for (uint32_t at = from; at < to; at += 32) {
        const __m256i classes = _mm256_and_si256(
            _mm256_and_si256(classes_of(&first, text + at), classes_of(&second, text + at + 1)),
            classes_of(&third, text + at + 2));
        const uint32_t passed =
            ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(classes, _mm256_setzero_si256()));

        memcpy(masks + n_masks, &passed, sizeof passed);
        n_masks += sizeof passed;
    }
    return gram_keep_tiny(body, text, out, write_positions(masks, n_masks, from, to, 1, out));
}

/* Bit i: byte i is coarsely equal to the next. */
static inline uint64_t equal_to_next(const uint8_t *text)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load_fold(text), load_fold(text + 1)));
}

/* Bit i: a run of four or more begins at byte at + i. */
static inline uint32_t run_begins(const uint8_t *text, uint32_t at)
{
    const uint64_t before = at > 0 && gram_fold4(text[at - 1]) == gram_fold4(text[at]);
    const uint64_t equal = equal_to_next(text + at) | equal_to_next(text + at + 32) << 32;

    return (uint32_t)(equal & equal >> 1 & equal >> 2 & ~(equal << 1 | before));
}

/* Of eight quads, whether two side by side are of coarsely equal bytes. */
static inline bool has_quads(const uint8_t *text)
{
    const __m256i next = _mm256_set_epi8(12, 15, 14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1, 12,
                                         15, 14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1);
    const __m256i bytes = load_fold(text);

    const uint32_t equal = mask_of(_mm256_cmpeq_epi32(bytes, _mm256_shuffle_epi8(bytes, next)));

    return (equal & equal >> 1) != 0;
}

static uint32_t runs(const uint8_t *text, uint32_t from, uint32_t to, uint32_t min, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 28) { /* the quads that such a run may begin before */
        if (min >= GRAM_QUADS_RUN && !has_quads(text + at + 3))
            continue;
        for (uint32_t begin = run_begins(text, at) << 4 >> 4; begin != 0; begin &= begin - 1)
            out[n++] = at + (uint32_t)__builtin_ctz(begin);
    }
    while (n > 0 && out[n - 1] >= to)
        n--;
    return n;
}

/* Of eight lanes the first n, all ones. */
static inline __m256i first_of_8(uint32_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}

/* Eight numbers; those that are not live are 0. */
static inline __m256i load_live(const uint32_t *from, __m256i live)
{
    return _mm256_and_si256(_mm256_loadu_si256((const __m256i *)from), live);
}

static inline uint32_t equal_lanes(__m256i a, __m256i b)
{
    return mask_of(_mm256_cmpeq_epi32(a, b));
}

/* The slot of a table of 1 << log that a key's hash gives. */
static inline __m256i slot_of(__m256i key, uint32_t log)
{
    const __m256i mixed = _mm256_xor_si256(key, _mm256_srli_epi32(key, 15));
    const __m256i hash = _mm256_mullo_epi32(mixed, _mm256_set1_epi32((int)GRAM_HASH_SLOT));

    return _mm256_srl_epi32(hash, _mm_cvtsi32_si128((int)(32 - log)));
}

/* As gram_may_have. */
static inline uint32_t may_have(const struct gram_view *view, __m256i key)
{
    const __m256i bit = slot_of(key, view->slots_log + GRAM_PRESENT_LOG);
    const __m256i word = gather(view->present, _mm256_srli_epi32(bit, 5));
    const __m256i to_sign = _mm256_andnot_si256(bit, _mm256_set1_epi32(31));

    return mask_of(_mm256_sllv_epi32(word, to_sign));
}

static inline void add_keys(struct gram_keys *keys, uint32_t some, __m256i at, __m256i key)
{
    (void)compress(keys->at + keys->n, some, at);
    keys->n += compress(keys->key + keys->n, some, key);
}

/* Keys without those that are surely not in the dictionary. */
static void keep_keys(const struct gram_view *view, struct gram_keys *keys)
{
    const uint32_t n = keys->n;

    keys->n = 0;
    for (uint32_t i = 0; i < n; i += 8) {
        const __m256i at = _mm256_loadu_si256((const __m256i *)(keys->at + i));
        const __m256i key = _mm256_loadu_si256((const __m256i *)(keys->key + i));

        add_keys(keys, mask_of(first_of_8(n - i)) & may_have(view, key), at, key);
    }
}

/* Eight bytes from each of two places: `from` and `scale` times an index. */
static inline __m128i load_2(const char *from, size_t scale, const uint32_t index[2])
{
    const __m128i first = _mm_loadl_epi64((const __m128i *)(from + scale * index[0]));
    const __m64 *second = (const __m64 *)(from + scale * index[1]);

    return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(first), second));
}

/* From each of eight, apart: the lower halves, and the upper ones. */
static inline void load_8(const void *base, __m256i index, size_t scale, __m256i *low,
                          __m256i *high)
{
    const char *const from = (const char *)base;
    uint32_t at[8] __attribute__((aligned(32)));

    _mm256_store_si256((__m256i *)at, index);
    const __m256 a =
        _mm256_castsi256_ps(_mm256_set_m128i(load_2(from, scale, at + 4), load_2(from, scale, at)));
    const __m256 b = _mm256_castsi256_ps(
        _mm256_set_m128i(load_2(from, scale, at + 6), load_2(from, scale, at + 2)));
    *low = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
    *high = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD));
}

/* Of eight windows the bytes -1 to 2, and 3 to 6. Before a text's first byte there is a zero. */
static inline void load_windows(const uint8_t *text, __m256i at, __m256i *low, __m256i *high)
{
    const __m256i first = _mm256_cmpeq_epi32(at, _mm256_setzero_si256());
    __m256i a, b;

    load_8(text, _mm256_sub_epi32(_mm256_add_epi32(at, _mm256_set1_epi32(-1)), first), 1, &a, &b);
    if (_mm256_movemask_epi8(first) != 0) { /* those bytes are one further on */
        b = _mm256_blendv_epi8(
            b, _mm256_or_si256(_mm256_slli_epi32(b, 8), _mm256_srli_epi32(a, 24)), first);
        a = _mm256_blendv_epi8(a, _mm256_slli_epi32(a, 8), first);
    }
    *low = fold(a);
    *high = fold(b);
}

/* Those of some lanes whose words have all bits clear that windows of a kind do not name. */
static inline uint32_t all_clear(uint32_t some, __m256i word, enum gram_kind kind)
{
    const __m256i unnamed = _mm256_and_si256(word, _mm256_set1_epi32((int)gram_unnamed(kind)));

    return some & equal_lanes(unnamed, _mm256_setzero_si256());
}

static inline __m256i mix(__m256i bytes, __m256i more, uint32_t hash)
{
    const __m256i some = _mm256_add_epi32(more, _mm256_set1_epi32(1));

    return _mm256_xor_si256(bytes, _mm256_mullo_epi32(some, _mm256_set1_epi32((int)hash)));
}

static void keys(const struct gram_view *view, const uint8_t *text, const uint32_t *passed,
                 uint32_t n, struct gram_keys out[GRAM_KINDS])
{
    const __m256i hash = _mm256_set1_epi32((int)view->multiplier);
    const __m128i shift = _mm_cvtsi32_si128((int)(32 - view->words_log));
    const __m256i one = _mm256_set1_epi32(0xFF), three = _mm256_set1_epi32(0xFFFFFF);
    const uint32_t in_runs = view->body->n_in_runs != 0 ? 0xFF : 0;

    for (int kind = 0; kind < GRAM_KINDS; kind++)
        out[kind].n = 0;
    for (uint32_t i = 0; i < n; i += 8) {
        const __m256i live = first_of_8(n - i);
        const __m256i at = load_live(passed + i, live);
        __m256i low, high;

        load_windows(text, at, &low, &high);
        const __m256i last = _mm256_and_si256(high, three);
        /* Bytes 0 to 2, above a byte that the hash drops. */
        const __m256i first = _mm256_andnot_si256(one, low);
        const __m256i word =
            gather(view->words, _mm256_srl_epi32(_mm256_mullo_epi32(first, hash), shift));
        /* Seven equal bytes. */
        const __m256i next = _mm256_or_si256(_mm256_slli_epi32(low, 24), _mm256_srli_epi32(low, 8));
        const uint32_t equal =
            equal_lanes(low, next) & equal_lanes(last, _mm256_and_si256(low, three));
        const uint32_t some = mask_of(live) & (~equal | in_runs);

        add_keys(&out[GRAM_KIND_7], some, at, mix(low, last, GRAM_HASH_7));
        add_keys(&out[GRAM_KIND_5], all_clear(some, word, GRAM_KIND_5), at,
                 mix(low, _mm256_and_si256(high, one), GRAM_HASH_5));
        add_keys(&out[GRAM_KIND_4], all_clear(some, word, GRAM_KIND_4), at, low);
        add_keys(&out[GRAM_KIND_FIRST], all_clear(some, word, GRAM_KIND_FIRST), at,
                 _mm256_xor_si256(
                     _mm256_or_si256(_mm256_srli_epi32(low, 8), _mm256_slli_epi32(high, 24)),
                     _mm256_set1_epi32((int)GRAM_HASH_FIRST)));
    }
    for (int kind = 0; kind < GRAM_KINDS; kind++)
        keep_keys(view, &out[kind]);
}

/* gram_find for those of eight keys that are live. GRAM_NONE stands for an absent key. */
static inline __m256i find_8(const struct gram_view *view, __m256i live, __m256i key)
{
    const __m256i none = _mm256_set1_epi32((int)GRAM_NONE);
    const __m256i last = _mm256_set1_epi32((int)((1u << view->slots_log) - 1));
    __m256i slot = slot_of(key, view->slots_log);
    __m256i found = none;

    for (;;) {
        __m256i its_key, entry;

        load_8(view->slots, slot, sizeof *view->slots, &its_key, &entry);
        const __m256i equal = _mm256_and_si256(_mm256_cmpeq_epi32(key, its_key), live);
        found = _mm256_blendv_epi8(found, _mm256_and_si256(entry, none), equal);
        /* Negative: other keys wanted this slot too, and lie behind it. */
        live = _mm256_andnot_si256(equal, _mm256_and_si256(live, _mm256_srai_epi32(entry, 31)));
        if (_mm256_testz_si256(live, live))
            return found;
        slot = _mm256_and_si256(_mm256_add_epi32(slot, _mm256_set1_epi32(1)), last);
    }
}

static void find(const struct gram_view *view, const struct gram_keys *keys,
                 struct gram_candidates *out)
{
    const __m256i none = _mm256_set1_epi32((int)GRAM_NONE);

    out->n = 0;
    for (uint32_t i = 0; i < keys->n; i += 8) {
        const __m256i at = _mm256_loadu_si256((const __m256i *)(keys->at + i));
        const __m256i key = _mm256_loadu_si256((const __m256i *)(keys->key + i));
        const __m256i entry = find_8(view, first_of_8(keys->n - i), key);
        const uint32_t found = equal_lanes(entry, none) ^ 0xFF;

        (void)compress(out->at + out->n, found, at);
        out->n += compress(out->entry + out->n, found, entry);
    }
    for (uint32_t i = 0; i < out->n; i++)
        _mm_prefetch((const char *)&view->entries[out->entry[i]], _MM_HINT_T0);
}

#define SHIFT_OF(field) ((int)(offsetof(struct gram_entry, field) % 8 * 8))

/* The fields of the eight bytes of an entry that hold its mode of comparison. */
struct question {
    __m256i fields; /* these bits */
    __m256i wanted; /* must be so; */
    __m256i last;   /* none of these is set where its key has more entries */
};

static inline struct question kind_question(enum gram_kind kind, uint8_t left_out)
{
    const int64_t out = (int64_t)left_out << SHIFT_OF(flags);

    return (struct question){
        .fields = _mm256_set1_epi64x((int64_t)0xFF << SHIFT_OF(kind) | out),
        .wanted = _mm256_set1_epi64x((int64_t)kind << SHIFT_OF(kind)),
        .last = _mm256_set1_epi64x((int64_t)GRAM_ENTRY_LAST << SHIFT_OF(flags) | out)};
}

/* Four entries' words of eight bytes: their bytes, masks, and modes of comparison. */
static inline void load_entries(const struct gram_view *view, const uint32_t number[4],
                                __m256i *bytes, __m256i *mask, __m256i *rest)
{
    _Static_assert(offsetof(struct gram_entry, bytes) == 0 &&
                       offsetof(struct gram_entry, mask) == 8 &&
                       offsetof(struct gram_entry, window) == 24 && sizeof(struct gram_entry) == 32,
                   "an entry's words are picked by their places");
    const __m256i e0 = _mm256_loadu_si256((const __m256i *)&view->entries[number[0]]);
    const __m256i e1 = _mm256_loadu_si256((const __m256i *)&view->entries[number[1]]);
    const __m256i e2 = _mm256_loadu_si256((const __m256i *)&view->entries[number[2]]);
    const __m256i e3 = _mm256_loadu_si256((const __m256i *)&view->entries[number[3]]);
    const __m256i odd_01 = _mm256_unpackhi_epi64(e0, e1);
    const __m256i odd_23 = _mm256_unpackhi_epi64(e2, e3);

    *bytes = _mm256_permute2x128_si256(_mm256_unpacklo_epi64(e0, e1), _mm256_unpacklo_epi64(e2, e3),
                                       0x20);
    *mask = _mm256_permute2x128_si256(odd_01, odd_23, 0x20);
    *rest = _mm256_permute2x128_si256(odd_01, odd_23, 0x31);
}

/* Eight bytes of text from each of four places. Where there are none, before its first, others: no
 * entry lies there. */
static inline __m256i load_texts(const uint8_t *text, __m256i from)
{
    const __m256i outside = _mm256_cmpgt_epi64(_mm256_setzero_si256(), from);
    uint64_t at[4] __attribute__((aligned(32)));

    _mm256_store_si256((__m256i *)at, _mm256_andnot_si256(outside, from));
    return _mm256_setr_epi64x(
        (long long)gram_load8(text + at[0]), (long long)gram_load8(text + at[1]),
        (long long)gram_load8(text + at[2]), (long long)gram_load8(text + at[3]));
}

/* As gram_fold8_unless. */
static inline __m256i fold_unless(__m256i exact, __m256i text)
{
    /* From 'A' on bytes are the least there are. */
    const __m256i from_a = _mm256_add_epi8(text, _mm256_set1_epi8((char)(0x80 - 'A')));
    const __m256i upper = _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(0x80 + 'Z' - 'A' + 1)), from_a);

    return _mm256_or_si256(
        text, _mm256_andnot_si256(exact, _mm256_and_si256(upper, _mm256_set1_epi8(0x20))));
}

static inline uint32_t zero_quads(__m256i quads)
{
    const __m256i zero = _mm256_cmpeq_epi64(quads, _mm256_setzero_si256());

    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(zero));
}

/* Of four candidates those that match; *more: those whose key has more entries. */
static inline uint32_t compare_4(const struct gram_view *view, const uint8_t *text,
                                 const struct question *question, __m128i at,
                                 const uint32_t number[4], uint32_t *more)
{
    const __m256i case_counts = _mm256_set1_epi64x((int64_t)GRAM_ENTRY_EXACT << SHIFT_OF(flags));
    __m256i bytes, mask, rest;

    load_entries(view, number, &bytes, &mask, &rest);
    const __m256i lead =
        _mm256_and_si256(_mm256_srli_epi64(rest, SHIFT_OF(lead)), _mm256_set1_epi64x(0xFFFF));
    const __m256i there = load_texts(text, _mm256_sub_epi64(_mm256_cvtepu32_epi64(at), lead));
    const __m256i exact = _mm256_cmpeq_epi64(_mm256_and_si256(rest, case_counts), case_counts);
    const __m256i differ =
        _mm256_and_si256(_mm256_xor_si256(fold_unless(exact, there), bytes), mask);
    const __m256i wrong =
        _mm256_xor_si256(_mm256_and_si256(rest, question->fields), question->wanted);

    *more = zero_quads(_mm256_and_si256(rest, question->last));
    return zero_quads(_mm256_or_si256(differ, wrong));
}

static void compare(const struct gram_view *view, const uint8_t *text, enum gram_kind kind,
                    uint8_t left_out, struct gram_candidates *candidates,
                    struct gram_candidates *out)
{
    const struct question question = kind_question(kind, left_out);
    uint32_t n = 0, n_more = 0;

    for (uint32_t i = 0; i < candidates->n; i += 8) {
        const __m256i live = first_of_8(candidates->n - i);
        const __m256i at = load_live(candidates->at + i, live);
        const __m256i number = load_live(candidates->entry + i, live);
        uint32_t entry[8] __attribute__((aligned(32))), more_low, more_high;

        _mm256_store_si256((__m256i *)entry, number);
        const uint32_t low =
            compare_4(view, text, &question, _mm256_castsi256_si128(at), entry, &more_low);
        const uint32_t high = compare_4(view, text, &question, _mm256_extracti128_si256(at, 1),
                                        entry + 4, &more_high);
        const uint32_t equal = mask_of(live) & (low | high << 4);
        const uint32_t more = mask_of(live) & (more_low | more_high << 4);

        (void)compress(out->at + n, equal, at);
        n += compress(out->entry + n, equal, number);
        /* Not beyond the bytes that have been read. */
        (void)compress(candidates->at + n_more, more, at);
        n_more += compress(candidates->entry + n_more, more,
                           _mm256_add_epi32(number, _mm256_set1_epi32(1)));
    }
    candidates->n = n_more;
    out->n = n;
}

static bool avx2_usable(char why[SL_WHY_LEN])
{
    return cpu_usable(CPU_AVX2, why);
}

static enum sl_status avx2_open(void **context, const void *table, const struct sl_limits *limits,
                                struct sl_diag *diag)
{
    static const struct gram_filters filters = {windows, runs, tiny, keys, find, compare};

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

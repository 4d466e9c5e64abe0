/* SPDX-License-Identifier: MIT */
/* The filter on 32 bytes at a time: AVX2 and PCLMULQDQ. Maps of bytes are two look-ups by halves of
 * a byte; products are of 16 bytes each. */
#include "base/cpu.h"
#include "rabin_clmul.h"

/* A map of bytes as look-ups by their low and high halves. */
struct map {
    __m256i low, high;
};

struct filter {
    __m128i taps[RABIN_WORDS / 2];
    struct map reverse, entering, leaving;
    __m256i wanted, mask;
};

static struct map load_map(const uint8_t halves[2][16])
{
    return (struct map){
        .low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)halves[0])),
        .high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)halves[1]))};
}

static struct filter load_filter(const struct rabin_filter *from)
{
    static const uint8_t reverse[2][16] = {{0x00, 0x80, 0x40, 0xC0, 0x20, 0xA0, 0x60, 0xE0, 0x10,
                                            0x90, 0x50, 0xD0, 0x30, 0xB0, 0x70, 0xF0},
                                           {0x00, 0x08, 0x04, 0x0C, 0x02, 0x0A, 0x06, 0x0E, 0x01,
                                            0x09, 0x05, 0x0D, 0x03, 0x0B, 0x07, 0x0F}};
    struct filter filter = {.reverse = load_map(reverse),
                            .entering = load_map(from->entering_halves),
                            .leaving = load_map(from->leaving_halves),
                            .wanted = _mm256_set1_epi8((char)from->wanted),
                            .mask = _mm256_set1_epi8((char)from->mask)};

    for (int i = 0; i < RABIN_WORDS / 2; i++)
        filter.taps[i] = _mm_set_epi64x((int64_t)from->taps[2 * i + 1], (int64_t)from->taps[2 * i]);
    return filter;
}

static inline __m256i apply(const struct map *map, __m256i bytes)
{
    const __m256i half = _mm256_set1_epi8(0x0F);

    return _mm256_xor_si256(
        _mm256_shuffle_epi8(map->low, _mm256_and_si256(bytes, half)),
        _mm256_shuffle_epi8(map->high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

static inline __m256i load32(const uint8_t *bytes)
{
    return _mm256_loadu_si256((const __m256i *)bytes);
}

static inline __m128i load16(const uint8_t *bytes)
{
    return _mm_loadu_si128((const __m128i *)bytes);
}

/* The filter's outputs for 16 bytes in time order, without the two maps. Products whose low word
 * has an odd number are off by a word. They are summed apart and shifted by that word at the end,
 * which brings in the last of the 16 bytes before. Reads 64 bytes before. */
static inline __attribute__((always_inline)) __m128i
convolve(const struct filter *filter, const uint8_t *in_time, int n_pairs, __m128i *odd_before)
{
    __m128i even = _mm_setzero_si128(), odd = even;
    __m128i words = load16(in_time);

#pragma GCC unroll 4
    for (int i = 0; i < n_pairs; i++) {
        const __m128i taps = filter->taps[i];
        const __m128i before = load16(in_time - 16 * (i + 1));

        even = _mm_xor_si128(even, _mm_xor_si128(_mm_clmulepi64_si128(words, taps, 0x00),
                                                 _mm_clmulepi64_si128(before, taps, 0x11)));
        odd = _mm_xor_si128(odd, _mm_xor_si128(_mm_clmulepi64_si128(words, taps, 0x01),
                                               _mm_clmulepi64_si128(words, taps, 0x10)));
        words = before;
    }

    const __m128i sum = _mm_xor_si128(even, _mm_alignr_epi8(odd, *odd_before, 8));
    *odd_before = odd;
    return sum;
}

/* Candidates among the windows that end with these 32 bytes. */
static inline __attribute__((always_inline)) uint32_t
filter_half(const struct filter *filter, const uint8_t *bytes, const uint8_t *in_time,
            uint32_t window, int n_pairs, __m128i *odd)
{
    const __m128i first = convolve(filter, in_time, n_pairs, odd);
    const __m128i second = convolve(filter, in_time + 16, n_pairs, odd);
    const __m256i maps = _mm256_xor_si256(apply(&filter->entering, load32(bytes)),
                                          apply(&filter->leaving, load32(bytes - window)));
    const __m256i sum = _mm256_xor_si256(_mm256_set_m128i(second, first), maps);
    const __m256i differ = _mm256_and_si256(_mm256_xor_si256(sum, filter->wanted), filter->mask);

    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(differ, _mm256_setzero_si256()));
}

/* A part of the arena with its bits in time order, and the 64 bytes before it. */
struct turned {
    uint8_t bytes[64 + RABIN_PART];
};

/* Candidates from `from` on, up to `to`, both multiples of 64. */
static inline __attribute__((always_inline)) void
filter_part(const struct filter *filter, const uint8_t *bytes, uint32_t from, uint32_t to,
            uint32_t window, int n_pairs, struct turned *turned, __m128i *odd,
            struct rabin_candidates *candidates)
{
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 32) {
        rabin_prefetch(bytes + at);
        _mm256_storeu_si256((__m256i *)(turned->bytes + 64 + (at - from)),
                            apply(&filter->reverse, load32(bytes + at)));
    }
    for (uint32_t at = from; at < to; at += 64) {
        const uint8_t *in_time = turned->bytes + 64 + (at - from);
        const uint64_t low = filter_half(filter, bytes + at, in_time, window, n_pairs, odd);
        const uint64_t high =
            filter_half(filter, bytes + at + 32, in_time + 32, window, n_pairs, odd);

        n = rabin_candidates_put(candidates, n, at, high << 32 | low);
    }
    candidates->n = n;
    memmove(turned->bytes, turned->bytes + (to - from), 64);
}

static inline __attribute__((always_inline)) void scan(struct rabin_sieve *sieve, uint32_t end,
                                                       uint32_t window, int n_pairs)
{
    const struct filter filter = load_filter(&sieve->table->filter);
    uint8_t head[128] = {0}; /* nothing may be read before the arena */
    struct turned turned;
    struct rabin_candidates candidates;
    __m128i odd = _mm_setzero_si128();

    memset(turned.bytes, 0, 64);
    memcpy(head + 64, sieve->bytes, 64);
    filter_part(&filter, head + 64, 0, 64, window, n_pairs, &turned, &odd, &candidates);
    rabin_sieve_take(sieve, &candidates);
    for (uint32_t from = 64; from < end;) {
        const uint32_t to = end - from > RABIN_PART ? from + RABIN_PART : end;

        filter_part(&filter, sieve->bytes, from, to, window, n_pairs, &turned, &odd, &candidates);
        rabin_sieve_take(sieve, &candidates);
        from = to;
    }
}

static enum sl_status avx2_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                struct sl_hits *hits)
{
    return rabin_sieve_run(cpu, batch, hits, scan);
}

static bool avx2_usable(char why[SL_WHY_LEN])
{
    return cpu_usable_with(CPU_AVX2, CPU_PCLMUL, why);
}

static enum sl_status avx2_submit(void *context, const struct sl_batch *batch, struct sl_hits *hits)
{
    return cpu_backend_submit((struct cpu_context *)context, batch, hits, avx2_scan);
}

extern const struct sl_backend rabin_clmul_avx2;
const struct sl_backend rabin_clmul_avx2 = {.name = "clmul-avx2",
                                            .device = SL_DEVICE_CPU,
                                            .usable = avx2_usable,
                                            .open = cpu_backend_open,
                                            .submit = avx2_submit,
                                            .wait = cpu_backend_wait,
                                            .close = cpu_backend_close};

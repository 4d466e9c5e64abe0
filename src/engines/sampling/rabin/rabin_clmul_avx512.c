/* SPDX-License-Identifier: MIT */
/* The filter on 64 bytes at a time: AVX-512, VPCLMULQDQ and GFNI. */
#include "base/cpu.h"
#include "rabin_clmul.h"

/* A filter in registers: taps two words to a lane. */
struct filter {
    __m512i taps[RABIN_WORDS / 2];
    __m512i reverse, entering, leaving, wanted, mask;
};

static __m512i twice(uint64_t low, uint64_t high)
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x((int64_t)high, (int64_t)low));
}

static struct filter load_filter(const struct rabin_filter *from)
{
    struct filter filter = {.reverse = _mm512_set1_epi64((int64_t)UINT64_C(0x8040201008040201)),
                            .entering = _mm512_set1_epi64((int64_t)from->entering),
                            .leaving = _mm512_set1_epi64((int64_t)from->leaving),
                            .wanted = _mm512_set1_epi8((char)from->wanted),
                            .mask = _mm512_set1_epi8((char)from->mask)};

    for (int i = 0; i < RABIN_WORDS / 2; i++)
        filter.taps[i] = twice(from->taps[2 * i], from->taps[2 * i + 1]);
    return filter;
}

static inline __m512i xor3(__m512i a, __m512i b, __m512i c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

static inline __m512i in_time_order(const struct filter *filter, const uint8_t *bytes)
{
    return _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(bytes), filter->reverse, 0);
}

/* Candidates among the windows that end with these 64 bytes. Products whose low word has an odd
 * number are off by a word from the lanes' bounds. They are summed apart and shifted by that word
 * at the end, which brings in the last of the block before. Reads 64 bytes before. */
static inline __attribute__((always_inline)) uint64_t filter_block(const struct filter *filter,
                                                                   const uint8_t *bytes,
                                                                   uint32_t window, int n_pairs,
                                                                   __m512i *odd_before)
{
    __m512i even = _mm512_setzero_si512(), odd = even;
    __m512i words = in_time_order(filter, bytes);

#pragma GCC unroll 4
    for (int i = 0; i < n_pairs; i++) {
        const __m512i taps = filter->taps[i];
        const __m512i before = in_time_order(filter, bytes - 16 * (i + 1));

        even = xor3(even, _mm512_clmulepi64_epi128(words, taps, 0x00),
                    _mm512_clmulepi64_epi128(before, taps, 0x11));
        odd = xor3(odd, _mm512_clmulepi64_epi128(words, taps, 0x01),
                   _mm512_clmulepi64_epi128(words, taps, 0x10));
        words = before;
    }

    const __m512i entering =
        _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(bytes), filter->entering, 0);
    const __m512i leaving =
        _mm512_gf2p8affine_epi64_epi8(_mm512_loadu_si512(bytes - window), filter->leaving, 0);
    const __m512i sum = xor3(even, _mm512_alignr_epi64(odd, *odd_before, 7), entering);

    *odd_before = odd;
    return _mm512_testn_epi8_mask(xor3(sum, leaving, filter->wanted), filter->mask);
}

/* Candidates from `from` on, up to `to`, both multiples of 64. */
static inline __attribute__((always_inline)) void
filter_part(const struct filter *filter, const uint8_t *bytes, uint32_t from, uint32_t to,
            uint32_t window, int n_pairs, __m512i *odd, struct rabin_candidates *candidates)
{
    __m512i odd_before = *odd;
    uint32_t n = 0;

    for (uint32_t at = from; at < to; at += 64) {
        rabin_prefetch(bytes + at);
        n = rabin_candidates_put(candidates, n, at,
                                 filter_block(filter, bytes + at, window, n_pairs, &odd_before));
    }
    candidates->n = n;
    *odd = odd_before;
}

static inline __attribute__((always_inline)) void scan(struct rabin_sieve *sieve, uint32_t end,
                                                       uint32_t window, int n_pairs)
{
    const struct filter filter = load_filter(&sieve->table->filter);
    uint8_t head[128] = {0}; /* nothing may be read before the arena */
    struct rabin_candidates candidates;
    __m512i odd = _mm512_setzero_si512();

    memcpy(head + 64, sieve->bytes, 64);
    filter_part(&filter, head + 64, 0, 64, window, n_pairs, &odd, &candidates);
    rabin_sieve_take(sieve, &candidates);
    for (uint32_t from = 64; from < end;) {
        const uint32_t to = end - from > RABIN_PART ? from + RABIN_PART : end;

        filter_part(&filter, sieve->bytes, from, to, window, n_pairs, &odd, &candidates);
        rabin_sieve_take(sieve, &candidates);
        from = to;
    }
}

static enum sl_status avx512_scan(struct cpu_context *cpu, const struct sl_batch *batch,
                                  struct sl_hits *hits)
{
    return rabin_sieve_run(cpu, batch, hits, scan);
}

static bool avx512_usable(char why[SL_WHY_LEN])
{
    return cpu_usable_with(CPU_AVX512, CPU_PCLMUL | CPU_VPCLMULQDQ | CPU_GFNI, why);
}

static enum sl_status avx512_submit(void *context, const struct sl_batch *batch,
                                    struct sl_hits *hits)
{
    return cpu_backend_submit((struct cpu_context *)context, batch, hits, avx512_scan);
}

extern const struct sl_backend rabin_clmul_avx512;
const struct sl_backend rabin_clmul_avx512 = {.name = "clmul-avx512",
                                              .device = SL_DEVICE_CPU,
                                              .usable = avx512_usable,
                                              .open = cpu_backend_open,
                                              .submit = avx512_submit,
                                              .wait = cpu_backend_wait,
                                              .close = cpu_backend_close};

/* SPDX-License-Identifier: MIT */
/* The parts that the clmul backends share, compiled for the instruction set of each: from the
 * filter's outputs to hits. A part of the arena is filtered first. Then the candidates that lie in
 * an item are gathered. Their fingerprints are computed last, in a loop without a branch that
 * depends on data. */
#ifndef RABIN_CLMUL_H
#define RABIN_CLMUL_H

#include <immintrin.h>
#include <string.h>

#include "rabin_cursor.h"

enum {
    RABIN_PART = 1 << 12,           /* bytes filtered at a time */
    RABIN_GROUPS = RABIN_PART / 64, /* bits of candidates are kept by 64 */
    RABIN_GATHERED = 1 << 10,       /* candidates */
    RABIN_AHEAD = 2048              /* bytes from the filter's place to the prefetch */
};

/* Candidates by the last byte of their windows: bit i of a group is byte at + i. */
struct rabin_candidates {
    uint32_t n;
    uint32_t at[RABIN_GROUPS];
    uint64_t bits[RABIN_GROUPS];
};

/* Goes on if there are any; without a branch. Returns how many groups there are then. */
static inline uint32_t rabin_candidates_put(struct rabin_candidates *candidates, uint32_t n,
                                            uint32_t at, uint64_t bits)
{
    candidates->at[n] = at;
    candidates->bits[n] = bits;
    return n + (bits != 0);
}

/* Through a number: there may be nothing that far ahead, which a prefetch does not mind. Inlined
 * early: gcc 12 drops calls of a function that does nothing but prefetch. */
static inline __attribute__((always_inline)) void rabin_prefetch(const uint8_t *bytes)
{
    _mm_prefetch((const char *)((uintptr_t)bytes + RABIN_AHEAD), _MM_HINT_T0);
}

struct rabin_sieve {
    const struct rabin_table *table;
    const uint8_t *bytes;
    struct sl_hits *hits;
    struct rabin_cursor cursor;
    uint32_t n;
    uint32_t begin[RABIN_GATHERED]; /* in the arena */
    struct sl_hit hit[RABIN_GATHERED];
};

/* Returns where the last window ends, rounded up to 64 bytes. The batch has items. */
static inline uint32_t rabin_sieve_init(struct rabin_sieve *sieve, const struct rabin_table *table,
                                        const struct sl_batch *batch, struct sl_hits *hits)
{
    sieve->table = table;
    sieve->bytes = batch->bytes;
    sieve->hits = hits;
    sieve->cursor = rabin_cursor_at(&table->head, batch, 0);
    sieve->n = 0;
    return (uint32_t)((rabin_arena_end(batch) + UINT64_C(63)) & ~UINT64_C(63));
}

static inline uint64_t rabin_load_word(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return __builtin_bswap64(word);
}

static inline __m128i rabin_clmul(uint64_t a, uint64_t b)
{
    return _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)a), _mm_cvtsi64_si128((int64_t)b), 0);
}

/* The window's words: the last one is whole, and the first one has the rest. */
static inline __attribute__((always_inline)) uint64_t
rabin_fingerprint(const struct rabin_table *table, const uint8_t *bytes, uint32_t window)
{
    const struct rabin_filter *filter = &table->filter;
    const uint32_t n_words = (window + 7) / 8;
    const uint32_t degree = table->degree;
    __m128i sum = rabin_clmul(rabin_load_word(bytes) >> (64 * n_words - 8 * window),
                              filter->word_powers[n_words - 1]);

    for (uint32_t i = 1; i < n_words - 1; i++)
        sum = _mm_xor_si128(sum, rabin_clmul(rabin_load_word(bytes + window - 8 * (i + 1)),
                                             filter->word_powers[i]));

    const uint64_t low = (uint64_t)_mm_cvtsi128_si64(sum) ^ rabin_load_word(bytes + window - 8);
    const uint64_t high = (uint64_t)_mm_extract_epi64(sum, 1);
    const uint64_t top = high << (64 - degree) | low >> degree;
    const uint64_t quotient =
        top ^ (uint64_t)_mm_extract_epi64(rabin_clmul(top, filter->quotient), 1);
    const uint64_t taken = (uint64_t)_mm_cvtsi128_si64(rabin_clmul(quotient, table->polynomial));

    return (low ^ taken) & ((UINT64_C(1) << degree) - 1);
}

static inline __attribute__((always_inline)) void rabin_fingerprint_all(struct rabin_sieve *sieve,
                                                                        uint32_t window)
{
    for (uint32_t i = 0; i < sieve->n; i++)
        sieve->hit[i].id = rabin_fingerprint(sieve->table, sieve->bytes + sieve->begin[i], window);
}

static inline void rabin_sieve_flush(struct rabin_sieve *sieve)
{
    struct sl_hits *hits = sieve->hits;
    const size_t room = hits->n < hits->cap ? hits->cap - hits->n : 0;

    if (sieve->table->head.window == 32)
        rabin_fingerprint_all(sieve, 32);
    else
        rabin_fingerprint_all(sieve, sieve->table->head.window);
    if (sieve->table->mask <= 0xFF && sieve->n <= room) {
        memcpy(hits->hit + hits->n, sieve->hit, sieve->n * sizeof *hits->hit);
        hits->n += sieve->n;
    } else {
        for (uint32_t i = 0; i < sieve->n; i++)
            if (rabin_chosen(sieve->table, sieve->hit[i].id))
                cpu_hits_append(hits, sieve->hit[i].item, sieve->hit[i].offset, sieve->hit[i].id);
    }
    sieve->n = 0;
}

static inline void rabin_sieve_gather(struct rabin_sieve *sieve, uint64_t begin)
{
    const uint32_t i = sieve->n;

    if (!rabin_cursor_takes(&sieve->cursor, begin))
        return;
    sieve->begin[i] = (uint32_t)begin;
    sieve->hit[i].item = sieve->cursor.item;
    sieve->hit[i].offset =
        (uint32_t)begin - sieve->cursor.batch->payload[sieve->cursor.item].offset;
    sieve->n++;
}

/* Windows before the arena's first byte are left out: the filter has no bytes of them. */
static inline void rabin_sieve_take(struct rabin_sieve *sieve,
                                    const struct rabin_candidates *candidates)
{
    const uint32_t window = sieve->table->head.window;

    for (uint32_t i = 0; i < candidates->n; i++) {
        if (sieve->n > RABIN_GATHERED - 64)
            rabin_sieve_flush(sieve);
        for (uint64_t bits = candidates->bits[i]; bits != 0; bits &= bits - 1) {
            const uint64_t end = candidates->at[i] + (uint64_t)__builtin_ctzll(bits) + 1;

            if (end >= window)
                rabin_sieve_gather(sieve, end - window);
        }
    }
    rabin_sieve_flush(sieve);
}

/* Filters the arena up to `end`, and takes the candidates; n_pairs: words of the window, by two. */
typedef void rabin_sieve_scan(struct rabin_sieve *sieve, uint32_t end, uint32_t window,
                              int n_pairs);

/* Calls it with a constant number of words, of which it makes a loop each. */
static inline __attribute__((always_inline)) enum sl_status
rabin_sieve_run(struct cpu_context *cpu, const struct sl_batch *batch, struct sl_hits *hits,
                rabin_sieve_scan *scan)
{
    struct rabin_sieve sieve;

    if (batch->n_items == 0)
        return SL_OK;

    const uint32_t end = rabin_sieve_init(&sieve, rabin_table(cpu->table), batch, hits);
    const uint32_t window = sieve.table->head.window;

    if (window <= 16)
        scan(&sieve, end, window, 1);
    else if (window <= 32)
        scan(&sieve, end, window, 2);
    else if (window <= 48)
        scan(&sieve, end, window, 3);
    else
        scan(&sieve, end, window, 4);
    return SL_OK;
}

#endif

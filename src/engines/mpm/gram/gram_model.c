/* SPDX-License-Identifier: MIT */
#include "gram_model.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/spread.h"

/* A gram shares its counter with few others that occur. A sanitizer takes a third of a run's start
 * for the memory of so many: it has fewer, as the hits are the same with any. */
#ifdef SLUICE_SANITIZED
enum { COUNTERS_LOG = 17 };
#else
enum { COUNTERS_LOG = 21 };
#endif

enum {
    SAMPLE_MAX = 2 << 20, /* bytes: more teaches little and takes time */
    TRIAL_MAX = 1 << 19,  /* bytes that filters are tried on */
};

/* The mask of the bytes that make a gram, the first byte lowest. That of the filter begins with the
 * byte before the window. */
static uint64_t gram_of(uint64_t bytes, int gram)
{
    switch (gram) {
    case GRAM_MODEL_3:
        return bytes & UINT64_C(0xFFFFFF);
    case GRAM_MODEL_FILTER:
        return (bytes >> 8 & UINT64_C(0xFFFFFF)) |
               (uint64_t)gram_names_of((uint32_t)(bytes >> 24 & 0xFFFFFF00) | (bytes & 0xFF)) << 24;
    case GRAM_MODEL_4:
        return bytes & UINT32_MAX;
    case GRAM_MODEL_5:
        return bytes & UINT64_C(0xFFFFFFFFFF);
    default:
        return bytes & UINT64_C(0xFFFFFFFFFFFFFF);
    }
}

static uint32_t counter_of(uint64_t gram)
{
    return (uint32_t)((gram ^ gram >> 29) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - COUNTERS_LOG));
}

/* Inlined by force: the gram is then a constant. */
__attribute__((always_inline)) static inline void count_in(uint32_t *count, const uint8_t *text,
                                                           uint32_t len, int gram)
{
    for (uint32_t i = 0; i + 1 + GRAM_WINDOW <= len; i++)
        count[counter_of(gram_of(gram_fold8(gram_load8(text + i)), gram))]++;
}

static void count_text(uint32_t *count, const uint8_t *text, uint32_t len, int gram)
{
    switch (gram) {
    case GRAM_MODEL_3:
        count_in(count, text, len, GRAM_MODEL_3);
        break;
    case GRAM_MODEL_FILTER:
        count_in(count, text, len, GRAM_MODEL_FILTER);
        break;
    case GRAM_MODEL_4:
        count_in(count, text, len, GRAM_MODEL_4);
        break;
    case GRAM_MODEL_5:
        count_in(count, text, len, GRAM_MODEL_5);
        break;
    default:
        count_in(count, text, len, GRAM_MODEL_7);
    }
}

/* Every how manieth item makes about this many bytes of a sample. */
static uint32_t step_for(const struct sl_batch *sample, uint32_t max)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < sample->n_items; i++)
        total += sample->payload[i].len;
    return (uint32_t)(total / max) + 1;
}

/* The counters of all grams, one behind another, of a sample. */
struct counting {
    const struct sl_batch *sample;
    uint32_t *count;
};

/* Counts one gram. A core that counted all at once would wait for memory, as each has a table. */
static void count_sample(void *context, unsigned thread, size_t gram)
{
    const struct counting *counting = (const struct counting *)context;
    const struct sl_batch *sample = counting->sample;
    uint32_t *count = counting->count + (gram << COUNTERS_LOG);
    const uint32_t step = step_for(sample, SAMPLE_MAX);

    (void)thread;
    for (uint32_t i = 0; i < sample->n_items; i += step)
        count_text(count, sample->bytes + sample->payload[i].offset, sample->payload[i].len,
                   (int)gram);
}

/* Text, numbers, and the fillers of binary formats. Letters as in English prose, roughly. */
static void assume_bytes(struct gram_model *model)
{
    static const char frequent[] = "etaoinsrhldcumfpgwybvkxjqz";

    for (int byte = 0; byte < 256; byte++)
        model->byte_share[byte] = byte < 0x80 ? 0.003 : 0.0015;
    for (int rank = 0; rank < 26; rank++)
        model->byte_share[(uint8_t)frequent[rank]] = 0.06 / (1 + rank * 0.3);
    for (int digit = '0'; digit <= '9'; digit++)
        model->byte_share[digit] = 0.01;
    model->byte_share[' '] = 0.06;
    model->byte_share[0x00] = 0.10;
    model->byte_share[0xFF] = 0.02;
}

/* NULL: no memory. */
static uint32_t *count_grams(const struct sl_batch *sample)
{
    struct counting counting = {.sample = sample,
                                .count = (uint32_t *)mpm_zeroed(
                                    GRAM_MODEL_COUNTS * sizeof *counting.count << COUNTERS_LOG)};

    if (counting.count != NULL)
        spread(cpu_cores(), GRAM_MODEL_COUNTS, 1, count_sample, &counting);
    return counting.count;
}

bool gram_model_init(struct gram_model *model, const struct sl_batch *sample,
                     struct mpm_learned *learned)
{
    memset(model, 0, sizeof *model);
    if (sample == NULL || sample->n_items == 0) {
        assume_bytes(model);
        return true;
    }
    uint32_t *const counts =
        learned != NULL && learned->kept != NULL ? (uint32_t *)learned->kept : count_grams(sample);

    if (counts == NULL)
        return false;
    for (int i = 0; i < GRAM_MODEL_COUNTS; i++)
        model->count[i] = counts + ((size_t)i << COUNTERS_LOG);
    model->sample = sample;
    if (learned != NULL)
        *learned = (struct mpm_learned){counts, free};
    else
        model->own = counts;
    return true;
}

void gram_model_clear(struct gram_model *model)
{
    free(model->own);
}

double gram_model_occurrences(const struct gram_model *model, uint64_t bytes, int gram)
{
    static const int first_of[GRAM_MODEL_COUNTS] = {0, 1, 0, 0, 0};
    static const int len_of[GRAM_MODEL_COUNTS] = {3, 3, 4, 5, 7};
    double share = gram == GRAM_MODEL_FILTER ? 1e6 / 512 : 1e6;
    uint64_t before = 256;

    if (model->count[gram] != NULL)
        return model->count[gram][counter_of(gram_of(bytes, gram))];
    for (int i = first_of[gram]; i < first_of[gram] + len_of[gram]; i++) {
        const uint64_t byte = bytes >> 8 * i & 0xFF;

        share *= byte == before ? 0.5 : model->byte_share[byte]; /* fillers repeat */
        before = byte;
    }
    return share;
}

/* A window in the dictionary costs a few times one that only passes the filter. Where the literal
 * lacks bytes that name bits, the other bytes reject less than their number suggests. Neighbouring
 * bytes depend on each other. The shares are fitted to captures. */
double gram_model_cost(const struct gram_model *model, uint64_t bytes, enum gram_kind kind)
{
    const double verification = 4;
    const double words = gram_model_occurrences(model, bytes >> 8, GRAM_MODEL_3);

    switch (kind) {
    case GRAM_KIND_7:
        return verification * gram_model_occurrences(model, bytes, GRAM_MODEL_7) +
               gram_model_occurrences(model, bytes, GRAM_MODEL_FILTER);
    case GRAM_KIND_5:
        return verification * gram_model_occurrences(model, bytes, GRAM_MODEL_5) + words / 16;
    case GRAM_KIND_4:
        return verification * gram_model_occurrences(model, bytes, GRAM_MODEL_4) + words;
    default:
        return verification * gram_model_occurrences(model, bytes >> 8, GRAM_MODEL_4) + words / 4;
    }
}

/* Of texts that lie one behind another, places at equal distances. */
static void take_trials(const struct gram_model *model, uint8_t (*trial)[3], uint32_t n)
{
    const struct sl_batch *sample = model->sample;
    const uint32_t step = step_for(sample, n);
    uint64_t skip = 0;
    uint32_t taken = 0;

    for (uint32_t item = 0; item < sample->n_items && taken < n; item++) {
        const struct sl_span span = sample->payload[item];
        uint64_t at = skip;

        for (; at + 3 <= span.len && taken < n; at += step, taken++)
            for (int i = 0; i < 3; i++)
                trial[taken][i] = mpm_fold(sample->bytes[span.offset + at + i]);
        skip = at > span.len ? at - span.len : 0;
    }
    for (uint32_t i = taken; taken != 0 && i < n; i++) /* a small sample again and again */
        memcpy(trial[i], trial[i % taken], sizeof *trial);
}

static uint8_t assumed_byte(const struct gram_model *model, uint32_t random)
{
    double left = 0;
    uint8_t byte = 0;

    for (int i = 0; i < 256; i++)
        left += model->byte_share[i];
    left *= (random >> 8) / (double)(1 << 24);
    while (byte < 255 && (left -= model->byte_share[byte]) >= 0)
        byte++;
    return mpm_fold(byte);
}

static void assume_trials(const struct gram_model *model, uint8_t (*trial)[3], uint32_t n)
{
    uint32_t random = 1;

    for (uint32_t k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) {
            random = random * 1664525u + 1013904223u;
            trial[k][i] = i != 0 && (random >> 31) != 0 ? trial[k][i - 1] /* fillers repeat */
                                                        : assumed_byte(model, random << 1);
        }
}

void gram_model_trials(const struct gram_model *model, uint8_t (*trial)[3], uint32_t n)
{
    memset(trial, 0, n * sizeof *trial);
    if (model->sample != NULL)
        take_trials(model, trial, n);
    else
        assume_trials(model, trial, n);
}

static double passing_texts(const struct gram_model *model, const struct gram_view *filter)
{
    const struct sl_batch *sample = model->sample;
    const uint32_t step = step_for(sample, TRIAL_MAX);
    uint64_t n = 0;

    for (uint32_t item = 0; item < sample->n_items; item += step) {
        const uint8_t *text = sample->bytes + sample->payload[item].offset;

        for (uint32_t at = 1; at + 8 <= sample->payload[item].len; at += filter->stride) {
            const uint64_t bytes = gram_fold8(gram_load8(text + at));

            n += gram_probe(filter, gram_fold4(text[at - 1]), (uint32_t)bytes,
                            (uint32_t)(bytes >> 32));
        }
    }
    return (double)n;
}

/* Runs of one byte fill texts most. */
static double passing_runs(const struct gram_model *model, const struct gram_view *filter)
{
    double share = 0;

    for (uint32_t byte = 0; byte < 256; byte++) {
        const uint32_t run = gram_fold4(byte) * 0x01010101u;

        if (gram_probe(filter, run, run, run))
            share += model->byte_share[byte];
    }
    return share;
}

double gram_model_passing(const struct gram_model *model, const struct gram_view *filter)
{
    return model->sample != NULL ? passing_texts(model, filter) : passing_runs(model, filter);
}

static bool passes(const struct gram_sieve *sieve, uint32_t first, uint32_t next)
{
    uint32_t passed = 0;

    gram_sieve_probe(sieve, sieve->words, first, next, 1, &passed);
    return passed != 0;
}

static double sieve_passing_texts(const struct gram_model *model, const struct gram_sieve *sieve)
{
    const struct sl_batch *sample = model->sample;
    const uint32_t step = step_for(sample, TRIAL_MAX);
    uint64_t n = 0;

    for (uint32_t item = 0; item < sample->n_items; item += step) {
        const uint8_t *text = sample->bytes + sample->payload[item].offset;

        for (uint32_t at = 0; at + 8 <= sample->payload[item].len; at++) {
            const uint64_t bytes = gram_fold8(gram_load8(text + at));

            n += passes(sieve, (uint32_t)bytes, (uint32_t)(bytes >> 32));
        }
    }
    return (double)n;
}

static double sieve_passing_runs(const struct gram_model *model, const struct gram_sieve *sieve)
{
    double share = 0;

    for (uint32_t byte = 0; byte < 256; byte++) {
        const uint32_t run = gram_fold4(byte) * 0x01010101u;

        if (passes(sieve, run, run))
            share += model->byte_share[byte];
    }
    return share;
}

double gram_model_sieve_passing(const struct gram_model *model, const struct gram_sieve *sieve)
{
    return model->sample != NULL ? sieve_passing_texts(model, sieve)
                                 : sieve_passing_runs(model, sieve);
}

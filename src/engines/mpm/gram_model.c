/* SPDX-License-Identifier: MIT */
#include "gram_model.h"

#include <stdlib.h>

enum {
    COUNTERS_LOG = 21,          /* a gram shares its counter with few others that occur */
    SAMPLE_MAX = 8 << 20,       /* bytes: more teaches little and takes time */
    GRAM_LENS = 3               /* 3, 4 and 6 bytes: a filter's word, a dictionary's key, all */
};

static const uint32_t gram_len[GRAM_LENS] = {3, 4, 6};

static uint64_t load_gram(const uint8_t *from, uint32_t len)
{
    uint64_t gram = 0;

    memcpy(&gram, from, len);
    return gram;
}

static uint32_t counter_of(uint64_t gram)
{
    return (uint32_t)((gram ^ gram >> 29) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - COUNTERS_LOG));
}

static void count_text(struct gram_model *model, const uint8_t *text, uint32_t len)
{
    const uint64_t three = (UINT64_C(1) << 24) - 1, six = (UINT64_C(1) << 48) - 1;

    for (uint32_t i = 0; i + 6 <= len; i++) {
        const uint64_t bytes = gram_fold8(gram_load8(text + i));

        model->count[0][counter_of(bytes & three)]++;
        model->count[1][counter_of(bytes & UINT32_MAX)]++;
        model->count[2][counter_of(bytes & six)]++;
    }
}

static void count_sample(struct gram_model *model, const struct sl_batch *sample)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < sample->n_items; i++)
        total += sample->payload[i].len;
    /* Of a long sample every n-th item. */
    const uint32_t step = (uint32_t)(total / SAMPLE_MAX) + 1;
    for (uint32_t i = 0; i < sample->n_items; i += step)
        count_text(model, sample->bytes + sample->payload[i].offset, sample->payload[i].len);
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

bool gram_model_init(struct gram_model *model, const struct sl_batch *sample)
{
    memset(model, 0, sizeof *model);
    if (sample == NULL || sample->n_items == 0) {
        assume_bytes(model);
        return true;
    }
    for (int i = 0; i < GRAM_LENS; i++) {
        model->count[i] = (uint32_t *)calloc((size_t)1 << COUNTERS_LOG, sizeof *model->count[i]);
        if (model->count[i] == NULL) {
            gram_model_clear(model);
            return false;
        }
    }
    count_sample(model, sample);
    return true;
}

void gram_model_clear(struct gram_model *model)
{
    for (int i = 0; i < GRAM_LENS; i++)
        free(model->count[i]);
}

static double occurrences(const struct gram_model *model, const uint8_t *window, int which)
{
    const uint32_t len = gram_len[which];
    double share = 1e6;

    if (model->count[which] != NULL)
        return model->count[which][counter_of(load_gram(window, len))];
    for (uint32_t i = 0; i < len; i++) /* a byte is often followed by itself: fillers */
        share *= i > 0 && window[i] == window[i - 1] ? 0.5 : model->byte_share[window[i]];
    return share;
}

/* A window that meets three bytes costs a survivor unless other fields reject it, one in some
 * hundreds where they all test; one that meets all it has costs a verification. */
double gram_model_cost(const struct gram_model *model, const uint8_t *window, uint32_t len)
{
    const double three = occurrences(model, window, 0);

    if (len < 4)
        return three;
    const double four = occurrences(model, window, 1);
    if (len < 6)
        return four + three / 16;
    return occurrences(model, window, 2) + four / 16 + three / 256;
}

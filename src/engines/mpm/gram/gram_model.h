/* SPDX-License-Identifier: MIT */
/* How often a window is expected in the text, which decides what windows the gram matcher takes. */
#ifndef GRAM_MODEL_H
#define GRAM_MODEL_H

#include "engines/mpm/mpm_set.h"
#include "gram_sieve.h"

/* Grams that are counted. */
enum {
    GRAM_MODEL_3,      /* three bytes: the filter's word */
    GRAM_MODEL_FILTER, /* and the bits that the one before and the next three name */
    GRAM_MODEL_4,      /* keys of the dictionary */
    GRAM_MODEL_5,
    GRAM_MODEL_7,
    GRAM_MODEL_COUNTS
};

struct gram_model {
    const struct sl_batch *sample; /* or NULL */
    /* Occurrences in the sample by hash of the gram, of coarsely folded bytes; NULL where there is
     * no sample. */
    const uint32_t *count[GRAM_MODEL_COUNTS];
    void *own;              /* memory of the counts; NULL: it was learned for other sets, too */
    double byte_share[256]; /* without a sample: how much of the text is this byte */
};

/* sample and learned may be NULL. False: no memory; gram_model_clear follows all the same. */
bool gram_model_init(struct gram_model *model, const struct sl_batch *sample,
                     struct mpm_learned *learned);

void gram_model_clear(struct gram_model *model);

/* How often a gram occurs, a measure to compare grams by: of bytes, the first lowest, those that it
 * is made of. */
double gram_model_occurrences(const struct gram_model *model, uint64_t bytes, int gram);

/* The expected cost of a window of a kind: a measure to compare windows by. `bytes` are the one
 * before it, lowest, and its own, coarsely folded. */
double gram_model_cost(const struct gram_model *model, uint64_t bytes, enum gram_kind kind);

/* Writes n places of three bytes, folded, as the text has them. */
void gram_model_trials(const struct gram_model *model, uint8_t (*trial)[3], uint32_t n);

/* How much a filter lets pass, as a measure to compare filters by. */
double gram_model_passing(const struct gram_model *model, const struct gram_view *filter);
double gram_model_sieve_passing(const struct gram_model *model, const struct gram_sieve *sieve);

#endif

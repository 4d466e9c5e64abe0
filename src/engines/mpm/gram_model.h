/* SPDX-License-Identifier: MIT */
/* How often a window is expected in the text, which decides what windows the gram matcher takes. */
#ifndef GRAM_MODEL_H
#define GRAM_MODEL_H

#include "gram_core.h"

/* Grams that are counted. */
enum {
    GRAM_MODEL_3,      /* three bytes: the filter's word */
    GRAM_MODEL_FILTER, /* and the bits that the next three name */
    GRAM_MODEL_4,
    GRAM_MODEL_6,
    GRAM_MODEL_COUNTS
};

struct gram_model {
    const struct sl_batch *sample; /* or NULL */
    /* Occurrences in the sample by hash of the gram, of coarsely folded bytes; NULL where there is
     * no sample. */
    uint32_t *count[GRAM_MODEL_COUNTS];
    double byte_share[256]; /* without a sample: how much of the text is this byte */
};

/* sample may be NULL. False: no memory. */
bool gram_model_init(struct gram_model *model, const struct sl_batch *sample);

void gram_model_clear(struct gram_model *model);

/* What a window of len coarsely folded bytes, the first lowest, is expected to cost: a measure to
 * compare windows by. */
double gram_model_cost(const struct gram_model *model, uint64_t window, uint32_t len);

/* How much a filter lets pass, as a measure to compare filters by. */
double gram_model_passing(const struct gram_model *model, const struct gram_view *filter);

#endif

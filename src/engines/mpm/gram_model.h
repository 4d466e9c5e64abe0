/* SPDX-License-Identifier: MIT */
/* How often a window is expected in the text, which decides what windows the gram matcher takes. */
#ifndef GRAM_MODEL_H
#define GRAM_MODEL_H

#include "gram_core.h"

struct gram_model {
    /* Occurrences in the sample of grams of 3, 4 and 6 coarsely folded bytes, by hash; NULL where
     * there is no sample. */
    uint32_t *count[3];
    double byte_share[256]; /* without a sample: how much of the text is this byte */
};

/* sample may be NULL. False: no memory. */
bool gram_model_init(struct gram_model *model, const struct sl_batch *sample);

void gram_model_clear(struct gram_model *model);

/* What a window of these coarsely folded bytes costs, in occurrences a million positions or a
 * measure like that: how often the filter, the dictionary and an entry let it through. */
double gram_model_cost(const struct gram_model *model, const uint8_t *window, uint32_t len);

#endif

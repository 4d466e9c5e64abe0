/* SPDX-License-Identifier: MIT */
/* Rabin's fingerprints by long division, bit after bit, of each window anew. */
#include "sampling_ref.h"

static int degree_of(uint64_t polynomial)
{
    int degree = 63;

    while ((polynomial >> degree & 1) == 0)
        degree--;
    return degree;
}

/* The rest of the window's polynomial, highest coefficient first. */
static uint64_t divide(const uint8_t *window, uint32_t len, uint64_t polynomial)
{
    const int degree = degree_of(polynomial);
    uint64_t rest = 0;

    for (uint32_t i = 0; i < len; i++) {
        for (int bit = 7; bit >= 0; bit--) {
            rest = rest << 1 | (window[i] >> bit & 1);
            if ((rest >> degree & 1) != 0)
                rest ^= polynomial;
        }
    }
    return rest;
}

size_t rabin_ref(const struct sl_sampling_config *config, const struct sl_batch *batch,
                 struct sl_hit *hits, size_t cap)
{
    size_t n = 0;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint8_t *payload = batch->bytes + batch->payload[item].offset;
        const uint64_t len = batch->payload[item].len;
        const uint32_t overlap = batch->has_overlap ? batch->overlap[item] : 0;

        for (uint64_t begin = 0; begin + config->window <= len; begin++) {
            const uint64_t rest = divide(payload + begin, config->window, config->polynomial);

            if (begin + config->window <= overlap)
                continue;
            if (rest % config->period != config->magic % config->period)
                continue;
            if (n < cap)
                hits[n] = (struct sl_hit){item, (uint32_t)begin, rest};
            n++;
        }
    }
    return n;
}

/* SPDX-License-Identifier: MIT */
/* Every position by definition: each window's sum anew, lowest power first. */
#include "sampling_ref.h"

static uint64_t sum_of(const uint8_t *window, uint32_t len)
{
    uint64_t power = 1;
    uint64_t sum = 0;

    for (uint32_t i = len; i-- > 0; power *= UINT64_C(11400714819323198485))
        sum += window[i] * power;
    return sum;
}

size_t every_ref(const struct sl_sampling_config *config, const struct sl_batch *batch,
                 struct sl_hit *hits, size_t cap)
{
    size_t n = 0;

    for (uint32_t item = 0; item < batch->n_items; item++) {
        const uint8_t *payload = batch->bytes + batch->payload[item].offset;
        const uint64_t overlap = batch->has_overlap ? batch->overlap[item] : 0;

        for (uint64_t end = config->window; end <= batch->payload[item].len; end++) {
            const uint64_t sum = sum_of(payload + end - config->window, config->window);

            if (end <= overlap)
                continue;
            if (n < cap)
                hits[n] = (struct sl_hit){item, (uint32_t)(end - config->window),
                                          sum ^ (sum / (UINT64_C(1) << 32))};
            n++;
        }
    }
    return n;
}

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "filling.h"

static bool put_made(const struct filling *to, const struct bench_items *items, uint8_t *item)
{
    const uint32_t len = items->fill(items->user, item);

    if (!filling_add(to, item, items->buckets ? items->max_len : len, 0))
        return false;

    const struct sl_batch *batch = to->data->owned[to->data->n_batches - 1];
    batch->payload[batch->n_items - 1].len = len;
    return true;
}

bool bench_fill(struct bench_data *data, const struct bench_items *items)
{
    const uint32_t aligned =
        (items->max_len + (SL_BATCH_ALIGN - 1)) & ~(uint32_t)(SL_BATCH_ALIGN - 1);
    struct filling to = filling_begin(data, items->n * aligned, items->pinned);
    uint8_t *item = calloc(1, items->max_len);
    bool good = item != NULL;

    to.max_items = items->n;
    for (size_t batch = 0; batch < items->n_batches && good; batch++) {
        good = filling_add_batch(&to);
        for (uint32_t i = 0; i < items->n && good; i++)
            good = put_made(&to, items, item);
    }
    free(item);
    if (!good || !filling_end(&to, false))
        return false;
    data_describe(data, true, "payload");
    return true;
}

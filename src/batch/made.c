/* SPDX-License-Identifier: MIT */
/* Items that no packet holds: their room in a batch, and hits in them. */
#include <stdlib.h>

#include "base/diag.h"
#include "sluice/engine.h"

enum sl_status sl_batch_reserve_made(struct sl_batch *batch, uint32_t len, uint32_t n,
                                     struct sl_diag *diag)
{
    len &= ~(uint32_t)(SL_BATCH_ALIGN - 1);
    if (batch->n_items != 0 || batch->max_made != 0 || len == 0 || len >= batch->bytes_cap ||
        n == 0 || n >= batch->max_items)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "room for %u made items of %u bytes in a batch of %u bytes and %u items", n,
                        len, batch->bytes_cap, batch->max_items);
    batch->made = (struct sl_made *)calloc(n, sizeof *batch->made);
    if (batch->made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for %u made items", n);
    batch->made_cap = len;
    batch->max_made = n;
    batch->bytes_cap -= len;
    batch->max_items -= n;
    return SL_OK;
}

void sl_hits_resolve_made(struct sl_hits *hits, const struct sl_batch *batch)
{
    const size_t n = hits->n < hits->cap ? hits->n : hits->cap;

    for (size_t i = 0; batch->n_made != 0 && i < n; i++) {
        struct sl_hit *hit = &hits->hit[i];

        if (hit->item < batch->n_items)
            continue;
        const struct sl_made *made = &batch->made[hit->item - batch->n_items];

        hit->item = made->item;
        hit->offset += made->base;
        hit->id |= (uint64_t)made->buffers << 32;
        hits->in_order = false;
    }
}

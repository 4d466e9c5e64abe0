/* SPDX-License-Identifier: MIT */
/* Interwoven batches (section 4), which let the threads of a GPU read side by side. */
#include "fib_internal.h"

enum { READ_BEHIND = 5 }; /* words that readers may read behind a name: see struct fib_reader */

/* The words of up to 32 names beginning at `first`, one word of each after another. */
static bool weave(struct sl_batch *to, const struct sl_batch *from, uint32_t first, uint32_t n)
{
    uint32_t max_len = 0;

    for (uint32_t i = 0; i < n; i++)
        if (from->payload[first + i].len > max_len)
            max_len = from->payload[first + i].len;

    const uint64_t n_rows = ((uint64_t)max_len + 3) / 4;
    const uint64_t len = n_rows * FIB_INTERWOVEN * sizeof(uint32_t);
    if (len > to->bytes_cap - to->bytes_len)
        return false;

    uint32_t *rows = (uint32_t *)(void *)(to->bytes + to->bytes_len);
    memset(rows, 0, len);
    for (uint32_t i = 0; i < n; i++) {
        const struct sl_span span = from->payload[first + i];

        for (uint32_t at = 0; at < span.len; at += 4)
            memcpy(&rows[(size_t)at / 4 * FIB_INTERWOVEN + i], from->bytes + span.offset + at,
                   span.len - at < 4 ? span.len - at : 4);
        to->payload[first + i] =
            (struct sl_span){to->bytes_len + i * (uint32_t)sizeof(uint32_t), span.len};
    }
    to->bytes_len += (uint32_t)len;
    return true;
}

enum sl_status sl_fib_interweave(struct sl_batch *to, const struct sl_batch *from)
{
    sl_batch_reset(to);
    if (from->n_items > to->max_items)
        return SL_EOVERFLOW;
    for (uint32_t i = 0; i < from->n_items; i += FIB_INTERWOVEN) {
        const uint32_t left = from->n_items - i;

        if (!weave(to, from, i, left < FIB_INTERWOVEN ? left : FIB_INTERWOVEN)) {
            sl_batch_reset(to);
            return SL_EOVERFLOW;
        }
    }
    const uint32_t behind = READ_BEHIND * FIB_INTERWOVEN * (uint32_t)sizeof(uint32_t);
    if (behind > to->bytes_cap - to->bytes_len) {
        sl_batch_reset(to);
        return SL_EOVERFLOW;
    }
    memset(to->bytes + to->bytes_len, 0, behind);
    to->bytes_len += behind;
    to->n_items = from->n_items;
    return SL_OK;
}

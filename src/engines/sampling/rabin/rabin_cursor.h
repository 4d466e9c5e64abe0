/* SPDX-License-Identifier: MIT */
/* Maps arena positions to items, for backends that scan the arena from its first byte to its last.
 * They compute windows in headers and gaps, too, since skipping those would cost more. They map
 * chosen windows alone. */
#ifndef RABIN_CURSOR_H
#define RABIN_CURSOR_H

#include "engines/sampling/sampling_internal.h"
#include "rabin_core.h"

struct rabin_cursor {
    const struct sl_batch *batch;
    const struct sl_sampling_table *table;
    uint32_t item;  /* the last whose payload begins at or before the last place, or 0 */
    uint64_t first; /* its windows begin here, in the arena, */
    uint64_t last;  /* and before here */
    uint64_t next;  /* where the payload behind it begins */
};

static inline void rabin_cursor_set(struct rabin_cursor *cursor, uint32_t item)
{
    const struct sl_batch *batch = cursor->batch;
    const struct sl_span span = batch->payload[item];
    const uint64_t end = span.offset + (uint64_t)span.len + 1;

    cursor->item = item;
    cursor->first = span.offset + (uint64_t)sampling_first(cursor->table, batch, item);
    cursor->last = end > cursor->table->window ? end - cursor->table->window : 0;
    cursor->next =
        item + 1 < batch->n_items ? batch->payload[item + 1].offset : (uint64_t)UINT64_MAX;
}

/* For places from `begin` on. The batch has items. */
static inline struct rabin_cursor rabin_cursor_at(const struct sl_sampling_table *table,
                                                  const struct sl_batch *batch, uint64_t begin)
{
    struct rabin_cursor cursor = {.batch = batch, .table = table};

    rabin_cursor_set(&cursor, rabin_find_item(batch->payload, batch->n_items, begin));
    return cursor;
}

/* Whether the window that begins here is to be reported; it is cursor->item's. Places must not
 * decrease. */
static inline bool rabin_cursor_takes(struct rabin_cursor *cursor, uint64_t begin)
{
    while (cursor->next <= begin)
        rabin_cursor_set(cursor, cursor->item + 1);
    return begin >= cursor->first && begin < cursor->last;
}

/* Where the last payload ends: nothing behind it is of interest. The batch has items. */
static inline uint32_t rabin_arena_end(const struct sl_batch *batch)
{
    const struct sl_span span = batch->payload[batch->n_items - 1];

    return span.offset + span.len;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Batches in other memory than the heap's: the device module makes pinned ones of it. */
#ifndef BATCH_MEMORY_H
#define BATCH_MEMORY_H

#include "sluice/batch.h"

/* A source of memory for arenas and columns. It outlives the batches. */
struct batch_memory {
    enum sl_memory kind;
    void *(*alloc_arena)(size_t len); /* aligned to 64 bytes; NULL: none is left */
    void *(*alloc)(size_t len);       /* of columns, likewise */
    void (*release)(void *block);     /* accepts NULL */

    /* Bytes of an arena with the room behind it, slack included; NULL: the arena has no room. */
    size_t (*room_len)(size_t arena_len, size_t max_items);
};

/* As sl_batch_create; sl_batch_free returns the memory to its source. SL_EINVAL, SL_ENOMEM. */
enum sl_status batch_create_in(struct sl_batch **batch, const struct batch_memory *memory,
                               uint32_t arena_len, uint32_t max_items, struct sl_diag *diag);

#endif

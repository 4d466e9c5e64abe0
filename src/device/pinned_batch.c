/* SPDX-License-Identifier: MIT */
/* Batches of pinned memory, with room behind the arena where an upload lays the columns. */
#include "base/diag.h"
#include "batch/batch_memory.h"
#include "columns.h"
#include "device.h"

/* A long column has room for more items than most batches have, and then crosses behind the arena:
 * it is pinned once it crosses on its own. */
static void *alloc_column(size_t len)
{
    return len <= COLUMNS_PACKED_LEN ? device_pinned_alloc(len) : device_pinned_reserve(len);
}

static const struct batch_memory pinned = {.kind = SL_MEMORY_PINNED,
                                           .alloc_arena = device_pinned_alloc,
                                           .alloc = alloc_column,
                                           .release = device_pinned_free,
                                           .room_len = columns_packed_room};

enum sl_status sl_device_batch_create(struct sl_batch **batch, enum sl_device_kind kind,
                                      uint32_t arena_len, uint32_t max_items, struct sl_diag *diag)
{
    char why[SL_WHY_LEN];

    if (kind != SL_DEVICE_CUDA)
        return sl_batch_create(batch, arena_len, max_items, diag);
    if (!device_cuda_usable(why))
        return diag_set(diag, SL_EDEVICE, NULL, 0, "no pinned memory: %s", why);
    return batch_create_in(batch, &pinned, arena_len, max_items, diag);
}

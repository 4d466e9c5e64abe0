/* SPDX-License-Identifier: MIT */
#include "sluice/batch.h"

#include <stdlib.h>

#include "base/diag.h"
#include "device/columns.h"
#include "device/device.h"

_Static_assert(sizeof(struct sl_span) == 8, "spans cross to the GPU as they are");
_Static_assert(sizeof(struct sl_packet) == 16, "packets are read with one 16-byte load");
_Static_assert(sizeof(struct sl_origin) == 48, "origins fill three quarters of a cache line");

/* A batch and its memory: the arena and the columns that cross to a GPU are one block each, so that
 * pinning them is four calls; the origins stay on the host. */
struct owned_batch {
    struct sl_batch batch;
    bool pinned;
};

static void *take(const struct owned_batch *owned, size_t len)
{
    void *memory;

    if (owned->pinned)
        return device_pinned_alloc(len);
    return posix_memalign(&memory, 64, len) == 0 ? memory : NULL;
}

static void give(const struct owned_batch *owned, void *memory)
{
    if (owned->pinned)
        device_pinned_free(memory);
    else
        free(memory);
}

static bool take_memory(struct owned_batch *owned, uint32_t arena_len, uint32_t max_items)
{
    struct sl_batch *batch = &owned->batch;

    const size_t len =
        owned->pinned ? columns_room(arena_len, max_items) : (size_t)arena_len + SL_BATCH_SLACK;

    batch->bytes = (uint8_t *)take(owned, len);
    batch->payload = (struct sl_span *)take(owned, max_items * sizeof *batch->payload);
    batch->overlap = (uint16_t *)take(owned, max_items * sizeof *batch->overlap);
    batch->packet = (struct sl_packet *)take(owned, max_items * sizeof *batch->packet);
    batch->origin = (struct sl_origin *)calloc(max_items, sizeof *batch->origin);
    if (batch->bytes == NULL || batch->payload == NULL || batch->overlap == NULL ||
        batch->packet == NULL || batch->origin == NULL)
        return false;
    if (owned->pinned) {
        batch->room = batch->bytes;
        batch->room_len = len;
    }
    /* The slack is read, not trusted; defined bytes keep such reads reproducible. */
    memset(batch->bytes + arena_len, 0, SL_BATCH_SLACK);
    return true;
}

enum sl_status sl_batch_create(struct sl_batch **batch, uint32_t arena_len, uint32_t max_items,
                               bool pinned, struct sl_diag *diag)
{
    char why[SL_WHY_LEN];

    if (arena_len == 0 || arena_len > UINT32_MAX - 65536 || max_items == 0)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "a batch of %u bytes and %u items (expected 1 to %u bytes, 1 item or more)",
                        arena_len, max_items, UINT32_MAX - 65536);
    if (pinned && !device_cuda_usable(why))
        return diag_set(diag, SL_EDEVICE, NULL, 0, "no pinned memory: %s", why);

    struct owned_batch *owned = (struct owned_batch *)calloc(1, sizeof *owned);
    if (owned == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a batch");

    arena_len = (arena_len + (SL_BATCH_ALIGN - 1)) & ~(uint32_t)(SL_BATCH_ALIGN - 1);
    owned->pinned = pinned;
    owned->batch.memory = pinned ? SL_MEMORY_PINNED : SL_MEMORY_HOST;
    owned->batch.max_items = max_items;
    owned->batch.bytes_cap = arena_len;
    if (!take_memory(owned, arena_len, max_items)) {
        sl_batch_free(&owned->batch);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a batch of %u bytes%s", arena_len,
                        pinned ? " (pinned)" : "");
    }
    *batch = &owned->batch;
    return SL_OK;
}

void sl_batch_free(struct sl_batch *batch)
{
    struct owned_batch *owned = (struct owned_batch *)batch;

    if (owned == NULL)
        return;
    give(owned, batch->bytes);
    give(owned, batch->payload);
    give(owned, batch->overlap);
    give(owned, batch->packet);
    free(batch->origin);
    free(owned);
}

void sl_batch_add_pieces(struct sl_batch *batch, const uint8_t *source, uint64_t source_len,
                         uint32_t piece_len, uint16_t overlap, uint64_t *done)
{
    while (*done < source_len) {
        const uint16_t repeat = *done < overlap ? (uint16_t)*done : overlap;
        const uint64_t rest = source_len - *done + repeat;
        const uint32_t len = rest < piece_len ? (uint32_t)rest : piece_len;

        if (!sl_batch_fits(batch, len))
            return;

        const uint32_t item = sl_batch_add(batch, source + *done - repeat, len, repeat);
        if (batch->origin != NULL)
            batch->origin[item].position = *done - repeat;
        *done += len - repeat;
    }
}

/* SPDX-License-Identifier: MIT */
#include "batch_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/pages.h"

_Static_assert(sizeof(struct sl_span) == 8, "spans cross to the GPU as they are");
_Static_assert(sizeof(struct sl_packet) == 16, "packets are read with one 16-byte load");
_Static_assert(sizeof(struct sl_origin) == 48, "origins fill three quarters of a cache line");

/* A batch and the source of its memory. The arena and each column that crosses to a GPU in every
 * batch are one block each; the others take pages of the host as they are used. */
struct owned_batch {
    struct sl_batch batch;
    const struct batch_memory *memory;
    size_t origin_len, before_len;
};

static void *heap_alloc(size_t len)
{
    void *block;

    return posix_memalign(&block, 64, len) == 0 ? block : NULL;
}

/* All of an arena is used, so that huge pages cost no memory. The kernel makes and frees them much
 * faster. */
static void *heap_alloc_arena(size_t len)
{
    enum { HUGE_PAGE = 2 << 20 };
    const size_t huge_len = len / HUGE_PAGE * HUGE_PAGE;
    void *block;

    if (huge_len == 0)
        return heap_alloc(len);
    if (posix_memalign(&block, HUGE_PAGE, len) != 0)
        return NULL;
    (void)madvise(block, huge_len, MADV_HUGEPAGE);
    return block;
}

static const struct batch_memory heap = {
    .kind = SL_MEMORY_HOST, .alloc_arena = heap_alloc_arena, .alloc = heap_alloc, .release = free};

static bool alloc_blocks(struct owned_batch *owned, uint32_t arena_len, uint32_t max_items)
{
    const struct batch_memory *memory = owned->memory;
    struct sl_batch *batch = &owned->batch;
    const size_t len = memory->room_len != NULL ? memory->room_len(arena_len, max_items)
                                                : (size_t)arena_len + SL_BATCH_SLACK;

    batch->bytes = (uint8_t *)memory->alloc_arena(len);
    batch->payload = (struct sl_span *)memory->alloc(max_items * sizeof *batch->payload);
    batch->overlap = (uint16_t *)memory->alloc(max_items * sizeof *batch->overlap);
    batch->packet = (struct sl_packet *)memory->alloc(max_items * sizeof *batch->packet);
    batch->kind = (uint8_t *)memory->alloc(max_items * sizeof *batch->kind);
    owned->origin_len = max_items * sizeof *batch->origin;
    batch->origin = (struct sl_origin *)pages_alloc(owned->origin_len);
    owned->before_len = max_items * sizeof *batch->before;
    batch->before = (uint32_t *)pages_alloc(owned->before_len);
    if (batch->bytes == NULL || batch->payload == NULL || batch->overlap == NULL ||
        batch->packet == NULL || batch->kind == NULL || batch->before == NULL ||
        batch->origin == NULL)
        return false;
    if (memory->room_len != NULL) {
        batch->room = batch->bytes;
        batch->room_len = len;
    }
    /* Engines read the slack and do not trust it; defined bytes keep such reads reproducible. */
    memset(batch->bytes + arena_len, 0, SL_BATCH_SLACK);
    return true;
}

enum sl_status batch_create_in(struct sl_batch **batch, const struct batch_memory *memory,
                               uint32_t arena_len, uint32_t max_items, struct sl_diag *diag)
{
    if (arena_len == 0 || arena_len > UINT32_MAX - 65536 || max_items == 0)
        return diag_set(diag, SL_EINVAL, NULL, 0,
                        "a batch of %u bytes and %u items (expected 1 to %u bytes, 1 item or more)",
                        arena_len, max_items, UINT32_MAX - 65536);

    struct owned_batch *owned = (struct owned_batch *)calloc(1, sizeof *owned);
    if (owned == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a batch");

    arena_len = (arena_len + (SL_BATCH_ALIGN - 1)) & ~(uint32_t)(SL_BATCH_ALIGN - 1);
    owned->memory = memory;
    owned->batch.memory = memory->kind;
    owned->batch.max_items = max_items;
    owned->batch.bytes_cap = arena_len;
    if (!alloc_blocks(owned, arena_len, max_items)) {
        sl_batch_free(&owned->batch);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a batch of %u bytes%s", arena_len,
                        memory->kind == SL_MEMORY_PINNED ? " (pinned)" : "");
    }
    *batch = &owned->batch;
    return SL_OK;
}

enum sl_status sl_batch_create(struct sl_batch **batch, uint32_t arena_len, uint32_t max_items,
                               struct sl_diag *diag)
{
    return batch_create_in(batch, &heap, arena_len, max_items, diag);
}

enum sl_status sl_batch_reserve_totals(struct sl_batch *batch, struct sl_diag *diag)
{
    if (batch->total != NULL)
        return diag_set(diag, SL_EINVAL, NULL, 0, "the batch has its totals already");
    batch->total = (struct sl_flow_total *)calloc(batch->max_items, sizeof *batch->total);
    return batch->total != NULL
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0,
                          "no memory for what flows of %u packets have sent", batch->max_items);
}

void sl_batch_free(struct sl_batch *batch)
{
    struct owned_batch *owned = (struct owned_batch *)batch;

    if (owned == NULL)
        return;
    owned->memory->release(batch->bytes);
    owned->memory->release(batch->payload);
    owned->memory->release(batch->overlap);
    owned->memory->release(batch->packet);
    owned->memory->release(batch->kind);
    pages_free(batch->origin, owned->origin_len);
    pages_free(batch->before, owned->before_len);
    free(batch->made);
    free(batch->total);
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

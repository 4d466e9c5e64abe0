/* SPDX-License-Identifier: MIT */
/* Made items: seams, and parts that lie in no packet of theirs. */
#include <string.h>

#include "run_streams.h"

enum { PIECE = 1024 - SL_BATCH_ALIGN - RUN_SEAM_MAX }; /* of a part: made items have 1,024 bytes */

bool stream_part_in_packet(const struct sl_batch *batch, uint32_t item,
                           const struct sl_stream_part *part)
{
    const struct sl_span payload = batch->payload[item];
    const uint8_t *bytes = batch->bytes + payload.offset;

    return part->bytes >= bytes && part->bytes < bytes + payload.len;
}

/* Where made items of the part are. */
struct making {
    const struct sl_batch *batch;
    struct sl_batch *to;
    const struct run_seams *seams;
    uint32_t item, made_of;             /* in `batch`, in `to` */
    const struct sl_stream_part *first; /* of the item and the direction */
    const struct sl_stream_part *part;
};

/* Makes an item of `len` bytes of the part from `at` on, and those right before. */
static bool make_piece(const struct making *making, uint32_t at, uint32_t len)
{
    const struct sl_stream_part *part = making->part;
    const uint64_t has = (uint64_t)part->known + at;
    const uint32_t seam_len = making->seams->len;
    const uint32_t before = has < seam_len ? (uint32_t)has : seam_len;
    const uint32_t own = before < at ? before : at;
    uint8_t *room = sl_batch_made_room(making->to);

    if (!sl_batch_made_fits(making->to, before + len))
        return false;
    stream_part_copy_before(part, room, before - own);
    memcpy(room + before - own, part->bytes + at - own, own + len);
    sl_batch_append_made(
        making->to, before + len,
        (struct sl_made){.item = making->made_of,
                         .buffers = part->reversed ? SL_BUFFER_STREAM_BACK : SL_BUFFER_STREAM,
                         .base = (uint32_t)(SL_STREAM_HIT_BASE +
                                            (part->offset - making->first->offset) + at - before)});
    return true;
}

/* Makes the items of a part behind the first `skip`. Returns how many were made before, with these,
 * or UINT32_MAX: all were. */
static uint32_t make_part(const struct making *making, uint32_t skip)
{
    const struct sl_stream_part *part = making->part;

    if (stream_part_in_packet(making->batch, making->item, part)) {
        const uint32_t seam_len = making->seams->len;
        const uint32_t len = part->len < seam_len ? part->len : seam_len;

        if (making->batch->has_before && making->batch->before[making->item] != 0)
            return UINT32_MAX; /* an engine has the place */

        /* Which side sent the bytes is not known here, and few parts come so far. */
        const bool makes = stream_seam_crosses(making->seams, part, false) ||
                           stream_seam_crosses(making->seams, part, true);

        return !makes || make_piece(making, 0, len) ? UINT32_MAX : 0;
    }
    for (; (uint64_t)skip * PIECE < part->len; skip++) {
        const uint32_t at = skip * PIECE;
        const uint32_t len = part->len - at < PIECE ? part->len - at : (uint32_t)PIECE;

        if (!make_piece(making, at, len))
            return skip;
    }
    return UINT32_MAX;
}

const struct sl_stream_part *stream_part_first(const struct sl_stream_part *part, bool reversed)
{
    while (part->reversed != reversed)
        part = part->next;
    return part;
}

/* Fetches the bytes on both sides of a seam that is looked at soon. Inlined by force: gcc drops
 * calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void fetch_seam(const struct sl_stream_part *part)
{
    if (part == NULL || part->len == 0 || part->known == 0)
        return;
    uint32_t len;

    __builtin_prefetch(part->bytes);
    __builtin_prefetch(stream_part_end(part->before, &len) - 1);
}

/* The first item from this one on that something may be made of; n_items: there is none. */
static uint32_t next_made(const uint8_t *makes, uint32_t item, uint32_t n_items)
{
    uint64_t some = 0;

    for (; makes != NULL && item < n_items; item += STREAM_MAKES_AT_ONCE) {
        memcpy(&some, makes + item, sizeof some);
        if (some != 0)
            return item + (uint32_t)__builtin_ctzll(some) / 8;
    }
    return item < n_items ? item : n_items;
}

/* Makes the items of a packet's parts behind the first n_parts, and of the next one behind the
 * first `skip`. UINT64_MAX: all were made. */
static uint64_t make_packet(struct making *making, const struct sl_stream_part *head,
                            uint32_t n_parts, uint32_t skip)
{
    uint32_t i = 0;

    for (const struct sl_stream_part *part = head; part != NULL; part = part->next, i++) {
        if (i < n_parts)
            continue;
        making->first = stream_part_first(head, part->reversed);
        making->part = part;
        skip = make_part(making, skip);
        if (skip != UINT32_MAX)
            return (uint64_t)making->item << 32 | i << 16 | skip;
        skip = 0;
    }
    return UINT64_MAX;
}

/* Made items are counted: a packet's from 0 on. Each part of a packet may have up to 2^12. */
uint64_t run_streams_make(const struct sl_stream_part *const *of_item, const uint8_t *makes,
                          const struct sl_batch *batch, const struct run_seams *seams,
                          uint32_t first, struct sl_batch *to, uint64_t from)
{
    const uint32_t n = batch->n_items;
    uint32_t n_parts = (uint32_t)from >> 16, skip = (uint32_t)from & 0xFFFF;
    uint32_t item = next_made(makes, (uint32_t)(from >> 32), n);
    uint32_t next = next_made(makes, item + 1, n), behind;

    for (; item < n; item = next, next = behind, n_parts = skip = 0) {
        struct making making = {batch, to, seams, item, first + item, NULL, NULL};

        behind = next_made(makes, next + 1, n);
        if (behind < n)
            __builtin_prefetch(of_item[behind]);
        if (next < n)
            fetch_seam(of_item[next]);
        if (of_item[item] == NULL || of_item[item]->len == 0)
            continue;

        const uint64_t left = make_packet(&making, of_item[item], n_parts, skip);

        if (left != UINT64_MAX)
            return left;
    }
    return UINT64_MAX;
}

/* SPDX-License-Identifier: MIT */
#include "evaluate_stream.h"

#include <stdlib.h>
#include <string.h>

#include "sluice/app.h"

void rule_stream_begin(struct rule_stream *stream, const struct sl_batch *batch, uint32_t item,
                       const struct sl_stream_part *first, const struct sl_stream_part *part)
{
    const struct sl_span payload = batch->payload[item];
    const uint8_t *bytes = batch->bytes + payload.offset;
    const bool inside = part->bytes >= bytes && part->bytes < bytes + payload.len;

    while (first->reversed != part->reversed)
        first = first->next;
    stream->part = part;
    stream->buffer = part->reversed ? SL_BUFFER_STREAM_BACK : SL_BUFFER_STREAM;
    stream->packet = inside ? bytes : NULL;
    stream->in_packet = inside ? (int64_t)part->offset - (part->bytes - bytes) : 0;
    stream->in_made = first->offset - SL_STREAM_HIT_BASE;
    stream->from = stream->to = part->offset;
    stream->is_key = false;
}

/* The place behind a hit's last byte; 0: it is in no part. If that is behind `to`, which is in the
 * part, but another of its run ends at `to`: there. */
static uint64_t end_of(const struct rule_stream *stream, const struct sl_hit *hit, uint64_t to)
{
    const uint32_t buffers = (uint32_t)(hit->id >> 32);

    if (buffers == stream->buffer)
        return stream->in_made + hit->offset;
    if (buffers != 0 || stream->packet == NULL)
        return 0;

    const int64_t end = stream->in_packet + hit->offset;
    const int64_t at = (int64_t)to - stream->in_packet;

    if (end > (int64_t)to && rule_hits_had(stream->index, hit, stream->packet, (uint64_t)at))
        return to;
    return end > 0 ? (uint64_t)end : 0;
}

bool rule_stream_has(const struct rule_stream *stream, const struct sl_hit *hit)
{
    const uint64_t end = end_of(stream, hit, stream->to);

    return end > stream->from && end <= stream->to;
}

/* The end of the block of a place in the part, as far as it belongs to the part. */
static uint64_t end_of_block(const struct rule_stream *stream, uint64_t at)
{
    const uint64_t behind = stream->part->offset + stream->part->len;
    const uint64_t end = (at / SL_STREAM_BLOCK + 1) * SL_STREAM_BLOCK;

    return end < behind ? end : behind;
}

/* The first end of a hit behind `from`, or another in its block. */
static uint64_t next_hit(const struct rule_stream *stream, const struct rule_hits *hits,
                         uint64_t from)
{
    const uint64_t behind = stream->part->offset + stream->part->len;
    const uint64_t to = end_of_block(stream, from);
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < hits->n; i++) {
        const uint64_t end = end_of(stream, &hits->hit[i], to);

        if (end > from && end <= behind && end < next)
            next = end;
    }
    return next;
}

/* The first key from `from` on: a part has one at its begin, and then one for each SL_STREAM_AHEAD
 * bytes, which is how far a block shows what is behind it. */
static uint64_t next_key(const struct rule_stream *stream, uint64_t from)
{
    enum { APART = SL_STREAM_AHEAD / SL_STREAM_BLOCK };
    const uint64_t first = stream->part->offset / SL_STREAM_BLOCK;
    const uint64_t block = (from + SL_STREAM_BLOCK - 1) / SL_STREAM_BLOCK;

    if (from == stream->part->offset)
        return from;
    return (first + (block - first + APART - 1) / APART * APART) * SL_STREAM_BLOCK;
}

/* The begin of the block that a hit ends in, as far as it belongs to the part. */
static uint64_t block_of_hit(const struct rule_stream *stream, uint64_t end)
{
    const uint64_t begin = (end - 1) / SL_STREAM_BLOCK * SL_STREAM_BLOCK;

    return begin < stream->part->offset ? stream->part->offset : begin;
}

bool rule_stream_next_block(struct rule_stream *stream, const struct rule_hits *hits,
                            bool with_keys)
{
    const uint64_t behind = stream->part->offset + stream->part->len;
    const uint64_t end = next_hit(stream, hits, stream->to);
    const uint64_t key = with_keys ? next_key(stream, stream->to) : UINT64_MAX;
    const uint64_t hit = end != UINT64_MAX ? block_of_hit(stream, end) : UINT64_MAX;

    stream->is_key = key <= hit;
    stream->from = stream->is_key ? key : hit;
    if (stream->from >= behind)
        return false;
    stream->to = end_of_block(stream, stream->from);
    return true;
}

static bool reserve(struct rule_stream *stream, uint32_t len)
{
    if (len <= stream->cap)
        return true;
    uint8_t *grown = realloc(stream->gathered, len);

    if (grown == NULL)
        return false;
    stream->gathered = grown;
    stream->cap = len;
    return true;
}

void sl_stream_part_copy(const struct sl_stream_part *part, uint32_t from, uint8_t *to,
                         uint32_t len)
{
    if (!part->in_pieces) {
        memcpy(to, part->bytes + from, len);
        return;
    }
    for (uint32_t at = part->skip + from, n; len != 0; at += n, to += n, len -= n) {
        const uint32_t in_piece = at % SL_STREAM_PIECE;

        n = len < SL_STREAM_PIECE - in_piece ? len : SL_STREAM_PIECE - in_piece;
        memcpy(to, part->piece[at / SL_STREAM_PIECE] + in_piece, n);
    }
}

/* Copies the bytes from `begin` up to `behind`, which ends in the part. */
static void gather(const struct sl_stream_part *part, uint8_t *to, uint64_t begin, uint64_t behind)
{
    while (behind > begin) {
        const uint64_t from = part->offset > begin ? part->offset : begin;

        if (behind > from)
            sl_stream_part_copy(part, (uint32_t)(from - part->offset), to + (from - begin),
                                (uint32_t)(behind - from));
        behind = from;
        part = part->before;
    }
}

void rule_stream_measure(struct rule_stream *stream)
{
    const struct sl_stream_part *part = stream->part;
    const uint64_t block = stream->from / SL_STREAM_BLOCK * SL_STREAM_BLOCK;
    const uint64_t known = part->offset - part->known;
    uint64_t begin = block < SL_STREAM_BLOCK ? 0 : block - SL_STREAM_BLOCK;
    uint64_t behind = block + SL_STREAM_BLOCK + SL_STREAM_AHEAD;

    begin = begin < known ? known : begin;
    behind = behind > part->offset + part->len ? part->offset + part->len : behind;
    stream->scan.payload = NULL;
    stream->scan.before = begin;
    stream->scan.len = (uint32_t)(behind - begin);
}

bool rule_stream_take(struct rule_stream *stream)
{
    const struct sl_stream_part *part = stream->part;
    struct rule_scan *scan = &stream->scan;
    const struct rule_scan seen = *scan;

    if (scan->payload != NULL)
        return true;
    if (!rule_scan_reserve(scan, seen.len))
        return false;
    scan->before = seen.before;
    scan->len = seen.len;
    if (seen.before >= part->offset) {
        scan->payload = part->bytes + (seen.before - part->offset);
        return true;
    }
    if (!reserve(stream, seen.len))
        return false;
    gather(part, stream->gathered, seen.before, seen.before + seen.len);
    scan->payload = stream->gathered;
    return true;
}

void rule_stream_free(struct rule_stream *stream)
{
    rule_scan_free(&stream->scan);
    free(stream->gathered);
}

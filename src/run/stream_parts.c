/* SPDX-License-Identifier: MIT */
/* The parts of streams, of packets and of flows that ended. */
#include "stream_parts.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(STREAM_N_EVENTS <= 64, "a set of events is a number");
_Static_assert((int)STREAM_PIECE_LEN == (int)SL_STREAM_PIECE, "contexts are parts as they lie");

/* ---- room ------------------------------------------------------------------------------------ */

enum { LINE = 64 };

/* NULL: there is no more. */
static void *take_room(struct stream_room *room, size_t len)
{
    const size_t lines = (len + LINE - 1) / LINE * LINE;
    const size_t at = atomic_fetch_add(&room->used, lines);

    return at < room->len && room->len - at >= lines ? room->bytes + at : NULL;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* A part for each record. */
static bool reserve(struct stream_room *room, struct stream_parts *parts)
{
    const uint32_t n = parts->output.n;

    parts->part = take_room(room, n * sizeof *parts->part);
    if (parts->part != NULL)
        return true;
    if (parts->max < n) {
        free(parts->own);
        parts->own = malloc(n * sizeof *parts->own);
        parts->max = parts->own != NULL ? n : 0;
    }
    parts->part = parts->own;
    return parts->part != NULL;
}

static bool adds_bytes(const struct stream_record *record)
{
    return record->kind <= STREAM_COPIED;
}

/* Fills the part of a record behind another part, or behind none. Member by member: gcc clears a
 * whole part first. */
static inline void fill_part(struct sl_stream_part *part, const struct stream_record *record,
                             const uint8_t *bytes, const struct sl_stream_part *before)
{
    /* The part before it is filled: a record's number is above that of the one before it.
     * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    const uint32_t known = before != NULL ? before->known + before->len : 0;

    part->bytes = record->len != 0 ? bytes + record->at : NULL;
    part->offset = record->offset;
    part->before = before;
    part->next = NULL;
    part->len = record->len;
    part->known = known < SL_STREAM_KNOWN ? known : SL_STREAM_KNOWN;
    part->whole = part->reversed = part->in_pieces = false;
}

static void fill_context(struct sl_stream_part *part, const struct stream_record *record,
                         const uint8_t *copied)
{
    fill_part(part, record, copied, NULL);
    part->in_pieces = record->cause != 0;
    if (part->in_pieces) {
        part->piece = (const uint8_t *const *)(const void *)part->bytes;
        part->skip = (uint8_t)record->source;
    }
}

/* ---- lists of parts -------------------------------------------------------------------------- */

/* The parts of a shard while they are listed. */
struct linking {
    struct stream_ended *ended;          /* the first whose records are not behind us */
    uint32_t item;                       /* the packet at hand, */
    struct sl_stream_part *first, *last; /* and its parts; NULL: there was none */
    struct sl_stream_part *last_of[2];   /* of the flow that ended, by half */
};

/* A part that the packet of its record adds. */
static void link_packet(struct linking *linking, struct stream_batch *mine,
                        const struct sl_batch *batch, const struct stream_record *record,
                        struct sl_stream_part *part)
{
    const uint32_t item = record->item;
    const bool is_here = record->kind == STREAM_PACKET && record->source == item;

    if (linking->last == NULL || linking->item != item) {
        linking->first = part;
        linking->item = item;
        mine->of_item[item] = part;
    } else {
        linking->last->next = part;
    }
    linking->last = part;
    if (!is_here)
        mine->makes[item] = 1;
    part->reversed = record->sender != 1 + record->half;
    if (is_here && record->len == batch->payload[item].len)
        linking->first->whole = true;
}

/* A part that a flow got when it ended. */
static void link_ended(struct linking *linking, uint8_t half, struct sl_stream_part *part)
{
    struct late_flow *const flow = &linking->ended->flow;

    if (linking->ended->only_syn[half])
        return;
    if (flow->part[half] == NULL)
        flow->part[half] = part;
    else
        linking->last_of[half]->next = part;
    linking->last_of[half] = part;
}

/* Bytes of another flow than the packet's are of flows that gave way: no packet states how to
 * evaluate them, so that they are counted. */
static void link_any(struct linking *linking, struct stream_batch *mine, struct stream_parts *parts,
                     const struct sl_batch *batch, uint32_t r)
{
    const struct stream_record *const record = &parts->output.record[r];
    struct sl_stream_part *const part = &parts->part[r];

    if (record->kind == STREAM_CONTEXT) {
        fill_context(part, record, parts->output.copied);
        return;
    }
    fill_part(part, record, record->kind == STREAM_PACKET ? batch->bytes : parts->output.copied,
              record->previous != 0 ? &parts->part[record->previous] : NULL);
    if (record->len == 0)
        return;
    while (linking->ended != NULL && linking->ended->behind <= r)
        linking->ended = linking->ended->next;
    if (linking->ended != NULL && linking->ended->begin <= r)
        link_ended(linking, record->half, part);
    else if (record->sender != 0)
        link_packet(linking, mine, batch, record, part);
    else
        parts->unevaluated += record->len;
}

/* Whether the record is of all that its packet holds. */
static inline bool is_payload(const struct sl_batch *batch, const struct stream_record *record)
{
    if (record->kind != STREAM_PACKET || record->cause != 0)
        return record->kind == STREAM_PACKET;
    const struct sl_span payload = batch->payload[record->item];

    return record->source == record->item && record->sender == 1 + record->half &&
           record->at == payload.offset && record->len == payload.len;
}

/* Whether an engine may find what lies across the place of a payload, whose batch has a column. A
 * payload lies before it. That one has the `len` bytes that matter, or the column names what is
 * before it, or the stream has `known` bytes before it, which are none. */
static inline bool has_payloads_before(const struct stream_record *before, const uint32_t *column,
                                       uint32_t known, uint32_t len, const struct sl_batch *batch)
{
    return is_payload(batch, before) &&
           (before->len >= len || column[before->item] != 0 || known == 0);
}

static inline uint32_t place_behind(const struct stream_record *before)
{
    return (before->item + 1) | (before->half == 0 ? SL_BEFORE_TO_SERVER : 0);
}

/* The place where the part of a record begins: notes it for an engine, or looks at it. */
static void note_place(struct stream_batch *mine, const struct stream_parts *parts,
                       const struct sl_batch *batch, uint32_t r)
{
    const struct stream_record *const record = &parts->output.record[r];
    const struct stream_record *const before = &parts->output.record[record->previous];

    if (record->previous == 0)
        return;
    if (mine->before != NULL && is_payload(batch, record) &&
        has_payloads_before(before, mine->before, parts->part[record->previous].known,
                            mine->seams->len, batch))
        mine->before[record->item] = place_behind(before);
    else if (record->sender != 0 &&
             stream_seam_crosses(mine->seams, &parts->part[r], record->half == 0))
        mine->makes[record->item] = 1;
}

static inline bool is_of_train(const struct stream_record *record)
{
    return record->kind == STREAM_PACKET && record->cause != 0;
}

/* Lists the records from r on that a train had, each of which is all of its packet's payload.
 * Returns the first one that no train had. It fetches the memory that later parts are written to,
 * as other cores wrote there last. */
static uint32_t link_train(struct stream_batch *mine, const struct stream_parts *parts,
                           const struct sl_batch *batch, uint32_t r)
{
    enum { AHEAD = 12 };
    const struct stream_record *const record = parts->output.record;
    struct sl_stream_part *const part = parts->part;
    const struct sl_stream_part **const of_item = mine->of_item;
    uint32_t *const column = mine->before;
    const uint8_t *const bytes = batch->bytes;
    const uint32_t n = parts->output.n, len = mine->seams->len;

    for (; r < n && is_of_train(&record[r]); r++) {
        const struct stream_record *const before = &record[record[r].previous];
        const uint32_t item = record[r].item, later = r + AHEAD < n ? r + AHEAD : r;
        const struct sl_stream_part *const part_before = &part[record[r].previous];

        __builtin_prefetch(&of_item[record[later].item], 1);
        __builtin_prefetch(&part[later], 1);
        fill_part(&part[r], &record[r], bytes, part_before);
        part[r].whole = true;
        of_item[item] = &part[r];
        if (column != NULL && has_payloads_before(before, column, part_before->known, len, batch))
            column[item] = place_behind(before);
        else
            note_place(mine, parts, batch, r);
    }
    return r;
}

/* Fills the parts of a shard, and lists those of each packet and each flow that ended. */
static void link_parts(struct stream_batch *mine, struct stream_parts *parts,
                       const struct sl_batch *batch)
{
    const struct stream_record *const record = parts->output.record;
    struct linking linking = {.ended = parts->ended};

    parts->unevaluated = 0;
    for (uint32_t r = 1; parts->part != NULL && r < parts->output.n;) {
        const uint32_t behind = link_train(mine, parts, batch, r);

        for (r = behind; r < parts->output.n && !is_of_train(&record[r]); r++) {
            if (adds_bytes(&record[r]) || record[r].kind == STREAM_CONTEXT)
                link_any(&linking, mine, parts, batch, r);
            if (adds_bytes(&record[r]))
                note_place(mine, parts, batch, r);
        }
    }
}

static void note_events(const struct stream_batch *mine, const struct stream_output *output)
{
    for (uint32_t r = 1; r < output->n; r++) {
        const struct stream_record *record = &output->record[r];

        if (record->kind == STREAM_EVENT && record->sender != 0)
            mine->facts[record->item].events |= UINT64_C(1) << record->cause;
    }
}

void stream_parts_list(struct stream_batch *mine, const struct sl_batch *batch, uint32_t shard)
{
    struct stream_parts *const parts = &mine->shard[shard];

    parts->no_memory |= !reserve(&mine->room, parts);
    if (!parts->no_memory && !parts->output.no_memory)
        link_parts(mine, parts, batch);
    if (mine->facts != NULL)
        note_events(mine, &parts->output);
}

void stream_parts_keep(struct stream_batch *mine, uint32_t shard)
{
    struct stream_parts *const parts = &mine->shard[shard];
    struct stream_output *const output = &parts->output;
    const struct stream_record *const record = output->record;
    const bool is_lent = record == output->lent_record;

    stream_output_return_records(output);
    parts->record = output->record;
    if (!is_lent || !mine->keeps_records)
        return;
    parts->record = take_room(&mine->room, output->n * sizeof *record);
    if (parts->record == NULL) { /* the output has it for later batches */
        parts->record = output->record = malloc(output->n * sizeof *record);
        output->max = output->record != NULL ? output->n : 0;
    }
    if (parts->record != NULL)
        memcpy(parts->record, record, output->n * sizeof *record);
    parts->no_memory |= parts->record == NULL;
}

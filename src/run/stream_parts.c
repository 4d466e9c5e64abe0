/* SPDX-License-Identifier: MIT */
/* The parts of streams, of packets and of flows that ended. */
#include "stream_parts.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(STREAM_N_EVENTS <= 64, "a set of events is a number");

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
    part->whole = part->reversed = false;
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

/* Fetches what a later part is written to, as other cores wrote there last. Inlined by force: gcc
 * drops calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void
fetch_places(const struct stream_batch *mine, const struct stream_parts *parts, uint32_t r)
{
    if (r >= parts->output.n || parts->output.record[r].kind != STREAM_PACKET)
        return;
    __builtin_prefetch(&mine->of_item[parts->output.record[r].item], 1);
    __builtin_prefetch(&parts->part[r], 1);
}

/* The part of a record that a train had, which is all of its packet's payload. */
static inline void link_payload(struct stream_batch *mine, const struct stream_parts *parts,
                                const uint8_t *bytes, uint32_t r)
{
    const struct stream_record *const record = &parts->output.record[r];
    struct sl_stream_part *const part = &parts->part[r];

    fill_part(part, record, bytes, &parts->part[record->previous]);
    part->whole = true;
    mine->of_item[record->item] = part;
}

/* Bytes of another flow than the packet's are of flows that gave way: no packet states how to
 * evaluate them, so that they are counted. */
static void link_any(struct linking *linking, struct stream_batch *mine, struct stream_parts *parts,
                     const struct sl_batch *batch, uint32_t r)
{
    const struct stream_record *const record = &parts->output.record[r];
    struct sl_stream_part *const part = &parts->part[r];

    fill_part(part, record, record->kind == STREAM_PACKET ? batch->bytes : parts->output.copied,
              record->previous != 0 ? &parts->part[record->previous] : NULL);
    if (!adds_bytes(record) || record->len == 0)
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

/* The place where the part of a record begins: notes it for an engine, which finds what lies across
 * bytes of payloads, or looks at it. */
static inline void note_place(struct stream_batch *mine, const struct stream_parts *parts,
                              const struct sl_batch *batch, uint32_t r)
{
    const struct stream_record *const record = &parts->output.record[r];
    const struct stream_record *const before = &parts->output.record[record->previous];

    if (record->previous == 0)
        return;
    if (mine->before != NULL && is_payload(batch, record) && is_payload(batch, before) &&
        (before->len >= mine->seams->len || mine->before[before->item] != 0 ||
         parts->part[record->previous].known == 0))
        mine->before[record->item] =
            (before->item + 1) | (record->half == 0 ? SL_BEFORE_TO_SERVER : 0);
    else if (record->sender != 0 &&
             stream_seam_crosses(mine->seams, &parts->part[r], record->half == 0))
        mine->makes[record->item] = 1;
}

/* Fills the parts of a shard, and lists those of each packet and each flow that ended. */
static void link_parts(struct stream_batch *mine, struct stream_parts *parts,
                       const struct sl_batch *batch)
{
    enum { AHEAD = 12 };
    const struct stream_record *const record = parts->output.record;
    struct linking linking = {.ended = parts->ended};

    parts->unevaluated = 0;
    for (uint32_t r = 1; parts->part != NULL && r < parts->output.n; r++) {
        fetch_places(mine, parts, r + AHEAD);
        if (record[r].kind == STREAM_PACKET && record[r].cause != 0)
            link_payload(mine, parts, batch->bytes, r);
        else if (adds_bytes(&record[r]) || record[r].kind == STREAM_CONTEXT)
            link_any(&linking, mine, parts, batch, r);
        if (adds_bytes(&record[r]))
            note_place(mine, parts, batch, r);
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

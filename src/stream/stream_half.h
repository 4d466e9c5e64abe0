/* SPDX-License-Identifier: MIT */
/* Events in a half: bytes that come in sequence, its context, its queue. */
#ifndef STREAM_STREAM_HALF_H
#define STREAM_STREAM_HALF_H

#include "stream_shard.h"

/* A place where something happens: in a flow, at a packet. */
struct stream_site {
    struct stream_shard *shard;
    struct stream *stream;
    uint64_t flow;
    uint32_t item;
    uint8_t sender; /* of the packet: 1 + its half; 0: it is none of the flow */
    bool is_end;    /* of the flow */
};

static inline struct sl_stream_stats *stream_stats(const struct stream_site *site)
{
    return &site->shard->output->stats;
}

static inline struct stream_half *stream_half_of(const struct stream_site *site, uint32_t half)
{
    return &site->stream->half[half];
}

static inline bool stream_has(const struct stream_half *half, uint32_t flags)
{
    return (half->flags & flags) != 0;
}

/* Whether the other side was seen: its acknowledgements count. */
static inline bool stream_is_heard(const struct stream_site *site, uint32_t half)
{
    return stream_has(&site->stream->half[half ^ 1], STREAM_STARTED);
}

/* Whether the handshake is over, or was not seen. */
static inline bool stream_is_established(const struct stream_site *site)
{
    return stream_has(&site->stream->half[0], STREAM_ESTABLISHED) ||
           stream_has(&site->stream->half[1], STREAM_ESTABLISHED);
}

/* ---- records ---- */

/* A record of the half, from its next byte on. */
static inline struct stream_record *stream_record_at(const struct stream_site *site, uint32_t half,
                                                     enum stream_record_kind kind, uint32_t len)
{
    struct stream_record *record = stream_record_add(site->shard, kind);

    record->flow = site->flow;
    record->stream = site->stream;
    record->offset = stream_half_of(site, half)->next;
    record->item = record->source = site->item;
    record->len = len;
    record->half = (uint8_t)half;
    record->sender = site->sender;
    return record;
}

static inline void stream_count_bytes(const struct stream_site *site, struct stream_half *half,
                                      uint32_t len)
{
    half->next += len;
    half->seq += len;
    stream_stats(site)->bytes += len;
}

/* As stream_report, where the half has a record in this batch and no urgent byte is to come. */
static inline struct stream_record *stream_report_next(const struct stream_site *site,
                                                       uint32_t half, enum stream_record_kind kind,
                                                       uint32_t at, uint32_t len)
{
    struct stream_half *h = stream_half_of(site, half);
    struct stream_record *record = stream_record_at(site, half, kind, len);

    record->at = at;
    record->previous = h->last;
    h->last = stream_newest(site->shard->output);
    stream_count_bytes(site, h, len);
    return record;
}

/* The next len bytes of the half lie at `at`, as the kind says. An urgent byte is taken out. */
void stream_report(const struct stream_site *site, uint32_t half, enum stream_record_kind kind,
                   uint32_t at, uint32_t len);

void stream_report_gap(const struct stream_site *site, uint32_t half, uint32_t len,
                       enum sl_stream_gap cause);

void stream_report_event(const struct stream_site *site, uint32_t half, enum stream_event event);

/* ---- context ---- */

/* How many of the last bytes are without a gap. */
static inline uint32_t stream_solid(const struct stream *stream, uint32_t half)
{
    return (uint32_t)stream->half[half].next - stream->rest[half].solid;
}

/* Blocks, at most, that hold the last bytes of a half which has had so many: see struct
 * stream_context. */
static inline uint32_t stream_context_blocks(const struct stream_shard *shard, uint64_t len)
{
    const uint64_t behind = (len + STREAM_HEAD_LEN - 1) / STREAM_BLOCK_LEN + 1;

    if (behind == 1)
        return 1;
    return behind + 1 < shard->context_blocks ? (uint32_t)behind + 1 : shard->context_blocks;
}

/* Takes the blocks for the last bytes. Where there are none, the oldest context gives way. */
void stream_context_hold(const struct stream_site *site, uint32_t half);

/* Blocks that the half holds for them. */
uint32_t stream_context_held(const struct stream_shard *shard, const struct stream *stream,
                             uint32_t half);

/* Takes the blocks of all claims. */
void stream_context_settle(struct stream_shard *shard);

void stream_context_free(struct stream_shard *shard, struct stream *stream, uint32_t half);

/* Gives up the context of the half that has had one for the longest. False: there is none. */
bool stream_context_evict(const struct stream_site *site);

/* Keeps the last bytes of a half that this batch has bytes of. */
void stream_context_keep(struct stream_shard *shard, struct stream *stream, uint32_t half);

/* Lets a record of kind STREAM_CONTEXT have its bytes, which earlier batches reported. False: no
 * memory. */
bool stream_context_show(struct stream_shard *shard, const struct stream *stream, uint32_t half,
                         struct stream_record *record);

/* Whether the bytes at sequence number `begin`, which the stream has already, are what it has.
 * Those that are not held count as equal. */
bool stream_context_equal(const struct stream_site *site, uint32_t half, uint32_t begin,
                          const uint8_t *bytes, uint32_t len);

/* ---- queue ---- */

/* Takes a part that ends behind the bytes in sequence. */
void stream_queue_take(const struct stream_site *site, uint32_t half, struct stream_part part);

/* Reports what the queue has next. */
void stream_queue_settle(const struct stream_site *site, uint32_t half);

/* The sequence number behind all bytes of the half. */
uint32_t stream_queue_end(const struct stream_site *site, uint32_t half);

/* The flow ends: reports what waits. */
void stream_queue_finish(const struct stream_site *site, uint32_t half);

/* Drops what waits. */
void stream_queue_drop(const struct stream_site *site, uint32_t half);

#endif

/* SPDX-License-Identifier: MIT */
/* Trains: segments of a flow that follow one another, and are plain. */
#include "stream_plain.h"

/* Whether a half goes on with plain segments. */
static bool goes_on(const struct stream_half *half, uint32_t plain)
{
    const uint32_t wanted = plain | STREAM_ESTABLISHED;

    return (half->flags & (wanted | STREAM_PLAIN_REFUSED | STREAM_FIN_DONE)) == wanted;
}

/* Whether one side alone was seen. */
static bool is_lone(const struct stream *stream)
{
    return !stream_has(&stream->half[0], STREAM_STARTED) ||
           !stream_has(&stream->half[1], STREAM_STARTED);
}

/* Whether the numbers of a segment alone decide that it is plain, and leave it so for the next. */
static bool is_steady(const struct stream_shard *shard, const struct stream *stream)
{
    const uint32_t lone = stream_has(&stream->half[0], STREAM_STARTED) ? 0 : 1;

    if (shard->is_inline || !shard->omits_edges)
        return false;
    if (is_lone(stream))
        return goes_on(&stream->half[lone], STREAM_PLAIN_LONE);
    return goes_on(&stream->half[0], STREAM_PLAIN_HEARD) &&
           goes_on(&stream->half[1], STREAM_PLAIN_HEARD);
}

static inline struct stream_segment segment_of(const struct sl_flow_packet *packet,
                                               struct sl_span payload, uint8_t client)
{
    return (struct stream_segment){
        .at = payload.offset,
        .len = payload.len,
        .seq = packet->sequence,
        .ack = packet->acknowledged,
        .timestamp = packet->timestamp,
        .window = packet->window,
        .half = packet->sender ^ client,
        .has_timestamp = packet->has_timestamp,
    };
}

/* Whether the usual segment of a steady stream is plain. A lone half answers nobody. */
static inline bool is_plain(uint32_t unacked_len, bool lone, const struct stream_half *from,
                            const struct stream_half *to, const struct stream_segment *segment)
{
    if (segment->seq != from->seq || !stream_plain_time(from, segment))
        return false;
    if (lone)
        return stream_has(from, STREAM_STARTED);
    return stream_behind(from->window_end, segment->seq) >= (int32_t)(segment->len != 0) &&
           stream_plain_ack(unacked_len, from, to->acked, to->seq, segment);
}

static inline struct stream_site site_of(struct stream_shard *shard, struct stream *stream,
                                         uint64_t flow, uint32_t item, uint8_t half)
{
    return (struct stream_site){.shard = shard,
                                .stream = stream,
                                .flow = flow,
                                .item = item,
                                .sender = (uint8_t)(1 + half)};
}

/* The first bytes of a half in a batch, or in a stream. Apart, as it has few of them: the site of
 * others stays in registers. */
__attribute__((noinline)) static void take_first(struct stream_shard *shard, struct stream *stream,
                                                 uint64_t flow, uint32_t item, uint8_t half,
                                                 struct sl_span bytes)
{
    const struct stream_site site = site_of(shard, stream, flow, item, half);
    const struct stream_segment segment = {.at = bytes.offset, .len = bytes.len, .half = half};

    stream_take_next(&site, &segment);
}

static inline void take_bytes(struct stream_shard *shard, struct stream *stream, uint64_t flow,
                              uint32_t item, uint8_t half, struct sl_span bytes)
{
    const struct stream_site site = site_of(shard, stream, flow, item, half);

    if (stream->half[half].last != 0 && stream_has(&stream->half[half], STREAM_CONTEXT_HELD))
        stream_report_next(&site, half, STREAM_PACKET, bytes.offset, bytes.len)->cause = 1;
    else
        take_first(shard, stream, flow, item, half, bytes);
}

uint32_t stream_take_train(struct stream_shard *shard, struct stream *stream,
                           const struct sl_batch *batch, const struct sl_flow_train *train)
{
    const uint32_t n = is_steady(shard, stream) ? train->n : 0;
    const bool lone = is_lone(stream);
    const uint32_t min_ttl = shard->min_ttl, unacked_len = shard->unacked_len;
    const struct sl_span *const payload = &batch->payload[train->first];
    uint32_t i = 0;

    for (; i < n; i++) {
        const struct sl_flow_packet *packet = &train->packet[i];
        const struct stream_segment segment = segment_of(packet, payload[i], train->client);
        struct stream_half *from = &stream->half[segment.half];
        struct stream_half *to = &stream->half[segment.half ^ 1];

        if (!packet->is_usual || packet->ttl < min_ttl ||
            !is_plain(unacked_len, lone, from, to, &segment))
            break;
        if (segment.has_timestamp)
            from->timestamp = segment.timestamp;
        if (segment.len != 0)
            take_bytes(shard, stream, train->flow, train->first + i, segment.half, payload[i]);
        if (!lone)
            stream_plain_answer(from, to, &segment);
        else if (segment.len != 0)
            from->acked = from->seq; /* nobody else says so */
    }
    shard->output->stats.segments += i;
    shard->output->stats.plain += i;
    return i;
}

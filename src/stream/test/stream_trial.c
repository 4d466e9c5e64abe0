/* SPDX-License-Identifier: MIT */
#include "stream_trial.h"

#include <stdlib.h>
#include <string.h>

#include "stream/stream_tcp.h"

struct trial *trial_new(const struct stream_config *config, uint32_t batch_len)
{
    struct trial *trial = (struct trial *)calloc(1, sizeof *trial);

    if (trial == NULL)
        abort();
    stream_config_init(&trial->config);
    trial->config.memory = 1 << 22;
    if (config != NULL)
        trial->config = *config;
    trial->batch_len = batch_len;
    if (stream_shards_create(&trial->shards, 1, &trial->config, NULL) != SL_OK)
        abort();
    stream_shard_begin(trial->shards, &trial->output, trial->bytes);
    return trial;
}

void trial_free(struct trial *trial)
{
    stream_output_free(&trial->output);
    stream_shards_free(trial->shards, 1);
    free(trial);
}

static void expect(struct trial *trial, bool holds, const char *what)
{
    if (!holds && trial->fault == NULL)
        trial->fault = what;
}

static const char *bytes_of(const struct trial *trial, const struct stream_record *record)
{
    const uint8_t *bytes = record->kind == STREAM_PACKET ? trial->bytes : trial->output.copied;

    return (const char *)bytes + record->at;
}

/* Whether a record of kind STREAM_CONTEXT has these bytes. */
bool trial_context_is(const struct stream_output *output, const struct stream_record *record,
                      const char *bytes)
{
    const uint8_t *const copied = output->copied + record->at;
    const uint8_t *const *const piece = (const uint8_t *const *)(const void *)copied;

    if (record->cause == 0)
        return memcmp(bytes, copied, record->len) == 0;
    for (uint32_t i = 0, at = record->source; i < record->len; i++, at++)
        if (piece[at / STREAM_PIECE_LEN][at % STREAM_PIECE_LEN] != (uint8_t)bytes[i])
            return false;
    return true;
}

static void check_bytes(struct trial *trial, struct trial_half *half,
                        const struct stream_record *record, uint32_t index)
{
    expect(trial, record->offset == half->len, "bytes follow on");
    expect(trial, record->len != 0, "no empty bytes");
    expect(trial, record->previous == half->last, "the chain leads to the bytes before");
    expect(trial,
           half->last != 0 || half->len == half->solid || trial->config.overlap_len == 0 ||
               trial->stats.contexts_lost + trial->output.stats.contexts_lost != 0,
           "a chain begins with context");
    if (half->len + record->len > TRIAL_MAX)
        abort();
    memcpy(half->text + half->len, bytes_of(trial, record), record->len);
    half->len += record->len;
    half->last = index;
}

static void check_context(struct trial *trial, struct trial_half *half,
                          const struct stream_record *record, uint32_t index)
{
    expect(trial, record->offset + record->len == half->len, "context ends where bytes begin");
    expect(trial, record->offset >= half->solid, "no context of before a gap");
    expect(trial, record->len <= trial->config.overlap_len, "context is short");
    expect(trial, half->last == 0, "context begins a chain");
    expect(trial, trial_context_is(&trial->output, record, half->text + record->offset),
           "context repeats the bytes");
    half->last = index;
}

static void check_gap(struct trial *trial, struct trial_half *half,
                      const struct stream_record *record)
{
    expect(trial, record->offset == half->len && record->len != 0, "a gap follows on");
    if (half->len + record->len > TRIAL_MAX)
        abort();
    memset(half->text + half->len, TRIAL_GAP, record->len);
    half->len += record->len;
    half->solid = half->len;
    half->last = 0;
}

static void check_record(struct trial *trial, const struct stream_record *record, uint32_t index)
{
    struct trial_half *half = &trial->half[record->half];

    expect(trial, !half->ended || record->kind == STREAM_END, "nothing follows an end");
    switch ((enum stream_record_kind)record->kind) {
    case STREAM_PACKET:
    case STREAM_COPIED:
        check_bytes(trial, half, record, index);
        break;
    case STREAM_CONTEXT:
        check_context(trial, half, record, index);
        break;
    case STREAM_GAP:
        check_gap(trial, half, record);
        break;
    case STREAM_EDGE:
        expect(trial, record->offset <= half->len, "an edge is not ahead of the bytes");
        half->edge = record->offset > half->edge ? record->offset : half->edge;
        break;
    case STREAM_EVENT:
        expect(trial, record->cause < STREAM_N_EVENTS, "an event is known");
        trial->events[record->cause]++;
        break;
    case STREAM_END:
        expect(trial, record->offset == half->len, "an end is behind all bytes");
        half->ended = true;
        break;
    }
}

static void add_stats(struct sl_stream_stats *sum, const struct sl_stream_stats *more)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;

    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

/* A record that a train had is its packet's only one, with all of its payload. */
static void check_trained(struct trial *trial, const struct stream_record *record)
{
    const struct sl_span payload = trial->payload[record->item];

    if (record->kind != STREAM_PACKET || record->cause == 0)
        return;
    expect(trial, record->previous != 0 && record->sender == 1 + record->half, "its half's");
    expect(trial,
           record->source == record->item && record->at == payload.offset &&
               record->len == payload.len,
           "a payload");
    for (uint32_t i = 1; i < trial->output.n; i++)
        expect(trial,
               trial->output.record[i].item != record->item ||
                   trial->output.record[i].sender == 0 || &trial->output.record[i] == record,
               "alone");
}

void trial_flush(struct trial *trial)
{
    stream_shard_end(trial->shards);
    expect(trial, !trial->output.no_memory, "memory");
    expect(trial, stream_shard_held(trial->shards) <= trial->config.memory, "memory is bounded");
    for (uint32_t i = 1; i < trial->output.n; i++)
        check_record(trial, &trial->output.record[i], i);
    for (uint32_t i = 1; i < trial->output.n && trial->trains; i++)
        check_trained(trial, &trial->output.record[i]);
    trial->half[0].last = trial->half[1].last = 0;
    add_stats(&trial->stats, &trial->output.stats);
    memset(trial->bytes, 0xEE, trial->bytes_len); /* nothing refers to the batch any more */
    trial->bytes_len = trial->n_segments = 0;
    stream_shard_begin(trial->shards, &trial->output, trial->bytes);
}

/* Takes a usual segment as a train. False: it is not, or waits for stream_take. */
static bool take_train(struct trial *trial, const struct stream_segment *segment)
{
    const uint8_t client = segment->item & 1;
    const struct sl_flow_packet packet = {.sequence = segment->seq,
                                          .acknowledged = segment->ack,
                                          .timestamp = segment->timestamp,
                                          .window = segment->window,
                                          .tcp_flags = segment->flags,
                                          .ttl = segment->ttl,
                                          .sender = segment->half ^ client,
                                          .has_timestamp = segment->has_timestamp,
                                          .is_usual = true};
    const struct sl_flow_train train = {
        .flow = 1, .first = segment->item, .n = 1, .client = client, .packet = &packet};
    const struct sl_batch batch = {.bytes = trial->bytes, .payload = trial->payload};

    if (segment->item >= TRIAL_ITEMS_MAX)
        abort();
    if ((segment->flags & (TCP_FIN | TCP_SYN | TCP_RST | TCP_ACK | TCP_URG)) != TCP_ACK ||
        segment->snapped != 0 || segment->bad_checksum)
        return false;
    trial->payload[segment->item] = (struct sl_span){segment->at, segment->len};
    return stream_take_train(trial->shards, &trial->stream, &batch, &train) != 0;
}

void trial_send(struct trial *trial, struct stream_segment segment, const void *payload)
{
    if (trial->bytes_len + segment.len > TRIAL_BATCH_MAX)
        trial_flush(trial);
    segment.at = trial->bytes_len;
    segment.item = trial->item++;
    segment.ttl = segment.ttl != 0 ? segment.ttl : 64;
    if (segment.len != 0)
        memcpy(trial->bytes + segment.at, payload, segment.len);
    trial->bytes_len += segment.len;
    if (trial->trains && take_train(trial, &segment))
        trial->n_trained++;
    else
        stream_take(trial->shards, &trial->stream, 1, &segment);
    if (++trial->n_segments == trial->batch_len)
        trial_flush(trial);
}

void trial_end(struct trial *trial)
{
    stream_end(trial->shards, &trial->stream, 1, trial->item);
    trial_flush(trial);
    expect(trial, stream_shard_held(trial->shards) == 0, "an end gives all memory back");
}

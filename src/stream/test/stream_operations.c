/* SPDX-License-Identifier: MIT */
#include "stream_operations.h"

#include <stddef.h>
#include <string.h>

#include "stream/stream_tcp.h"
#include "stream_trial.h"

enum { OPERATION_LEN = 8, OPERATIONS_MAX = 400 };

/* `end` is how far each half was sent: a segment may go on there. */
static struct stream_segment read_segment(const uint8_t *o, uint32_t end[2], uint8_t *payload)
{
    static const uint8_t flags[8] = {TCP_ACK, TCP_ACK, TCP_ACK, TCP_ACK | TCP_URG,
                                     TCP_SYN, 0,       TCP_RST, TCP_FIN | TCP_ACK};
    const uint32_t half = o[0] & 1;
    const bool goes_on = (o[0] & 0x10) != 0 && end[half] < 100000;
    const uint32_t offset = goes_on ? end[half] : o[1] | (o[2] & 7u) << 8;
    const uint32_t acked = goes_on ? end[half ^ 1] : o[3] | (o[4] & 7u) << 8;
    struct stream_segment segment = {.half = (uint8_t)half,
                                     .seq = (half != 0 ? 5u : (uint32_t)-300) + offset,
                                     .ack = (half != 0 ? (uint32_t)-300 : 5u) + acked,
                                     .flags = flags[o[0] >> 1 & 7],
                                     .window = (uint16_t)(o[5] << 6),
                                     .wscale = (o[2] & 8) != 0 ? o[2] >> 4 : STREAM_NO_WSCALE,
                                     .urgent = o[6],
                                     .len = o[7],
                                     .snapped = (o[4] & 0xF8) == 0xF8 ? o[6] : 0,
                                     .has_timestamp = (o[0] & 0x20) != 0,
                                     .timestamp = o[6],
                                     .echo = o[5],
                                     .bad_checksum = (o[0] & 0xC0) == 0xC0 && (o[4] & 8) != 0,
                                     .ttl = 64};

    if ((o[4] & 0x10) != 0 && (segment.flags & TCP_SYN) != 0)
        segment.flags |= TCP_ACK;
    if ((o[4] & 0x20) != 0)
        segment.len *= 16;
    end[half] = offset + segment.len;
    for (uint32_t i = 0; i < segment.len; i++)
        payload[i] = (uint8_t)((offset + i) * 7 + ((o[0] & 0x40) != 0 ? 1 : 0));
    return segment;
}

/* How to play. Segments that are usual go in trains; or all go as if none were plain. */
enum way { PLAINLY, IN_TRAINS, SLOWLY };

/* Plays one operation after another. An urgent pointer of 0 says nothing, but such segments are not
 * plain. */
static void play(struct trial *trial, const uint8_t *input, size_t n, bool flushes, enum way way)
{
    static uint8_t payload[255 * 16];
    uint32_t end[2] = {1, 1};

    for (size_t i = 0; i < n; i++) {
        const uint8_t *o = input + (i + 1) * OPERATION_LEN;
        struct stream_segment segment = read_segment(o, end, payload);

        if (way == SLOWLY && (segment.flags & TCP_URG) == 0) {
            segment.flags |= TCP_URG;
            segment.urgent = 0;
        }
        trial_send(trial, segment, payload);
        if (flushes && (o[5] & 3) == 0)
            trial_flush(trial);
    }
    trial_end(trial);
}

static const char *compare(struct trial *a, struct trial *b)
{
    if (a->fault != NULL || b->fault != NULL)
        return a->fault != NULL ? a->fault : b->fault;
    for (uint32_t half = 0; half < 2; half++) {
        if (a->half[half].len != b->half[half].len ||
            memcmp(a->half[half].text, b->half[half].text, a->half[half].len) != 0)
            return "other bytes";
        if (a->half[half].edge != b->half[half].edge)
            return "another edge";
    }
    if (memcmp(a->events, b->events, sizeof a->events) != 0)
        return "other events";
    return memcmp(&a->stats, &b->stats, sizeof a->stats) != 0 ? "other counters" : NULL;
}

/* The first operation has the config. */
static void read_config(struct stream_config *config, const uint8_t *input)
{
    stream_config_init(config);
    config->memory = 128 << 10;
    config->context_len = 1 + input[0] * 16;
    config->overlap_len = config->context_len < 63 ? config->context_len : 63;
    config->unacked_len = input[1] < 128 ? 1 << 20 : input[1];
    config->is_inline = (input[2] & 1) != 0;
    config->keeps_urgent = (input[2] & 2) != 0;
    config->omits_edges = (input[2] & 4) != 0;
}

static struct trial *play_anew(const uint8_t *input, size_t n, uint32_t batch_len, enum way way)
{
    struct stream_config config;
    struct trial *trial;

    read_config(&config, input);
    trial = trial_new(&config, batch_len);
    for (uint32_t half = 0; half < 2; half++)
        trial->stream.half[half].policy = (uint8_t)(input[3 + half] % SL_N_HOST_POLICIES);
    trial->trains = way == IN_TRAINS;
    play(trial, input, n, batch_len == 0, way);
    return trial;
}

const char *stream_operations_check(const uint8_t *input, size_t input_len, uint64_t *n_trained)
{
    struct trial *whole, *cut, *slow, *train;
    const char *fault;
    size_t n;

    if (input_len < OPERATION_LEN)
        return NULL;
    n = input_len / OPERATION_LEN - 1;
    if (n > OPERATIONS_MAX)
        n = OPERATIONS_MAX;
    whole = play_anew(input, n, 0, PLAINLY);
    cut = play_anew(input, n, 1, PLAINLY);
    slow = play_anew(input, n, 0, SLOWLY);
    train = play_anew(input, n, 0, IN_TRAINS);
    fault = compare(whole, cut);
    if (fault == NULL && slow->stats.plain != 0)
        fault = "plain all the same";
    slow->stats.plain = whole->stats.plain;
    if (fault == NULL)
        fault = compare(whole, slow);
    if (fault == NULL)
        fault = compare(whole, train);
    *n_trained += train->n_trained;
    trial_free(whole);
    trial_free(cut);
    trial_free(slow);
    trial_free(train);
    return fault;
}

/* SPDX-License-Identifier: MIT */
#include "stream_operations.h"

#include <stddef.h>
#include <string.h>

#include "stream/stream_tcp.h"
#include "stream_trial.h"

enum { OPERATION_LEN = 8, OPERATIONS_MAX = 400 };

static struct stream_segment read_segment(const uint8_t *o, uint8_t *payload)
{
    static const uint8_t flags[8] = {TCP_ACK, TCP_ACK, TCP_ACK, TCP_ACK | TCP_URG,
                                     TCP_SYN, 0,       TCP_RST, TCP_FIN | TCP_ACK};
    const uint32_t half = o[0] & 1;
    const uint32_t offset = o[1] | (o[2] & 7u) << 8;
    struct stream_segment segment = {.half = (uint8_t)half,
                                     .seq = (half != 0 ? 5u : (uint32_t)-300) + offset,
                                     .ack = (half != 0 ? (uint32_t)-300 : 5u) +
                                            (o[3] | (o[4] & 7u) << 8),
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
    for (uint32_t i = 0; i < segment.len; i++)
        payload[i] = (uint8_t)((offset + i) * 7 + ((o[0] & 0x40) != 0 ? 1 : 0));
    return segment;
}

static void play(struct trial *trial, const uint8_t *input, size_t n, bool flushes)
{
    static uint8_t payload[255 * 16];

    for (size_t i = 0; i < n; i++) {
        const uint8_t *o = input + (i + 1) * OPERATION_LEN;
        struct stream_segment segment = read_segment(o, payload);

        trial_send(trial, segment, payload);
        if (flushes && (o[5] & 3) == 0)
            trial_flush(trial);
    }
    trial_end(trial);
}

static const char *compare(const struct trial *a, const struct trial *b)
{
    if (a->fault != NULL || b->fault != NULL)
        return a->fault != NULL ? a->fault : b->fault;
    for (uint32_t half = 0; half < 2; half++) {
        if (a->half[half].len != b->half[half].len ||
            memcmp(a->half[half].text, b->half[half].text, a->half[half].len) != 0)
            return "a cut changes bytes";
        if (a->half[half].edge != b->half[half].edge)
            return "a cut changes an edge";
    }
    if (memcmp(a->events, b->events, sizeof a->events) != 0)
        return "a cut changes events";
    return memcmp(&a->stats, &b->stats, sizeof a->stats) != 0 ? "a cut changes counters" : NULL;
}

/* The first operation has the config. */
static void read_config(struct stream_config *config, const uint8_t *input)
{
    stream_config_init(config);
    config->memory = 128 << 10;
    config->context_len = 1 + input[0] * 4;
    config->overlap_len = config->context_len < 63 ? config->context_len : 63;
    config->unacked_len = input[1] < 128 ? 1 << 20 : input[1];
    config->is_inline = (input[2] & 1) != 0;
    config->keeps_urgent = (input[2] & 2) != 0;
}

const char *stream_operations_check(const uint8_t *input, size_t input_len)
{
    struct stream_config config;
    struct trial *trial[2];
    const char *fault;
    size_t n;

    if (input_len < OPERATION_LEN)
        return NULL;
    n = input_len / OPERATION_LEN - 1;
    if (n > OPERATIONS_MAX)
        n = OPERATIONS_MAX;
    read_config(&config, input);
    for (uint32_t i = 0; i < 2; i++) {
        trial[i] = trial_new(&config, i);
        for (uint32_t half = 0; half < 2; half++)
            trial[i]->stream.half[half].policy = (uint8_t)(input[3 + half] % SL_N_HOST_POLICIES);
        play(trial[i], input, n, i == 0);
    }
    fault = compare(trial[0], trial[1]);
    trial_free(trial[0]);
    trial_free(trial[1]);
    return fault;
}

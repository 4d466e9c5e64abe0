/* SPDX-License-Identifier: MIT */
/* A flow for tests: segments go in, the bytes of its halves come out. Each batch's records are
 * checked against what the contract promises of all. */
#ifndef STREAM_TRIAL_H
#define STREAM_TRIAL_H

#include "stream/stream.h"

enum {
    TRIAL_MAX = 1 << 18,
    TRIAL_BATCH_MAX = 1 << 16,
    TRIAL_ITEMS_MAX = 512, /* with trains */
    TRIAL_GAP = '_'
};

struct trial_half {
    char text[TRIAL_MAX]; /* its bytes; those of gaps are TRIAL_GAP */
    uint64_t len;
    uint64_t solid; /* offset behind the last gap */
    uint64_t edge;
    uint32_t last; /* its last record of bytes in this batch */
    bool ended;
};

struct trial {
    struct stream_shard *shards;
    struct stream stream;
    struct stream_output output;
    struct stream_config config;
    struct sl_stream_stats stats; /* of all batches */
    struct trial_half half[2];
    uint32_t events[STREAM_N_EVENTS];
    uint32_t batch_len; /* segments of a batch; 0: trial_flush alone ends it */
    uint32_t n_segments;
    uint32_t item;
    uint8_t bytes[TRIAL_BATCH_MAX];
    uint32_t bytes_len;
    bool trains; /* usual segments are taken as trains */
    uint32_t n_trained;
    struct sl_span payload[TRIAL_ITEMS_MAX];
    const char *fault; /* the first promise that was broken */
};

/* Whether a record of kind STREAM_CONTEXT has these bytes. */
bool trial_context_is(const struct stream_output *output, const struct stream_record *record,
                      const char *bytes);

/* A trial with this config; NULL: the default. Freed by trial_free. */
struct trial *trial_new(const struct stream_config *config, uint32_t batch_len);
void trial_free(struct trial *trial);

/* Sends a segment; its payload is copied. Item, at and ttl are set. */
void trial_send(struct trial *trial, struct stream_segment segment, const void *payload);

/* Ends the batch and checks its records. */
void trial_flush(struct trial *trial);

/* Ends the flow. */
void trial_end(struct trial *trial);

#endif

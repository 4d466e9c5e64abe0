/* SPDX-License-Identifier: MIT */
/* Messages of the flows of a shard: what their application protocols say, while the bytes come.
 *
 * A flow has a slot of 12 zeroed bytes. All else is memory of the shard. A batch begins in a shard,
 * takes bytes of the shard's flows, and ends. It emits messages, which are valid as long as its
 * output and those of later batches. No message depends on cuts into batches, and no limit does.
 *
 * Limits: a shard's flows hold at most so many bytes. The flow that had no bytes for the longest
 * gives way, and its open transactions go without a message. The bytes that bodies, heads and
 * messages take of a batch are paid with credit (app_credit.h). Without it transactions give no
 * messages, and bodies end. All of that is counted. */
#ifndef APP_APP_MESSAGES_H
#define APP_APP_MESSAGES_H

#include "app_body.h"
#include "app_contents.h"
#include "app_credit.h"
#include "app_file.h"
#include "app_stream.h"

struct app_slot {
    uint32_t flow;          /* number of what the shard has of it; 0: nothing */
    uint8_t app;            /* enum sl_app; 0: not known so far */
    bool is_left;           /* nothing is read any more, but the first answer of QUIC */
    bool ended[2];          /* sides */
    struct app_sides sides; /* of TCP */
};

/* The settings of a run. */
struct app_config {
    /* Bytes of the flows of all shards, which have equal parts. The flow that was silent for
     * longest gives way, or one that holds more than the part alone. */
    uint64_t memory;
    uint64_t values;  /* of messages: bits of sl_app_value_bit */
    bool has_steps;   /* messages before SL_APP_DONE, for rules */
    bool has_events;  /* messages SL_APP_EVENT */
    bool has_sides;   /* the protocol of each side of a flow, in tunnels, too */
    bool has_files;   /* messages SL_APP_FILE, */
    bool keeps_files; /* with all bytes of the file */
    uint32_t is_done; /* protocols whose SL_APP_DONE is wanted: bit i is enum sl_app i */
    struct app_file_config files;
};

void app_stats_add(struct sl_app_stats *sum, const struct sl_app_stats *more);

/* The output of a batch. Zeroed at first. */
struct app_output {
    struct sl_app_message *message;
    const void **late; /* of each message: what app_place had */
    uint32_t n, max;
    bool no_memory; /* messages are missing: the caller fails with SL_ENOMEM */
    struct app_arena arena;
    struct app_contents *contents; /* of files that are over */
    struct app_block *left;        /* memory of bodies, with bytes of messages */
    struct sl_app_stats stats;
};

void app_output_free(struct app_output *output);

struct app_shard;

/* Makes n shards. SL_ENOMEM. */
SL_CHECK enum sl_status app_shards_create(struct app_shard **shards, uint32_t n,
                                          const struct app_config *config, struct sl_diag *diag);

/* Flows that are open are lost; their slots are valid still. Accepts NULL. */
void app_shards_free(struct app_shard *shards, uint32_t n);

struct app_shard *app_shard_at(struct app_shard *shards, uint32_t index);

/* A batch begins. Output is emptied, and belongs to the shard until the next. One thread a shard.
 */
void app_shard_begin(struct app_shard *shard, struct app_output *output);

/* The batch ends: bodies that go on leave its packets. */
void app_shard_end(struct app_shard *shard);

/* A place where something happens. */
struct app_place {
    struct app_slot *slot;
    uint64_t flow;
    uint32_t item;
    const void *late; /* of messages behind the flow's last packet; valid as long as the output */
    uint32_t source;  /* the packet that has the bytes that are given, */
    const uint8_t *payload; /* its payload; NULL: none has them */
    uint32_t len;           /* of the payload */
};

/* The next bytes of a side of a TCP flow. */
void app_give(struct app_shard *shard, const struct app_place *place, enum app_side side,
              const uint8_t *bytes, uint32_t len);

/* len bytes of the side never come. */
void app_gap(struct app_shard *shard, const struct app_place *place, enum app_side side,
             uint64_t len);

/* The side sends nothing more. Behind both the flow is left. */
void app_end_side(struct app_shard *shard, const struct app_place *place, enum app_side side);

/* A datagram of a UDP flow. */
void app_datagram(struct app_shard *shard, const struct app_place *place, enum app_side side,
                  const uint8_t *bytes, uint32_t len);

/* The flow gives way: nothing of it is read any more. */
void app_give_up(struct app_shard *shard, const struct app_place *place);

/* The flow is over: open transactions end, and the slot becomes zeros. */
void app_end(struct app_shard *shard, const struct app_place *place);

uint64_t app_shard_held(const struct app_shard *shard); /* bytes */

#endif

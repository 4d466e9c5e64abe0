/* SPDX-License-Identifier: MIT */
/* Packets that stand for flows that ended, so that rules are evaluated on what these say then: one
 * for each side that says something or got bytes, with its addresses and ports, and without
 * payload.
 */
#ifndef RUN_LATE_PACKETS_H
#define RUN_LATE_PACKETS_H

#include "sluice/app.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"

enum {
    LATE_PACKET_LEN = 64,  /* bytes of a batch that a packet takes at most */
    LATE_PACKET_LINK = 101 /* its link type: raw IP */
};

/* A flow that ended, and may have something to say. */
struct late_flow {
    struct sl_flow_record record; /* `alerted` and `app` are not known */
    uint32_t shard;
    uint32_t item;                        /* the packet that ended it */
    size_t index;                         /* of the end, in its shard */
    uint8_t app;                          /* enum sl_app */
    struct sl_stream_facts facts;         /* of its stream, behind the end */
    const struct sl_stream_part *part[2]; /* the first that its sides' streams got then; NULL: none;
                                             where rules inspect streams */
};

/* Orders flows that ended in a batch: -1, 0 or 1. */
int late_flow_compare(const struct late_flow *left, const struct late_flow *right);

/* A message of a flow whose packets are over. */
struct late_message {
    struct sl_app_message message; /* its item is the packet that ended the flow */
    const struct late_flow *flow;
    uint32_t number; /* a flow's ascend as it said them */
};

struct late_side {
    const struct late_flow *flow;
    uint8_t side; /* that says it, as sl_app_message has it */
};

/* A batch of them, in the order of late messages. */
struct late_part {
    const struct late_side *side;               /* of each item */
    const struct sl_stream_part *const *stream; /* of each item, as sl_late has it */
    const struct sl_stream_facts *facts;        /* of each item */
    struct sl_app_message *message;             /* in the order of items */
    struct late_message *late;                  /* the same, as they were */
    uint32_t n_sides, n;
};

struct late_packets {
    struct late_side *side; /* of all parts, one behind another */
    const struct sl_stream_part **stream;
    struct sl_stream_facts *facts;
    struct sl_app_message *message;
    struct late_part *part;
    uint32_t n_parts;
};

/* The flows that ended in a batch, and their messages, in the order of late_flow_compare. */
struct late_said {
    struct late_flow *const *flow; /* all that may have parts */
    uint32_t n_flows;
    struct late_message *message;
    uint32_t n_messages;
};

/* In parts of up to so many packets, 2 at least. No part: nothing was said. Zeroed at first. False:
 * no memory. */
bool late_packets_list(struct late_packets *packets, const struct late_said *said,
                       uint32_t items_max);
void late_packets_clear(struct late_packets *packets);

/* Writes raw IP and transport headers with so many bytes of payload, at most 65,000, over zeros of
 * LATE_PACKET_LEN bytes. Returns their length. */
uint32_t late_packet_put(uint8_t *to, const struct sl_tuple *tuple, uint32_t payload_len);

/* The other direction. */
struct sl_tuple late_packet_turn(const struct sl_tuple *tuple);

/* Adds the packets of a part to an empty batch that has room for them. */
void late_packets_fill(const struct late_part *part, struct sl_batch *batch);

#endif

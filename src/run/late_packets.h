/* SPDX-License-Identifier: MIT */
/* Packets that stand for flows that ended, so that rules are evaluated on what these say then: one
 * for each side that says something, with its addresses and ports, and without payload. */
#ifndef RUN_LATE_PACKETS_H
#define RUN_LATE_PACKETS_H

#include "sluice/app.h"
#include "sluice/dissect.h"

enum {
    LATE_PACKET_LEN = 64 /* bytes of a batch that a packet takes at most */
};

/* A flow that ended, and has something to say. */
struct late_flow {
    struct sl_flow_record record; /* `alerted` and `app` are not known */
    uint32_t shard;
    size_t index; /* of the end, in its shard */
};

/* A message of a flow whose packets are over. */
struct late_message {
    struct sl_app_message message; /* its item is the packet that ended the flow */
    const struct late_flow *flow;
};

struct late_side {
    const struct late_flow *flow;
    uint32_t before; /* the packet that ended the flow */
    uint8_t side;    /* that says it, as sl_app_message has it */
};

/* A batch of them, in the order of late messages. */
struct late_part {
    const struct late_side *side;   /* of each item */
    struct sl_app_message *message; /* in the order of items */
    struct late_message *late;      /* the same, as they were */
    uint32_t n_sides, n;
};

struct late_packets {
    struct late_side *side; /* of all parts, one behind another */
    struct sl_app_message *message;
    struct late_part *part;
    uint32_t n_parts;
};

/* Of n late messages, 1 at least, in parts of up to so many packets, 2 at least. Zeroed at first.
 * False: no memory. */
bool late_packets_list(struct late_packets *packets, struct late_message *late, uint32_t n,
                       uint32_t items_max);
void late_packets_clear(struct late_packets *packets);

/* Adds the packets of a part to an empty batch that has room for them. */
void late_packets_fill(const struct late_part *part, struct sl_batch *batch);

#endif

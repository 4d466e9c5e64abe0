/* SPDX-License-Identifier: MIT */
/* Packets that stand for flows that ended, so that rules are evaluated on what these say then: one
 * for each side that says something, with its addresses and ports, and without payload. */
#ifndef RUN_LATE_PACKETS_H
#define RUN_LATE_PACKETS_H

#include "run_apps.h"

enum {
    LATE_ITEMS_MAX = 4096,               /* packets a batch */
    LATE_BATCH_LEN = 64 * LATE_ITEMS_MAX /* bytes; a packet has up to 60 */
};

struct late_side {
    const struct late_flow *flow;
    uint8_t side; /* that says it, as sl_app_message has it */
};

/* A batch of them. */
struct late_part {
    const struct late_side *side;   /* of each item */
    struct sl_app_message *message; /* in the order of items */
    struct late_message *late;      /* the same, as they were; an item is the first of their flow */
    uint32_t n_sides, n;
};

struct late_packets {
    struct late_side *side;
    struct sl_app_message *message;
    struct late_part *part;
    uint32_t n_parts;
};

/* Of all late messages of `said`, whose items become those of the packets. Zeroed at first. False:
 * no memory. */
bool late_packets_list(struct late_packets *packets, struct app_batch *said);
void late_packets_clear(struct late_packets *packets);

/* Adds the packets of a part to an empty batch that has room for them. */
void late_packets_fill(const struct late_part *part, struct sl_batch *batch);

#endif

/* SPDX-License-Identifier: MIT */
/* The candidates of a packet, one after another: the demands of their options, and the state that
 * they leave. */
#ifndef DETECT_SETTLE_H
#define DETECT_SETTLE_H

#include "detect/evaluate/rule_findings.h"
#include "flow_bits.h"
#include "state.h"
#include "state_data.h"
#include "state_filter.h"
#include "state_tags.h"

/* Where the variables of a packet lie. */
struct state_place {
    struct flow_bits_pool *pool; /* settling: of its flow; NULL: the packet has none */
    struct flow_bits *bits;
    struct state_table *table; /* deciding; NULL: settling */
    struct state_tags *tags;   /* deciding */
    struct state_data *data;   /* deciding; NULL: sets of data are as they were loaded */
    const struct state_packet *packet;
    struct state_message *message; /* NULL: there are no rules to settle */
};

/* The variables of a packet's message. */
struct state_message {
    struct flow_bits_pool pool;
    struct flow_bit bit[FLOW_BITS_MAX + 1];
    struct flow_bits bits;
};

enum state_flow_end { STATE_FLOW_GOES_ON, STATE_FLOW_PASSED, STATE_FLOW_DROPPED };

/* Whether a rule has taken the rest of the flow that has these bits, and how. */
enum state_flow_end state_flow_end(const struct flow_bits_pool *pool, const struct flow_bits *bits);

/* Settles the rules of packet i that are not late. Returns whether one raises an alert for sure. */
bool state_settle(struct rule_findings *findings, size_t i, const struct state_place *place);

/* Decides the late rules of packet i, and filters its alerts. Returns whether one raises an alert.
 */
bool state_decide(struct rule_findings *findings, size_t i, const struct state_place *place);

#endif

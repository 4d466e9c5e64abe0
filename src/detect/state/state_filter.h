/* SPDX-License-Identifier: MIT */
/* Filters of alerts: thresholds and suppression. */
#ifndef DETECT_STATE_FILTER_H
#define DETECT_STATE_FILTER_H

#include "rule_state.h"
#include "sluice/dissect.h"
#include "state_table.h"

/* A packet, as far as state depends on it. */
struct state_packet {
    int64_t now;
    uint64_t flow; /* 0: none */
    uint32_t len;  /* bytes, with all headers */
    bool has_tuple;
    struct sl_tuple tuple;
};

/* Fills the key's owner. False: the packet has no such owner. */
bool state_owner(struct state_key *key, enum state_scope scope, const struct state_packet *packet);

/* Whether all filters of the rule let an alert of this packet pass. Each counts the alert unless
 * one before it has stopped it. *drops becomes true where one of them makes the alert a drop. */
bool state_filters_pass(struct state_table *table, const struct rule_state *rule,
                        const struct state_packet *packet, bool *drops);

#endif

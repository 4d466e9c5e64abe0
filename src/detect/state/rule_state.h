/* SPDX-License-Identifier: MIT */
/* The demands of a rule on the packets before, and the state that it leaves for those behind. */
#ifndef DETECT_RULE_STATE_H
#define DETECT_RULE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/rule_ranges.h"

/* Conditions come first. Effects take place once all else of the rule is met. */
enum state_act {
    STATE_ANY_SET,
    STATE_ALL_SET,
    STATE_SOME_UNSET, /* at least one is not set */
    STATE_EQUAL,      /* these compare the variable with a number; one that is not set fails */
    STATE_UNEQUAL,
    STATE_LESS,
    STATE_AT_MOST,
    STATE_GREATER,
    STATE_AT_LEAST,
    STATE_SET,
    STATE_UNSET,
    STATE_TOGGLE,
    STATE_ADD, /* one that is not set counts as 0 */
    STATE_SUBTRACT
};

/* Whose the state is. */
enum state_scope {
    STATE_FLOW,
    STATE_SRC, /* of the source address, */
    STATE_DST, /* which has the same variables where it is a destination */
    STATE_EITHER,
    STATE_PAIR, /* of both addresses, in either order */
    STATE_ALL,  /* of all packets */
    STATE_TX    /* of the packet's message alone */
};

/* An option on variables. A variable's key comes from its name alone, so that another set of rules
 * finds what this one has left. */
struct state_option {
    enum state_act act;
    enum state_scope scope;
    bool is_number; /* the variable is one of flowint */
    const uint64_t *key;
    uint32_t n;
    uint32_t value;     /* to set, to add, to compare with */
    uint64_t value_key; /* the flow's variable that has the value, 0 where it is not set; 0: none */
    uint64_t seconds;   /* how long a variable stays set; UINT64_MAX: as long as its flow */
    const char *text;   /* the option's value, as in the rule */
};

enum state_filter_kind {
    STATE_SUPPRESS,
    STATE_LIMIT,     /* the first `count` alerts in `seconds` pass, */
    STATE_THRESHOLD, /* each count-th, */
    STATE_BOTH,      /* the count-th alone, */
    STATE_DETECTION, /* those behind the first `count`, */
    STATE_RATE,      /* or, for `timeout` seconds behind the first `count`, none; */
    STATE_BACKOFF    /* of all of a flow the count-th, and then each `multiplier` times as late */
};

/* Alerts, or different ports of their packets. */
enum state_unique { STATE_ALERTS, STATE_SRC_PORTS, STATE_DST_PORTS };

/* The filter that lets only some alerts of a rule pass. */
struct state_filter {
    enum state_filter_kind kind;
    enum state_scope scope;
    uint32_t count, seconds, timeout, multiplier;
    bool drops;                          /* STATE_RATE: those behind drop, and do not fail */
    enum state_unique unique;            /* STATE_DETECTION: the counted unit */
    const struct rule_ranges *addresses; /* STATE_SUPPRESS: NULL is all */
    uint64_t key;                        /* of gid, sid, kind and scope */
};

/* What a tag counts. */
enum state_tag_metric {
    STATE_TAG_PACKETS,
    STATE_TAG_BYTES,
    STATE_TAG_SECONDS,
    STATE_N_TAG_METRICS
};

/* The packets behind an alert that become events, until the first of the limits. */
struct state_tag {
    const struct state_tag *next;
    enum state_scope scope;              /* STATE_FLOW, STATE_SRC or STATE_DST */
    uint32_t limit[STATE_N_TAG_METRICS]; /* with the packet of the alert; 0: none of this metric */
};

struct rule_state {
    const struct state_option *option; /* conditions before effects */
    size_t n_options;
    struct state_filter *filter; /* all of them must let the alert pass */
    size_t n_filters;
    const struct state_tag *tag; /* a list */
    bool asks_data;              /* of sets of data that rules change */
    bool noalert;                /* the rule raises no alert */
    bool late; /* its options are decided in the order of all packets, and not of its flow's */
};

static inline bool state_is_effect(enum state_act act)
{
    return act >= STATE_SET;
}

/* Names of different kinds are not the same. */
enum state_names {
    STATE_BITS = 1,
    STATE_NUMBERS,
    STATE_HOST_BITS,
    STATE_PAIR_BITS,
    STATE_TX_BITS,
    STATE_FILTERS,
    STATE_DATA
};

/* The key of a name. */
uint64_t state_key(enum state_names kind, const void *name, size_t name_len);

struct sl_rules;

/* Finds out which rules are late: those that have a variable beyond their flow's, and all that have
 * a flow's variable in common with a late rule. False: no memory. */
bool state_find_late(struct sl_rules *rules);

/* Finds out which rules drop or reject, and whose action comes before pass. */
void state_find_actions(struct sl_rules *rules);

/* Writes the place of each rule in the order in which the rules of a packet take effect: first by
 * the set's order of actions, then setters of variables before readers, then by priority,
 * then by the rules' order. rank[i] is that of rule i. False: no memory. */
bool state_rank(const struct sl_rules *rules, uint32_t *rank);

#endif

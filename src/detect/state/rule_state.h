/* SPDX-License-Identifier: MIT */
/* What a rule asks of the packets before, and what it leaves for those behind. */
#ifndef DETECT_RULE_STATE_H
#define DETECT_RULE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Conditions come first. Effects take place once all else of the rule is met. */
enum state_act {
    STATE_ANY_SET,
    STATE_ALL_SET,
    STATE_SOME_UNSET, /* at least one is not set */
    STATE_SET,
    STATE_UNSET,
    STATE_TOGGLE
};

/* An option on variables of the packet's flow. A variable's key comes from its name alone, so that
 * another set of rules finds what this one has left. */
struct state_option {
    enum state_act act;
    const uint64_t *key;
    uint32_t n;
};

struct rule_state {
    const struct state_option *option; /* conditions before effects */
    size_t n_options;
    bool noalert; /* the rule raises no alert */
};

static inline bool state_is_effect(enum state_act act)
{
    return act >= STATE_SET;
}

/* The key of a variable. */
uint64_t state_key(const char *name, size_t name_len);

struct sl_rules;

/* Writes the place of each rule in the order in which the rules of a packet take effect: first by
 * action (pass, drop, reject, alert), then setters of bits before readers, then by priority, then
 * by the rules' order. rank[i] is that of rule i. False: no memory. */
bool state_rank(const struct sl_rules *rules, uint32_t *rank);

#endif

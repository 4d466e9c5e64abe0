/* SPDX-License-Identifier: MIT */
/* The text that tells how a rule is evaluated. */
#ifndef DETECT_EXPLAIN_TEXT_H
#define DETECT_EXPLAIN_TEXT_H

#include "rule.h"

/* A text of the caller. What does not fit is left out. */
struct explain_text {
    char *at;
    size_t cap, len;
};

void explain_put(struct explain_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What the rule asks of packets before and of sets of data, what it leaves for those behind, and
 * the rules that have these in common with it. */
void explain_state(struct explain_text *text, const struct sl_rules *rules,
                   const struct rule *rule);

/* What a step asks of a set of data, and which rules change the set. */
void explain_data(struct explain_text *text, const struct sl_rules *rules,
                  const struct rule_data *data);

/* The place of the rule among those that a packet matches. */
void explain_order(struct explain_text *text, const struct sl_rules *rules,
                   const struct rule *rule);

#endif

/* SPDX-License-Identifier: MIT */
/* The text that states how a rule is evaluated. */
#ifndef DETECT_EXPLAIN_TEXT_H
#define DETECT_EXPLAIN_TEXT_H

#include "rule.h"

/* A text of the caller. A part that does not fit is left out. */
struct explain_text {
    char *at;
    size_t cap, len;
};

void explain_put(struct explain_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The demands of the rule on packets before and on sets of data. The state that it leaves for those
 * behind, and the rules that have these in common with it. */
void explain_state(struct explain_text *text, const struct sl_rules *rules,
                   const struct rule *rule);

/* The act of a step on a set of data, and the rules that change the set. */
void explain_data(struct explain_text *text, const struct sl_rules *rules,
                  const struct rule_data *data);

/* The place of the rule among those that a packet matches. */
void explain_order(struct explain_text *text, const struct sl_rules *rules,
                   const struct rule *rule);

#endif

/* SPDX-License-Identifier: MIT */
/* The order in which a rule's sections are walked. */
#ifndef DETECT_RULE_ORDER_H
#define DETECT_RULE_ORDER_H

#include "detect/rule.h"

/* Sets rule->walk: sections that take little are walked first, as one that fails spares the others.
 * Those of a rule with names or with values of sets stay in their order. False: no memory. */
bool rule_order_sections(struct rule *rule, struct rule_arena *arena);

#endif

/* SPDX-License-Identifier: MIT */
/* References of rules: a system, such as cve, and a place in it. */
#ifndef DETECT_REFERENCE_H
#define DETECT_REFERENCE_H

#include "detect/rule.h"
#include "rule_text.h"

/* The systems url and cve. SL_ENOMEM. */
enum sl_status rule_reference_defaults(struct sl_rules *rules, struct sl_diag *diag);

/* Reads "SYSTEM ADDRESS", the value of "config reference:"; a system read before is replaced.
 * SL_EFORMAT, SL_ENOMEM. */
enum sl_status rule_reference_read(struct sl_rules *rules, struct rule_text value,
                                   struct sl_diag *diag);

/* The address in front of the places of a system, whose case does not count. NULL: unknown. */
const char *rule_reference_find(const struct sl_rules *rules, struct rule_text system);

#endif

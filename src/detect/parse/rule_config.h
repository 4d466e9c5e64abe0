/* SPDX-License-Identifier: MIT */
/* Lines of configuration among rules: "config NAME: VALUE". */
#ifndef DETECT_RULE_CONFIG_H
#define DETECT_RULE_CONFIG_H

#include "detect/rule.h"
#include "rule_text.h"

/* Whether a line is configuration, no rule whose action is "config". */
bool rule_config_line(struct rule_text line);

/* Reads such a line: a class of rules, or a system of references. SL_EFORMAT, SL_ENOMEM. */
enum sl_status rule_config_read(struct sl_rules *rules, struct rule_text line,
                                struct sl_diag *diag);

#endif

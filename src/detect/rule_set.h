/* SPDX-License-Identifier: MIT */
/* The rule set's own failures. */
#ifndef DETECT_RULE_SET_H
#define DETECT_RULE_SET_H

#include "rule.h"

/* SL_ENOMEM. */
enum sl_status rule_set_no_memory(struct sl_diag *diag);

/* SL_EINVAL: the set is compiled, and takes no more rules. */
enum sl_status rule_set_compiled(struct sl_diag *diag);

#endif

/* SPDX-License-Identifier: MIT */
/* Classes of rules: a short name, a description, a priority. */
#ifndef DETECT_CLASSIFICATION_H
#define DETECT_CLASSIFICATION_H

#include "detect/rule.h"
#include "rule_text.h"

struct rule_class {
    const char *description;
    uint32_t priority;
};

/* The class of this name, or NULL. A rule set contains the customary ones from the start. */
const struct rule_class *rule_class_find(const struct sl_rules *rules, struct rule_text name);

enum sl_status rule_class_defaults(struct sl_rules *rules, struct sl_diag *diag);

/* Reads "name,description,priority", the value of "config classification:"; a class read before is
 * replaced. SL_EFORMAT, SL_ENOMEM. */
enum sl_status rule_class_read(struct sl_rules *rules, struct rule_text value,
                               struct sl_diag *diag);

#endif

/* SPDX-License-Identifier: MIT */
/* Steps of a walk: each maps the set of possible cursors before it to the set behind it. */
#ifndef DETECT_EVALUATE_STEPS_H
#define DETECT_EVALUATE_STEPS_H

#include "rule_work.h"

/* `behind` has room for len + 1 cursors. `before` has one at least. The set behind is in `behind`,
 * or it is `before` itself. */
struct rule_cursors rule_content_step(const struct rule_payload *content, struct rule_scan *scan,
                                      struct rule_work *work, struct rule_cursors before,
                                      uint32_t *behind);

struct rule_cursors rule_expression_step(const struct rule_payload *step, struct rule_scan *scan,
                                         struct rule_work *work, struct rule_cursors before,
                                         uint32_t *behind);

#endif

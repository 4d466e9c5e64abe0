/* SPDX-License-Identifier: MIT */
/* Steps of a walk: each maps the set of possible cursors before it to the set behind it. */
#ifndef DETECT_EVALUATE_STEPS_H
#define DETECT_EVALUATE_STEPS_H

#include "evaluate_content.h"

/* The cursors that are possible: sorted, distinct. */
struct rule_cursors {
    uint32_t *at;
    uint32_t n;
};

/* `behind` has room for len + 1 cursors. `before` has one at least. The set behind is in `behind`,
 * or it is `before` itself. */
struct rule_cursors rule_content_step(const struct rule_payload *content, struct rule_scan *scan,
                                      struct rule_cursors before, uint32_t *behind);

#endif

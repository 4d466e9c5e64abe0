/* SPDX-License-Identifier: MIT */
/* A rule's walk over a payload. */
#ifndef DETECT_EVALUATE_SECTION_H
#define DETECT_EVALUATE_SECTION_H

#include "rule_work.h"

/* Whether there are occurrences of the contents of the n steps, which are a section, one for each,
 * that together satisfy all of the steps. Time: the buffer's length times the number of steps,
 * times, for a content that nearly occurs everywhere, its length; and what the work allows for
 * trials. */
bool rule_section_match(const struct rule_payload *steps, size_t n, struct rule_scan *scan,
                        struct rule_work *work);

/* Whether a value of such a length meets the step, a RULE_SIZE. */
static inline bool rule_size_meets(const struct rule_payload *size, uint32_t len)
{
    return (len >= (uint32_t)size->distance && len <= size->window) != size->negated;
}

#endif

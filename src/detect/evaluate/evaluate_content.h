/* SPDX-License-Identifier: MIT */
/* A rule's walk over a payload. */
#ifndef DETECT_RULE_PAYLOAD_H
#define DETECT_RULE_PAYLOAD_H

#include "detect/rule.h"
#include "rule_scan.h"

/* Whether there are occurrences of the contents of the n steps, which are a section, one for each,
 * that together satisfy all of the steps. Time: the buffer's length times the number of steps,
 * times, for a content that nearly occurs everywhere, its length. */
bool rule_section_match(const struct rule_payload *steps, size_t n, struct rule_scan *scan);

#endif

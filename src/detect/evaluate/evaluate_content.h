/* SPDX-License-Identifier: MIT */
/* A rule's walk over a payload. */
#ifndef DETECT_RULE_PAYLOAD_H
#define DETECT_RULE_PAYLOAD_H

#include "detect/rule.h"

/* A payload, or another buffer, and working memory for it. */
struct rule_scan {
    const uint8_t *payload;
    uint32_t len;
    bool is_folded;
    uint8_t *folded;     /* room for len bytes: the payload in lower case, once it was asked for */
    uint32_t *cursor[2]; /* room for len + 1 each */
};

/* Whether there are occurrences of the contents of the n steps, which are a section, one for each,
 * that together satisfy all of the steps. Time: the buffer's length times the number of steps,
 * times, for a content that nearly occurs everywhere, its length. */
bool rule_section_match(const struct rule_payload *steps, size_t n, struct rule_scan *scan);

#endif

/* SPDX-License-Identifier: MIT */
/* Names that Suricata or Snort give a meaning, and that are not understood here. A name that none
 * of them has is a misspelling. */
#ifndef DETECT_FOREIGN_KEYWORD_H
#define DETECT_FOREIGN_KEYWORD_H

#include "rule_text.h"

/* Whether this is an option of Suricata, Snort 2 or Snort 3; ASCII case is ignored. */
bool rule_keyword_is_foreign(struct rule_text name);

/* Whether this is a protocol of theirs, with the hook of Suricata's firewall or without. */
bool rule_protocol_is_foreign(struct rule_text name);

#endif

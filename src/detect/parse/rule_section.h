/* SPDX-License-Identifier: MIT */
/* The steps of a rule that is being parsed. A section is the steps of one buffer. */
#ifndef DETECT_RULE_SECTION_H
#define DETECT_RULE_SECTION_H

#include "rule_parse.h"

/* Adds a step to the section at hand. NULL: no memory. */
struct rule_payload *rule_payload_add(struct rule_parser *parser, enum rule_payload_kind kind);

/* Adds a step for the length of the section's buffer. */
enum sl_status rule_size_add(struct rule_parser *parser, const struct rule_check *check);

/* Whether the section at hand has a step. */
bool rule_section_has_steps(const struct rule_parser *parser);

/* Ends the section at hand. SL_EFORMAT: it is one of a buffer, and has no step. */
enum sl_status rule_section_end(struct rule_parser *parser);

/* Ends the steps of a rule: those that are relative to a moved one are in its buffer. */
void rule_section_follow(struct rule_parser *parser);

/* Makes the steps of each section neighbours. */
void rule_section_sort(struct rule_parser *parser);

/* Checks the sections of sorted steps that have "absent". */
enum sl_status rule_absent_check(struct rule_parser *parser);

#endif

/* SPDX-License-Identifier: MIT */
/* The ways out of a rule that does not load. */
#ifndef DETECT_RULE_FAIL_H
#define DETECT_RULE_FAIL_H

#include "rule_parse.h"

/* SL_EFORMAT: the rule is broken at parser->where. */
enum sl_status rule_bad(struct rule_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* SL_EFORMAT: the rule is broken at this byte of it. */
enum sl_status rule_bad_at(struct rule_parser *parser, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* SL_EUNSUPPORTED: the text is `what`, and the keyword in lower case. */
enum sl_status rule_skip(struct rule_parser *parser, const char *what, struct rule_text keyword);

/* SL_ENOMEM. */
enum sl_status rule_no_memory(struct rule_parser *parser);

#endif

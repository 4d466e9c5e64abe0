/* SPDX-License-Identifier: MIT */
/* Cuts the options of a rule.
 *
 *     options = "(" *( option ";" ) ")"
 *     option = name [ ":" value ]
 *     value = ["!"] '"' text '"' [ "," rest ] | rest
 *
 * A backslash takes its meaning from the character behind it. Suricata and Snort 2 ask for one
 * before each ';' and '"' of a text, Snort 3 before each '"' alone. Here ';' belongs to the text,
 * as in Snort 3, unless an option follows it: the quote before that option is missing then. */
#ifndef DETECT_OPTION_CUT_H
#define DETECT_OPTION_CUT_H

#include "rule_parse.h"

/* Takes the next option off the front of *rest, into parser->option. SL_END: the options have
 * ended, and *rest is the text behind ')'. SL_EFORMAT: they are not well-formed. */
enum sl_status option_cut_next(struct rule_parser *parser, struct rule_text *rest);

/* Where an option's name is the last word of a value, the name; NULL otherwise. It may be the next
 * option, and the ';' between them is missing. */
const char *option_cut_last_word(struct rule_text value);

#endif

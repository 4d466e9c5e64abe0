/* SPDX-License-Identifier: MIT */
/* Filters of alerts, in rules and in lines of their own. */
#ifndef DETECT_OPTION_FILTER_H
#define DETECT_OPTION_FILTER_H

#include "detect/state/rule_state.h"
#include "rule_parse.h"

/* The words of a filter, each behind its name; `at` NULL: it is missing. */
struct filter_words {
    struct rule_text type, track, count, seconds, gen_id, sig_id, ip, new_action, timeout,
        multiplier, unique_on;
};

/* Reads "name word, name word", names of the list alone; lists in brackets are one word.
 * SL_EFORMAT. */
enum sl_status rule_filter_split(struct rule_parser *parser, struct rule_text text,
                                 struct filter_words *words);

/* Reads type, track, count and seconds, of which `name` needs all, and the values that its type
 * takes. SL_EFORMAT. */
enum sl_status rule_filter_read(struct rule_parser *parser, const struct filter_words *words,
                                const char *name, struct state_filter *filter);

#endif

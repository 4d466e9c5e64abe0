/* SPDX-License-Identifier: MIT */
/* Lines that filter the alerts of rules, as files threshold.config hold them:
 *
 *     suppress gen_id 1, sig_id 2, track by_src, ip 192.0.2.0/24
 *     threshold gen_id 1, sig_id 2, type limit, track by_src, count 1, seconds 60
 *     rate_filter gen_id 1, sig_id 2, track by_src, count 9, seconds 60, new_action pass, timeout 5
 */
#ifndef DETECT_FILTER_CONFIG_H
#define DETECT_FILTER_CONFIG_H

#include "rule_parse.h"

/* Whether it is such a line. */
bool rule_filter_line(struct rule_text line);

/* Keeps the filter. SL_EFORMAT: as of a rule. SL_ENOMEM. */
enum sl_status rule_filter_line_read(struct rule_parser *parser, struct rule_text line);

/* Gives the rules their filters. A threshold of a line takes the place of the rule's own. False: no
 * memory. */
bool rule_filters_apply(struct sl_rules *rules);

#endif

/* SPDX-License-Identifier: MIT */
/* Lists of addresses and ports in rule headers, and the variables in them.
 *
 * list = item *("," item)
 *     item = ["!"] (number | "$" name | "[" list "]")
 *
 * A list holds the union of its items without the union of its negated items. A list of negated
 * items alone holds everything else. A list inside a list adds its items to the outer one. So an
 * item that is negated in either is in none: [1.0.0.0/8,[2.0.0.0/8,!1.2.3.4]] has no 1.2.3.4. A
 * negated list is a set of its own that is taken away. Suricata reads lists so, but its
 * "!10.0.0.0/8" holds no IPv6 address. Here, as in Snort, it does. */
#ifndef DETECT_RULE_LIST_H
#define DETECT_RULE_LIST_H

#include "detect/rule.h"
#include "rule_text.h"

enum rule_list_kind { RULE_ADDRESSES, RULE_PORTS };

extern const char rule_home_variable[]; /* "HOME_NET" */

/* Reads a list; *ranges is NULL where it holds every number. Equal texts share one set. SL_EFORMAT,
 * with the reason, and the byte of the text in *where; SL_ENOMEM. */
enum sl_status rule_list_read(struct sl_rules *rules, enum rule_list_kind kind,
                              struct rule_text text, const struct rule_ranges **ranges,
                              const char **where, struct sl_diag *diag);

/* Gives a variable its value, for lists that are read from now on. */
enum sl_status rule_variable_set(struct sl_rules *rules, const char *name, const char *value,
                                 struct sl_diag *diag);

/* The variables that rule sets use, with Suricata's defaults where it has them. */
enum sl_status rule_variable_defaults(struct sl_rules *rules, struct sl_diag *diag);

/* One item: an address, a network ("/24" or "/255.255.255.0") or a range ("a-b"). */
bool rule_address_read(struct rule_text text, struct rule_range *range);

/* One item: "80", "1024:", ":1023" or "80:90". */
bool rule_port_read(struct rule_text text, struct rule_range *range);

#endif

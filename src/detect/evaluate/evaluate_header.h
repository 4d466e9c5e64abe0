/* SPDX-License-Identifier: MIT */
/* The fields of a packet, and what a rule's header and checks ask of them. */
#ifndef DETECT_EVALUATE_HEADER_H
#define DETECT_EVALUATE_HEADER_H

#include "evaluate_view.h"

/* A field's value; false: the packet does not have it. */
bool rule_view_field(const struct rule_view *view, enum rule_field field, uint32_t *value);

bool rule_view_meets_checks(const struct rule *rule, const struct rule_view *view);

bool rule_view_meets_endpoints(const struct rule *rule, const struct rule_view *view);

#endif

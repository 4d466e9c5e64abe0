/* SPDX-License-Identifier: MIT */
/* The fields of a packet, and the demands of a rule's header and checks on them. It is inline as
 * far as most rules need it: it runs for each rule that a packet may match. */
#ifndef DETECT_EVALUATE_HEADER_H
#define DETECT_EVALUATE_HEADER_H

#include "evaluate_view.h"

/* The fields that few rules ask for. */
bool rule_view_rare_field(struct rule_view *view, enum rule_field field, uint32_t *value);

/* A check of a field that repeats. */
bool rule_view_meets_repeated(const struct rule_check *check, const struct rule_view *view);

static inline bool rule_view_transport_byte(const struct rule_view *view, uint32_t protocols,
                                            uint32_t at, uint32_t *value)
{
    if ((view->protocols & protocols) == 0 || at >= view->transport_len)
        return false;
    *value = view->transport[at];
    return true;
}

/* A field's value; false: the packet does not have it. */
static inline bool rule_view_field(struct rule_view *view, enum rule_field field, uint32_t *value)
{
    switch (field) {
    case RULE_PAYLOAD_LEN:
        *value = view->scan->len;
        return true;
    case RULE_TCP_FLAGS:
        return rule_view_transport_byte(view, RULE_TCP, 13, value);
    case RULE_ICMP_TYPE:
        return rule_view_transport_byte(view, RULE_ICMPV4 | RULE_ICMPV6, 0, value);
    case RULE_ICMP_CODE:
        return rule_view_transport_byte(view, RULE_ICMPV4 | RULE_ICMPV6, 1, value);
    default:
        return rule_view_rare_field(view, field, value);
    }
}

static inline bool rule_view_meets_checks(const struct rule *rule, struct rule_view *view)
{
    for (size_t i = 0; i < rule->n_checks; i++) {
        const struct rule_check *check = &rule->check[i];
        uint32_t value;

        if (check->field >= RULE_APP) {
            if (!rule_view_meets_repeated(check, view))
                return false;
        } else if (!rule_view_field(view, (enum rule_field)check->field, &value) ||
                   !rule_check_holds(check, value)) {
            return false;
        }
    }
    return true;
}

static inline bool rule_view_in_ports(const struct rule_ranges *ports, const struct rule_view *view,
                                      uint16_t port)
{
    return ports == NULL || (view->has_ports && rule_ranges_contain(ports, port));
}

/* Whether the packet's address, RULE_SOURCE or RULE_DESTINATION, is among these. */
static inline bool rule_view_in_addresses(const struct rule_ranges *addresses,
                                          struct rule_view *view, int which)
{
    struct rule_answer *answer = &view->answer[which];

    if (addresses == NULL || view->ip == NULL)
        return addresses == NULL;
    if (answer->addresses[0] == addresses)
        return answer->inside[0];
    if (answer->addresses[1] != addresses) {
        answer->addresses[1] = answer->addresses[0];
        answer->inside[1] = answer->inside[0];
        answer->addresses[0] = addresses;
        answer->inside[0] =
            rule_ranges_contain(addresses, which == RULE_SOURCE ? view->src : view->dst);
        return answer->inside[0];
    }
    return answer->inside[1];
}

static inline bool rule_view_meets_endpoints(const struct rule *rule, struct rule_view *view)
{
    const struct rule_endpoint *from = &rule->from, *to = &rule->to;

    if (rule_view_in_ports(to->ports, view, view->dst_port) &&
        rule_view_in_ports(from->ports, view, view->src_port) &&
        rule_view_in_addresses(to->addresses, view, RULE_DESTINATION) &&
        rule_view_in_addresses(from->addresses, view, RULE_SOURCE))
        return true;
    return rule->both_ways && rule_view_in_ports(to->ports, view, view->src_port) &&
           rule_view_in_ports(from->ports, view, view->dst_port) &&
           rule_view_in_addresses(to->addresses, view, RULE_SOURCE) &&
           rule_view_in_addresses(from->addresses, view, RULE_DESTINATION);
}

#endif

/* SPDX-License-Identifier: MIT */
#include "evaluate_header.h"

#include "base/bytes.h"

static bool read_byte(const uint8_t *header, uint32_t header_len, uint32_t at, uint32_t *value)
{
    if (header == NULL || at >= header_len)
        return false;
    *value = header[at];
    return true;
}

bool rule_view_field(const struct rule_view *view, enum rule_field field, uint32_t *value)
{
    const bool ipv4 = (view->protocols & RULE_IPV4) != 0;
    const bool icmp = (view->protocols & (RULE_ICMPV4 | RULE_ICMPV6)) != 0;

    switch (field) {
    case RULE_PAYLOAD_LEN:
        *value = view->scan->len;
        return true;
    case RULE_TTL:
        return read_byte(view->ip, view->ip_len, ipv4 ? 8 : 7, value);
    case RULE_IP_ID:
        *value = ipv4 && view->ip_len >= 6 ? load_be16(view->ip + 4) : 0;
        return ipv4 && view->ip_len >= 6;
    case RULE_IP_PROTOCOL:
        *value = view->ip_protocol;
        return view->ip != NULL;
    case RULE_FRAGMENT_BITS:
        return ipv4 && read_byte(view->ip, view->ip_len, 6, value);
    case RULE_TCP_FLAGS:
        return (view->protocols & RULE_TCP) != 0 &&
               read_byte(view->transport, view->transport_len, 13, value);
    case RULE_ICMP_TYPE:
        return icmp && read_byte(view->transport, view->transport_len, 0, value);
    case RULE_ICMP_CODE:
        return icmp && read_byte(view->transport, view->transport_len, 1, value);
    case RULE_SAME_ADDRESS:
        *value = view->src == view->dst;
        return view->ip != NULL;
    }
    return false;
}

bool rule_view_meets_checks(const struct rule *rule, const struct rule_view *view)
{
    for (size_t i = 0; i < rule->n_checks; i++) {
        const struct rule_check *check = &rule->check[i];
        uint32_t value;

        if (!rule_view_field(view, (enum rule_field)check->field, &value))
            return false;
        value &= check->mask;
        if ((value >= check->first && value <= check->last) == check->negated)
            return false;
    }
    return true;
}

static bool in_ports(const struct rule_ranges *ports, const struct rule_view *view, uint16_t port)
{
    return ports == NULL || (view->has_ports && rule_ranges_contain(ports, port));
}

static bool in_addresses(const struct rule_ranges *addresses, const struct rule_view *view,
                         unsigned __int128 addr)
{
    return addresses == NULL || (view->ip != NULL && rule_ranges_contain(addresses, addr));
}

bool rule_view_meets_endpoints(const struct rule *rule, const struct rule_view *view)
{
    const struct rule_endpoint *from = &rule->from, *to = &rule->to;

    if (in_ports(to->ports, view, view->dst_port) && in_ports(from->ports, view, view->src_port) &&
        in_addresses(to->addresses, view, view->dst) &&
        in_addresses(from->addresses, view, view->src))
        return true;
    return rule->both_ways && in_ports(to->ports, view, view->src_port) &&
           in_ports(from->ports, view, view->dst_port) &&
           in_addresses(to->addresses, view, view->src) &&
           in_addresses(from->addresses, view, view->dst);
}

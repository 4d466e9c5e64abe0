/* SPDX-License-Identifier: MIT */
#include "rule_header_filter.h"

#include "rule_compile.h"

/* What the rules of a list see. */
static uint8_t seen_in(const struct rule_lists *lists, uint32_t key, const struct sl_rules *rules)
{
    uint16_t sees = 0;

    if (rule_list_is_empty(lists, key))
        return 0;
    for (uint32_t i = lists->first[key]; i < lists->first[key + 1]; i++)
        sees |= rules->rule[lists->rule[i]]->sees;
    return (uint8_t)(sees & RULE_SEES_ALL);
}

static void add_lists(uint8_t *sees, int shift, const struct rule_lists *lists,
                      const struct sl_rules *rules)
{
    for (uint32_t key = 0; key < lists->n_keys; key++)
        sees[key] |= (uint8_t)(seen_in(lists, key, rules) << shift);
}

/* Of the blocks of IPv4 that have an address of a rule. */
static void add_blocks(uint8_t *sees, int shift, const struct rule_address_index *index,
                       const struct sl_rules *rules)
{
    for (uint32_t block = 0; block < RULE_ADDRESS_BLOCKS && index->n != 0; block++)
        for (uint32_t segment = index->ipv4[block]; segment <= index->ipv4[block + 1]; segment++)
            sees[block] |= (uint8_t)(seen_in(&index->lists, segment, rules) << shift);
}

/* The protocols of the rules that are found by their addresses. */
static void add_protocols(struct rule_header_filter *filter, const struct rule_lists *lists,
                          const struct sl_rules *rules)
{
    const uint16_t ip = RULE_PACKET | RULE_IP | RULE_IPV4 | RULE_IPV6;
    const uint32_t n = lists->n_keys != 0 ? lists->first[lists->n_keys] : 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct rule *rule = rules->rule[lists->rule[i]];

        if ((rule->protocol & (ip | RULE_TCP)) != 0)
            filter->tcp_addresses |= rule->sees & RULE_SEES_ALL;
        if ((rule->protocol & (ip | RULE_UDP)) != 0)
            filter->udp_addresses |= rule->sees & RULE_SEES_ALL;
    }
}

void rule_header_filter_make(struct rule_header_filter *filter, const struct rule_index *index,
                             const struct sl_rules *rules)
{
    const struct rule_lists *carried = &index->by_carried, *protocols = &index->by_ip_protocol;

    filter->all_tcp =
        seen_in(carried, RULE_CARRIES_TCP, rules) | seen_in(protocols, SL_IP_TCP, rules);
    filter->all_udp =
        seen_in(carried, RULE_CARRIES_UDP, rules) | seen_in(protocols, SL_IP_UDP, rules);
    add_lists(filter->apps, 0, &index->by_app, rules);
    add_lists(filter->tcp_flags, 0, &index->by_tcp_flags, rules);
    add_lists(filter->ports, 0, &index->by_dst_port, rules);
    add_lists(filter->ports, RULE_HEADER_SOURCE, &index->by_src_port, rules);
    add_blocks(filter->blocks, 0, &index->by_destination, rules);
    add_blocks(filter->blocks, RULE_HEADER_SOURCE, &index->by_source, rules);
    add_protocols(filter, &index->by_source.lists, rules);
    add_protocols(filter, &index->by_destination.lists, rules);
}

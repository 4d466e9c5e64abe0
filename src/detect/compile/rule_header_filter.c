/* SPDX-License-Identifier: MIT */
#include "rule_header_filter.h"

#include "rule_compile.h"

static void add(uint64_t *bits, uint32_t key)
{
    bits[key / 64] |= UINT64_C(1) << key % 64;
}

/* Whether a rule of the list sees one of these. */
static bool has_rule(const struct rule_lists *lists, uint32_t key, const struct sl_rules *rules,
                     uint16_t sees)
{
    if (rule_list_is_empty(lists, key))
        return false;
    for (uint32_t i = lists->first[key]; i < lists->first[key + 1]; i++)
        if ((rules->rule[lists->rule[i]]->sees & sees) != 0)
            return true;
    return false;
}

static void add_lists(uint64_t *bits, const struct rule_lists *lists, const struct sl_rules *rules,
                      uint16_t sees)
{
    for (uint32_t key = 0; key < lists->n_keys; key++)
        if (has_rule(lists, key, rules, sees))
            add(bits, key);
}

/* Adds the blocks of IPv4 that have an address of a rule. */
static void add_blocks(uint64_t *bits, const struct rule_address_index *index,
                       const struct sl_rules *rules, uint16_t sees)
{
    for (uint32_t block = 0; block < RULE_ADDRESS_BLOCKS && index->n != 0; block++)
        for (uint32_t segment = index->ipv4[block]; segment <= index->ipv4[block + 1]; segment++)
            if (has_rule(&index->lists, segment, rules, sees)) {
                add(bits, block);
                break;
            }
}

/* The protocols of the rules that are found by their addresses. */
static void add_protocols(struct rule_header_filter *filter, const struct rule_lists *lists,
                          const struct sl_rules *rules, uint16_t sees)
{
    const uint16_t ip = RULE_PACKET | RULE_IP | RULE_IPV4 | RULE_IPV6;
    const uint32_t n = lists->n_keys != 0 ? lists->first[lists->n_keys] : 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct rule *rule = rules->rule[lists->rule[i]];

        if ((rule->sees & sees) == 0)
            continue;
        filter->tcp_addresses |= (rule->protocol & (ip | RULE_TCP)) != 0;
        filter->udp_addresses |= (rule->protocol & (ip | RULE_UDP)) != 0;
    }
}

void rule_header_filter_make(struct rule_header_filter *filter, const struct rule_index *index,
                             const struct sl_rules *rules, uint16_t sees)
{
    const struct rule_lists *carried = &index->by_carried, *protocols = &index->by_ip_protocol;

    filter->all_tcp = has_rule(carried, RULE_CARRIES_TCP, rules, sees) ||
                      has_rule(protocols, SL_IP_TCP, rules, sees);
    filter->all_udp = has_rule(carried, RULE_CARRIES_UDP, rules, sees) ||
                      has_rule(protocols, SL_IP_UDP, rules, sees);
    add_lists(filter->apps, &index->by_app, rules, sees);
    add_lists(filter->tcp_flags, &index->by_tcp_flags, rules, sees);
    add_lists(filter->dst_ports, &index->by_dst_port, rules, sees);
    add_lists(filter->src_ports, &index->by_src_port, rules, sees);
    add_blocks(filter->src_blocks, &index->by_source, rules, sees);
    add_blocks(filter->dst_blocks, &index->by_destination, rules, sees);
    add_protocols(filter, &index->by_source.lists, rules, sees);
    add_protocols(filter, &index->by_destination.lists, rules, sees);
}

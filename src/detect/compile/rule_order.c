/* SPDX-License-Identifier: MIT */
#include "rule_order.h"

static bool is_bound(const struct rule *rule)
{
    for (size_t i = 0; i < rule->n_payloads; i++)
        if (rule->payload[i].kind == RULE_BYTE_SET || rule->payload[i].asks)
            return true;
    return false;
}

/* Most buffers are short. A body is long, and a stream's block is gathered for a message first. */
static unsigned price_of(const struct rule_payload *section)
{
    if (section->section == 0)
        return 3;
    if (rule_buffer_is_value(section->buffer) && rule_buffer_id(section->buffer) == SL_APP_BODY)
        return 2;
    return section->chain != NULL;
}

static size_t find_sections(const struct rule *rule, struct rule_section *walk)
{
    size_t n = 0;

    for (size_t i = 0; i < rule->n_payloads; i++) {
        if (i == 0 || rule->payload[i].section != rule->payload[i - 1].section)
            walk[n++] = (struct rule_section){&rule->payload[i], 0};
        walk[n - 1].n++;
    }
    return n;
}

bool rule_order_sections(struct rule *rule, struct rule_arena *arena)
{
    const bool bound = is_bound(rule);
    struct rule_section *walk = rule_arena_alloc(arena, rule->n_payloads * sizeof *walk);

    if (walk == NULL)
        return false;
    rule->n_sections = find_sections(rule, walk);
    for (size_t i = 1; i < rule->n_sections && !bound; i++) {
        const struct rule_section section = walk[i];
        const unsigned price = price_of(section.steps);
        size_t to = i;

        for (; to > 0 && price_of(walk[to - 1].steps) > price; to--)
            walk[to] = walk[to - 1];
        walk[to] = section;
    }
    rule->walk = walk;
    return true;
}

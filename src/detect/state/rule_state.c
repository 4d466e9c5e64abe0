/* SPDX-License-Identifier: MIT */
#include "rule_state.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "detect/rule.h"

uint64_t state_key(const char *name, size_t name_len)
{
    return XXH3_64bits(name, name_len);
}

/* The place of an action in Suricata's order. */
static uint64_t action_class(const struct rule *rule)
{
    static const char *const drops[] = {"drop", "sdrop", "block"};

    if (rule->pass)
        return 0;
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++)
        if (strcasecmp(rule->signature.action, drops[i]) == 0)
            return 1;
    return strncasecmp(rule->signature.action, "reject", strlen("reject")) == 0 ? 2 : 3;
}

/* Rules that set alone, set and read, read alone, and do neither. */
static uint64_t variable_class(const struct rule *rule)
{
    bool reads = false, sets = false;

    for (size_t i = 0; rule->state != NULL && i < rule->state->n_options; i++) {
        sets |= state_is_effect(rule->state->option[i].act);
        reads |= !state_is_effect(rule->state->option[i].act);
    }
    if (sets)
        return reads ? 1 : 0;
    return reads ? 2 : 3;
}

struct place {
    uint64_t class; /* action, variables, priority */
    uint32_t rule;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    if (left->class != right->class)
        return left->class < right->class ? -1 : 1;
    return left->rule < right->rule ? -1 : left->rule > right->rule;
}

bool state_rank(const struct sl_rules *rules, uint32_t *rank)
{
    struct place *place = malloc((rules->n_rules + 1) * sizeof *place);

    if (place == NULL)
        return false;
    for (uint32_t i = 0; i < rules->n_rules; i++) {
        const struct rule *rule = rules->rule[i];

        place[i] = (struct place){
            action_class(rule) << 48 | variable_class(rule) << 40 | rule->signature.priority, i};
    }
    qsort(place, rules->n_rules, sizeof *place, compare_places);
    for (uint32_t i = 0; i < rules->n_rules; i++)
        rank[place[i].rule] = i;
    free(place);
    return true;
}

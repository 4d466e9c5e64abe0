/* SPDX-License-Identifier: MIT */
#include "rule_state.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "detect/rule.h"

uint64_t state_key(enum state_names kind, const void *name, size_t name_len)
{
    const uint64_t key = XXH3_64bits_withSeed(name, name_len, kind);

    return key != 0 ? key : 1;
}

/* ---- late rules ------------------------------------------------------------------------------ */

static bool is_late(const struct rule_state *state, const struct rule_map *late)
{
    if (state->asks_data)
        return true;
    for (size_t i = 0; i < state->n_options; i++) {
        const struct state_option *option = &state->option[i];

        if ((option->scope != STATE_FLOW && option->scope != STATE_TX) ||
            (option->value_key != 0 &&
             rule_map_get(late, &option->value_key, sizeof option->value_key) != NULL))
            return true;
        for (uint32_t k = 0; k < option->n; k++)
            if (rule_map_get(late, &option->key[k], sizeof *option->key) != NULL)
                return true;
    }
    return false;
}

/* False: no memory. */
static bool add_variables(const struct rule_state *state, struct rule_map *late)
{
    for (size_t i = 0; i < state->n_options; i++) {
        struct state_option *option = (struct state_option *)&state->option[i];

        if (option->value_key != 0 &&
            !rule_map_put(late, &option->value_key, sizeof option->value_key, option))
            return false;
        for (uint32_t k = 0; k < option->n; k++)
            if (!rule_map_put(late, &option->key[k], sizeof *option->key, option))
                return false;
    }
    return true;
}

/* A pass over all rules for each link of a chain of rules: chains are short, and few rules have
 * state. */
bool state_find_late(struct sl_rules *rules)
{
    struct rule_map late = {.slot = NULL};
    bool done = true, changed = true;

    while (done && changed) {
        changed = false;
        for (size_t i = 0; i < rules->n_rules && done; i++) {
            struct rule_state *state = rules->rule[i]->state;

            if (state == NULL || state->late || !is_late(state, &late))
                continue;
            state->late = changed = true;
            done = add_variables(state, &late);
        }
    }
    rule_map_free(&late);
    return done;
}

/* ---- order ----------------------------------------------------------------------------------- */

static enum rule_action_kind action_of(const struct rule *rule)
{
    static const char *const drops[] = {"drop", "sdrop", "block"};

    if (rule->pass)
        return RULE_PASS;
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++)
        if (strcasecmp(rule->signature.action, drops[i]) == 0)
            return RULE_DROP;
    return strncasecmp(rule->signature.action, "reject", strlen("reject")) == 0 ? RULE_REJECT
                                                                                : RULE_ALERT;
}

void state_find_actions(struct sl_rules *rules)
{
    const uint8_t *place = rules->action_place;

    for (size_t i = 0; i < rules->n_rules; i++) {
        struct rule *rule = rules->rule[i];
        const enum rule_action_kind action = action_of(rule);

        rule->drops = action == RULE_DROP || action == RULE_REJECT;
        rule->before_pass = place[action] < place[RULE_PASS];
    }
}

/* The kinds of variables, as Suricata sorts by them. */
enum { BITS_OF_FLOW, NUMBERS_OF_FLOW, BITS_OF_HOST, BITS_OF_PAIR, BITS_OF_TX, N_KINDS };

static int kind_of(const struct state_option *option)
{
    if (option->scope == STATE_TX)
        return BITS_OF_TX;
    if (option->scope != STATE_FLOW)
        return option->scope == STATE_PAIR ? BITS_OF_PAIR : BITS_OF_HOST;
    return option->is_number ? NUMBERS_OF_FLOW : BITS_OF_FLOW;
}

/* Rules that set alone, set and read, read alone, and do neither: two bits for each kind. */
static uint64_t variable_class(const struct rule *rule)
{
    bool reads[N_KINDS] = {false}, sets[N_KINDS] = {false};
    uint64_t class = 0;

    for (size_t i = 0; rule->state != NULL && i < rule->state->n_options; i++) {
        const struct state_option *option = &rule->state->option[i];

        (state_is_effect(option->act) ? sets : reads)[kind_of(option)] = true;
    }
    for (int kind = 0; kind < N_KINDS; kind++)
        class = class << 2 | (uint64_t)(sets[kind] ? reads[kind] : 3 - reads[kind]);
    return class;
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
        const uint64_t action = rules->action_place[action_of(rule)];

        place[i] =
            (struct place){action << 48 | variable_class(rule) << 36 | rule->signature.priority, i};
    }
    qsort(place, rules->n_rules, sizeof *place, compare_places);
    for (uint32_t i = 0; i < rules->n_rules; i++)
        rank[place[i].rule] = i;
    free(place);
    return true;
}

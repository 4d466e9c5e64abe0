/* SPDX-License-Identifier: MIT */
#include "settle.h"

#include <string.h>

/* The variable of a flow that a rule has passed: no name has this key. */
enum { FLOW_PASSED = 0 };

/* ---- variables ------------------------------------------------------------------------------- */

/* Where the variables of a scope lie, where they are a list. */
struct list {
    struct flow_bits_pool *pool;
    struct flow_bits *bits; /* NULL: there is none */
};

/* False: they lie in the table. */
static bool list_of(const struct state_place *place, enum state_scope scope, struct list *list)
{
    if (scope == STATE_TX)
        *list = (struct list){&place->message->pool, &place->message->bits};
    else
        *list = (struct list){place->pool, place->bits};
    return scope == STATE_TX || place->table == NULL;
}

/* The value of a variable; NULL: it is not set. */
static uint32_t *find(const struct state_place *place, enum state_scope scope, uint64_t name)
{
    struct state_key key = {.what = name};
    struct list list;

    if (list_of(place, scope, &list)) {
        struct flow_bit *bit =
            list.bits != NULL ? flow_bits_find(list.pool, list.bits, name) : NULL;

        return bit != NULL ? &bit->value : NULL;
    }
    if (!state_owner(&key, scope, place->packet))
        return NULL;

    struct state_entry *entry = state_table_find(place->table, &key, place->packet->now);

    return entry != NULL ? &entry->value : NULL;
}

static void set(const struct state_place *place, const struct state_option *option, uint64_t name,
                uint32_t value)
{
    struct state_key key = {.what = name};
    struct list list;

    if (list_of(place, option->scope, &list)) {
        if (list.bits != NULL)
            flow_bits_set(list.pool, list.bits, name, value);
        return;
    }
    if (!state_owner(&key, option->scope, place->packet))
        return;

    struct state_entry *entry = state_table_find(place->table, &key, place->packet->now);

    if (entry == NULL)
        entry = state_table_add(place->table, &key, place->packet->now, option->seconds);
    entry->since = place->packet->now;
    entry->seconds = option->seconds;
    entry->value = value;
}

static void unset(const struct state_place *place, const struct state_option *option, uint64_t name)
{
    struct state_key key = {.what = name};
    struct list list;

    if (list_of(place, option->scope, &list)) {
        if (list.bits != NULL)
            flow_bits_unset(list.pool, list.bits, name);
        return;
    }
    if (!state_owner(&key, option->scope, place->packet))
        return;

    struct state_entry *entry = state_table_find(place->table, &key, place->packet->now);

    if (entry != NULL)
        state_table_remove(place->table, entry);
}

/* ---- the options of a rule ------------------------------------------------------------------- */

/* Whether all variables are set, or, where `any` is true, one of them. */
static bool are_set(const struct state_place *place, const struct state_option *option, bool any)
{
    for (uint32_t i = 0; i < option->n; i++)
        if ((find(place, option->scope, option->key[i]) != NULL) == any)
            return any;
    return !any;
}

/* The number that an option names. */
static uint32_t number_of(const struct state_place *place, const struct state_option *option)
{
    const uint32_t *value =
        option->value_key != 0 ? find(place, option->scope, option->value_key) : &option->value;

    return value != NULL ? *value : 0;
}

static bool compare(const struct state_place *place, const struct state_option *option)
{
    const uint32_t *found = find(place, option->scope, option->key[0]);
    const uint32_t value = found != NULL ? *found : 0, other = number_of(place, option);

    if (found == NULL)
        return false;
    switch (option->act) {
    case STATE_EQUAL:
        return value == other;
    case STATE_UNEQUAL:
        return value != other;
    case STATE_LESS:
        return value < other;
    case STATE_AT_MOST:
        return value <= other;
    case STATE_GREATER:
        return value > other;
    default:
        return value >= other;
    }
}

static bool meets_option(const struct state_place *place, const struct state_option *option)
{
    switch (option->act) {
    case STATE_ANY_SET:
    case STATE_ALL_SET:
        return are_set(place, option, option->act == STATE_ANY_SET);
    case STATE_SOME_UNSET:
        return !are_set(place, option, false);
    default:
        return compare(place, option);
    }
}

static bool meets(const struct state_place *place, const struct rule_state *rule)
{
    for (size_t i = 0; i < rule->n_options && !state_is_effect(rule->option[i].act); i++)
        if (!meets_option(place, &rule->option[i]))
            return false;
    return true;
}

static void change(const struct state_place *place, const struct state_option *option,
                   uint64_t name)
{
    const uint32_t *value = find(place, option->scope, name);

    switch (option->act) {
    case STATE_SET:
        set(place, option, name, number_of(place, option));
        return;
    case STATE_ADD:
        set(place, option, name, (value != NULL ? *value : 0) + number_of(place, option));
        return;
    case STATE_SUBTRACT:
        if (value != NULL)
            set(place, option, name, *value - number_of(place, option));
        return;
    case STATE_TOGGLE:
        if (value == NULL) {
            set(place, option, name, 1);
            return;
        }
        break;
    default:
        break;
    }
    unset(place, option, name);
}

static void apply(const struct state_place *place, const struct rule_state *rule)
{
    for (size_t i = 0; i < rule->n_options; i++)
        for (uint32_t k = 0; k < rule->option[i].n && state_is_effect(rule->option[i].act); k++)
            change(place, &rule->option[i], rule->option[i].key[k]);
}

/* ---- packets --------------------------------------------------------------------------------- */

static const struct rule *rule_of(const struct rule_findings *findings, size_t candidate)
{
    return findings->rules->rule[findings->alert[candidate].signature];
}

/* The outcome of a candidate. */
static enum rule_outcome outcome_of(const struct rule_findings *findings, size_t candidate,
                                    const struct state_place *place)
{
    const struct rule *rule = rule_of(findings, candidate);

    if (rule->state == NULL)
        return rule->alerts ? RULE_NOTED : rule->pass ? RULE_PASSED : RULE_RAISED;
    if (!meets(place, rule->state) ||
        (rule->state->asks_data && !state_data_meets(place->data, findings, candidate)))
        return RULE_FAILED;
    apply(place, rule->state);
    if (rule->pass)
        return rule->alerts ? RULE_NOTED : RULE_PASSED;
    return rule->state->noalert ? RULE_SILENT : RULE_RAISED;
}

static bool is_passed(enum rule_outcome outcome)
{
    return outcome == RULE_PASSED || outcome == RULE_NOTED;
}

/* Settles the candidates that are late, or those that are not. */
static void settle(struct rule_findings *findings, struct sl_candidates *held,
                   const struct state_place *where, bool late)
{
    struct state_message message;
    struct state_place place = *where;
    bool kept = false; /* the flow, by an alert before */

    message.pool = (struct flow_bits_pool){.bit = message.bit, .max = FLOW_BITS_MAX};
    message.bits = (struct flow_bits){0};
    place.message = &message;
    for (size_t c = held->first; c < held->first + held->n; c++) {
        const struct rule *rule = rule_of(findings, c);

        if (findings->outcome[c] != RULE_OPEN || (rule->state != NULL && rule->state->late) != late)
            continue;

        const enum rule_outcome outcome = outcome_of(findings, c, &place);

        findings->outcome[c] = (uint8_t)outcome;
        held->passed |= is_passed(outcome);
        kept |= outcome == RULE_RAISED && rule->keeps_flow;
        if (is_passed(outcome) && rule->passes_flow && !kept && place.bits != NULL)
            flow_bits_set(place.pool, place.bits, FLOW_PASSED, 1);
    }
}

bool state_has_passed(const struct flow_bits_pool *pool, const struct flow_bits *bits)
{
    return flow_bits_find(pool, bits, FLOW_PASSED) != NULL;
}

/* A flow that a rule has passed: no rule takes effect. */
static bool leave_passed(struct rule_findings *findings, struct sl_candidates *held,
                         const struct state_place *place)
{
    held->passed = place->bits != NULL && state_has_passed(place->pool, place->bits);
    if (held->passed)
        memset(findings->outcome + held->first, RULE_FAILED, held->n);
    return held->passed;
}

bool state_settle(struct rule_findings *findings, size_t i, const struct state_place *place)
{
    struct sl_candidates *held = &findings->held[i];
    bool alerted = false, noted = false;

    if (findings->any_pass && leave_passed(findings, held, place))
        return false;
    settle(findings, held, place, false);
    for (size_t c = held->first; c < held->first + held->n; c++) {
        const struct rule *rule = rule_of(findings, c);

        if (rule->pass && rule->state != NULL && rule->state->late)
            return false; /* it may pass yet */
        noted |= findings->outcome[c] == RULE_NOTED;
        alerted |= findings->outcome[c] == RULE_RAISED &&
                   !rule_findings_passes(findings, held, c) &&
                   (rule->state == NULL || (rule->state->n_filters == 0 && !rule->state->late));
    }
    held->alerted = noted || alerted;
    return held->alerted;
}

/* Whether a rule tags packets: it raises an alert, or wants none. */
static bool tags(const struct rule_findings *findings, size_t candidate)
{
    const struct rule_state *state = rule_of(findings, candidate)->state;
    const uint8_t outcome = findings->outcome[candidate];

    return state != NULL && state->tag != NULL &&
           (outcome == RULE_RAISED || (outcome == RULE_SILENT && state->noalert));
}

bool state_decide(struct rule_findings *findings, size_t i, const struct state_place *place)
{
    struct sl_candidates *held = &findings->held[i];
    bool alerted = false;

    settle(findings, held, place, true);
    for (size_t c = held->first; c < held->first + held->n; c++) {
        const struct rule *rule = rule_of(findings, c);

        if (rule_findings_passes(findings, held, c))
            continue;
        if (findings->outcome[c] == RULE_RAISED && rule->state != NULL &&
            !state_filters_pass(place->table, rule->state, place->packet))
            findings->outcome[c] = RULE_SILENT;
        else if (tags(findings, c))
            state_tags_start(place->tags, place->table, rule->state, place->packet);
        alerted |= findings->outcome[c] == RULE_RAISED;
    }
    return alerted;
}

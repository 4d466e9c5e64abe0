/* SPDX-License-Identifier: MIT */
#include "settle.h"

#include <string.h>

#include "detect/compile/rule_compile.h"

/* The variable of a flow that a rule has passed or dropped: no name has this key. */
enum { FLOW_ENDED = 0 };

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

/* A drop or reject rule that is met, whether it alerts or not. */
static bool is_dropped(const struct rule_findings *findings, const struct sl_candidates *held,
                       size_t candidate)
{
    const uint8_t outcome = findings->outcome[candidate];

    return rule_of(findings, candidate)->drops &&
           (outcome == RULE_RAISED || outcome == RULE_SILENT) &&
           !rule_findings_passes(findings, held, candidate);
}

/* The first to end a flow decides how. */
static void end_flow(const struct state_place *place, enum state_flow_end how)
{
    if (state_flow_end(place->pool, place->bits) == STATE_FLOW_GOES_ON)
        flow_bits_set(place->pool, place->bits, FLOW_ENDED, how);
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
        kept |= is_dropped(findings, held, c) && rule->before_pass;
        if (rule->ends_flow && place.bits != NULL &&
            ((is_passed(outcome) && !kept) || is_dropped(findings, held, c)))
            end_flow(&place, is_passed(outcome) ? STATE_FLOW_PASSED : STATE_FLOW_DROPPED);
    }
}

enum state_flow_end state_flow_end(const struct flow_bits_pool *pool, const struct flow_bits *bits)
{
    const struct flow_bit *ended = flow_bits_find(pool, bits, FLOW_ENDED);

    return ended != NULL ? (enum state_flow_end)ended->value : STATE_FLOW_GOES_ON;
}

/* A flow that a rule has passed or dropped: no rule takes effect. */
static bool leave_ended(struct rule_findings *findings, struct sl_candidates *held,
                        const struct state_place *place)
{
    held->passed =
        place->bits != NULL && state_flow_end(place->pool, place->bits) != STATE_FLOW_GOES_ON;
    if (held->passed)
        memset(findings->outcome + held->first, RULE_FAILED, held->n);
    return held->passed;
}

bool state_settle(struct rule_findings *findings, size_t i, const struct state_place *place)
{
    struct sl_candidates *held = &findings->held[i];
    bool alerted = false, noted = false;

    if (findings->any_pass && leave_ended(findings, held, place))
        return false;
    settle(findings, held, place, false);
    if (findings->rules->index->any_end)
        return false; /* the flow may have ended */
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

/* ---- flows that end late --------------------------------------------------------------------- */

/* A flow that sends nothing for a day has ended otherwise. */
enum { ENDED_SECONDS = 86400 };

static struct state_key ended_key(const struct state_packet *packet)
{
    return (struct state_key){.owner = {packet->flow}, .what = 1};
}

static bool has_ended_late(const struct state_place *place)
{
    const struct state_key key = ended_key(place->packet);
    struct state_entry *entry =
        place->packet->flow != 0 ? state_table_find(place->table, &key, place->packet->now) : NULL;

    if (entry != NULL)
        entry->since = place->packet->now;
    return entry != NULL;
}

static void end_late(const struct state_place *place)
{
    const struct state_key key = ended_key(place->packet);

    if (place->packet->flow != 0 && !has_ended_late(place))
        (void)state_table_add(place->table, &key, place->packet->now, ENDED_SECONDS);
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* Filters a candidate's alert, and starts what it asks for. */
static void decide(struct rule_findings *findings, const struct sl_candidates *held, size_t c,
                   const struct state_place *place)
{
    const struct rule *rule = rule_of(findings, c);
    bool drops = rule->drops;

    if (rule->ends_late && is_passed(findings->outcome[c]))
        end_late(place);
    if (rule_findings_passes(findings, held, c))
        return;
    if (findings->outcome[c] == RULE_RAISED && rule->state != NULL &&
        !state_filters_pass(place->table, rule->state, place->packet, &drops)) {
        findings->outcome[c] = RULE_SILENT;
        return;
    }
    if (tags(findings, c))
        state_tags_start(place->tags, place->table, rule->state, place->packet);
    if (rule->ends_late && drops && findings->outcome[c] != RULE_FAILED)
        end_late(place);
}

bool state_decide(struct rule_findings *findings, size_t i, const struct state_place *place)
{
    struct sl_candidates *held = &findings->held[i];
    bool alerted = false;

    if (findings->rules->index->any_end && has_ended_late(place)) {
        memset(findings->outcome + held->first, RULE_FAILED, held->n);
        return false;
    }
    settle(findings, held, place, true);
    for (size_t c = held->first; c < held->first + held->n; c++) {
        decide(findings, held, c, place);
        alerted |= findings->outcome[c] == RULE_RAISED && !rule_findings_passes(findings, held, c);
    }
    return alerted;
}

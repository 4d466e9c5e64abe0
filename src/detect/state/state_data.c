/* SPDX-License-Identifier: MIT */
#include "state_data.h"

#include <stdlib.h>
#include <string.h>

#include "detect/data/data_file.h"
#include "rule_state.h"

struct state_set {
    uint64_t key;
    struct data_set set;
    char *save; /* NULL: it is not saved */
    struct state_set *next;
};

void state_data_init(struct state_data *data, uint64_t secret)
{
    *data = (struct state_data){.secret = secret};
    data->last = &data->first;
}

static void free_set(struct state_set *set)
{
    data_set_free(&set->set);
    free(set->save);
    free(set);
}

void state_data_free(struct state_data *data)
{
    while (data->first != NULL) {
        struct state_set *set = data->first;

        data->first = set->next;
        free_set(set);
    }
    rule_map_free(&data->by_key);
}

/* The state's thread alone writes the counters. */
static void count(atomic_uint_fast64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static bool changes(const struct rule_payload *step)
{
    return step->kind == RULE_DATA &&
           (step->data->act == DATA_SET || step->data->act == DATA_UNSET);
}

static bool asks(const struct rule_payload *step)
{
    return step->kind == RULE_DATA && step->data->dataset->changes;
}

/* Marks the sections of a rule that ask. False: no memory. */
static bool mark_rule(struct sl_rules *rules, struct rule *rule)
{
    struct rule_payload *steps = (struct rule_payload *)rule->payload;

    for (size_t i = 0; i < rule->n_payloads; i++) {
        if (!asks(&steps[i]))
            continue;
        if (rule->state == NULL)
            rule->state = rule_arena_alloc(&rules->shared, sizeof *rule->state);
        if (rule->state == NULL)
            return false;
        rule->state->asks_data = true;
        for (size_t k = 0; k < rule->n_payloads; k++)
            steps[k].asks |= steps[k].section == steps[i].section;
    }
    return true;
}

bool state_data_mark(struct sl_rules *rules)
{
    if (rules->dataset == NULL)
        return true;
    for (size_t i = 0; i < rules->n_rules; i++)
        for (size_t k = 0; k < rules->rule[i]->n_payloads; k++)
            if (changes(&rules->rule[i]->payload[k]))
                rules->rule[i]->payload[k].data->dataset->changes = true;
    for (size_t i = 0; i < rules->n_rules; i++)
        if (!mark_rule(rules, rules->rule[i]))
            return false;
    return true;
}

/* ---- the state's sets ------------------------------------------------------------------------ */

static bool adopt(struct state_data *data, const struct rule_dataset *from)
{
    struct state_set *set = calloc(1, sizeof *set);

    if (set == NULL)
        return false;
    set->key = from->key;
    set->save = from->save != NULL ? strdup(from->save) : NULL;
    if ((from->save != NULL && set->save == NULL) ||
        !data_set_copy(&set->set, &from->set, data->secret) ||
        !rule_map_put(&data->by_key, &set->key, sizeof set->key, set)) {
        free_set(set);
        return false;
    }
    *data->last = set;
    data->last = &set->next;
    count(&data->values, set->set.n);
    return true;
}

bool state_data_adopt(struct state_data *data, const struct sl_rules *rules)
{
    for (const struct rule_dataset *set = rules->dataset; set != NULL; set = set->next)
        if (set->changes && rule_map_get(&data->by_key, &set->key, sizeof set->key) == NULL &&
            !adopt(data, set))
            return false;
    return true;
}

enum sl_status state_data_save(const struct state_data *data, struct sl_diag *diag)
{
    enum sl_status status = SL_OK;

    for (const struct state_set *set = data->first; set != NULL; set = set->next) {
        struct sl_diag other;

        if (set->save == NULL)
            continue;
        const enum sl_status its =
            data_file_write(&set->set, set->save, status == SL_OK ? diag : &other);
        status = status == SL_OK ? its : status;
    }
    return status;
}

/* ---- deciding -------------------------------------------------------------------------------- */

static bool add(struct state_data *data, struct data_set *set, const uint8_t *bytes, uint32_t len)
{
    const enum data_outcome outcome = data_set_add(set, bytes, len, 0);

    count(&data->values, outcome == DATA_ADDED);
    count(&data->refused, outcome == DATA_NO_ROOM);
    return outcome == DATA_ADDED;
}

static bool meets_option(struct state_data *data, const struct rule_data *option,
                         const uint8_t *bytes, uint32_t len)
{
    const struct rule_dataset *dataset = option->dataset;
    struct state_set *kept =
        data != NULL ? rule_map_get(&data->by_key, &dataset->key, sizeof dataset->key) : NULL;

    if (kept == NULL)
        return rule_data_holds(option, &dataset->set, bytes, len);
    if (option->act == DATA_SET)
        return add(data, &kept->set, bytes, len);
    if (option->act != DATA_UNSET)
        return rule_data_holds(option, &kept->set, bytes, len);

    const bool removed = data_set_remove(&kept->set, bytes, len);

    count(&data->values, 0 - (uint64_t)removed);
    return removed;
}

/* The options of a section on one value, in their order. */
static bool meets_value(struct state_data *data, const struct rule *rule, size_t first,
                        const uint8_t *bytes, uint32_t len)
{
    const struct rule_payload *steps = rule->payload;

    for (size_t i = first; i < rule->n_payloads && steps[i].section == steps[first].section; i++)
        if (asks(&steps[i]) && !meets_option(data, steps[i].data, bytes, len))
            return false;
    return true;
}

/* Whether one of the values meets the section that begins with this step. */
static bool meets_section(struct state_data *data, const struct rule *rule, size_t first,
                          const struct rule_values *values, const struct rule_ask *ask)
{
    for (size_t i = ask->first; i < ask->first + ask->n; i++) {
        const struct rule_value *value = &values->value[i];

        if (value->section == rule->payload[first].section &&
            meets_value(data, rule, first, values->bytes + value->at, value->len))
            return true;
    }
    return false;
}

static bool meets(struct state_data *data, const struct rule *rule,
                  const struct rule_values *values, const struct rule_ask *ask)
{
    const struct rule_payload *steps = rule->payload;

    for (size_t i = 0; i < rule->n_payloads; i++)
        if (steps[i].asks && (i == 0 || steps[i].section != steps[i - 1].section) &&
            !meets_section(data, rule, i, values, ask))
            return false;
    return true;
}

bool state_data_meets(struct state_data *data, const struct rule_findings *findings,
                      size_t candidate)
{
    const struct rule *rule = findings->rules->rule[findings->alert[candidate].signature];
    const struct rule_values *values = &findings->values;

    const uint32_t last = findings->ask[candidate];
    uint32_t i = last;
    bool met = false;

    if (last == 0)
        return false;
    do {
        i = values->ask[i - 1].next;
        met = meets(data, rule, values, &values->ask[i - 1]);
    } while (!met && i != last);
    return met;
}

/* SPDX-License-Identifier: MIT */
/* The state of a rule, as lines of text. */
#include <stdlib.h>

#include "detect/data/rule_data.h"
#include "detect/state/rule_state.h"
#include "explain_text.h"

/* Rules that have something in common with one. */
struct partners {
    struct explain_text *text;
    size_t n;
};

enum { NAMED = 8 }; /* partners that a line names */

static void put_partner(struct partners *partners, const struct rule *rule)
{
    if (partners->n++ < NAMED)
        explain_put(partners->text, "%s%u:%u", partners->n == 1 ? " " : ", ", rule->key[0],
                    rule->key[1]);
}

static void end_partners(struct partners *partners)
{
    if (partners->n == 0)
        explain_put(partners->text, " no rule");
    if (partners->n > NAMED)
        explain_put(partners->text, " and %zu more", partners->n - NAMED);
    explain_put(partners->text, "\n");
}

/* ---- variables ------------------------------------------------------------------------------- */

static bool have_common_key(const struct state_option *a, const struct state_option *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < b->n; k++)
            if (a->key[i] == b->key[k])
                return true;
    return false;
}

/* Whether a rule sets, or reads, a variable of the option. */
static bool touches(const struct rule *rule, const struct state_option *option, bool sets)
{
    for (size_t i = 0; rule->state != NULL && i < rule->state->n_options; i++)
        if (state_is_effect(rule->state->option[i].act) == sets &&
            have_common_key(&rule->state->option[i], option))
            return true;
    return false;
}

static void put_option(struct explain_text *text, const struct sl_rules *rules,
                       const struct state_option *option)
{
    const bool effect = state_is_effect(option->act);
    const char *name = option->scope != STATE_FLOW ? "xbits"
                       : option->is_number         ? "flowint"
                                                   : "flowbits";
    struct partners partners = {.text = text};

    explain_put(text, "state: %s:%s; %s by", name, option->text, effect ? "read" : "set");
    for (size_t i = 0; i < rules->n_rules; i++)
        if (touches(rules->rule[i], option, !effect))
            put_partner(&partners, rules->rule[i]);
    end_partners(&partners);
}

/* ---- filters --------------------------------------------------------------------------------- */

static const char *const scopes[] = {
    [STATE_FLOW] = "flow",          [STATE_SRC] = "source",
    [STATE_DST] = "destination",    [STATE_EITHER] = "source or destination",
    [STATE_PAIR] = "pair of hosts", [STATE_ALL] = "rule",
};

static void put_filter(struct explain_text *text, const struct state_filter *filter)
{
    explain_put(text, "state: ");
    if (filter->kind == STATE_BACKOFF) {
        explain_put(text, "of a flow alert %u, and then each %u times as late\n", filter->count,
                    filter->multiplier);
        return;
    }
    if (filter->kind == STATE_SUPPRESS) {
        explain_put(text, "no alert%s%s\n",
                    filter->addresses != NULL ? " for some addresses of its " : "",
                    filter->addresses != NULL ? scopes[filter->scope] : "");
        return;
    }
    explain_put(text,
                filter->kind == STATE_THRESHOLD   ? "each %u-th alert"
                : filter->kind == STATE_BOTH      ? "alert %u alone"
                : filter->kind == STATE_DETECTION ? "alerts behind the first %u"
                                                  : "the first %u alerts",
                filter->count);
    explain_put(text, "%s in %u s of a %s\n",
                filter->unique == STATE_SRC_PORTS   ? " source ports"
                : filter->unique == STATE_DST_PORTS ? " destination ports"
                                                    : "",
                filter->seconds, scopes[filter->scope]);
}

static void put_tag(struct explain_text *text, const struct state_tag *tag)
{
    static const char *const units[STATE_N_TAG_METRICS] = {"packets", "bytes", "seconds"};

    explain_put(text, "state: tags");
    for (size_t i = 0, n = 0; i < STATE_N_TAG_METRICS; i++)
        if (tag->limit[i] != 0)
            explain_put(text, "%s %u %s", n++ == 0 ? "" : " or", tag->limit[i], units[i]);
    explain_put(text, " of its %s\n", scopes[tag->scope]);
}

void explain_state(struct explain_text *text, const struct sl_rules *rules, const struct rule *rule)
{
    const struct rule_state *state = rule->state;

    if (state == NULL)
        return;
    for (size_t i = 0; i < state->n_options; i++)
        put_option(text, rules, &state->option[i]);
    for (size_t i = 0; i < state->n_filters; i++)
        put_filter(text, &state->filter[i]);
    for (const struct state_tag *tag = state->tag; tag != NULL; tag = tag->next)
        put_tag(text, tag);
    if (state->noalert)
        explain_put(text, "state: it raises no alert\n");
    if (state->late)
        explain_put(text, "state: decided in the order of all packets\n");
}

/* ---- sets of data ---------------------------------------------------------------------------- */

static bool changes(const struct rule *rule, const struct rule_dataset *dataset)
{
    for (size_t i = 0; i < rule->n_payloads; i++) {
        const struct rule_data *data = rule->payload[i].data;

        if (data != NULL && data->dataset == dataset &&
            (data->act == DATA_SET || data->act == DATA_UNSET))
            return true;
    }
    return false;
}

void explain_data(struct explain_text *text, const struct sl_rules *rules,
                  const struct rule_data *data)
{
    static const char *const acts[] = {
        [DATA_IS_SET] = "is in",           [DATA_IS_NOT_SET] = "is not in",
        [DATA_SET] = "is added to",        [DATA_UNSET] = "is taken out of",
        [DATA_LESS] = "has less in",       [DATA_GREATER] = "has more in",
        [DATA_EQUAL] = "has its value in",
    };
    struct partners partners = {.text = text};

    explain_put(text, "  the value %s the data set %s, changed by", acts[data->act],
                data->dataset->name);
    for (size_t i = 0; i < rules->n_rules; i++)
        if (changes(rules->rule[i], data->dataset))
            put_partner(&partners, rules->rule[i]);
    end_partners(&partners);
}

/* ---- order ----------------------------------------------------------------------------------- */

void explain_order(struct explain_text *text, const struct sl_rules *rules, const struct rule *rule)
{
    uint32_t *rank = calloc(rules->n_rules + 1, sizeof *rank);

    for (size_t i = 0; rank != NULL && i < rules->n_rules; i++)
        if (rules->rule[i] == rule && state_rank(rules, rank))
            explain_put(text,
                        "order: %u of %zu rules; by action, setters of state, priority %u and "
                        "place\n",
                        rank[i] + 1, rules->n_rules, rule->signature.priority);
    free(rank);
}

/* SPDX-License-Identifier: MIT */
#include "state_ref.h"

#include <stdlib.h>
#include <string.h>

enum { FLOWS_MAX = 4096, BITS = 16 };

static const int64_t SECOND = 1000000000;

/* A flow of UDP, with the timeouts of suricata.yaml. */
struct flow {
    uint32_t client, server;
    bool seen[2];
    int64_t last;
    bool bit[BITS];
};

struct state_ref {
    const struct ref_rule *rules;
    size_t n_rules;
    struct flow flow[FLOWS_MAX]; /* the last one of a pair counts */
    size_t n_flows;
    size_t *order; /* of the rules */
};

/* ---- order ----------------------------------------------------------------------------------- */

static bool reads(const struct ref_rule *rule)
{
    for (uint32_t i = 0; i < rule->n_options; i++)
        if (rule->option[i].act == REF_ANY_SET || rule->option[i].act == REF_ALL_SET ||
            rule->option[i].act == REF_SOME_UNSET)
            return true;
    return false;
}

static bool writes(const struct ref_rule *rule)
{
    for (uint32_t i = 0; i < rule->n_options; i++)
        if (rule->option[i].act == REF_SET || rule->option[i].act == REF_UNSET ||
            rule->option[i].act == REF_TOGGLE)
            return true;
    return false;
}

/* Rules that only write, those that write and read, those that only read, and the others. */
static int kind(const struct ref_rule *rule)
{
    if (writes(rule) && !reads(rule))
        return 1;
    if (writes(rule))
        return 2;
    return reads(rule) ? 3 : 4;
}

static bool comes_before(const struct ref_rule *rules, size_t a, size_t b)
{
    if (rules[a].action != rules[b].action)
        return rules[a].action < rules[b].action;
    if (kind(&rules[a]) != kind(&rules[b]))
        return kind(&rules[a]) < kind(&rules[b]);
    if (rules[a].priority != rules[b].priority)
        return rules[a].priority < rules[b].priority;
    return a < b;
}

struct state_ref *state_ref_create(const struct ref_rule *rules, size_t n_rules)
{
    struct state_ref *ref = calloc(1, sizeof *ref);

    ref->rules = rules;
    ref->n_rules = n_rules;
    ref->order = calloc(n_rules, sizeof *ref->order);
    for (size_t i = 0; i < n_rules; i++) {
        size_t at = i;

        for (; at > 0 && comes_before(rules, i, ref->order[at - 1]); at--)
            ref->order[at] = ref->order[at - 1];
        ref->order[at] = i;
    }
    return ref;
}

void state_ref_free(struct state_ref *ref)
{
    free(ref->order);
    free(ref);
}

/* ---- flows ----------------------------------------------------------------------------------- */

static struct flow *flow_of(struct state_ref *ref, const struct ref_packet *packet)
{
    struct flow *flow = NULL;

    for (size_t i = 0; i < ref->n_flows; i++)
        if (ref->flow[i].client == packet->client && ref->flow[i].server == packet->server)
            flow = &ref->flow[i];
    if (flow != NULL &&
        packet->time - flow->last > (flow->seen[0] && flow->seen[1] ? 300 : 30) * SECOND)
        flow = NULL;
    if (flow == NULL) {
        if (ref->n_flows == FLOWS_MAX)
            abort();
        flow = &ref->flow[ref->n_flows++];
        *flow = (struct flow){.client = packet->client, .server = packet->server};
    }
    flow->seen[packet->to_server] = true;
    flow->last = packet->time;
    return flow;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static bool meets_option(const struct ref_option *option, const struct flow *flow)
{
    uint32_t n_set = 0;

    for (uint32_t i = 0; i < option->n; i++)
        n_set += flow->bit[option->bit[i]];
    switch (option->act) {
    case REF_ANY_SET:
        return n_set > 0;
    case REF_ALL_SET:
        return n_set == option->n;
    case REF_SOME_UNSET:
        return n_set < option->n;
    default:
        return true;
    }
}

static bool meets(const struct ref_rule *rule, const struct flow *flow)
{
    for (uint32_t i = 0; i < rule->n_options; i++)
        if (!meets_option(&rule->option[i], flow))
            return false;
    return true;
}

static void apply(const struct ref_rule *rule, struct flow *flow)
{
    for (uint32_t i = 0; i < rule->n_options; i++)
        for (uint32_t k = 0; k < rule->option[i].n; k++) {
            bool *bit = &flow->bit[rule->option[i].bit[k]];

            if (rule->option[i].act == REF_SET)
                *bit = true;
            else if (rule->option[i].act == REF_UNSET)
                *bit = false;
            else if (rule->option[i].act == REF_TOGGLE)
                *bit = !*bit;
        }
}

void state_ref_packet(struct state_ref *ref, const struct ref_packet *packet, bool *alerts)
{
    struct flow *flow = flow_of(ref, packet);
    bool passed = false;

    memset(alerts, 0, ref->n_rules * sizeof *alerts);
    for (size_t i = 0; i < ref->n_rules; i++) {
        const size_t index = ref->order[i];
        const struct ref_rule *rule = &ref->rules[index];

        if (strchr(packet->payload, rule->letter) == NULL || !meets(rule, flow))
            continue;
        apply(rule, flow);
        passed |= rule->action == REF_PASS;
        alerts[index] = rule->action != REF_PASS && !rule->noalert;
    }
    if (passed)
        memset(alerts, 0, ref->n_rules * sizeof *alerts);
}

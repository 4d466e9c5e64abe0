/* SPDX-License-Identifier: MIT */
#include "rule_findings.h"

#include <stdlib.h>
#include <string.h>

#include "detect/compile/rule_compile.h"

bool rule_findings_open(struct rule_findings *findings, const struct sl_rules *rules)
{
    findings->rules = rules;
    findings->any_pass = rules->index->any_pass;
    findings->cap_matched = rules->n_rules + 1;
    findings->matched = calloc(findings->cap_matched, sizeof *findings->matched);
    findings->last = calloc(rules->n_rules + 1, sizeof *findings->last);
    return findings->matched != NULL && findings->last != NULL &&
           (!rules->index->any_data || rule_values_open(&findings->values, rules->n_rules));
}

void rule_findings_close(struct rule_findings *findings)
{
    free(findings->matched);
    free(findings->last);
    free(findings->alert);
    free(findings->outcome);
    free(findings->ask);
    rule_values_close(&findings->values);
    free(findings->held);
    free(findings->tagged);
}

bool rule_findings_begin(struct rule_findings *findings, const struct sl_batch *batch,
                         bool stand_ins)
{
    findings->n = findings->n_held = findings->n_tagged = 0;
    if (!findings->rules->index->any_tag || stand_ins || findings->cap_tagged >= batch->n_items)
        return true;
    free(findings->tagged);
    findings->tagged = malloc(batch->n_items * sizeof *findings->tagged);
    findings->cap_tagged = findings->tagged != NULL ? batch->n_items : 0;
    return findings->tagged != NULL;
}

bool rule_findings_begin_message(struct rule_findings *findings, uint32_t message)
{
    const size_t needed = findings->n_matched + findings->rules->n_rules;

    findings->packets++;
    findings->message = message;
    if (needed <= findings->cap_matched)
        return true;

    struct rule_match *grown = reallocarray(findings->matched, 2 * needed, sizeof *grown);

    if (grown == NULL)
        return false;
    findings->matched = grown;
    findings->cap_matched = 2 * needed;
    return true;
}

/* Makes room for n alerts behind those there are. */
static bool grow_alerts(struct rule_findings *findings, size_t n)
{
    if (n <= findings->cap - findings->n)
        return true;

    const size_t cap = (findings->n + n) * 2;
    struct sl_alert *grown = reallocarray(findings->alert, cap, sizeof *grown);
    if (grown == NULL)
        return false;
    findings->alert = grown;
    uint8_t *outcome =
        findings->rules->index->rank != NULL ? realloc(findings->outcome, cap) : NULL;
    if (outcome != NULL)
        findings->outcome = outcome;
    if (outcome == NULL && findings->rules->index->rank != NULL)
        return false;
    uint32_t *ask =
        findings->rules->index->any_data ? reallocarray(findings->ask, cap, sizeof *ask) : NULL;
    if (ask != NULL)
        findings->ask = ask;
    if (ask == NULL && findings->rules->index->any_data)
        return false;
    findings->cap = cap;
    return true;
}

static int compare_matches(const void *a, const void *b)
{
    const struct rule_match *left = a, *right = b;

    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->message > right->message) - (left->message < right->message);
}

/* Appends the rules of the keys' low halves in the keys' order. */
static void append(struct rule_findings *findings, uint32_t item)
{
    if (findings->n_matched > 1)
        qsort(findings->matched, findings->n_matched, sizeof *findings->matched, compare_matches);
    for (size_t i = 0; i < findings->n_matched; i++)
        findings->alert[findings->n++] = (struct sl_alert){item, (uint32_t)findings->matched[i].key,
                                                           findings->matched[i].message};
}

/* Keeps all rules of the packet, in the order in which they take effect. */
static bool hold(struct rule_findings *findings, uint32_t item)
{
    const size_t first = findings->n;
    struct sl_candidates *grown =
        rule_grow(findings->held, &findings->cap_held, findings->n_held, sizeof *grown);

    if (grown == NULL)
        return false;
    findings->held = grown;
    for (size_t i = 0; i < findings->n_matched; i++) {
        const uint32_t rule = (uint32_t)findings->matched[i].key;

        findings->matched[i].key = (uint64_t)findings->rules->index->rank[rule] << 32 | rule;
    }
    append(findings, item);
    findings->held[findings->n_held++] = (struct sl_candidates){
        .item = item, .late = findings->late, .n = (uint32_t)(findings->n - first), .first = first};
    memset(findings->outcome + first, RULE_OPEN, findings->n - first);
    for (size_t c = first; c < findings->n && findings->rules->index->any_data; c++)
        findings->ask[c] = findings->values.ask_of[findings->alert[c].signature];
    return true;
}

/* Takes away the matches from `first` on that a pass rule stands before. */
static void leave_passed(struct rule_findings *findings, size_t first)
{
    size_t n = first;

    for (size_t i = first; i < findings->n_matched; i++)
        if (findings->rules->rule[(uint32_t)findings->matched[i].key]->before_pass)
            findings->matched[n++] = findings->matched[i];
    findings->n_matched = n;
}

static bool any_pass(const struct rule_findings *findings, size_t first)
{
    for (size_t i = first; i < findings->n_matched; i++)
        if (findings->rules->rule[(uint32_t)findings->matched[i].key]->pass)
            return true;
    return false;
}

void rule_findings_end_outer(struct rule_findings *findings, size_t first, bool passed)
{
    if (findings->passed && !passed && any_pass(findings, first))
        leave_passed(findings, first);
    findings->passed = passed;
}

bool rule_findings_end_item(struct rule_findings *findings, uint32_t item)
{
    if (findings->passed && !findings->stated)
        leave_passed(findings, 0);
    if (findings->n_matched == 0)
        return true;
    if (!grow_alerts(findings, findings->n_matched))
        return false;
    if (!findings->stated) {
        append(findings, item);
        return true;
    }
    const bool held = hold(findings, item);

    rule_values_end_packet(&findings->values);
    return held;
}

/* An alert among those matched, once more. There was room for it before. */
static void take_back(struct rule_findings *findings, const struct sl_alert *alert)
{
    const struct rule *rule = findings->rules->rule[alert->signature];

    findings->matched[findings->n_matched++] = (struct rule_match){
        (uint64_t)rule->signature.priority << 32 | alert->signature, alert->message};
}

void rule_findings_conclude(struct rule_findings *findings)
{
    size_t next = findings->n_held != 0 ? findings->held[0].first : 0; /* the first not read */
    const size_t end = findings->n;

    if (findings->n_held == 0)
        return;
    findings->n = next;
    for (size_t h = 0; h < findings->n_held; h++) {
        const struct sl_candidates *held = &findings->held[h];

        for (; next < held->first; next++)
            findings->alert[findings->n++] = findings->alert[next];
        rule_findings_begin_item(findings);
        for (; next < held->first + held->n; next++)
            if (findings->outcome[next] == RULE_NOTED ||
                (findings->outcome[next] == RULE_RAISED &&
                 !rule_findings_passes(findings, held, next)))
                take_back(findings, &findings->alert[next]);
        append(findings, held->item);
    }
    for (; next < end; next++)
        findings->alert[findings->n++] = findings->alert[next];
    findings->n_held = 0;
}

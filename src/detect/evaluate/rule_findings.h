/* SPDX-License-Identifier: MIT */
/* The findings of rules in a batch: alerts, and the candidates of packets that need state. */
#ifndef DETECT_RULE_FINDINGS_H
#define DETECT_RULE_FINDINGS_H

#include "detect/rule.h"
#include "rule_values.h"

/* The outcome of a candidate. */
enum rule_outcome {
    RULE_OPEN,
    RULE_FAILED, /* its state is not met */
    RULE_RAISED,
    RULE_SILENT, /* it raises no alert */
    RULE_PASSED, /* it is a pass rule, and is met; */
    RULE_NOTED   /* and raises an alert */
};

struct rule_match {
    uint64_t key; /* priority and index of the rule */
    uint32_t message;
};

struct rule_findings {
    const struct sl_rules *rules;
    uint64_t *last;             /* by rule: the packet it matched last, as `packets` counts it */
    uint64_t packets;           /* and messages, of all batches */
    struct rule_match *matched; /* by the packet at hand, and its messages; room for each rule once
                                   more */
    size_t n_matched, cap_matched;
    uint32_t message;                  /* at hand, or SL_ALERT_NO_MESSAGE */
    uint32_t late;                     /* as sl_candidates has it, of what is at hand */
    const struct sl_batch *late_batch; /* of sl_late; NULL: there is none */
    bool passed, stated;               /* some of them is a pass rule; their state decides */
    bool any_pass;                     /* as in struct rule_index */

    struct sl_alert *alert; /* of the batch; grows */
    uint8_t *outcome;       /* enum rule_outcome of the candidates among them; grows as well */
    uint32_t *ask; /* of the candidates: index in values.ask from 1 on; grows as well, where
                      rules ask sets of data */
    size_t n, cap;
    struct sl_candidates *held; /* packets whose alerts need state; grows */
    size_t n_held, cap_held;
    uint32_t *tagged; /* packets that are; NULL: no rule tags, or all are stand-ins */
    size_t n_tagged, cap_tagged;
    struct rule_values values;
};

/* Of a zeroed struct. False: no memory. */
bool rule_findings_open(struct rule_findings *findings, const struct sl_rules *rules);
void rule_findings_close(struct rule_findings *findings);

/* Before a batch, whose packets may be stand-ins. False: no memory. */
bool rule_findings_begin(struct rule_findings *findings, const struct sl_batch *batch,
                         bool stand_ins);

static inline void rule_findings_begin_item(struct rule_findings *findings)
{
    findings->packets++;
    findings->n_matched = 0;
    findings->message = SL_ALERT_NO_MESSAGE;
    findings->passed = false;
    findings->stated = findings->any_pass;
}

/* Goes on with a message of the packet. False: no memory. */
bool rule_findings_begin_message(struct rule_findings *findings, uint32_t message);

/* The packet or message matches this rule: by each header of a tunnel, and in each place of a
 * stream. */
static inline void rule_findings_add(struct rule_findings *findings, uint32_t i)
{
    const struct rule *rule = findings->rules->rule[i];

    if (findings->last[i] == findings->packets)
        return;
    findings->last[i] = findings->packets;
    findings->passed |= rule->pass;
    findings->stated |= rule->state != NULL;
    findings->matched[findings->n_matched++] =
        (struct rule_match){(uint64_t)rule->signature.priority << 32 | i, findings->message};
}

/* Whether a pass rule takes the alert of a candidate away. */
static inline bool rule_findings_passes(const struct rule_findings *findings,
                                        const struct sl_candidates *held, size_t candidate)
{
    return held->passed &&
           !findings->rules->rule[findings->alert[candidate].signature]->before_pass;
}

/* The matches from `first` on are by the outer header of a tunnel. A pass rule among them takes
 * them away, and leaves what is inside. `passed` is what findings had before. */
void rule_findings_end_outer(struct rule_findings *findings, size_t first, bool passed);

/* Puts the packet's alerts or candidates behind those there are. False: no memory. */
bool rule_findings_end_item(struct rule_findings *findings, uint32_t item);

/* Takes the candidates that raise no alert out, and puts those of a packet in the order of alerts.
 */
void rule_findings_conclude(struct rule_findings *findings);

struct rule_findings *evaluator_findings(struct sl_evaluator *evaluator);

/* The steps that rules took of the last batch, as rule_work counts them. */
uint64_t evaluator_steps(const struct sl_evaluator *evaluator);

#endif

/* SPDX-License-Identifier: MIT */
/* Settling: the rules of a packet that needs state, one after another, on the state of its flow. */
#include <stdlib.h>

#include "base/diag.h"
#include "detect/evaluate/rule_findings.h"
#include "flow_bits.h"
#include "rule_state.h"
#include "state.h"

/* Variables that a flow may have on average. */
enum { BITS_A_FLOW = 2 };

struct sl_state {
    struct flow_bits_pool *pool; /* of each shard */
    uint32_t n_shards;
};

static void release(void *user, uint32_t shard, void *slot)
{
    const struct sl_state *state = user;

    flow_bits_release(&state->pool[shard], slot);
}

enum sl_status sl_state_create(struct sl_state **state, struct sl_flow_slot *slot,
                               struct sl_diag *diag)
{
    struct sl_state *made = calloc(1, sizeof *made);

    *state = made;
    if (made == NULL)
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the state of rules");
    *slot = (struct sl_flow_slot){.len = sizeof(struct flow_bits),
                                  .align = _Alignof(struct flow_bits),
                                  .more_len = BITS_A_FLOW * sizeof(struct flow_bit),
                                  .release = release,
                                  .user = made};
    return SL_OK;
}

static bool open_pools(struct sl_state *state, uint32_t n_shards, uint32_t max)
{
    state->pool = aligned_alloc(_Alignof(struct flow_bits_pool), n_shards * sizeof *state->pool);
    if (state->pool == NULL)
        return false;
    while (state->n_shards < n_shards) {
        struct flow_bits_pool *pool = &state->pool[state->n_shards++];

        *pool = (struct flow_bits_pool){.bit = NULL};
        if (!flow_bits_open(pool, max))
            return false;
    }
    return true;
}

enum sl_status sl_state_open(struct sl_state *state, const struct sl_flow_table *flows,
                             struct sl_diag *diag)
{
    return open_pools(state, sl_flow_n_shards(flows), sl_flow_shard_max(flows) * BITS_A_FLOW)
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the state of flows");
}

void sl_state_free(struct sl_state *state)
{
    if (state == NULL)
        return;
    for (uint32_t i = 0; i < state->n_shards; i++)
        flow_bits_close(&state->pool[i]);
    free(state->pool);
    free(state);
}

void sl_state_stats(const struct sl_state *state, struct sl_state_stats *stats)
{
    *stats = (struct sl_state_stats){.flow_bits = 0};
    for (uint32_t i = 0; i < state->n_shards; i++) {
        const struct flow_bits_pool *pool = &state->pool[i];

        stats->flow_bits += atomic_load_explicit(&pool->active, memory_order_relaxed);
        stats->flow_bits_refused += atomic_load_explicit(&pool->refused, memory_order_relaxed);
    }
}

/* ---- the options of a rule ------------------------------------------------------------------- */

/* Whether the flow has n variables, or, where `any` is set, one of them. */
static bool has(const struct flow_bits_pool *pool, const struct flow_bits *bits,
                const struct state_option *option, bool any)
{
    for (uint32_t i = 0; i < option->n; i++)
        if ((flow_bits_find(pool, bits, option->key[i]) != NULL) == any)
            return any;
    return !any;
}

static bool meets(const struct rule_state *rule, const struct flow_bits_pool *pool,
                  const struct flow_bits *bits)
{
    for (size_t i = 0; i < rule->n_options && !state_is_effect(rule->option[i].act); i++) {
        const struct state_option *option = &rule->option[i];
        const bool want = option->act != STATE_SOME_UNSET;

        if (has(pool, bits, option, option->act == STATE_ANY_SET) != want)
            return false;
    }
    return true;
}

static void apply(const struct rule_state *rule, struct flow_bits_pool *pool,
                  struct flow_bits *bits)
{
    for (size_t i = 0; i < rule->n_options; i++) {
        const struct state_option *option = &rule->option[i];

        for (uint32_t k = 0; k < option->n && state_is_effect(option->act); k++) {
            const bool is_set =
                option->act == STATE_TOGGLE && flow_bits_find(pool, bits, option->key[k]) != NULL;

            if (option->act == STATE_UNSET || is_set)
                flow_bits_unset(pool, bits, option->key[k]);
            else
                flow_bits_set(pool, bits, option->key[k], 1);
        }
    }
}

/* ---- packets --------------------------------------------------------------------------------- */

/* Settles the candidates; bits is NULL where the packet has no flow, and its rules ask nothing of
 * one then. Returns whether some raise an alert. */
static bool settle(struct rule_findings *findings, const struct sl_candidates *held,
                   struct flow_bits_pool *pool, struct flow_bits *bits)
{
    struct sl_alert *alert = findings->alert + held->first;
    bool passed = false, alerted = false;

    for (uint32_t i = 0; i < held->n; i++) {
        const struct rule *rule = findings->rules->rule[alert[i].signature];

        if (rule->state != NULL && bits != NULL && !meets(rule->state, pool, bits)) {
            alert[i].signature = RULE_NO_ALERT;
            continue;
        }
        if (rule->state != NULL && bits != NULL)
            apply(rule->state, pool, bits);
        passed |= rule->pass;
        if (rule->pass || (rule->state != NULL && rule->state->noalert))
            alert[i].signature = RULE_NO_ALERT;
    }
    for (uint32_t i = 0; i < held->n; i++) {
        if (passed)
            alert[i].signature = RULE_NO_ALERT;
        alerted |= alert[i].signature != RULE_NO_ALERT;
    }
    return alerted;
}

bool sl_state_settle(struct sl_state *state, struct sl_evaluator *evaluator, size_t i,
                     uint32_t shard, void *slot)
{
    struct rule_findings *findings = evaluator_findings(evaluator);

    return settle(findings, &findings->held[i], slot != NULL ? &state->pool[shard] : NULL, slot);
}

void state_settle_alone(struct rule_findings *findings)
{
    struct flow_bit bit[FLOW_BITS_MAX + 1];
    struct flow_bits_pool pool = {.bit = bit, .max = FLOW_BITS_MAX};

    for (size_t i = 0; i < findings->n_held; i++) {
        struct flow_bits bits = {0};

        (void)settle(findings, &findings->held[i], &pool, &bits);
        flow_bits_release(&pool, &bits);
    }
    rule_findings_conclude(findings);
}

/* SPDX-License-Identifier: MIT */
#include "run_flows.h"

#include <sys/random.h>

#include "base/diag.h"

enum sl_status run_flows_open(struct run_source *source, struct sl_state **state,
                              const struct run_policy *policy, struct sl_diag *diag)
{
    const bool stated = policy->rules != NULL && sl_rules_have_state(policy->rules);
    struct sl_state_config config;
    struct sl_flow_slot slots[2]; /* of rules, of DNS messages: those that are in use */
    uint32_t n_slots = 0;
    enum sl_status status = SL_OK;

    sl_state_config_init(&config);
    config.keeps_alerted = run_source_reports_flows(source);
    if (source->config->flow_seed != NULL)
        config.hash_key = source->config->flow_seed[0];
    else if (stated && getrandom(&config.hash_key, sizeof config.hash_key, 0) !=
                           (ssize_t)sizeof config.hash_key)
        return diag_set(diag, SL_EIO, NULL, 0, "no state of rules: no random numbers");
    if (stated)
        status = sl_state_create(state, &slots[n_slots++], &config, diag);
    if (policy->reports_dns)
        slots[n_slots++] = dns_messages_slot;
    source->totals = policy->rules != NULL &&
                     (sl_rules_need_totals(policy->rules) || run_source_reports_flows(source));
    source->joins = policy->rules != NULL || policy->reports_dns || policy->reads_apps ||
                    policy->names != NULL || policy->database != NULL;
    if (status == SL_OK)
        status =
            run_source_open_flows(source, slots, n_slots, run_policy_has_streams(policy), diag);
    if (status == SL_OK && stated)
        status = sl_state_adopt(*state, policy->rules, diag);
    if (status == SL_OK && stated)
        status = sl_state_open(*state, source->flows, diag);
    return status;
}

void run_flows_mark(const struct run_digest *digest, struct sl_state *state,
                    const struct sl_batch *batch, const struct source_batch *part)
{
    const struct sl_candidates *held = NULL;
    size_t n_held = 0;

    sl_flow_keys_mark(part->keys, part->mark, run_digest_mark(digest, batch, part->mark));
    if (state != NULL)
        held = sl_evaluator_candidates(digest->evaluator, &n_held);
    for (size_t h = 0; h < n_held; h++)
        if (held[h].late == 0 && batch->origin[held[h].item].flow == 0)
            (void)sl_state_settle(state, digest->evaluator, h, 0, NULL);
}

struct settling {
    struct run_digest *digest;
    struct sl_state *state;
    const struct late_mark *late; /* the shard's next flow that ended */
};

static uint32_t settle_packet(void *user, uint32_t shard, const struct sl_flow_mark *mark,
                              void *const *slot)
{
    const struct settling *settling = user;
    const uint32_t candidate = mark->call & CALL_CANDIDATE;

    if ((mark->call & CALL_MESSAGE) != 0)
        dns_messages_count(&settling->digest->messages, mark->item,
                           slot[settling->state != NULL ? 1 : 0]);
    if (candidate == 0)
        return 0;
    const bool alerted = sl_state_settle(settling->state, settling->digest->evaluator,
                                         candidate - 1, shard, slot[0]);

    return (alerted ? SL_FLOW_SETTLED_ALERTED : 0u) |
           (sl_state_passed(settling->state, shard, slot[0]) ? SL_FLOW_SETTLED_PASSED : 0u) |
           (sl_state_dropped(settling->state, shard, slot[0]) ? SL_FLOW_SETTLED_DROPPED : 0u);
}

/* The marks of a shard begin here. */
static const struct late_mark *late_marks_of(const struct run_digest *digest, uint32_t shard)
{
    const struct late_mark *mark = digest->late_mark;

    while (mark < digest->late_mark + digest->n_late_marks && mark->flow->shard < shard)
        mark++;
    return mark;
}

static uint32_t settle_ended(void *user, uint32_t shard, size_t index, void *const *slot)
{
    struct settling *settling = user;
    const struct run_digest *digest = settling->digest;
    const struct late_mark *end = digest->late_mark + digest->n_late_marks;
    uint32_t settled = 0;

    for (; settling->late < end && settling->late->flow->shard == shard &&
           settling->late->flow->index == index;
         settling->late++)
        settled |= settling->late->mark.alerted
                       ? SL_FLOW_SETTLED_ALERTED
                       : settle_packet(user, shard, &settling->late->mark, slot);
    return settled;
}

void run_flows_settle(struct run_digest *digest, struct sl_state *state,
                      const struct source_batch *part, struct run_source *source,
                      const struct virus_output *viruses, uint32_t shard)
{
    struct settling settling = {digest, state, late_marks_of(digest, shard)};
    const struct sl_flow_settler settler = {.packet = settle_packet,
                                            .user = &settling,
                                            .ended =
                                                digest->n_late_marks != 0 ? settle_ended : NULL,
                                            .alerted = viruses->item,
                                            .n_alerted = viruses->n};

    sl_flow_settle_shard(source->flows, part->keys, shard, &settler);
}

void run_flows_settle_end(struct run_digest *digest, struct sl_state *state,
                          const struct sl_flow_table *table, const struct sl_flow_keys *keys,
                          const struct late_flow *flow, const struct sl_flow_mark *mark)
{
    struct settling settling = {digest, state, NULL};
    const struct sl_flow_settler settler = {.packet = settle_packet, .user = &settling};

    sl_flow_settle_end(table, keys, flow->shard, flow->index, mark, &settler);
}

static bool is_alerted(void *user, uint64_t flow)
{
    return sl_state_alerted(user, flow);
}

void run_flows_decide(const struct run_digest *digest, struct sl_state *state,
                      const struct sl_batch *batch, const struct source_batch *part,
                      const struct run_source *source)
{
    sl_state_decide(state, digest->evaluator, batch);
    if (run_source_reports_flows(source))
        sl_flow_keys_amend(part->keys, source->flows, is_alerted, state);
}

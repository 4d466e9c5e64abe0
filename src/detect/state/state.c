/* SPDX-License-Identifier: MIT */
/* The state that flows, hosts and rules of a run keep. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "settle.h"

enum {
    BITS_A_FLOW = 2, /* variables that a flow may have on average */
    HOSTS_DEFAULT = 1 << 18,
    HOSTS_ALONE = 4096 /* of a batch that is evaluated alone */
};

struct sl_state {
    struct flow_bits_pool *pool; /* of each shard */
    uint32_t n_shards;
    struct state_table hosts; /* deciding alone */
    struct state_tags tags;   /* as hosts */
    struct state_data data;
    int64_t now; /* the time of the last packet that has one */
    bool keeps_alerted;
};

void sl_state_config_init(struct sl_state_config *config)
{
    *config = (struct sl_state_config){.max_hosts = HOSTS_DEFAULT};
}

static enum sl_status check(const struct sl_state_config *config, struct sl_diag *diag)
{
    if (config->max_hosts == 0 || config->max_hosts > SL_STATE_HOSTS_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a state of %u hosts (expected 1 to %d)",
                        config->max_hosts, SL_STATE_HOSTS_MAX);
    return reserved_check(config->reserved, diag);
}

static void release(void *user, uint32_t shard, void *slot)
{
    const struct sl_state *state = user;

    flow_bits_release(&state->pool[shard], slot);
}

enum sl_status sl_state_create(struct sl_state **out, struct sl_flow_slot *slot,
                               const struct sl_state_config *config, struct sl_diag *diag)
{
    const enum sl_status status = check(config, diag);

    *out = NULL;
    if (status != SL_OK)
        return status;
    struct sl_state *state = calloc(1, sizeof *state);
    if (state != NULL)
        state_data_init(&state->data, config->hash_key);
    if (state == NULL || !state_table_open(&state->hosts, config->max_hosts, config->hash_key)) {
        sl_state_free(state);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the state of %u hosts",
                        config->max_hosts);
    }
    state->keeps_alerted = config->keeps_alerted;
    *slot = (struct sl_flow_slot){.len = sizeof(struct flow_bits),
                                  .align = _Alignof(struct flow_bits),
                                  .more_len = BITS_A_FLOW * sizeof(struct flow_bit),
                                  .release = release,
                                  .user = state};
    *out = state;
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

enum sl_status sl_state_adopt(struct sl_state *state, const struct sl_rules *rules,
                              struct sl_diag *diag)
{
    return state_data_adopt(&state->data, rules)
               ? SL_OK
               : diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the sets of data of rules");
}

enum sl_status sl_state_save(const struct sl_state *state, struct sl_diag *diag)
{
    return state_data_save(&state->data, diag);
}

void sl_state_free(struct sl_state *state)
{
    if (state == NULL)
        return;
    for (uint32_t i = 0; i < state->n_shards; i++)
        flow_bits_close(&state->pool[i]);
    free(state->pool);
    state_table_close(&state->hosts);
    state_data_free(&state->data);
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
    stats->hosts = atomic_load_explicit(&state->hosts.active, memory_order_relaxed);
    stats->hosts_evicted = atomic_load_explicit(&state->hosts.evicted, memory_order_relaxed);
    stats->data_values = atomic_load_explicit(&state->data.values, memory_order_relaxed);
    stats->data_refused = atomic_load_explicit(&state->data.refused, memory_order_relaxed);
}

/* ---- settling and deciding ------------------------------------------------------------------- */

bool sl_state_settle(struct sl_state *state, struct sl_evaluator *evaluator, size_t i,
                     uint32_t shard, void *slot)
{
    const struct state_place place = {.pool = slot != NULL ? &state->pool[shard] : NULL,
                                      .bits = slot};

    return state_settle(evaluator_findings(evaluator), i, &place);
}

bool sl_state_passed(const struct sl_state *state, uint32_t shard, const void *slot)
{
    return state_flow_end(&state->pool[shard], slot) == STATE_FLOW_PASSED;
}

bool sl_state_dropped(const struct sl_state *state, uint32_t shard, const void *slot)
{
    return state_flow_end(&state->pool[shard], slot) == STATE_FLOW_DROPPED;
}

static struct state_key alerted_key(uint64_t flow)
{
    return (struct state_key){.owner = {flow}, .what = 0};
}

bool sl_state_alerted(struct sl_state *state, uint64_t flow)
{
    const struct state_key key = alerted_key(flow);
    struct state_entry *entry = state_table_find(&state->hosts, &key, state->now);

    if (entry != NULL)
        state_table_remove(&state->hosts, entry); /* the flow has ended */
    return entry != NULL;
}

static void keep_alerted(struct sl_state *state, uint64_t flow)
{
    const struct state_key key = alerted_key(flow);

    if (flow != 0 && state_table_find(&state->hosts, &key, state->now) == NULL)
        (void)state_table_add(&state->hosts, &key, state->now, UINT64_MAX);
}

static struct state_packet packet_of(struct sl_state *state, const struct sl_batch *batch,
                                     uint32_t item)
{
    const struct sl_origin *origin = batch->origin != NULL ? &batch->origin[item] : NULL;
    struct state_packet packet = {.flow = origin != NULL ? origin->flow : 0,
                                  .len = batch->packet[item].len};

    if (origin != NULL && origin->time_ns != 0)
        state->now = origin->time_ns;
    packet.now = state->now;
    packet.has_tuple = sl_packet_tuple(batch, item, &packet.tuple);
    return packet;
}

static void decide(struct sl_state *state, struct state_data *data, struct rule_findings *findings,
                   size_t i, const struct sl_batch *batch)
{
    const struct sl_candidates *held = &findings->held[i];
    const struct state_packet packet = held->late != 0
                                           ? packet_of(state, findings->late_batch, held->late - 1)
                                           : packet_of(state, batch, held->item);
    const struct state_place place = {
        .table = &state->hosts, .tags = &state->tags, .data = data, .packet = &packet};

    if (state_decide(findings, i, &place) && !held->alerted && state->keeps_alerted)
        keep_alerted(state, packet.flow);
}

/* Lists the packets from *next to `end` that are tagged. */
static void list_tagged(struct sl_state *state, struct rule_findings *findings,
                        const struct sl_batch *batch, uint32_t *next, uint32_t end)
{
    for (; *next < end && state->tags.last >= state->now / 1000000000; ++*next) {
        const struct state_packet packet = packet_of(state, batch, *next);

        if (state_tags_take(&state->tags, &state->hosts, &packet))
            findings->tagged[findings->n_tagged++] = *next;
    }
    *next = end;
}

void sl_state_decide(struct sl_state *state, struct sl_evaluator *evaluator,
                     const struct sl_batch *batch)
{
    struct rule_findings *findings = evaluator_findings(evaluator);
    uint32_t next = 0;

    for (size_t i = 0; i < findings->n_held; i++) {
        const struct sl_candidates *held = &findings->held[i];

        if (findings->tagged != NULL)
            list_tagged(state, findings, batch, &next, held->item + (held->late == 0));
        decide(state, &state->data, findings, i, batch);
    }
    if (findings->tagged != NULL)
        list_tagged(state, findings, batch, &next, batch->n_items);
}

bool state_settle_alone(struct sl_evaluator *evaluator, const struct sl_batch *batch)
{
    struct rule_findings *findings = evaluator_findings(evaluator);
    struct flow_bit bit[FLOW_BITS_MAX + 1];
    struct flow_bits_pool pool = {.bit = bit, .max = FLOW_BITS_MAX};
    struct sl_state state = {.now = 0};
    const bool open = findings->n_held == 0 || state_table_open(&state.hosts, HOSTS_ALONE, 0);

    for (size_t i = 0; i < findings->n_held && open; i++) {
        struct flow_bits bits = {0};

        (void)state_settle(findings, i, &(struct state_place){.pool = &pool, .bits = &bits});
        decide(&state, NULL, findings, i, batch);
        flow_bits_release(&pool, &bits);
        state_table_clear(&state.hosts);
    }
    state_table_close(&state.hosts);
    return open;
}

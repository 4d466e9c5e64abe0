/* SPDX-License-Identifier: MIT */
#include "flow_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/reserved.h"
#include "flow_ends.h"

void sl_flow_config_init(struct sl_flow_config *config)
{
    *config = (struct sl_flow_config){
        .max_flows = 262144,
        .tcp_handshake_seconds = 60,
        .tcp_established_seconds = 600,
        .tcp_closed_seconds = 60,
        .new_seconds = 30,
        .established_seconds = 300,
    };
}

static void set_timeouts(struct sl_flow_table *table, const struct sl_flow_config *config)
{
    const uint32_t seconds[N_LISTS] = {
        [LIST_TCP_HANDSHAKE] = config->tcp_handshake_seconds,
        [LIST_TCP_ESTABLISHED] = config->tcp_established_seconds,
        [LIST_TCP_CLOSED] = config->tcp_closed_seconds,
        [LIST_NEW] = config->new_seconds,
        [LIST_ESTABLISHED] = config->established_seconds,
    };

    for (uint32_t list = 0; list < N_LISTS; list++) {
        table->timeout_ns[list] = seconds[list] * UINT64_C(1000000000);
        if (table->timeout_ns[list] > table->longest_timeout_ns)
            table->longest_timeout_ns = table->timeout_ns[list];
    }
}

static void make_lists(struct flow_shard *shard)
{
    for (uint32_t list = 0; list < N_LISTS; list++) {
        shard->flows[list].before = shard->flows[list].after = list;
        flow_set_last_packet(&shard->flows[list], UINT64_MAX); /* an empty list has none to evict */
    }
    shard->n_used = N_LISTS;
}

/* The memory is not cleared, so that pages of a large table are touched only when they are used. */
static void *alloc_lines(size_t n, size_t len)
{
    void *memory;

    return posix_memalign(&memory, 64, n * len) == 0 ? memory : NULL;
}

/* A constant for each number of flows, so that results depend on no number of threads. */
static uint32_t count_shards(uint32_t max_flows)
{
    uint32_t n = 1;

    while (n < FLOW_SHARDS_MAX && max_flows / (2 * n) >= FLOW_SHARD_MIN)
        n *= 2;
    return n;
}

static uint32_t count_buckets(uint32_t max_flows)
{
    uint32_t n = 1;

    while (n < max_flows)
        n *= 2;
    return n;
}

/* Bytes of a table of so many flows, and of their ends, which batches hold. */
static uint64_t table_len(uint32_t max_flows, const struct flow_slots *slots)
{
    const uint64_t n_shards = count_shards(max_flows);
    const uint32_t n_flows = (uint32_t)((max_flows + n_shards - 1) / n_shards);
    const uint64_t end = slots->len != 0 ? sizeof(struct flow_end) : 0;
    const uint64_t entry = sizeof(struct flow) + slots->len + slots->more_len + end;

    return sizeof(struct sl_flow_table) +
           n_shards * (sizeof(struct flow_shard) + (n_flows + N_LISTS) * entry +
                       count_buckets(n_flows) * sizeof(uint32_t));
}

/* The most flows up to max_flows that the memory holds; 0: not one. */
static uint32_t count_flows(uint32_t max_flows, uint64_t memory, const struct flow_slots *slots)
{
    uint32_t low = 0, high = max_flows + 1;

    if (memory == 0)
        return max_flows;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        if (table_len(middle, slots) <= memory)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool open_shard(struct flow_shard *shard, const struct sl_flow_table *table,
                       uint32_t max_flows)
{
    const uint32_t n_buckets = count_buckets(max_flows);

    *shard = (struct flow_shard){
        .table = table, .n_flows = max_flows + N_LISTS, .bucket_mask = n_buckets - 1};
    shard->buckets = (uint32_t *)calloc(n_buckets, sizeof *shard->buckets);
    shard->flows = (struct flow *)alloc_lines(shard->n_flows, sizeof *shard->flows);
    if (table->slots.len != 0)
        shard->slots = (uint8_t *)calloc(shard->n_flows, table->slots.len);
    if (shard->buckets == NULL || shard->flows == NULL ||
        (table->slots.len != 0 && shard->slots == NULL))
        return false;
    make_lists(shard);
    return true;
}

static bool open_shards(struct sl_flow_table *table, uint32_t max_flows)
{
    const uint32_t n = count_shards(max_flows);

    table->shards = (struct flow_shard *)alloc_lines(n, sizeof *table->shards);
    if (table->shards == NULL)
        return false;
    memset(table->shards, 0, n * sizeof *table->shards);
    table->n_shards = n;
    for (uint32_t i = 0; i < n; i++)
        if (!open_shard(&table->shards[i], table, (max_flows + n - 1) / n))
            return false;
    return true;
}

enum sl_status sl_flow_table_create(struct sl_flow_table **out, const struct sl_flow_config *config,
                                    struct sl_diag *diag)
{
    struct flow_slots slots;
    enum sl_status status = reserved_check(config->reserved, diag);

    if (status == SL_OK)
        status = flow_slots_lay_out(&slots, config, diag);
    if (status != SL_OK)
        return status;
    if (config->max_flows == 0 || config->max_flows > SL_FLOWS_MAX)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a table of %u flows (expected 1 to %u)",
                        config->max_flows, (unsigned)SL_FLOWS_MAX);

    const uint32_t max_flows = count_flows(config->max_flows, config->memory, &slots);

    if (max_flows == 0)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a table of %llu bytes (expected at least %llu)",
                        (unsigned long long)config->memory,
                        (unsigned long long)table_len(1, &slots));

    struct sl_flow_table *table = (struct sl_flow_table *)calloc(1, sizeof *table);

    if (table != NULL)
        table->slots = slots;
    if (table == NULL || !open_shards(table, max_flows)) {
        sl_flow_table_free(table);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a table of %u flows", max_flows);
    }
    set_timeouts(table, config);
    table->keeps_records = config->keep_ends;
    table->totals = config->totals;
    flow_key_secret(table->secret, config->hash_key);
    flow_key_secret(table->id_secret, (const uint64_t[2]){config->sensor_id, 0});
    *out = table;
    return SL_OK;
}

void sl_flow_table_free(struct sl_flow_table *table)
{
    if (table == NULL)
        return;
    for (uint32_t i = 0; i < table->n_shards; i++) {
        free(table->shards[i].buckets);
        free(table->shards[i].flows);
        free(table->shards[i].slots);
    }
    free(table->shards);
    free(table);
}

uint32_t sl_flow_n_shards(const struct sl_flow_table *table)
{
    return table->n_shards;
}

uint32_t sl_flow_shard_max(const struct sl_flow_table *table)
{
    return table->shards[0].n_flows - N_LISTS;
}

void sl_flow_stats(struct sl_flow_table *table, struct sl_flow_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    for (uint32_t i = 0; i < table->n_shards; i++) {
        flow_shard_advance(&table->shards[i], table->clock);
        flow_stats_add(stats, &table->shards[i].stats);
    }
}

void flow_stats_add(struct sl_flow_stats *sum, const struct sl_flow_stats *more)
{
    sum->flows += more->flows;
    sum->tcp += more->tcp;
    sum->udp += more->udp;
    sum->other += more->other;
    sum->midstream += more->midstream;
    sum->evicted += more->evicted;
    sum->timed_out += more->timed_out;
    sum->active += more->active;
    sum->reused += more->reused;
}

void flow_shard_end(struct flow_shard *shard, struct flow *flow, enum sl_flow_reason reason)
{
    const uint32_t index = (uint32_t)(flow - shard->flows);
    const struct flow_key key = flow_key_of(flow);
    uint32_t *link = flow_bucket(shard, flow_hash(shard->table, &key));

    if (shard->batch != NULL)
        flow_ends_add(shard, flow, reason);
    while (*link != index)
        link = &shard->flows[*link].chain;
    *link = flow->chain;
    flow_list_remove(shard, flow);
    flow->chain = shard->free_chain;
    shard->free_chain = index;
    shard->stats.active--;
}

/* Ends all flows of a list that were idle for longer than `idle_ns`. Returns the time from now on
 * in which no further flow of the list can become so. */
static uint64_t sweep_list(struct flow_shard *shard, uint32_t list, uint64_t idle_ns)
{
    while (shard->flows[list].after != list) {
        struct flow *oldest = &shard->flows[shard->flows[list].after];
        const uint64_t idle = (uint64_t)shard->clock.now - (uint64_t)oldest->last_time;

        if (idle <= idle_ns)
            return idle_ns - idle;
        flow_shard_end(shard, oldest, SL_FLOW_END_TIMEOUT);
        shard->stats.timed_out++;
    }
    return idle_ns;
}

static void sweep(struct flow_shard *shard)
{
    shard->swept_time = shard->clock.now;
    shard->next_sweep_ns = UINT64_MAX;
    for (uint32_t list = 0; list < N_LISTS; list++) {
        const uint64_t next = sweep_list(shard, list, shard->table->timeout_ns[list]);

        if (next < shard->next_sweep_ns)
            shard->next_sweep_ns = next;
    }
}

static void end_all(struct flow_shard *shard)
{
    for (uint32_t list = 0; list < N_LISTS; list++)
        while (shard->flows[list].after != list) {
            flow_shard_end(shard, &shard->flows[shard->flows[list].after], SL_FLOW_END_TIMEOUT);
            shard->stats.timed_out++;
        }
}

void flow_shard_advance(struct flow_shard *shard, struct flow_clock clock)
{
    if (clock.era != shard->clock.era) {
        end_all(shard);
        shard->clock = clock;
        shard->swept_time = clock.now;
    } else if (clock.now > shard->clock.now) {
        shard->clock = clock;
        if ((uint64_t)clock.now - (uint64_t)shard->swept_time > shard->next_sweep_ns)
            sweep(shard);
    }
}

static void evict(struct flow_shard *shard)
{
    uint32_t oldest = shard->flows[0].after;

    for (uint32_t list = 1; list < N_LISTS; list++) {
        const uint32_t head = shard->flows[list].after;

        if (flow_last_packet(&shard->flows[head]) < flow_last_packet(&shard->flows[oldest]))
            oldest = head;
    }
    flow_shard_end(shard, &shard->flows[oldest], SL_FLOW_END_FORCED);
    shard->stats.evicted++;
}

struct flow *flow_shard_new(struct flow_shard *shard)
{
    if (shard->free_chain == 0 && shard->n_used < shard->n_flows)
        return &shard->flows[shard->n_used++];
    if (shard->free_chain == 0)
        evict(shard);

    struct flow *flow = &shard->flows[shard->free_chain];

    shard->free_chain = flow->chain;
    return flow;
}

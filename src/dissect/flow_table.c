/* SPDX-License-Identifier: MIT */
#include "flow_table.h"

#include <stdlib.h>

#include "base/diag.h"

enum { MAX_FLOWS = 1 << 28 };

void sl_flow_config_init(struct sl_flow_config *config)
{
    *config = (struct sl_flow_config){
        .max_flows = 262144,
        .tcp_handshake_seconds = 60,
        .tcp_established_seconds = 600,
        .tcp_closed_seconds = 10,
        .udp_seconds = 60,
        .other_seconds = 30,
    };
}

static void set_timeouts(struct sl_flow_table *table, const struct sl_flow_config *config)
{
    const uint32_t seconds[N_LISTS] = {
        [LIST_TCP_HANDSHAKE] = config->tcp_handshake_seconds,
        [LIST_TCP_ESTABLISHED] = config->tcp_established_seconds,
        [LIST_TCP_CLOSED] = config->tcp_closed_seconds,
        [LIST_UDP] = config->udp_seconds,
        [LIST_OTHER] = config->other_seconds,
    };

    for (uint32_t list = 0; list < N_LISTS; list++) {
        table->timeout_ns[list] = seconds[list] * UINT64_C(1000000000);
        if (table->timeout_ns[list] > table->longest_timeout_ns)
            table->longest_timeout_ns = table->timeout_ns[list];
    }
}

static void make_lists(struct sl_flow_table *table)
{
    for (uint32_t list = 0; list < N_LISTS; list++) {
        table->flows[list].before = table->flows[list].after = list;
        table->flows[list].last_packet = UINT64_MAX; /* an empty list has none to evict */
    }
    table->n_used = N_LISTS;
}

/* The memory is not cleared, so that pages of a large table are touched only when they are used. */
static struct flow *alloc_flows(uint32_t n_flows)
{
    void *memory;

    return posix_memalign(&memory, 64, n_flows * sizeof(struct flow)) == 0 ? memory : NULL;
}

enum sl_status sl_flow_table_create(struct sl_flow_table **out, const struct sl_flow_config *config,
                                    struct sl_diag *diag)
{
    if (config->max_flows == 0 || config->max_flows > MAX_FLOWS)
        return diag_set(diag, SL_EINVAL, NULL, 0, "a table of %u flows (expected 1 to %u)",
                        config->max_flows, (unsigned)MAX_FLOWS);

    struct sl_flow_table *table = (struct sl_flow_table *)calloc(1, sizeof *table);
    uint32_t n_buckets = 1;

    if (table == NULL)
        goto no_memory;
    while (n_buckets < config->max_flows)
        n_buckets *= 2;
    table->n_flows = config->max_flows + N_LISTS;
    table->bucket_mask = n_buckets - 1;
    table->buckets = (uint32_t *)calloc(n_buckets, sizeof *table->buckets);
    table->flows = alloc_flows(table->n_flows);
    if (table->buckets == NULL || table->flows == NULL)
        goto no_memory;
    set_timeouts(table, config);
    make_lists(table);
    flow_key_secret(table->secret, config->hash_key);
    flow_key_secret(table->id_secret, (const uint64_t[2]){config->sensor_id, 0});
    *out = table;
    return SL_OK;

no_memory:
    sl_flow_table_free(table);
    return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for a table of %u flows",
                    config->max_flows);
}

void sl_flow_table_free(struct sl_flow_table *table)
{
    if (table == NULL)
        return;
    free(table->buckets);
    free(table->flows);
    free(table);
}

void sl_flow_stats(const struct sl_flow_table *table, struct sl_flow_stats *stats)
{
    *stats = table->stats;
}

void flow_table_end(struct sl_flow_table *table, struct flow *flow)
{
    const uint32_t index = (uint32_t)(flow - table->flows);
    uint32_t *link = flow_bucket(table, flow_hash(table, &flow->key));

    while (*link != index)
        link = &table->flows[*link].chain;
    *link = flow->chain;
    flow_list_remove(table, flow);
    flow->chain = table->free_chain;
    table->free_chain = index;
    table->stats.active--;
}

/* Ends all flows of a list that were idle for longer than `idle_ns`. Returns the time from now on
 * in which no further flow of the list can become so. */
static uint64_t sweep_list(struct sl_flow_table *table, uint32_t list, uint64_t idle_ns)
{
    while (table->flows[list].after != list) {
        struct flow *oldest = &table->flows[table->flows[list].after];
        const uint64_t idle = (uint64_t)table->now - (uint64_t)oldest->last_time;

        if (idle <= idle_ns)
            return idle_ns - idle;
        flow_table_end(table, oldest);
        table->stats.timed_out++;
    }
    return idle_ns;
}

void flow_table_sweep(struct sl_flow_table *table)
{
    table->swept_time = table->now;
    table->next_sweep_ns = UINT64_MAX;
    for (uint32_t list = 0; list < N_LISTS; list++) {
        const uint64_t next = sweep_list(table, list, table->timeout_ns[list]);

        if (next < table->next_sweep_ns)
            table->next_sweep_ns = next;
    }
}

void flow_table_end_all(struct sl_flow_table *table)
{
    for (uint32_t list = 0; list < N_LISTS; list++)
        while (table->flows[list].after != list) {
            flow_table_end(table, &table->flows[table->flows[list].after]);
            table->stats.timed_out++;
        }
}

static void evict(struct sl_flow_table *table)
{
    uint32_t oldest = table->flows[0].after;

    for (uint32_t list = 1; list < N_LISTS; list++) {
        const uint32_t head = table->flows[list].after;

        if (table->flows[head].last_packet < table->flows[oldest].last_packet)
            oldest = head;
    }
    flow_table_end(table, &table->flows[oldest]);
    table->stats.evicted++;
}

struct flow *flow_table_new(struct sl_flow_table *table)
{
    if (table->free_chain == 0 && table->n_used < table->n_flows)
        return &table->flows[table->n_used++];
    if (table->free_chain == 0)
        evict(table);

    struct flow *flow = &table->flows[table->free_chain];

    table->free_chain = flow->chain;
    return flow;
}

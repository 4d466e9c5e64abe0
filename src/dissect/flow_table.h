/* SPDX-License-Identifier: MIT */
/* The flow table: hash buckets with chains through one array of flows. The same array holds one
 * list for each timeout, in order of the flows' last packets. The clock never runs backwards, so
 * each list is also in order of expiry. Timing out and evicting read the heads of the lists alone.
 */
#ifndef DISSECT_FLOW_TABLE_H
#define DISSECT_FLOW_TABLE_H

#include "flow_key.h"
#include "sluice/dissect.h"

enum flow_list {
    LIST_TCP_HANDSHAKE,
    LIST_TCP_ESTABLISHED,
    LIST_TCP_CLOSED,
    LIST_UDP,
    LIST_OTHER,
    N_LISTS
};

/* 96 bytes: two cache lines, wherever it lies in an array that begins at one. */
struct flow {
    struct flow_key key;
    uint64_t id;
    int64_t last_time;    /* of its last packet, by the table's clock */
    uint64_t last_packet; /* count of packets at its last */
    uint32_t fin_end[2];  /* sequence number behind the FIN of each end; valid once it has a FIN */
    uint32_t chain;       /* next flow of the bucket, or of the free entries; 0 ends it */
    uint32_t before, after; /* in its list */
    uint16_t state;         /* flags of flow.c */
    uint8_t list;
};

_Static_assert(sizeof(struct flow) == 96, "a flow is two cache lines");

struct sl_flow_table {
    uint64_t secret[FLOW_KEY_WORDS];    /* of the hash */
    uint64_t id_secret[FLOW_KEY_WORDS]; /* of flow ids */
    uint64_t timeout_ns[N_LISTS];
    uint64_t longest_timeout_ns;

    uint32_t *buckets; /* heads of chains; 0 is none */
    uint32_t bucket_mask;
    struct flow *flows; /* the first N_LISTS are the lists' ends and no flows */
    uint32_t n_used;    /* flows that were ever used, with the lists' ends */
    uint32_t n_flows;   /* with the lists' ends */
    uint32_t free_chain;

    int64_t now;
    int64_t swept_time;     /* the time of the last sweep */
    uint64_t next_sweep_ns; /* no flow times out before this much time has passed since */
    uint64_t packets;
    struct sl_flow_stats stats;
};

static inline uint32_t flow_hash(const struct sl_flow_table *table, const struct flow_key *key)
{
    return (uint32_t)flow_key_hash(key, table->secret);
}

static inline uint32_t *flow_bucket(const struct sl_flow_table *table, uint32_t hash)
{
    return &table->buckets[hash & table->bucket_mask];
}

static inline void flow_list_remove(struct sl_flow_table *table, const struct flow *flow)
{
    table->flows[flow->before].after = flow->after;
    table->flows[flow->after].before = flow->before;
}

static inline void flow_list_append(struct sl_flow_table *table, struct flow *flow, uint32_t list)
{
    const uint32_t index = (uint32_t)(flow - table->flows);
    struct flow *end = &table->flows[list];

    flow->list = (uint8_t)list;
    flow->after = list;
    flow->before = end->before;
    table->flows[end->before].after = index;
    end->before = index;
}

/* Returns a free entry, in no list and in no bucket. Evicts a flow where there is none. */
struct flow *flow_table_new(struct sl_flow_table *table);

/* Takes a flow out of its list and its bucket, and frees the entry. */
void flow_table_end(struct sl_flow_table *table, struct flow *flow);

/* Ends the flows that were idle for longer than their timeout, and sets the time of the next
 * sweep. */
void flow_table_sweep(struct sl_flow_table *table);

/* Ends all flows as timed out. */
void flow_table_end_all(struct sl_flow_table *table);

#endif

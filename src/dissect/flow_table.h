/* SPDX-License-Identifier: MIT */
/* The flow table: shards that have nothing in common but the clock. A shard has hash buckets with
 * chains through one array of flows. The same array holds one list for each timeout, in order of
 * the flows' last packets. Within an era the clock never runs backwards, so each list is also in
 * order of expiry. Timing out and evicting read the heads of the lists alone. */
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

/* The latest time of the packets so far. An era ends where the clock is set back. */
struct flow_clock {
    int64_t now;
    uint32_t era;
};

enum {
    FLOW_SHARDS_MAX = 64,
    FLOW_SHARD_MIN = 1024 /* flows of a shard, where there are several */
};

/* One thread at a time; a shard begins with a cache line of its own. */
struct flow_shard {
    _Alignas(64) const struct sl_flow_table *table;
    uint32_t *buckets; /* heads of chains; 0 is none */
    uint32_t bucket_mask;
    struct flow *flows; /* the first N_LISTS are the lists' ends and no flows */
    uint32_t n_used;    /* flows that were ever used, with the lists' ends */
    uint32_t n_flows;   /* with the lists' ends */
    uint32_t free_chain;

    struct flow_clock clock; /* at the shard's last packet */
    int64_t swept_time;      /* the time of the last sweep */
    uint64_t next_sweep_ns;  /* no flow times out before this much time has passed since */
    uint64_t packets;
    struct sl_flow_stats stats;
};

struct sl_flow_table {
    uint64_t secret[FLOW_KEY_WORDS];    /* of the hash */
    uint64_t id_secret[FLOW_KEY_WORDS]; /* of flow ids */
    uint64_t timeout_ns[N_LISTS];
    uint64_t longest_timeout_ns;
    uint32_t n_shards;
    struct flow_shard *shards;
    struct flow_clock clock; /* after the batches that were dealt */
};

static inline uint32_t flow_hash(const struct sl_flow_table *table, const struct flow_key *key)
{
    return (uint32_t)flow_key_hash(key, table->secret);
}

/* Buckets take the low bits of a hash, shards the high ones. */
static inline uint32_t flow_shard_index(const struct sl_flow_table *table, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash * table->n_shards >> 32);
}

static inline uint32_t *flow_bucket(const struct flow_shard *shard, uint32_t hash)
{
    return &shard->buckets[hash & shard->bucket_mask];
}

static inline void flow_list_remove(struct flow_shard *shard, const struct flow *flow)
{
    shard->flows[flow->before].after = flow->after;
    shard->flows[flow->after].before = flow->before;
}

static inline void flow_list_append(struct flow_shard *shard, struct flow *flow, uint32_t list)
{
    const uint32_t index = (uint32_t)(flow - shard->flows);
    struct flow *end = &shard->flows[list];

    flow->list = (uint8_t)list;
    flow->after = list;
    flow->before = end->before;
    shard->flows[end->before].after = index;
    end->before = index;
}

void flow_stats_add(struct sl_flow_stats *sum, const struct sl_flow_stats *more);

/* Returns a free entry, in no list and in no bucket. Evicts a flow where there is none. */
struct flow *flow_shard_new(struct flow_shard *shard);

/* Takes a flow out of its list and its bucket, and frees the entry. */
void flow_shard_end(struct flow_shard *shard, struct flow *flow);

/* Sets the shard's clock, which is that of its next packet. Ends the flows that are idle for longer
 * than their timeout, and all flows where the era is another. */
void flow_shard_advance(struct flow_shard *shard, struct flow_clock clock);

#endif

/* SPDX-License-Identifier: MIT */
/* The flow table: shards that have nothing in common but the clock. A shard has hash buckets with
 * chains through one array of flows. The same array holds one list for each timeout, in order of
 * the flows' last packets. Within an era the clock never runs backwards, so each list is also in
 * order of expiry. Timing out and evicting read the heads of the lists alone. */
#ifndef DISSECT_FLOW_TABLE_H
#define DISSECT_FLOW_TABLE_H

#include "flow_key.h"
#include "flow_slots.h"
#include "sluice/dissect.h"

enum flow_list {
    LIST_TCP_HANDSHAKE,
    LIST_TCP_ESTABLISHED,
    LIST_TCP_CLOSED,
    LIST_NEW, /* of other protocols */
    LIST_ESTABLISHED,
    N_LISTS
};

/* The state of a flow. Flags of one end are those of the key's end 0; the flags of end 1 lie one
 * bit further left. */
enum {
    STATE_CLIENT = 1 << 0, /* the client is the key's end 1 */
    STATE_ESTABLISHED = 1 << 1,
    STATE_MIDSTREAM = 1 << 2,
    STATE_CLOSED = 1 << 3,
    STATE_SYN = 1 << 4,
    STATE_SYN_ACK = 1 << 5,
    STATE_SEEN = 1 << 6,
    STATE_SEEN_BOTH = 3 << 6,
    STATE_FIN = 1 << 8,
    STATE_FIN_BOTH = 3 << 8,
    STATE_FIN_ACKED = 1 << 10,
    STATE_FIN_ACKED_BOTH = 3 << 10,
    STATE_FIN_FIRST = 1 << 12 /* the first FIN is that of end 1 */
};

/* Two cache lines. The first one hardly changes. */
struct flow {
    uint64_t key[FLOW_KEY_WORDS - 1]; /* the key but for its last word */
    uint64_t id;
    int64_t first_ns;    /* time of its first packet */
    uint32_t fin_end[2]; /* TCP: sequence number behind the FIN of each end; before it, that of the
                            first SYN. ICMP: type and code of the end's first packet */

    int64_t last_ns;           /* latest time of its packets; 0: none is known */
    int64_t last_time;         /* of its last packet, by the table's clock */
    uint32_t last_packet_low;  /* count of packets at its last, and its */
    uint16_t last_packet_high; /* next 16 bits */
    uint16_t source;           /* of its first packet */
    uint64_t sent[2];          /* by the key's ends: see flow_add_sent */
    uint32_t packets_low[2];
    uint32_t chain;         /* next flow of the bucket, or of the free entries; 0 ends it */
    uint32_t before, after; /* in its list */
    uint16_t kind;          /* the key's last word */
    uint16_t state;         /* STATE_* */
};

_Static_assert(sizeof(struct flow) == 128, "a flow is two cache lines");

#define FLOW_PACKETS_MAX ((UINT64_C(1) << 40) - 1)
#define FLOW_BYTES_MAX ((UINT64_C(1) << 48) - 1)

/* The traffic of one end. */
struct flow_sent {
    uint64_t packets, bytes;
    uint8_t tcp_flags;
};

static inline struct flow_sent flow_get_sent(const struct flow *flow, uint32_t end)
{
    const uint64_t word = flow->sent[end];

    return (struct flow_sent){.packets = word >> 56 << 32 | flow->packets_low[end],
                              .bytes = word & FLOW_BYTES_MAX,
                              .tcp_flags = (uint8_t)(word >> 48)};
}

/* The counts stop at their highest values: 2^48 bytes are six hours of 100 Gbit/s. One word has the
 * bytes, the flags from bit 48 on and the high bits of the packets from bit 56 on. It is stored as
 * a whole: parts of it would be slow to load again. */
static inline void flow_add_sent(struct flow *flow, uint32_t end, struct flow_sent more)
{
    const uint64_t packets_max = FLOW_PACKETS_MAX, bytes_max = FLOW_BYTES_MAX;
    struct flow_sent sum = flow_get_sent(flow, end);

    sum.packets += more.packets;
    sum.bytes += more.bytes;
    sum.packets = sum.packets < packets_max ? sum.packets : packets_max;
    sum.bytes = sum.bytes < bytes_max ? sum.bytes : bytes_max;
    flow->packets_low[end] = (uint32_t)sum.packets;
    flow->sent[end] =
        sum.bytes | (uint64_t)(sum.tcp_flags | more.tcp_flags) << 48 | sum.packets >> 32 << 56;
}

static inline uint64_t flow_last_packet(const struct flow *flow)
{
    return (uint64_t)flow->last_packet_high << 32 | flow->last_packet_low;
}

static inline void flow_set_last_packet(struct flow *flow, uint64_t count)
{
    flow->last_packet_low = (uint32_t)count;
    flow->last_packet_high = (uint16_t)(count >> 32);
}

/* The list of a flow in this state. */
static inline enum flow_list flow_list_of(uint16_t state, uint8_t protocol)
{
    if (protocol != SL_IP_TCP)
        return state & STATE_ESTABLISHED ? LIST_ESTABLISHED : LIST_NEW;
    if (state & STATE_CLOSED)
        return LIST_TCP_CLOSED;
    return state & STATE_ESTABLISHED ? LIST_TCP_ESTABLISHED : LIST_TCP_HANDSHAKE;
}

static inline struct flow_key flow_key_of(const struct flow *flow)
{
    struct flow_key key;

    for (uint32_t i = 0; i < FLOW_KEY_WORDS - 1; i++)
        key.word[i] = flow->key[i];
    key.word[FLOW_KEY_WORDS - 1] = flow->kind;
    return key;
}

static inline bool flow_has_key(const struct flow *flow, const struct flow_key *key)
{
    uint64_t difference = flow->kind ^ key->word[FLOW_KEY_WORDS - 1];

    for (uint32_t i = 0; i < FLOW_KEY_WORDS - 1; i++)
        difference |= flow->key[i] ^ key->word[i];
    return difference == 0;
}

/* The latest time of the packets so far. An era ends where the clock is set back. */
struct flow_clock {
    int64_t now;
    uint32_t era;
};

/* The moment of a packet: the clock before it, and after it. */
struct flow_moment {
    uint32_t run, item;
    struct flow_clock before, after;
};

#define FLOW_NOT_FOUND UINT32_MAX /* of a moment's run: there was none yet */

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

    uint8_t *slots;               /* of each flow; settling alone. NULL: ends are not kept */
    const struct sl_batch *batch; /* that is tracked, of keys `keys`; NULL: ends are not kept */
    struct sl_flow_keys *keys;
    uint32_t item;                     /* its packet that is tracked, */
    int64_t item_time;                 /* and the clock at it */
    struct flow_moment found[N_LISTS]; /* in it, where the last flow of each list timed out */
};

struct sl_flow_table {
    uint64_t secret[FLOW_KEY_WORDS];    /* of the hash */
    uint64_t id_secret[FLOW_KEY_WORDS]; /* of flow ids */
    uint64_t timeout_ns[N_LISTS];
    uint64_t longest_timeout_ns;
    struct flow_slots slots;
    bool keeps_records; /* of flows that end; without them an end is there to release its slots */
    bool totals;
    uint32_t n_shards;
    struct flow_shard *shards;
    struct flow_clock clock; /* after the batches that were dealt */
};

/* The slots of an entry. */
static inline uint8_t *flow_slots_of(const struct flow_shard *shard, uint32_t entry)
{
    return shard->slots + (size_t)entry * shard->table->slots.len;
}

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

    flow->after = list;
    flow->before = end->before;
    shard->flows[end->before].after = index;
    end->before = index;
}

void flow_stats_add(struct sl_flow_stats *sum, const struct sl_flow_stats *more);

/* Returns a free entry, in no list and in no bucket. Evicts a flow where there is none. */
struct flow *flow_shard_new(struct flow_shard *shard);

/* Keeps what the flow was, takes it out of its list and its bucket, and frees the entry. */
void flow_shard_end(struct flow_shard *shard, struct flow *flow, enum sl_flow_reason reason);

/* Sets the shard's clock, which is that of its next packet. Ends the flows that are idle for longer
 * than their timeout, and all flows where the era is another. */
void flow_shard_advance(struct flow_shard *shard, struct flow_clock clock);

#endif

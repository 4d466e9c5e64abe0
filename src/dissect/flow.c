/* SPDX-License-Identifier: MIT */
/* The flow table: hash buckets with chains through one array of flows. The same array holds one
 * list for each timeout, in order of the flows' last packets. The clock never runs backwards, so
 * each list is also in order of expiry. Timing out and evicting read the heads of the lists alone.
 */

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "dissect/flow_key.h"
#include "sluice/dissect.h"

enum { MAX_FLOWS = 1 << 28 };

/* Packets, or runs of them, that are fetched from memory ahead of their use. */
enum { BLOCK = 16 };

enum flow_list {
    LIST_TCP_HANDSHAKE,
    LIST_TCP_ESTABLISHED,
    LIST_TCP_CLOSED,
    LIST_UDP,
    LIST_OTHER,
    N_LISTS
};

enum { TCP_FIN = 0x01, TCP_SYN = 0x02, TCP_RST = 0x04, TCP_ACK = 0x10 };

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
    STATE_FIN_ACKED = 1 << 10,
    STATE_FIN_ACKED_BOTH = 3 << 10
};

/* 96 bytes: two cache lines, wherever it lies in an array that begins at one. */
struct flow {
    struct flow_key key;
    uint64_t id;
    int64_t last_time;      /* of its last packet, by the table's clock */
    uint64_t last_packet;   /* count of packets at its last */
    uint32_t fin_end[2];    /* sequence number behind the FIN of each end; valid with STATE_FIN */
    uint32_t chain;         /* next flow of the bucket, or of those that are free; 0 ends it */
    uint32_t before, after; /* in its list */
    uint16_t state;
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

/* The part of a packet's bytes that tracking needs beside its flow's key. */
struct flow_packet {
    uint32_t sequence, acknowledged; /* TCP */
    uint8_t tcp_flags;               /* 0 where it is no TCP */
    uint8_t sender;                  /* which end of the key sent it */
};

/* A run: packets of one flow, or of none, that follow one another in a batch. It has their common
 * properties, and the result of tracking. */
struct flow_run {
    struct flow_key key;
    uint32_t hash;
    uint32_t first, end; /* items */
    uint8_t protocol;
    uint8_t senders; /* bit n: end n of the key sent some */
    bool has_flow;
    bool plain;                 /* none is a TCP segment with SYN, FIN or RST */
    int64_t min_time, max_time; /* of known times; 0 where there is none */

    uint64_t flow;    /* of all packets, unless they were tracked one by one */
    uint8_t flags[2]; /* flow_flags, by sender */
    bool is_new;      /* the first began the flow */
    bool one_by_one;
};

_Static_assert(sizeof(struct flow_run) == 96, "a run is one and a half cache lines");

struct sl_flow_keys {
    struct flow_run *run;       /* aligned to a cache line */
    struct flow_packet *packet; /* of items, from first_item on */
    uint32_t n_runs;
    uint32_t first_item;
};

/* Items of a batch, or runs. */
struct range {
    uint32_t first, end;
};

/* The block of n that begins with `first`, which may lie behind the last. */
static struct range block_at(uint32_t n, uint32_t first)
{
    const uint32_t rest = first < n ? n - first : 0;

    return (struct range){first, first + (rest < BLOCK ? rest : BLOCK)};
}

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

static void list_remove(struct sl_flow_table *table, const struct flow *flow)
{
    table->flows[flow->before].after = flow->after;
    table->flows[flow->after].before = flow->before;
}

static void list_append(struct sl_flow_table *table, struct flow *flow, uint32_t list)
{
    const uint32_t index = (uint32_t)(flow - table->flows);
    struct flow *end = &table->flows[list];

    flow->list = (uint8_t)list;
    flow->after = list;
    flow->before = end->before;
    table->flows[end->before].after = index;
    end->before = index;
}

static uint32_t hash_of(const struct sl_flow_table *table, const struct flow_key *key)
{
    return (uint32_t)flow_key_hash(key, table->secret);
}

static uint32_t *bucket_of(const struct sl_flow_table *table, uint32_t hash)
{
    return &table->buckets[hash & table->bucket_mask];
}

static void end_flow(struct sl_flow_table *table, struct flow *flow)
{
    const uint32_t index = (uint32_t)(flow - table->flows);
    uint32_t *link = bucket_of(table, hash_of(table, &flow->key));

    while (*link != index)
        link = &table->flows[*link].chain;
    *link = flow->chain;
    list_remove(table, flow);
    flow->chain = table->free_chain;
    table->free_chain = index;
    table->stats.active--;
}

/* Ends all flows of a list that were idle for longer than `idle_ns`, and returns for how long from
 * now on no flow of that list can be. */
static uint64_t sweep_list(struct sl_flow_table *table, uint32_t list, uint64_t idle_ns)
{
    while (table->flows[list].after != list) {
        struct flow *oldest = &table->flows[table->flows[list].after];
        const uint64_t idle = (uint64_t)table->now - (uint64_t)oldest->last_time;

        if (idle <= idle_ns)
            return idle_ns - idle;
        end_flow(table, oldest);
        table->stats.timed_out++;
    }
    return idle_ns;
}

static void sweep(struct sl_flow_table *table)
{
    table->swept_time = table->now;
    table->next_sweep_ns = UINT64_MAX;
    for (uint32_t list = 0; list < N_LISTS; list++) {
        const uint64_t next = sweep_list(table, list, table->timeout_ns[list]);

        if (next < table->next_sweep_ns)
            table->next_sweep_ns = next;
    }
}

static void end_all(struct sl_flow_table *table)
{
    for (uint32_t list = 0; list < N_LISTS; list++)
        while (table->flows[list].after != list) {
            end_flow(table, &table->flows[table->flows[list].after]);
            table->stats.timed_out++;
        }
}

/* Times may be any 64-bit numbers: differences are taken of unsigned ones, which never overflow. */
static void advance_clock(struct sl_flow_table *table, int64_t time)
{
    if (time == 0)
        return;
    if (time > table->now) {
        table->now = time;
        if ((uint64_t)time - (uint64_t)table->swept_time > table->next_sweep_ns)
            sweep(table);
    } else if ((uint64_t)table->now - (uint64_t)time > table->longest_timeout_ns) {
        end_all(table);
        table->now = table->swept_time = time;
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
    end_flow(table, &table->flows[oldest]);
    table->stats.evicted++;
}

/* Returns a free entry, and evicts a flow where there is none. */
static struct flow *new_flow(struct sl_flow_table *table)
{
    if (table->free_chain == 0 && table->n_used < table->n_flows)
        return &table->flows[table->n_used++];
    if (table->free_chain == 0)
        evict(table);

    struct flow *flow = &table->flows[table->free_chain];

    table->free_chain = flow->chain;
    return flow;
}

/* The index of the run's flow, 0 if it is not in the table. */
static uint32_t find_flow(const struct sl_flow_table *table, const struct flow_run *run)
{
    uint32_t index = *bucket_of(table, run->hash);

    while (index != 0 && !flow_key_equal(&table->flows[index].key, &run->key))
        index = table->flows[index].chain;
    return index;
}

/* The first segment of a connection, and the server's reply. */
static bool is_syn(uint8_t tcp_flags)
{
    return (tcp_flags & (TCP_SYN | TCP_ACK | TCP_RST)) == TCP_SYN;
}

static bool is_syn_ack(uint8_t tcp_flags)
{
    return (tcp_flags & (TCP_SYN | TCP_ACK | TCP_RST)) == (TCP_SYN | TCP_ACK);
}

/* Guesses the client of the flow that begins with this packet. Servers mostly have ports below
 * 1,024. */
static uint32_t guess_client(const struct flow_run *run, const struct flow_packet *packet)
{
    const uint8_t tcp_flags = packet->tcp_flags;
    const uint32_t sender = packet->sender;
    const bool from_server =
        is_syn_ack(tcp_flags) ||
        (flow_key_port(&run->key, sender) < 1024 && flow_key_port(&run->key, sender ^ 1) >= 1024);

    if (is_syn(tcp_flags) || flow_key_has_equal_ends(&run->key))
        return sender;
    return from_server ? sender ^ 1 : sender;
}

/* Begins a flow with this packet of the run, at this time. */
static struct flow *begin_flow(struct sl_flow_table *table, const struct flow_run *run,
                               const struct flow_packet *packet, int64_t time)
{
    struct flow *flow = new_flow(table);
    uint32_t *head = bucket_of(table, run->hash);

    flow->key = run->key;
    flow->id = flow_key_id(&run->key, time, table->id_secret);
    table->stats.flows++;
    flow->state = guess_client(run, packet) ? STATE_CLIENT : 0;
    flow->chain = *head;
    *head = (uint32_t)(flow - table->flows);
    table->stats.active++;
    if (run->protocol == SL_IP_TCP) {
        table->stats.tcp++;
        if (!is_syn(packet->tcp_flags)) {
            flow->state |= STATE_MIDSTREAM | STATE_ESTABLISHED;
            table->stats.midstream++;
        }
    } else if (run->protocol == SL_IP_UDP) {
        table->stats.udp++;
    } else {
        table->stats.other++;
    }
    return flow;
}

static bool from_client(const struct flow *flow, uint32_t sender)
{
    return sender == (flow->state & STATE_CLIENT ? 1 : 0);
}

/* SYN and SYN+ACK. The first SYN determines the client, even in a flow that began without one. */
static void update_handshake(struct flow *flow, uint8_t tcp_flags, uint32_t sender)
{
    if (is_syn_ack(tcp_flags)) {
        if (!from_client(flow, sender))
            flow->state |= STATE_SYN_ACK;
    } else if ((flow->state & STATE_SYN) == 0) {
        flow->state &= (uint16_t)~STATE_CLIENT;
        flow->state |= (uint16_t)(sender ? STATE_SYN | STATE_CLIENT : STATE_SYN);
    }
}

/* Where the capture cut the segment short, its FIN counts as acknowledged somewhat early. */
static void update_tcp(struct flow *flow, const struct flow_packet *packet, uint32_t payload_len)
{
    const uint8_t tcp_flags = packet->tcp_flags;
    const uint32_t sender = packet->sender;

    if (tcp_flags & TCP_RST) {
        flow->state |= STATE_CLOSED;
        return;
    }
    if (tcp_flags & TCP_SYN) {
        update_handshake(flow, tcp_flags, sender);
        return;
    }
    if (tcp_flags & TCP_ACK) {
        const uint32_t peer = sender ^ 1;

        if ((flow->state & STATE_SYN_ACK) && from_client(flow, sender))
            flow->state |= STATE_ESTABLISHED;
        if ((flow->state & STATE_FIN << peer) &&
            (int32_t)(packet->acknowledged - flow->fin_end[peer]) >= 0)
            flow->state |= (uint16_t)(STATE_FIN_ACKED << peer);
        if ((flow->state & STATE_FIN_ACKED_BOTH) == STATE_FIN_ACKED_BOTH)
            flow->state |= STATE_CLOSED;
    }
    if ((tcp_flags & TCP_FIN) && (flow->state & STATE_FIN << sender) == 0) {
        flow->fin_end[sender] = packet->sequence + payload_len + 1;
        flow->state |= (uint16_t)(STATE_FIN << sender);
    }
}

static enum flow_list list_of(const struct flow *flow, uint8_t protocol)
{
    if (protocol == SL_IP_UDP)
        return LIST_UDP;
    if (protocol != SL_IP_TCP)
        return LIST_OTHER;
    if (flow->state & STATE_CLOSED)
        return LIST_TCP_CLOSED;
    return flow->state & STATE_ESTABLISHED ? LIST_TCP_ESTABLISHED : LIST_TCP_HANDSHAKE;
}

static uint8_t flags_of(const struct flow *flow, uint32_t sender, bool is_new)
{
    return (uint8_t)((from_client(flow, sender) ? SL_FLOW_TO_SERVER : 0) |
                     (flow->state & STATE_ESTABLISHED ? SL_FLOW_ESTABLISHED : 0) |
                     (flow->state & STATE_MIDSTREAM ? SL_FLOW_MIDSTREAM : 0) |
                     (is_new ? SL_FLOW_NEW : 0));
}

static void track_packet(struct sl_flow_table *table, const struct sl_batch *batch, uint32_t item,
                         const struct flow_run *run, const struct flow_packet *packet)
{
    struct sl_origin *origin = &batch->origin[item];

    advance_clock(table, origin->time_ns);

    const uint32_t index = find_flow(table, run);
    struct flow *flow = &table->flows[index];
    bool is_new = index == 0;

    if (!is_new && is_syn(packet->tcp_flags) && (flow->state & STATE_CLOSED)) {
        end_flow(table, flow);
        is_new = true;
    }
    if (is_new)
        flow = begin_flow(table, run, packet, origin->time_ns);
    else
        list_remove(table, flow);
    flow->last_time = table->now;
    flow->last_packet = ++table->packets;
    flow->state |= (uint16_t)(STATE_SEEN << packet->sender);
    if (run->protocol == SL_IP_TCP)
        update_tcp(flow, packet, batch->payload[item].len);
    else if ((flow->state & STATE_SEEN_BOTH) == STATE_SEEN_BOTH)
        flow->state |= STATE_ESTABLISHED;
    list_append(table, flow, list_of(flow, run->protocol));
    origin->flow = flow->id;
    origin->flow_flags = flags_of(flow, packet->sender, is_new);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Whether the clock only moves on over the run's packets: no flow times out. */
static bool clock_passes(const struct sl_flow_table *table, const struct flow_run *run)
{
    const bool later = run->max_time > table->now;
    const int64_t now = later ? run->max_time : table->now;

    return run->max_time == 0 ||
           ((uint64_t)now - (uint64_t)run->min_time <= table->longest_timeout_ns &&
            (!later || (uint64_t)now - (uint64_t)table->swept_time <= table->next_sweep_ns));
}

/* Whether no packet of a plain run changes the state of its flow, but for the ends that were seen.
 */
static bool is_steady(uint16_t state, const struct flow_run *run)
{
    if (run->protocol == SL_IP_TCP)
        return (state & (STATE_ESTABLISHED | STATE_FIN | STATE_FIN << 1)) == STATE_ESTABLISHED;
    return (state & STATE_ESTABLISHED) != 0 ||
           ((state | STATE_SEEN * run->senders) & STATE_SEEN_BOTH) != STATE_SEEN_BOTH;
}

/* Tracks all packets of a run at once. False: they must be tracked one by one, and nothing was
 * changed. */
static bool track_at_once(struct sl_flow_table *table, const struct sl_batch *batch,
                          struct flow_run *run, const struct flow_packet *first)
{
    if (!run->plain || !clock_passes(table, run))
        return false;

    const uint32_t index = find_flow(table, run);
    const uint16_t midstream = run->protocol == SL_IP_TCP ? STATE_ESTABLISHED : 0;
    struct flow *flow = &table->flows[index];

    if (!is_steady(index != 0 ? flow->state : midstream, run))
        return false;
    if (run->max_time > table->now)
        table->now = run->max_time;
    run->is_new = index == 0;
    if (run->is_new)
        flow = begin_flow(table, run, first, batch->origin[run->first].time_ns);
    else
        list_remove(table, flow);
    table->packets += run->end - run->first;
    flow->last_time = table->now;
    flow->last_packet = table->packets;
    flow->state |= (uint16_t)(STATE_SEEN * run->senders);
    list_append(table, flow, list_of(flow, run->protocol));
    run->flow = flow->id;
    run->flags[0] = flags_of(flow, 0, false);
    run->flags[1] = flags_of(flow, 1, false);
    return true;
}

static void track_run(struct sl_flow_table *table, const struct sl_batch *batch,
                      struct flow_run *run, const struct flow_packet *packet)
{
    run->one_by_one = run->has_flow && !track_at_once(table, batch, run, packet);
    for (uint32_t item = run->first; run->one_by_one && item < run->end; item++)
        track_packet(table, batch, item, run, packet++);
}

/* Fetches the buckets of later runs. Once these are there, fetch_flows fetches their first flows.
 */
static void fetch_buckets(const struct sl_flow_table *table, const struct flow_run *run,
                          struct range range)
{
    for (uint32_t i = range.first; i < range.end; i++)
        if (run[i].has_flow)
            __builtin_prefetch(bucket_of(table, run[i].hash));
}

static void fetch_flows(const struct sl_flow_table *table, const struct flow_run *run,
                        struct range range)
{
    for (uint32_t i = range.first; i < range.end; i++) {
        if (!run[i].has_flow)
            continue;

        const struct flow *flow = &table->flows[*bucket_of(table, run[i].hash)];

        __builtin_prefetch(flow);
        __builtin_prefetch((const uint8_t *)flow + 64);
    }
}

/* While a block is tracked, the flows of the next block are fetched, and the buckets of the block
 * behind it. */
void sl_flow_track_keys(struct sl_flow_table *table, struct sl_batch *batch,
                        struct sl_flow_keys *keys)
{
    struct flow_run *run = keys->run;
    const uint32_t n = keys->n_runs;

    fetch_buckets(table, run, block_at(n, 0));
    fetch_buckets(table, run, block_at(n, BLOCK));
    fetch_flows(table, run, block_at(n, 0));
    for (uint32_t first = 0; first < n; first += BLOCK) {
        const struct range range = block_at(n, first);

        fetch_flows(table, run, block_at(n, first + BLOCK));
        fetch_buckets(table, run, block_at(n, first + 2 * BLOCK));
        for (uint32_t i = range.first; i < range.end; i++)
            track_run(table, batch, &run[i], &keys->packet[run[i].first - keys->first_item]);
    }
}

void sl_flow_keys_apply(const struct sl_flow_keys *keys, struct sl_batch *batch)
{
    for (uint32_t i = 0; i < keys->n_runs; i++) {
        const struct flow_run *run = &keys->run[i];

        for (uint32_t item = run->first; !run->one_by_one && item < run->end; item++) {
            batch->origin[item].flow = run->flow;
            batch->origin[item].flow_flags =
                run->flags[keys->packet[item - keys->first_item].sender];
        }
        if (run->is_new)
            batch->origin[run->first].flow_flags |= SL_FLOW_NEW;
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void read_tcp(struct flow_packet *packet, const struct sl_batch *batch, uint32_t item)
{
    const struct sl_packet *headers = &batch->packet[item];
    const uint8_t *tcp = batch->bytes + headers->offset + headers->transport;

    packet->sequence = load_be32(tcp + 4);
    packet->acknowledged = load_be32(tcp + 8);
    packet->tcp_flags = tcp[13];
}

/* The run that the packet belongs to: the last one, or the next. */
static struct flow_run *run_of(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                               const struct flow_key *key, bool has_flow, uint32_t item)
{
    const struct flow_run *last = keys->n_runs != 0 ? &keys->run[keys->n_runs - 1] : NULL;

    if (last != NULL && last->has_flow == has_flow &&
        (!has_flow || flow_key_equal(&last->key, key)))
        return &keys->run[keys->n_runs - 1];

    struct flow_run *run = &keys->run[keys->n_runs++];

    *run = (struct flow_run){.first = item, .has_flow = has_flow, .plain = true};
    if (has_flow) {
        run->key = *key;
        run->hash = hash_of(table, key);
    }
    return run;
}

static void add_time(struct flow_run *run, int64_t time)
{
    if (time == 0)
        return;
    if (run->max_time == 0 || time > run->max_time)
        run->max_time = time;
    if (run->min_time == 0 || time < run->min_time)
        run->min_time = time;
}

static void read_packet(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                        const struct sl_batch *batch, uint32_t item)
{
    struct flow_packet *packet = &keys->packet[item - keys->first_item];
    struct flow_key key;

    *packet = (struct flow_packet){0};

    const bool has_flow = flow_key_read(&key, &packet->sender, batch, item);
    struct flow_run *run = run_of(keys, table, &key, has_flow, item);

    run->end = item + 1;
    if (!has_flow)
        return;
    run->protocol = batch->packet[item].protocol;
    if (run->protocol == SL_IP_TCP)
        read_tcp(packet, batch, item);
    run->plain = run->plain && (packet->tcp_flags & (TCP_SYN | TCP_FIN | TCP_RST)) == 0;
    run->senders |= (uint8_t)(1 << packet->sender);
    add_time(run, batch->origin[item].time_ns);
}

/* Fetches the headers of a later block, which left the nearest cache since the batch was dissected.
 * Inlined by force: gcc drops calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void fetch_headers(const struct sl_batch *batch,
                                                                struct range range)
{
    for (uint32_t i = range.first; i < range.end; i++) {
        const struct sl_packet *packet = &batch->packet[i];

        __builtin_prefetch(batch->bytes + packet->offset + packet->network);
        __builtin_prefetch(batch->bytes + packet->offset + packet->transport);
    }
}

static void read_block(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                       const struct sl_batch *batch, struct range range)
{
    fetch_headers(batch, block_at(batch->n_items, range.end));
    for (uint32_t item = range.first; item < range.end; item++)
        read_packet(keys, table, batch, item);
}

void sl_flow_keys_read(struct sl_flow_keys *keys, const struct sl_flow_table *table,
                       const struct sl_batch *batch)
{
    keys->n_runs = 0;
    for (uint32_t first = 0; first < batch->n_items; first += BLOCK)
        read_block(keys, table, batch, block_at(batch->n_items, first));
}

void sl_flow_track(struct sl_flow_table *table, struct sl_batch *batch)
{
    struct flow_run run[BLOCK];
    struct flow_packet packet[BLOCK];

    for (uint32_t first = 0; first < batch->n_items; first += BLOCK) {
        struct sl_flow_keys block = {.run = run, .packet = packet, .first_item = first};

        read_block(&block, table, batch, block_at(batch->n_items, first));
        sl_flow_track_keys(table, batch, &block);
        sl_flow_keys_apply(&block, batch);
    }
}

/* The memory is not cleared, so that unused pages are not touched. */
enum sl_status sl_flow_keys_create(struct sl_flow_keys **out, uint32_t max_items,
                                   struct sl_diag *diag)
{
    struct sl_flow_keys *keys = (struct sl_flow_keys *)calloc(1, sizeof *keys);
    void *run = NULL;

    if (keys != NULL) {
        keys->packet = (struct flow_packet *)malloc(((size_t)max_items + 1) * sizeof *keys->packet);
        if (posix_memalign(&run, 64, ((size_t)max_items + 1) * sizeof *keys->run) == 0)
            keys->run = (struct flow_run *)run;
    }
    if (keys == NULL || keys->packet == NULL || keys->run == NULL) {
        sl_flow_keys_free(keys);
        return diag_set(diag, SL_ENOMEM, NULL, 0, "no memory for the flow keys of %u packets",
                        max_items);
    }
    *out = keys;
    return SL_OK;
}

void sl_flow_keys_free(struct sl_flow_keys *keys)
{
    if (keys == NULL)
        return;
    free(keys->run);
    free(keys->packet);
    free(keys);
}

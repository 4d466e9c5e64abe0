/* SPDX-License-Identifier: MIT */
/* Tracking: the state of each flow, packet by packet, and runs of packets at once. */
#include "flow_runs.h"
#include "flow_table.h"

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

/* Times may be any 64-bit numbers: differences are taken of unsigned ones, which never overflow. */
static void advance_clock(struct sl_flow_table *table, int64_t time)
{
    if (time == 0)
        return;
    if (time > table->now) {
        table->now = time;
        if ((uint64_t)time - (uint64_t)table->swept_time > table->next_sweep_ns)
            flow_table_sweep(table);
    } else if ((uint64_t)table->now - (uint64_t)time > table->longest_timeout_ns) {
        flow_table_end_all(table);
        table->now = table->swept_time = time;
    }
}

/* The index of the run's flow, 0 if it is not in the table. */
static uint32_t find_flow(const struct sl_flow_table *table, const struct flow_run *run)
{
    uint32_t index = *flow_bucket(table, run->hash);

    while (index != 0 && !flow_key_equal(&table->flows[index].key, &run->key))
        index = table->flows[index].chain;
    return index;
}

/* The first segment of a connection, and the server's reply. */
static bool is_syn(uint8_t tcp_flags)
{
    return (tcp_flags & (FLOW_TCP_SYN | FLOW_TCP_ACK | FLOW_TCP_RST)) == FLOW_TCP_SYN;
}

static bool is_syn_ack(uint8_t tcp_flags)
{
    return (tcp_flags & (FLOW_TCP_SYN | FLOW_TCP_ACK | FLOW_TCP_RST)) ==
           (FLOW_TCP_SYN | FLOW_TCP_ACK);
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
    struct flow *flow = flow_table_new(table);
    uint32_t *head = flow_bucket(table, run->hash);

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

    if (tcp_flags & FLOW_TCP_RST) {
        flow->state |= STATE_CLOSED;
        return;
    }
    if (tcp_flags & FLOW_TCP_SYN) {
        update_handshake(flow, tcp_flags, sender);
        return;
    }
    if (tcp_flags & FLOW_TCP_ACK) {
        const uint32_t peer = sender ^ 1;

        if ((flow->state & STATE_SYN_ACK) && from_client(flow, sender))
            flow->state |= STATE_ESTABLISHED;
        if ((flow->state & STATE_FIN << peer) &&
            (int32_t)(packet->acknowledged - flow->fin_end[peer]) >= 0)
            flow->state |= (uint16_t)(STATE_FIN_ACKED << peer);
        if ((flow->state & STATE_FIN_ACKED_BOTH) == STATE_FIN_ACKED_BOTH)
            flow->state |= STATE_CLOSED;
    }
    if ((tcp_flags & FLOW_TCP_FIN) && (flow->state & STATE_FIN << sender) == 0) {
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
        flow_table_end(table, flow);
        is_new = true;
    }
    if (is_new)
        flow = begin_flow(table, run, packet, origin->time_ns);
    else
        flow_list_remove(table, flow);
    flow->last_time = table->now;
    flow->last_packet = ++table->packets;
    flow->state |= (uint16_t)(STATE_SEEN << packet->sender);
    if (run->protocol == SL_IP_TCP)
        update_tcp(flow, packet, batch->payload[item].len);
    else if ((flow->state & STATE_SEEN_BOTH) == STATE_SEEN_BOTH)
        flow->state |= STATE_ESTABLISHED;
    flow_list_append(table, flow, list_of(flow, run->protocol));
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
        flow_list_remove(table, flow);
    table->packets += run->end - run->first;
    flow->last_time = table->now;
    flow->last_packet = table->packets;
    flow->state |= (uint16_t)(STATE_SEEN * run->senders);
    flow_list_append(table, flow, list_of(flow, run->protocol));
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
                          struct flow_range range)
{
    for (uint32_t i = range.first; i < range.end; i++)
        if (run[i].has_flow)
            __builtin_prefetch(flow_bucket(table, run[i].hash));
}

static void fetch_flows(const struct sl_flow_table *table, const struct flow_run *run,
                        struct flow_range range)
{
    for (uint32_t i = range.first; i < range.end; i++) {
        if (!run[i].has_flow)
            continue;

        const struct flow *flow = &table->flows[*flow_bucket(table, run[i].hash)];

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

    fetch_buckets(table, run, flow_block_at(n, 0));
    fetch_buckets(table, run, flow_block_at(n, FLOW_BLOCK));
    fetch_flows(table, run, flow_block_at(n, 0));
    for (uint32_t first = 0; first < n; first += FLOW_BLOCK) {
        const struct flow_range range = flow_block_at(n, first);

        fetch_flows(table, run, flow_block_at(n, first + FLOW_BLOCK));
        fetch_buckets(table, run, flow_block_at(n, first + 2 * FLOW_BLOCK));
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

void sl_flow_track(struct sl_flow_table *table, struct sl_batch *batch)
{
    struct flow_run run[FLOW_BLOCK];
    struct flow_packet packet[FLOW_BLOCK];

    for (uint32_t first = 0; first < batch->n_items; first += FLOW_BLOCK) {
        struct sl_flow_keys block = {.run = run, .packet = packet, .first_item = first};

        flow_keys_read_block(&block, table, batch, flow_block_at(batch->n_items, first));
        sl_flow_track_keys(table, batch, &block);
        sl_flow_keys_apply(&block, batch);
    }
}

/* SPDX-License-Identifier: MIT */
/* Tracking: the state of each flow, packet by packet, and runs of packets at once. */
#include <string.h>

#include "flow_clock.h"
#include "flow_ends.h"

/* The index of the run's flow, 0 if it is not in the table. */
static uint32_t find_flow(const struct flow_shard *shard, const struct flow_run *run)
{
    uint32_t index = *flow_bucket(shard, run->hash);

    while (index != 0 && !flow_has_key(&shard->flows[index], &run->key))
        index = shard->flows[index].chain;
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

/* A status line of HTTP: whatever the ports are, a server says that. */
static bool is_response(const struct sl_batch *batch, uint32_t item)
{
    static const char line[] = "HTTP/1.";
    const struct sl_span payload = batch->payload[item];

    return payload.len >= sizeof line &&
           memcmp(batch->bytes + payload.offset, line, sizeof line - 1) == 0;
}

/* Guesses the client of the flow that begins with this packet. Servers mostly have ports below
 * 1,024. */
static uint32_t guess_client(const struct flow_run *run, const struct sl_flow_packet *packet,
                             const struct sl_batch *batch, uint32_t item)
{
    const uint8_t tcp_flags = packet->tcp_flags;
    const uint32_t sender = packet->sender;
    const bool from_server =
        is_syn_ack(tcp_flags) || (run->protocol == SL_IP_TCP && is_response(batch, item)) ||
        (flow_key_port(&run->key, sender) < 1024 && flow_key_port(&run->key, sender ^ 1) >= 1024);

    if (is_syn(tcp_flags) || flow_key_has_equal_ends(&run->key))
        return sender;
    return from_server ? sender ^ 1 : sender;
}

/* Begins a flow with this packet of the run. */
static struct flow *begin_flow(struct flow_shard *shard, const struct flow_run *run,
                               const struct sl_flow_packet *packet, const struct sl_batch *batch,
                               uint32_t item)
{
    const struct sl_origin *origin = &batch->origin[item];
    struct flow *flow = flow_shard_new(shard);
    uint32_t *head = flow_bucket(shard, run->hash);

    memcpy(flow->key, run->key.word, sizeof flow->key);
    flow->kind = (uint16_t)run->key.word[FLOW_KEY_WORDS - 1];
    flow->id = flow_key_id(&run->key, origin->time_ns, shard->table->id_secret);
    flow->first_ns = flow->last_ns = origin->time_ns;
    flow->source = origin->source;
    memset(flow->sent, 0, sizeof flow->sent);
    memset(flow->packets_low, 0, sizeof flow->packets_low);
    shard->stats.flows++;
    flow->state = guess_client(run, packet, batch, item) ? STATE_CLIENT : 0;
    flow->fin_end[packet->sender] = packet->sequence;
    flow->chain = *head;
    *head = (uint32_t)(flow - shard->flows);
    shard->stats.active++;
    if (run->protocol == SL_IP_TCP) {
        shard->stats.tcp++;
        if (!is_syn(packet->tcp_flags)) {
            flow->state |= STATE_MIDSTREAM | STATE_ESTABLISHED;
            shard->stats.midstream++;
        }
    } else if (run->protocol == SL_IP_UDP) {
        shard->stats.udp++;
    } else {
        shard->stats.other++;
    }
    return flow;
}

static bool from_client(const struct flow *flow, uint32_t sender)
{
    return sender == (flow->state & STATE_CLIENT ? 1 : 0);
}

/* Whether a SYN+ACK acknowledges bytes of the SYN (TCP Fast Open): the server may answer these
 * before the client's ACK. */
static bool takes_syn_data(const struct flow *flow, const struct sl_flow_packet *packet)
{
    const uint32_t client = packet->sender ^ 1;
    const uint32_t n = packet->acknowledged - flow->fin_end[client] - 1;

    return (flow->state & (STATE_SYN | STATE_FIN << client)) == STATE_SYN && n != 0 &&
           n <= UINT16_MAX;
}

/* SYN and SYN+ACK. The first SYN determines the client, even in a flow that began without one. */
static void update_handshake(struct flow *flow, const struct sl_flow_packet *packet)
{
    const uint32_t sender = packet->sender;

    if (is_syn_ack(packet->tcp_flags)) {
        if (from_client(flow, sender))
            return;
        flow->state |=
            takes_syn_data(flow, packet) ? STATE_SYN_ACK | STATE_ESTABLISHED : STATE_SYN_ACK;
    } else if ((flow->state & STATE_SYN) == 0) {
        flow->state &= (uint16_t)~STATE_CLIENT;
        flow->state |= (uint16_t)(sender ? STATE_SYN | STATE_CLIENT : STATE_SYN);
        if ((flow->state & STATE_FIN << sender) == 0)
            flow->fin_end[sender] = packet->sequence;
    }
}

/* Where the capture cut the segment short, its FIN counts as acknowledged somewhat early. */
static void update_tcp(struct flow *flow, const struct sl_flow_packet *packet, uint32_t payload_len)
{
    const uint8_t tcp_flags = packet->tcp_flags;
    const uint32_t sender = packet->sender;

    if (tcp_flags & FLOW_TCP_RST) {
        flow->state |= STATE_CLOSED;
        return;
    }
    if (tcp_flags & FLOW_TCP_SYN) {
        update_handshake(flow, packet);
        return;
    }
    if (tcp_flags & FLOW_TCP_ACK) {
        const uint32_t peer = sender ^ 1;

        /* Where the client alone is seen, it has the server's part of the handshake. */
        if ((flow->state & STATE_SEEN << peer) == 0 ||
            ((flow->state & STATE_SYN_ACK) && from_client(flow, sender)))
            flow->state |= STATE_ESTABLISHED;
        if ((flow->state & STATE_FIN << peer) &&
            (int32_t)(packet->acknowledged - flow->fin_end[peer]) >= 0)
            flow->state |= (uint16_t)(STATE_FIN_ACKED << peer);
        if ((flow->state & STATE_FIN_ACKED_BOTH) == STATE_FIN_ACKED_BOTH)
            flow->state |= STATE_CLOSED;
    }
    if ((tcp_flags & FLOW_TCP_FIN) && (flow->state & STATE_FIN << sender) == 0) {
        flow->fin_end[sender] = packet->sequence + payload_len + 1;
        if (sender == 1 && (flow->state & STATE_FIN) == 0)
            flow->state |= STATE_FIN_FIRST;
        flow->state |= (uint16_t)(STATE_FIN << sender);
    }
}

static uint8_t flags_of(const struct flow *flow, uint32_t sender)
{
    return (uint8_t)((from_client(flow, sender) ? SL_FLOW_TO_SERVER : 0) |
                     (flow->state & STATE_ESTABLISHED ? SL_FLOW_ESTABLISHED : 0) |
                     (flow->state & STATE_MIDSTREAM ? SL_FLOW_MIDSTREAM : 0));
}

static void note_time(struct flow *flow, int64_t time)
{
    if (time != 0 && (flow->last_ns == 0 || time > flow->last_ns))
        flow->last_ns = time;
}

/* Whether records of ended flows need the counts. Other tables spare the counting. */
static bool counts(const struct flow_shard *shard)
{
    return shard->table->keeps_records || shard->table->totals;
}

/* Writes what the flow has sent so far as the total of a packet. */
static void put_total(const struct flow_shard *shard, const struct flow *flow,
                      const struct sl_batch *batch, uint32_t item)
{
    if (!shard->table->totals || batch->total == NULL)
        return;

    const uint32_t client = (flow->state & STATE_CLIENT) != 0 ? 1 : 0;
    const struct flow_sent sent[2] = {flow_get_sent(flow, client), flow_get_sent(flow, client ^ 1)};

    batch->total[item] = (struct sl_flow_total){.first_ns = flow->first_ns,
                                                .last_ns = flow->last_ns,
                                                .packets = {sent[0].packets, sent[1].packets},
                                                .bytes = {sent[0].bytes, sent[1].bytes}};
}

static void count_run(struct flow *flow, const struct flow_run *run)
{
    const uint32_t n = run->end - run->first;

    flow_add_sent(flow, 0,
                  (struct flow_sent){n - run->n_of_end_1, run->bytes[0], run->tcp_flags[0]});
    flow_add_sent(flow, 1, (struct flow_sent){run->n_of_end_1, run->bytes[1], run->tcp_flags[1]});
}

static void count_packet(struct flow *flow, const struct sl_flow_packet *packet,
                         const struct sl_origin *origin)
{
    flow_add_sent(flow, packet->sender, (struct flow_sent){1, origin->wire_len, packet->tcp_flags});
}

/* The shard's clock is that of the packet. */
static void track_packet(struct flow_shard *shard, const struct sl_batch *batch,
                         const struct sl_flow_keys *keys, const struct flow_run *run, uint32_t item)
{
    struct sl_flow_packet *packet = &keys->packet[item - keys->first_item];
    struct sl_origin *origin = &batch->origin[item];
    const uint32_t index = find_flow(shard, run);
    struct flow *flow = &shard->flows[index];
    bool is_new = index == 0;

    if (!is_new && is_syn(packet->tcp_flags) && (flow->state & STATE_CLOSED)) {
        flow_shard_end(shard, flow, SL_FLOW_END_TCP_REUSE);
        shard->stats.reused++;
        is_new = true;
    }
    if (is_new)
        flow = begin_flow(shard, run, packet, batch, item);
    else
        flow_list_remove(shard, flow);
    flow->last_time = shard->clock.now;
    flow_set_last_packet(flow, ++shard->packets);
    packet->entry = (uint32_t)(flow - shard->flows);
    note_time(flow, origin->time_ns);
    if (counts(shard))
        count_packet(flow, packet, origin);

    const bool is_first = (flow->state & STATE_SEEN << packet->sender) == 0;
    const bool was_open = !is_new && (flow->state & STATE_ESTABLISHED) != 0;

    if (run->protocol != SL_IP_TCP && is_first)
        flow->fin_end[packet->sender] = packet->sequence;
    flow->state |= (uint16_t)(STATE_SEEN << packet->sender);
    if (run->protocol == SL_IP_TCP)
        update_tcp(flow, packet, batch->payload[item].len);
    else if ((flow->state & STATE_SEEN_BOTH) == STATE_SEEN_BOTH)
        flow->state |= STATE_ESTABLISHED;
    flow_list_append(shard, flow, flow_list_of(flow->state, run->protocol));
    put_total(shard, flow, batch, item);
    origin->flow = flow->id;
    origin->flow_flags =
        (uint8_t)(flags_of(flow, packet->sender) | (is_new ? SL_FLOW_NEW : 0) |
                  (is_first ? SL_FLOW_FIRST : 0) |
                  (run->protocol == SL_IP_TCP && !was_open && (flow->state & STATE_ESTABLISHED) != 0
                       ? SL_FLOW_OPENED
                       : 0));
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Whether no flow of the shard times out until then. */
static bool no_timeout_until(const struct flow_shard *shard, struct flow_clock clock)
{
    return clock.era == shard->clock.era &&
           (clock.now <= shard->clock.now ||
            (uint64_t)clock.now - (uint64_t)shard->swept_time <= shard->next_sweep_ns);
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

/* The packet that begins a flow, and the clock at it. */
static void set_item(struct flow_shard *shard, struct flow_clock before, uint32_t item,
                     int64_t time)
{
    flow_clock_advance(&before, shard->table, time);
    shard->item = item;
    shard->item_time = before.now;
}

/* Tracks all packets of a run at once. False: they must be tracked one by one, and nothing was
 * changed. */
static bool track_at_once(struct flow_shard *shard, const struct sl_batch *batch,
                          const struct sl_flow_keys *keys, struct flow_run *run)
{
    struct sl_flow_packet *first = &keys->packet[run->first - keys->first_item];
    struct flow_clock clock = flow_clock_before(keys, run);

    if (!run->plain || !flow_clock_pass(&clock, shard->table, run->min_time, run->max_time) ||
        !no_timeout_until(shard, clock))
        return false;

    const uint32_t index = find_flow(shard, run);
    const uint16_t midstream = run->protocol == SL_IP_TCP ? STATE_ESTABLISHED : 0;
    struct flow *flow = &shard->flows[index];

    if (!is_steady(index != 0 ? flow->state : midstream, run))
        return false;
    flow_shard_advance(shard, clock);
    run->is_new = index == 0;
    if (run->is_new) {
        if (shard->batch != NULL)
            set_item(shard, flow_clock_before(keys, run), run->first,
                     batch->origin[run->first].time_ns);
        flow = begin_flow(shard, run, first, batch, run->first);
    } else {
        flow_list_remove(shard, flow);
    }
    shard->packets += run->end - run->first;
    flow->last_time = shard->clock.now;
    flow_set_last_packet(flow, shard->packets);
    first->entry = (uint32_t)(flow - shard->flows);
    put_total(shard, flow, batch, run->first); /* before the run: its packets are added later */
    note_time(flow, run->max_time);
    if (counts(shard))
        count_run(flow, run);
    run->new_senders = run->senders & ~(flow->state / STATE_SEEN) & 3;
    flow->state |= (uint16_t)(STATE_SEEN * run->senders);
    flow_list_append(shard, flow, flow_list_of(flow->state, run->protocol));
    run->flow = flow->id;
    run->flags[0] = flags_of(flow, 0);
    run->flags[1] = flags_of(flow, 1);
    return true;
}

static void track_run(struct flow_shard *shard, const struct sl_batch *batch,
                      const struct sl_flow_keys *keys, struct flow_run *run)
{
    struct flow_clock clock = flow_clock_before(keys, run);

    run->one_by_one = !track_at_once(shard, batch, keys, run);
    for (uint32_t item = run->first; run->one_by_one && item < run->end; item++) {
        flow_clock_advance(&clock, shard->table, batch->origin[item].time_ns);
        shard->item = item;
        shard->item_time = clock.now;
        flow_shard_advance(shard, clock);
        track_packet(shard, batch, keys, run, item);
    }
}

/* The runs of a shard, which lie apart, and what tracking them reads are fetched in three steps:
 * the run, its bucket, the bucket's first flow. Inlined by force: gcc drops calls to functions that
 * only prefetch. */
struct shard_runs {
    struct flow_run *run;
    const uint32_t *index;
    uint32_t n;
};

__attribute__((always_inline)) static inline void fetch_runs(const struct shard_runs *runs,
                                                             struct flow_range range)
{
    for (uint32_t i = range.first; i < range.end; i++) {
        __builtin_prefetch(&runs->run[runs->index[i]]);
        __builtin_prefetch((const uint8_t *)&runs->run[runs->index[i]] + 64);
    }
}

__attribute__((always_inline)) static inline void fetch_buckets(const struct flow_shard *shard,
                                                                const struct sl_batch *batch,
                                                                const struct sl_flow_keys *keys,
                                                                const struct shard_runs *runs,
                                                                struct flow_range range)
{
    for (uint32_t i = range.first; i < range.end; i++) {
        const struct flow_run *run = &runs->run[runs->index[i]];

        __builtin_prefetch(flow_bucket(shard, run->hash));
        __builtin_prefetch(&keys->before[runs->index[i]]);
        __builtin_prefetch(&keys->packet[run->first - keys->first_item]);
        __builtin_prefetch(&batch->origin[run->first]);
    }
}

__attribute__((always_inline)) static inline void
fetch_flows(const struct flow_shard *shard, const struct shard_runs *runs, struct flow_range range)
{
    for (uint32_t i = range.first; i < range.end; i++) {
        const uint32_t hash = runs->run[runs->index[i]].hash;
        const struct flow *flow = &shard->flows[*flow_bucket(shard, hash)];

        __builtin_prefetch(flow);
        __builtin_prefetch((const uint8_t *)flow + 64);
    }
}

/* While a block is tracked, the blocks behind it are fetched, one step each. */
static void track_runs(struct flow_shard *shard, const struct sl_batch *batch,
                       const struct sl_flow_keys *keys, const struct shard_runs *runs)
{
    const uint32_t n = runs->n;

    fetch_runs(runs, flow_block_at(n, 0));
    fetch_runs(runs, flow_block_at(n, FLOW_BLOCK));
    fetch_runs(runs, flow_block_at(n, 2 * FLOW_BLOCK));
    fetch_buckets(shard, batch, keys, runs, flow_block_at(n, 0));
    fetch_buckets(shard, batch, keys, runs, flow_block_at(n, FLOW_BLOCK));
    fetch_flows(shard, runs, flow_block_at(n, 0));
    for (uint32_t first = 0; first < n; first += FLOW_BLOCK) {
        const struct flow_range range = flow_block_at(n, first);

        fetch_flows(shard, runs, flow_block_at(n, first + FLOW_BLOCK));
        fetch_buckets(shard, batch, keys, runs, flow_block_at(n, first + 2 * FLOW_BLOCK));
        fetch_runs(runs, flow_block_at(n, first + 3 * FLOW_BLOCK));
        for (uint32_t i = range.first; i < range.end; i++)
            track_run(shard, batch, keys, &runs->run[runs->index[i]]);
    }
}

/* The gain of a shard's counters. */
static struct sl_flow_stats gained(const struct sl_flow_stats *now,
                                   const struct sl_flow_stats *before)
{
    return (struct sl_flow_stats){.flows = now->flows - before->flows,
                                  .tcp = now->tcp - before->tcp,
                                  .udp = now->udp - before->udp,
                                  .other = now->other - before->other,
                                  .midstream = now->midstream - before->midstream,
                                  .evicted = now->evicted - before->evicted,
                                  .timed_out = now->timed_out - before->timed_out,
                                  .active = now->active - before->active,
                                  .reused = now->reused - before->reused};
}

void sl_flow_track_shard(struct sl_flow_table *table, struct sl_batch *batch,
                         struct sl_flow_keys *keys, uint32_t shard)
{
    struct flow_shard *mine = &table->shards[shard];
    const struct sl_flow_stats before = mine->stats;
    const struct shard_runs runs = {.run = keys->run,
                                    .index = keys->by_shard + keys->first_of[shard],
                                    .n = keys->first_of[shard + 1] - keys->first_of[shard]};

    flow_ends_begin(mine, batch, keys, shard);
    track_runs(mine, batch, keys, &runs);
    flow_shard_advance(mine, keys->after);
    mine->batch = NULL;
    keys->added[shard] = gained(&mine->stats, &before);
}

/* Adds the packets of a run one after another to what its flow has sent before. */
static void add_totals(const struct sl_flow_keys *keys, const struct sl_batch *batch,
                       const struct flow_run *run)
{
    const uint64_t packets_max = FLOW_PACKETS_MAX, bytes_max = FLOW_BYTES_MAX;
    struct sl_flow_total sum = batch->total[run->first];

    for (uint32_t item = run->first; item < run->end; item++) {
        const struct sl_origin *origin = &batch->origin[item];
        const uint8_t sender = keys->packet[item - keys->first_item].sender;
        const int side = (run->flags[sender] & SL_FLOW_TO_SERVER) != 0 ? 0 : 1;

        sum.packets[side] += sum.packets[side] < packets_max;
        sum.bytes[side] += origin->wire_len;
        if (sum.bytes[side] > bytes_max)
            sum.bytes[side] = bytes_max;
        if (origin->time_ns != 0 && (sum.last_ns == 0 || origin->time_ns > sum.last_ns))
            sum.last_ns = origin->time_ns;
        batch->total[item] = sum;
    }
}

/* Marks the first packet of each end that had sent none before the run. */
static void mark_first(const struct sl_flow_keys *keys, struct sl_batch *batch,
                       const struct flow_run *run)
{
    uint8_t senders = run->new_senders;

    for (uint32_t item = run->first; senders != 0 && item < run->end; item++) {
        const uint8_t sender = (uint8_t)(1 << keys->packet[item - keys->first_item].sender);

        if ((senders & sender) != 0)
            batch->origin[item].flow_flags |= SL_FLOW_FIRST;
        senders &= (uint8_t)~sender;
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
        if (batch->total != NULL && run->has_flow && !run->one_by_one)
            add_totals(keys, batch, run);
        if (run->is_new)
            batch->origin[run->first].flow_flags |=
                run->protocol == SL_IP_TCP ? SL_FLOW_NEW | SL_FLOW_OPENED : SL_FLOW_NEW;
        mark_first(keys, batch, run);
    }
}

void sl_flow_keys_stats(const struct sl_flow_keys *keys, const struct sl_flow_table *table,
                        struct sl_flow_stats *sum)
{
    for (uint32_t i = 0; i < table->n_shards; i++)
        flow_stats_add(sum, &keys->added[i]);
}

/* Runs in order: shards have no order among them. */
static void track_block(struct sl_flow_table *table, struct sl_batch *batch,
                        struct sl_flow_keys *block)
{
    sl_flow_deal(table, batch, block);
    for (uint32_t i = 0; i < block->n_runs; i++) {
        struct flow_run *run = &block->run[i];

        if (run->has_flow)
            track_run(&table->shards[block->shard[i]], batch, block, run);
    }
    sl_flow_keys_apply(block, batch);
}

void sl_flow_track(struct sl_flow_table *table, struct sl_batch *batch)
{
    struct flow_run run[FLOW_BLOCK];
    struct flow_clock before[FLOW_BLOCK];
    struct sl_flow_packet packet[FLOW_BLOCK];
    uint8_t shard[FLOW_BLOCK];
    struct sl_flow_keys block = {.run = run, .before = before, .packet = packet, .shard = shard};

    for (uint32_t first = 0; first < batch->n_items; first += FLOW_BLOCK) {
        block.first_item = first;
        block.n_runs = 0;
        block.min_time = block.max_time = 0;
        block.goes_back = false;
        flow_keys_read_block(&block, table, batch, flow_block_at(batch->n_items, first));
        track_block(table, batch, &block);
    }
}

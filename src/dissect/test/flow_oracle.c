/* SPDX-License-Identifier: MIT */
#include "flow_oracle.h"

#include <stdlib.h>
#include <string.h>

enum { TCP = 6, UDP = 17, ICMP = 1, ICMPV6 = 58, SCTP = 132 };
enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

/* One side of a conversation. */
struct side {
    uint8_t addr;
    uint16_t port;
    bool seen;
    bool fin, fin_acked;
    uint32_t behind_fin;
    uint64_t fin_order; /* of the packet with its first FIN */
    struct sl_flow_side sent;
};

struct entry {
    uint64_t id;
    uint32_t shard;
    uint8_t protocol;
    bool ipv6;
    uint16_t vlan;
    bool echo;
    uint16_t echo_id;
    struct side client, server;
    bool midstream, established, closed;
    bool syn, syn_ack;
    uint32_t syn_seq; /* of the first SYN */
    int64_t last;
    int64_t first_ns, last_ns;
    bool alerted;
    uint8_t app;
};

/* Entries are in order of their last packets, the oldest first. */
struct flow_oracle {
    struct sl_flow_config config;
    struct entry *entries;
    uint32_t n;
    int64_t now;
    uint32_t n_shards;
    struct sl_flow_stats stats;
    uint64_t n_packets;
    struct flow_oracle_end *ends;
    size_t n_ends, max_ends;
};

struct flow_oracle *flow_oracle_create(const struct sl_flow_config *config)
{
    struct flow_oracle *oracle = (struct flow_oracle *)calloc(1, sizeof *oracle);

    oracle->config = *config;
    oracle->n_shards = 1;
    while (oracle->n_shards < 64 && config->max_flows >= 2048 * oracle->n_shards)
        oracle->n_shards *= 2;
    oracle->entries =
        (struct entry *)calloc(config->max_flows + oracle->n_shards, sizeof *oracle->entries);
    return oracle;
}

void flow_oracle_free(struct flow_oracle *oracle)
{
    free(oracle->entries);
    free(oracle->ends);
    free(oracle);
}

struct sl_flow_stats flow_oracle_stats(const struct flow_oracle *oracle)
{
    struct sl_flow_stats stats = oracle->stats;

    stats.active = oracle->n;
    return stats;
}

/* The table of states in RFC 9293's figure 5, seen from the server. */
static enum sl_tcp_state tcp_state(const struct entry *entry)
{
    const struct side *client = &entry->client, *server = &entry->server;

    if (entry->closed)
        return SL_TCP_CLOSED;
    if (client->fin && server->fin) {
        if (client->fin_order < server->fin_order)
            return SL_TCP_LAST_ACK;
        return server->fin_acked ? SL_TCP_TIME_WAIT : SL_TCP_CLOSING;
    }
    if (client->fin)
        return SL_TCP_CLOSE_WAIT;
    if (server->fin)
        return server->fin_acked ? SL_TCP_FIN_WAIT2 : SL_TCP_FIN_WAIT1;
    if (entry->established)
        return SL_TCP_ESTABLISHED;
    return entry->syn_ack ? SL_TCP_SYN_RECV : SL_TCP_SYN_SENT;
}

static void keep(struct flow_oracle *oracle, const struct entry *entry, enum sl_flow_reason reason)
{
    struct sl_flow_record *record;

    if (oracle->n_ends == oracle->max_ends) {
        oracle->max_ends = 2 * oracle->max_ends + 64;
        oracle->ends = (struct flow_oracle_end *)realloc(oracle->ends,
                                                         oracle->max_ends * sizeof *oracle->ends);
    }
    oracle->ends[oracle->n_ends].packet = oracle->n_packets;
    record = &oracle->ends[oracle->n_ends++].record;
    memset(record, 0, sizeof *record);
    record->id = entry->id;
    record->tuple.src.byte[15] = entry->client.addr;
    record->tuple.dst.byte[15] = entry->server.addr;
    record->tuple.src_port = entry->client.port;
    record->tuple.dst_port = entry->server.port;
    record->tuple.protocol = entry->protocol;
    record->vlan[0] = entry->vlan != 0 ? entry->vlan : SL_NO_VLAN;
    record->vlan[1] = SL_NO_VLAN;
    record->first_ns = entry->first_ns;
    record->last_ns = entry->last_ns;
    record->end_ns = oracle->now;
    record->client = entry->client.sent;
    record->server = entry->server.sent;
    record->state = entry->closed        ? SL_FLOW_STATE_CLOSED
                    : entry->established ? SL_FLOW_STATE_ESTABLISHED
                                         : SL_FLOW_STATE_NEW;
    record->tcp_state = entry->protocol == TCP ? tcp_state(entry) : SL_TCP_NONE;
    record->reason = reason;
    record->midstream = entry->midstream;
    record->alerted = entry->alerted;
    record->app = entry->app;
    if (entry->protocol == ICMP || entry->protocol == ICMPV6)
        record->tuple.src_port = entry->client.sent.packets != 0 ? entry->client.sent.icmp_type
                                                                 : entry->server.sent.icmp_type;
}

struct flow_oracle_end *flow_oracle_ends(struct flow_oracle *oracle, size_t *n)
{
    *n = oracle->n_ends;
    return oracle->ends;
}

void flow_oracle_forget(struct flow_oracle *oracle, size_t n)
{
    oracle->n_ends -= n;
    if (oracle->n_ends != 0)
        memmove(oracle->ends, oracle->ends + n, oracle->n_ends * sizeof *oracle->ends);
}

static void drop(struct flow_oracle *oracle, uint32_t i)
{
    oracle->n--;
    for (; i < oracle->n; i++) /* memmove is slow under the address sanitizer */
        oracle->entries[i] = oracle->entries[i + 1];
}

static double seconds_of(const struct flow_oracle *oracle, const struct entry *entry)
{
    if (entry->protocol != TCP)
        return entry->established ? oracle->config.established_seconds : oracle->config.new_seconds;
    if (entry->closed)
        return oracle->config.tcp_closed_seconds;
    return entry->established ? oracle->config.tcp_established_seconds
                              : oracle->config.tcp_handshake_seconds;
}

static double longest_seconds(const struct sl_flow_config *config)
{
    const uint32_t all[] = {config->tcp_handshake_seconds, config->tcp_established_seconds,
                            config->tcp_closed_seconds, config->new_seconds,
                            config->established_seconds};
    uint32_t longest = 0;

    for (uint32_t i = 0; i < 5; i++)
        longest = all[i] > longest ? all[i] : longest;
    return longest;
}

static void move_clock(struct flow_oracle *oracle, int64_t time)
{
    const bool new_time =
        time != 0 && (double)(oracle->now - time) > longest_seconds(&oracle->config) * 1e9;

    if (new_time || time > oracle->now)
        oracle->now = time;
    for (uint32_t i = 0; i < oracle->n;) {
        const double idle = (double)(oracle->now - oracle->entries[i].last);

        if (new_time || idle > seconds_of(oracle, &oracle->entries[i]) * 1e9) {
            keep(oracle, &oracle->entries[i], SL_FLOW_END_TIMEOUT);
            drop(oracle, i);
            oracle->stats.timed_out++;
        } else {
            i++;
        }
    }
}

static bool is_echo(const struct flow_event *event)
{
    if (event->protocol == ICMP)
        return event->icmp_type == 8 || event->icmp_type == 0;
    return event->protocol == ICMPV6 && (event->icmp_type == 128 || event->icmp_type == 129);
}

static uint16_t port_of(const struct flow_event *event, uint32_t end)
{
    return event->protocol == TCP || event->protocol == UDP || event->protocol == SCTP
               ? event->port[end]
               : 0;
}

static bool is_side(const struct side *side, const struct flow_event *event, uint32_t end)
{
    return side->addr == event->addr[end] && side->port == port_of(event, end);
}

static bool sent_by_client(const struct entry *entry, const struct flow_event *event)
{
    return is_side(&entry->client, event, 0) && is_side(&entry->server, event, 1);
}

static bool belongs(const struct entry *entry, const struct flow_event *event)
{
    const bool echo = is_echo(event);

    if (entry->protocol != event->protocol || entry->ipv6 != event->ipv6 ||
        entry->vlan != event->vlan || entry->echo != echo ||
        (echo && entry->echo_id != event->icmp_id))
        return false;
    return sent_by_client(entry, event) ||
           (is_side(&entry->server, event, 0) && is_side(&entry->client, event, 1));
}

static bool is_syn(const struct flow_event *event)
{
    return event->protocol == TCP && (event->tcp_flags & SYN) && !(event->tcp_flags & (ACK | RST));
}

static bool sender_is_client(const struct flow_event *event)
{
    if (is_syn(event))
        return true;
    if (event->protocol == TCP && (event->tcp_flags & (SYN | ACK | RST)) == (SYN | ACK))
        return false;
    return !(port_of(event, 0) < 1024 && port_of(event, 1) >= 1024);
}

/* Drops the oldest flow of a full shard. */
static void make_room(struct flow_oracle *oracle, uint32_t shard)
{
    const uint32_t n = oracle->n_shards;
    uint32_t n_here = 0, oldest = oracle->n;

    for (uint32_t i = oracle->n; i-- > 0;) {
        if (oracle->entries[i].shard == shard) {
            oldest = i;
            n_here++;
        }
    }
    if (n_here < (oracle->config.max_flows + n - 1) / n)
        return;
    keep(oracle, &oracle->entries[oldest], SL_FLOW_END_FORCED);
    drop(oracle, oldest);
    oracle->stats.evicted++;
}

static struct entry begin(struct flow_oracle *oracle, const struct flow_event *event)
{
    const struct side sides[2] = {{.addr = event->addr[0], .port = port_of(event, 0)},
                                  {.addr = event->addr[1], .port = port_of(event, 1)}};
    const bool client = sender_is_client(event);

    make_room(oracle, event->shard);
    oracle->stats.flows++;
    oracle->stats.tcp += event->protocol == TCP;
    oracle->stats.udp += event->protocol == UDP;
    oracle->stats.other += event->protocol != TCP && event->protocol != UDP;
    oracle->stats.midstream += event->protocol == TCP && !is_syn(event);
    return (struct entry){.id = oracle->stats.flows,
                          .shard = event->shard,
                          .protocol = event->protocol,
                          .ipv6 = event->ipv6,
                          .vlan = event->vlan,
                          .echo = is_echo(event),
                          .echo_id = event->icmp_id,
                          .first_ns = event->time,
                          .last_ns = event->time,
                          .client = sides[client ? 0 : 1],
                          .server = sides[client ? 1 : 0],
                          .midstream = event->protocol == TCP && !is_syn(event),
                          .established = event->protocol == TCP && !is_syn(event)};
}

static void see_tcp(const struct flow_oracle *oracle, struct entry *entry,
                    const struct flow_event *event)
{
    if (is_syn(event) && !entry->syn && !sent_by_client(entry, event)) {
        const struct side client = entry->server;

        entry->server = entry->client;
        entry->client = client;
    }

    const bool by_client = sent_by_client(entry, event);
    struct side *sender = by_client ? &entry->client : &entry->server;
    struct side *peer = by_client ? &entry->server : &entry->client;

    if (event->tcp_flags & RST) {
        entry->closed = true;
    } else if (event->tcp_flags & SYN) {
        const uint32_t n_taken = event->ack - entry->syn_seq - 1; /* bytes of the SYN */

        if (is_syn(event) && !entry->syn)
            entry->syn_seq = event->seq;
        entry->syn |= is_syn(event);
        if (!is_syn(event) && !by_client) {
            entry->syn_ack = true;
            entry->established |= entry->syn && !peer->fin && n_taken >= 1 && n_taken <= UINT16_MAX;
        }
    } else {
        if (event->tcp_flags & ACK) {
            entry->established |= (entry->syn_ack && by_client) || !peer->seen;
            /* Sequence numbers are compared around the circle: RFC 9293, section 3.4. */
            if (peer->fin && event->ack - peer->behind_fin < 0x80000000)
                peer->fin_acked = true;
        }
        if ((event->tcp_flags & FIN) && !sender->fin) {
            sender->fin = true;
            sender->fin_order = oracle->n_packets;
            sender->behind_fin = event->seq + event->payload_len + 1;
        }
        entry->closed |= entry->client.fin_acked && entry->server.fin_acked;
    }
}

static void count(struct entry *entry, const struct flow_event *event)
{
    struct sl_flow_side *sent =
        sent_by_client(entry, event) ? &entry->client.sent : &entry->server.sent;

    if (sent->packets == 0 && (event->protocol == ICMP || event->protocol == ICMPV6))
        sent->icmp_type = event->icmp_type;
    sent->packets++;
    sent->bytes += event->wire_len;
    if (event->protocol == TCP)
        sent->tcp_flags |= event->tcp_flags;
    if (event->time != 0 && (entry->last_ns == 0 || entry->last_ns < event->time))
        entry->last_ns = event->time;
    entry->alerted |= event->alerted;
    entry->app = entry->app != 0 ? entry->app : event->app;
}

static struct flow_verdict track(struct flow_oracle *oracle, const struct flow_event *event)
{
    struct entry entry;
    uint32_t i = 0;

    if (event->no_ip || event->later_fragment || event->short_transport)
        return (struct flow_verdict){.flow = 0};
    move_clock(oracle, event->time);
    while (i < oracle->n && !belongs(&oracle->entries[i], event))
        i++;

    bool found = i < oracle->n;
    if (found) {
        entry = oracle->entries[i];
        drop(oracle, i);
        found = !(entry.closed && is_syn(event));
        if (!found)
            keep(oracle, &entry, SL_FLOW_END_TCP_REUSE);
        oracle->stats.reused += !found;
    }
    if (!found)
        entry = begin(oracle, event);
    const bool was_open = found && entry.established;

    entry.last = oracle->now;
    if (event->protocol == TCP)
        see_tcp(oracle, &entry, event);
    count(&entry, event);

    const bool by_client = sent_by_client(&entry, event);
    bool *const seen = by_client ? &entry.client.seen : &entry.server.seen;
    const bool is_first = !*seen;

    *seen = true;
    if (event->protocol != TCP && entry.client.seen && entry.server.seen)
        entry.established = true;
    oracle->entries[oracle->n++] = entry;
    return (struct flow_verdict){
        .flow = entry.id,
        .flags =
            (uint8_t)((by_client ? SL_FLOW_TO_SERVER : 0) |
                      (entry.established ? SL_FLOW_ESTABLISHED : 0) |
                      (entry.midstream ? SL_FLOW_MIDSTREAM : 0) | (found ? 0 : SL_FLOW_NEW) |
                      (is_first ? SL_FLOW_FIRST : 0) |
                      (event->protocol == TCP && entry.established && !was_open ? SL_FLOW_OPENED
                                                                                : 0)),
        .total = {.first_ns = entry.first_ns,
                  .last_ns = entry.last_ns,
                  .packets = {entry.client.sent.packets, entry.server.sent.packets},
                  .bytes = {entry.client.sent.bytes, entry.server.sent.bytes}}};
}

struct flow_verdict flow_oracle_track(struct flow_oracle *oracle, const struct flow_event *event)
{
    const struct flow_verdict verdict = track(oracle, event);

    oracle->n_packets++;
    return verdict;
}

void flow_oracle_finish(struct flow_oracle *oracle)
{
    for (uint32_t i = 0; i < oracle->n; i++)
        keep(oracle, &oracle->entries[i], SL_FLOW_END_SHUTDOWN);
}

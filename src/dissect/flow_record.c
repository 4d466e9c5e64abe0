/* SPDX-License-Identifier: MIT */
/* The record of a flow that ended. */
#include <string.h>

#include "base/bytes.h"
#include "flow_ends.h"

static void fill_tuple(struct sl_flow_record *record, const struct flow *flow, uint32_t client)
{
    const struct flow_key key = flow_key_of(flow);
    struct sl_addr *addr[2] = {&record->tuple.src, &record->tuple.dst};

    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t byte = 0; byte < sizeof addr[i]->byte; byte++)
            addr[i]->byte[byte] =
                (uint8_t)(key.word[2 * (client ^ i) + byte / 8] >> (56 - byte % 8 * 8));
    record->tuple.src_port = flow_key_port(&key, client);
    record->tuple.dst_port = flow_key_port(&key, client ^ 1);
    record->tuple.protocol = (uint8_t)flow->kind;
    record->vlan[0] = (uint16_t)(key.word[4] >> 32);
    record->vlan[1] = (uint16_t)(key.word[4] >> 48);
}

static void fill_side(struct sl_flow_side *side, const struct flow *flow, uint32_t end)
{
    const struct flow_sent sent = flow_get_sent(flow, end);

    side->packets = sent.packets;
    side->bytes = sent.bytes;
    side->tcp_flags = sent.tcp_flags;
}

/* The flow's key has an echo's id, or no ports: the record has type and code. */
static void fill_icmp(struct sl_flow_record *record, const struct flow *flow, uint32_t client)
{
    struct sl_flow_side *sides[2] = {&record->client, &record->server};
    const struct sl_flow_side *first;

    for (uint32_t i = 0; i < 2; i++) {
        if (sides[i]->packets == 0)
            continue;
        sides[i]->icmp_type = (uint8_t)(flow->fin_end[client ^ i] >> 8);
        sides[i]->icmp_code = (uint8_t)flow->fin_end[client ^ i];
    }
    first = record->client.packets != 0 ? &record->client : &record->server;
    record->tuple.src_port = first->icmp_type;
    record->tuple.dst_port = first->icmp_code;
}

static enum sl_tcp_state tcp_state_of(uint16_t state, bool client_first)
{
    const bool both = (state & STATE_FIN_BOTH) == STATE_FIN_BOTH;

    if (state & STATE_CLOSED)
        return SL_TCP_CLOSED;
    if ((state & STATE_FIN_BOTH) != 0 && client_first)
        return both ? SL_TCP_LAST_ACK : SL_TCP_CLOSE_WAIT;
    if ((state & STATE_FIN_BOTH) != 0) {
        const bool acked = (state & STATE_FIN_ACKED << ((state & STATE_FIN_FIRST) != 0)) != 0;

        if (both)
            return acked ? SL_TCP_TIME_WAIT : SL_TCP_CLOSING;
        return acked ? SL_TCP_FIN_WAIT2 : SL_TCP_FIN_WAIT1;
    }
    if (state & STATE_ESTABLISHED)
        return SL_TCP_ESTABLISHED;
    if (state & STATE_SYN_ACK)
        return SL_TCP_SYN_RECV;
    return state & STATE_SYN ? SL_TCP_SYN_SENT : SL_TCP_NONE;
}

void flow_record_fill(struct sl_flow_record *record, const struct flow *flow,
                      enum sl_flow_reason reason, int64_t time, struct flow_settled settled)
{
    const uint16_t state = flow->state;
    const uint32_t client = state & STATE_CLIENT ? 1 : 0;

    memset(record, 0, sizeof *record);
    record->id = flow->id;
    fill_tuple(record, flow, client);
    fill_side(&record->client, flow, client);
    fill_side(&record->server, flow, client ^ 1);
    record->source = flow->source;
    record->first_ns = flow->first_ns;
    record->last_ns = flow->last_ns;
    record->end_ns = time;
    record->state = state & STATE_CLOSED        ? SL_FLOW_STATE_CLOSED
                    : state & STATE_ESTABLISHED ? SL_FLOW_STATE_ESTABLISHED
                                                : SL_FLOW_STATE_NEW;
    record->reason = reason;
    record->midstream = (state & STATE_MIDSTREAM) != 0;
    record->alerted = settled.alerted;
    record->passed = settled.passed;
    record->dropped = settled.dropped;
    record->app = settled.app;
    if (record->tuple.protocol == SL_IP_TCP)
        record->tcp_state = tcp_state_of(state, ((state & STATE_FIN_FIRST) != 0) == client);
    else if (record->tuple.protocol == SL_IP_ICMP || record->tuple.protocol == SL_IP_ICMPV6)
        fill_icmp(record, flow, client);
}

/* SPDX-License-Identifier: MIT */
/* Flows as sluice/dissect.h defines them, slowly: one list that is searched from end to end. It
 * sees what a packet means and not its bytes. */
#ifndef DISSECT_TEST_FLOW_ORACLE_H
#define DISSECT_TEST_FLOW_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "sluice/dissect.h"

/* The meaning of a packet. Index 0 is its source, 1 its destination. */
struct flow_event {
    int64_t time;
    uint8_t protocol;
    bool ipv6;
    uint16_t vlan;   /* 0: none */
    uint8_t addr[2]; /* the last byte of each address */
    uint16_t port[2];
    uint8_t tcp_flags;
    uint32_t seq, ack;
    uint32_t payload_len;
    uint8_t icmp_type;
    uint16_t icmp_id;
    bool no_ip;
    bool later_fragment;
    bool short_transport; /* the IP header leaves it 3 bytes; not with IPv6 */
    uint32_t wire_len;
    bool alerted;
    uint8_t app;
    uint32_t shard; /* of the table, where it has several */
};

struct flow_verdict {
    uint64_t flow;
    uint8_t flags;
    struct sl_flow_total total; /* of the flow */
};

/* A flow that ended at the n-th packet, from 0. Its id counts flows from 1, and of its addresses
 * the last byte alone is set. */
struct flow_oracle_end {
    uint64_t packet;
    struct sl_flow_record record;
};

struct flow_oracle;

struct flow_oracle *flow_oracle_create(const struct sl_flow_config *config);
struct flow_verdict flow_oracle_track(struct flow_oracle *oracle, const struct flow_event *event);
struct sl_flow_stats flow_oracle_stats(const struct flow_oracle *oracle);

/* Ends all flows by shutdown. */
void flow_oracle_finish(struct flow_oracle *oracle);

/* The ends so far, which flow_oracle_forget empties. */
struct flow_oracle_end *flow_oracle_ends(struct flow_oracle *oracle, size_t *n);
void flow_oracle_forget(struct flow_oracle *oracle, size_t n);
void flow_oracle_free(struct flow_oracle *oracle);

#endif

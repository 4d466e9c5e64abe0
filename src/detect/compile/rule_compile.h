/* SPDX-License-Identifier: MIT */
/* The rules that a packet may match: by the literals found in it, and, for rules without one, by
 * its header. A rule stands under one literal, or under keys of one kind. A packet has at most one
 * key of a kind, so no packet meets a rule twice, but for one both ways between ports of its own.
 */
#ifndef DETECT_RULE_COMPILE_H
#define DETECT_RULE_COMPILE_H

#include "detect/rule.h"
#include "rule_address_index.h"
#include "rule_gram.h"
#include "rule_header_filter.h"
#include "rule_lists.h"

/* The content of a packet, as far as a rule's protocol names it. */
enum rule_carried {
    RULE_CARRIES_NO_IP,
    RULE_CARRIES_OTHER,
    RULE_CARRIES_TCP,
    RULE_CARRIES_UDP,
    RULE_CARRIES_SCTP,
    RULE_CARRIES_ICMP,
    RULE_N_CARRIED
};

/* The demands of some rule of a literal on a hit's packet. Ports are numbered by their last six
 * bits. */
struct rule_wants {
    uint64_t from, to; /* the sender's ports, and the receiver's */
    uint32_t buffers;  /* SL_BUFFER_* that the literal is searched for in */
    uint32_t flows;    /* the values of rule_flow_value */
    uint16_t protocols;
    bool is_run; /* the literal is one byte repeated */
};

/* The flow of a view as a number below 32. */
static inline uint32_t rule_flow_value(uint8_t flow)
{
    return (flow & 15u) | (flow & RULE_FLOW_KNOWN) >> 3;
}

/* The values of flows from the client, a bit each: SL_FLOW_TO_SERVER is 1, so these are odd. */
#define RULE_FLOWS_TO_SERVER UINT32_C(0xAAAAAAAA)
_Static_assert(SL_FLOW_TO_SERVER == 1, "else other values are of flows from the client");

struct rule_index {
    struct sl_literal *literal;
    struct rule_wants *wants; /* of each literal */
    uint32_t n_literals;
    uint32_t all_buffers; /* of all literals */
    struct rule_lists by_literal;
    /* Rules without a literal. */
    struct rule_lists by_dst_port, by_src_port;
    struct rule_lists by_icmp_type, by_tcp_flags, by_ip_protocol;
    struct rule_lists by_carried;   /* enum rule_carried */
    struct rule_lists by_app;       /* enum sl_app */
    struct rule_lists by_message;   /* rule_message_key */
    struct rule_asked_grams *asked; /* of each entry of by_message.rule */
    struct rule_gram_values gram_values;
    struct rule_address_index by_source, by_destination;
    struct rule_header_filter header; /* of those */
    bool any_without_literal;
    bool any_expression;
    bool any_stream; /* some rule inspects streams */
    bool any_stream_without_literal;
    bool any_stream_facts;
    bool any_side;    /* some rule asks for the protocol of a side */
    bool any_total;   /* some rule asks what flows have sent */
    bool any_message; /* some rule inspects messages */
    bool any_step;    /* and at those that a side's head and body come with */
    bool any_event;   /* some rule asks for an event of a message */
    uint64_t values;  /* that rules ask for: bits of sl_app_value_bit */
    uint32_t files;   /* see sl_rules_need_files */
    bool any_app;     /* some rule asks for a protocol of enum sl_app */
    uint32_t *rank;   /* of each rule, see state_rank; NULL: no rule has state */
    bool any_data;    /* some rule asks a set of data that rules change */
    bool any_late;    /* some rule is late, filters its alerts or tags */
    bool any_tag;     /* some rule tags packets */
    bool any_end;     /* some rule ends flows late */
    bool any_pass;    /* some rule passes the rest of a flow, or alerts though it passes */
};

enum { RULE_MESSAGE_KEYS = 8 * SL_N_APPS };

/* Of messages of enum sl_app, and one of RULE_SEES_MESSAGES. */
static inline uint32_t rule_message_key(uint32_t app, uint32_t sees)
{
    return 8 * app + (uint32_t)__builtin_ctz(sees / RULE_SEES_CLIENT);
}

/* Accepts NULL. */
void rule_index_free(struct rule_index *index);

#endif

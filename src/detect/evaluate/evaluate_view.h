/* SPDX-License-Identifier: MIT */
/* A packet as rules see it. */
#ifndef DETECT_EVALUATE_VIEW_H
#define DETECT_EVALUATE_VIEW_H

#include "rule_body.h"
#include "rule_work.h"
#include "sluice/app.h"
#include "sluice/batch.h"
#include "sluice/detect.h"
#include "sluice/dissect.h"

enum { RULE_SOURCE, RULE_DESTINATION };

/* The sets of addresses that an address was looked for in last. Rules that follow each other mostly
 * ask for the same two: networks at home, and others. */
struct rule_answer {
    const struct rule_ranges *addresses[2];
    bool inside[2];
};

/* In a tunnel a packet has two views, one by each IP header. */
struct rule_view {
    uint16_t protocols; /* RULE_* */
    uint8_t carried;    /* enum rule_carried */
    bool has_ports;
    uint8_t flow;  /* RULE_FLOW_KNOWN and SL_FLOW_* */
    uint16_t sees; /* RULE_SEES_*: the rules that are evaluated on it */
    uint8_t ip_protocol;
    uint16_t src_port, dst_port;
    unsigned __int128 src, dst;
    struct rule_answer answer[2]; /* on src, on dst */
    const uint8_t *ip;            /* NULL: there is none */
    uint32_t ip_len;              /* bytes that may be read from there on */
    const uint8_t *transport;
    uint32_t transport_len;
    uint8_t app;                         /* enum sl_app */
    uint8_t defect;                      /* enum sl_defect */
    bool overlaps;                       /* a fragment that overlaps others */
    const struct sl_origin *origin;      /* NULL: there is none */
    const struct sl_flow_total *total;   /* of its flow; NULL: it has none, or it is not known */
    const struct sl_stream_facts *facts; /* NULL: none */
    struct rule_scan *scan;
    const struct sl_app_message *message; /* NULL: it is about packets or streams */
    struct rule_body *body;               /* of messages */
    uint32_t body_len;       /* bytes of the body of the message's side that rules see */
    uint32_t said;           /* bytes of all values */
    uint8_t quic_version[4]; /* of the message, as it is sent */
    bool turned;             /* the packet's receiver sent the message */
    bool asks_app;           /* rules that name no protocol do not see it */
    bool knows_dns_events;   /* some rule has asked for those of the message of DNS */
    uint32_t dns_events;     /* then: bits of dns_events */
};

/* The packet by its (inner) IP header, or without one. The scan gets its payload. */
void rule_view_packet(const struct sl_batch *batch, uint32_t item, struct rule_scan *scan,
                      struct rule_view *view);

/* A tunnel by its outermost IP header: a packet of IP or, with ports, of UDP, without payload or
 * flow. The scan is empty.
 * False: the packet's outer header was not captured. */
bool rule_view_tunnel(const struct sl_batch *batch, uint32_t item, struct rule_scan *empty,
                      struct rule_view *view);

/* Fetches the headers of a packet and its flow: another core may have loaded them. Inlined by
 * force: gcc drops calls to functions that only prefetch. */
__attribute__((always_inline)) static inline void rule_view_fetch(const struct sl_batch *batch,
                                                                  uint32_t item)
{
    const struct sl_packet *packet = &batch->packet[item];

    __builtin_prefetch(batch->bytes + packet->offset + packet->network);
    __builtin_prefetch(batch->bytes + packet->offset + packet->transport);
    if (batch->origin != NULL)
        __builtin_prefetch(&batch->origin[item].flow);
}

/* The flow of a packet without payload is that before it: the last of a handshake is of a flow that
 * is not established. What the packet completes is of the flow behind it. */
static inline void rule_view_behind(struct rule_view *view)
{
    if ((view->flow & SL_FLOW_OPENED) != 0)
        view->flow |= SL_FLOW_ESTABLISHED;
}

/* Between what the packet's sender sent and what its receiver sent. */
void rule_view_turn(struct rule_view *view);

/* Whether the scanned bytes are a message of DNS or SIP: not so a segment of TCP. */
static inline bool rule_view_is_message(const struct rule_view *view, enum sl_app app)
{
    return view->app == app && (view->message != NULL || (view->protocols & RULE_UDP) != 0);
}

static inline bool rule_view_is_tunnel(const struct sl_packet *packet)
{
    return (packet->flags & (SL_PACKET_OUTER_IPV4 | SL_PACKET_OUTER_IPV6)) != 0;
}

#endif

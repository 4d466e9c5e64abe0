/* SPDX-License-Identifier: MIT */
#include "evaluate_view.h"

#include "base/bytes.h"
#include "detect/compile/rule_compile.h"

static unsigned __int128 address6(const uint8_t *bytes)
{
    return (unsigned __int128)load_be64(bytes) << 64 | load_be64(bytes + 8);
}

/* ::ffff:a.b.c.d */
static unsigned __int128 address4(const uint8_t *bytes)
{
    return UINT64_C(0xFFFF) << 32 | load_be32(bytes);
}

/* Sets the fields that the protocol of an IP packet with a transport header determines. */
static void see_transport(struct rule_view *view)
{
    static const struct {
        uint8_t ip_protocol;
        uint8_t carried;
        uint16_t protocol;
        bool has_ports;
    } known[] = {
        {SL_IP_TCP, RULE_CARRIES_TCP, RULE_TCP, true},
        {SL_IP_UDP, RULE_CARRIES_UDP, RULE_UDP, true},
        {SL_IP_SCTP, RULE_CARRIES_SCTP, RULE_SCTP, true},
        {SL_IP_ICMP, RULE_CARRIES_ICMP, RULE_ICMPV4, false},
        {SL_IP_ICMPV6, RULE_CARRIES_ICMP, RULE_ICMPV6, false},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].ip_protocol == view->ip_protocol) {
            view->carried = known[i].carried;
            view->protocols |= known[i].protocol;
            view->has_ports = known[i].has_ports && view->transport != NULL;
            if (view->has_ports) {
                view->src_port = load_be16(view->transport);
                view->dst_port = load_be16(view->transport + 2);
            }
            return;
        }
    }
}

static void forget_answers(struct rule_view *view)
{
    for (int which = RULE_SOURCE; which <= RULE_DESTINATION; which++) {
        view->answer[which].addresses[0] = view->answer[which].addresses[1] = NULL;
        view->answer[which].inside[0] = false; /* it moves to the second before it is set */
    }
}

/* A packet of no protocol. Each field is written, as gcc clears a struct by a slow "rep stos". */
static void clear(struct rule_view *view)
{
    view->protocols = RULE_PACKET;
    view->carried = RULE_CARRIES_NO_IP;
    view->has_ports = false;
    view->sees = RULE_SEES_ALL;
    view->flow = SL_FLOW_FIRST; /* no flow: rules for the first of a side see each packet */
    view->ip_protocol = 0;
    view->src_port = view->dst_port = 0;
    view->src = view->dst = 0;
    forget_answers(view);
    view->ip = view->transport = NULL;
    view->ip_len = view->transport_len = 0;
    view->app = SL_APP_UNKNOWN;
    view->asks_app = false;
    view->total = NULL;
    view->facts = NULL;
    view->message = NULL;
    view->knows_dns_events = false;
}

void rule_view_packet(const struct sl_batch *batch, uint32_t item, struct rule_scan *scan,
                      struct rule_view *view)
{
    const struct sl_packet *packet = &batch->packet[item];
    const struct sl_origin *origin = batch->origin != NULL ? &batch->origin[item] : NULL;
    const uint8_t *bytes = batch->bytes + packet->offset;
    const bool ipv4 = (packet->flags & SL_PACKET_IPV4) != 0;

    clear(view);
    view->defect = packet->defect;
    view->overlaps = (packet->flags & SL_PACKET_OVERLAP) != 0;
    view->origin = origin;
    view->scan = scan;
    scan->payload = batch->bytes + batch->payload[item].offset;
    scan->len = batch->payload[item].len;
    /* The flags say whether there is an IP header: in raw captures it is at 0. */
    if (packet->network >= packet->len || (!ipv4 && (packet->flags & SL_PACKET_IPV6) == 0))
        return;
    view->protocols |= RULE_IP | (ipv4 ? RULE_IPV4 : RULE_IPV6);
    view->carried = RULE_CARRIES_OTHER;
    view->ip = bytes + packet->network;
    view->ip_len = packet->len - packet->network;
    view->ip_protocol = packet->protocol;
    view->src = ipv4 ? address4(view->ip + 12) : address6(view->ip + 8);
    view->dst = ipv4 ? address4(view->ip + 16) : address6(view->ip + 24);
    if (packet->transport != 0 && packet->transport < packet->len) {
        view->transport = bytes + packet->transport;
        view->transport_len = packet->len - packet->transport;
    }
    if (view->transport != NULL || (packet->flags & SL_PACKET_FRAGMENT) != 0)
        see_transport(view);
    if (origin != NULL)
        view->app = origin->app;
    if (origin != NULL && origin->flow != 0) {
        view->flow = RULE_FLOW_KNOWN | origin->flow_flags;
        if ((view->flow & SL_FLOW_OPENED) != 0 && scan->len == 0)
            view->flow &= (uint8_t)~SL_FLOW_ESTABLISHED;
        view->total = batch->total != NULL ? &batch->total[item] : NULL;
    }
}

void rule_view_turn(struct rule_view *view)
{
    const unsigned __int128 src = view->src;
    const uint16_t src_port = view->src_port;

    view->src = view->dst;
    view->dst = src;
    view->src_port = view->dst_port;
    view->dst_port = src_port;
    forget_answers(view);
    view->flow ^= SL_FLOW_TO_SERVER;
    view->knows_dns_events = false; /* they depend on the side */
}

bool rule_view_tunnel(const struct sl_batch *batch, uint32_t item, struct rule_scan *empty,
                      struct rule_view *view)
{
    const struct sl_packet *packet = &batch->packet[item];
    const bool ipv4 = (packet->flags & SL_PACKET_OUTER_IPV4) != 0;

    if (packet->len < packet->outer + (ipv4 ? 20u : 40u))
        return false;

    const uint8_t *ip = batch->bytes + packet->offset + packet->outer;

    *view = (struct rule_view){
        .protocols = RULE_PACKET | RULE_IP | (ipv4 ? RULE_IPV4 : RULE_IPV6),
        .carried = RULE_CARRIES_OTHER,
        .flow = SL_FLOW_FIRST,
        .sees = RULE_SEES_ALL,
        .ip_protocol = ipv4 ? ip[9] : ip[6],
        .src = ipv4 ? address4(ip + 12) : address6(ip + 8),
        .dst = ipv4 ? address4(ip + 16) : address6(ip + 24),
        .ip = ip,
        .ip_len = packet->len - packet->outer,
        .scan = empty,
    };
    view->origin = batch->origin != NULL ? &batch->origin[item] : NULL;
    if (view->ip_protocol == SL_IP_UDP) {
        const uint32_t len = ipv4 ? (ip[0] & 15u) * 4 : 40;

        view->transport = ip + len;
        view->transport_len = view->ip_len - len;
        see_transport(view);
    }
    return true;
}

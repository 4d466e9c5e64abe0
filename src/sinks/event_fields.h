/* SPDX-License-Identifier: MIT */
/* The fields of events, stated once: names, values, nesting and order, which are EVE's. A new field
 * is a line of the list of event_ids.h and a line of the visit; every sink then has it.
 *
 * A sink either visits them in order (event_visit), or picks those that it shows (event_pick). The
 * visit is inlined with the sink's function, EVENT_TAKE, so that a field costs no call and its name
 * is a constant. */
#ifndef SINKS_EVENT_FIELDS_H
#define SINKS_EVENT_FIELDS_H

#include <stdio.h>
#include <strings.h>

#include "app/ntp.h"
#include "event_text.h"
#include "message_fields.h"

EVENT_INLINE void event_port(void *to, enum event_field id, bool known, uint16_t port)
{
    event_take(
        to, id,
        (struct sl_field){.type = known ? SL_FIELD_NUMBER : SL_FIELD_UNKNOWN, .number = port});
}

EVENT_INLINE void event_tuple(void *to, const struct sl_event *event, struct event_texts *texts)
{
    const struct sl_tuple *tuple = &event->tuple;
    const bool has_ports = event_has_ports(event), known = event_has_transport(event);

    event_take(to, FIELD_SRC_IP, (struct sl_field){.type = SL_FIELD_ADDR, .addr = &tuple->src});
    if (has_ports)
        event_port(to, FIELD_SRC_PORT, known, tuple->src_port);
    event_take(to, FIELD_DEST_IP, (struct sl_field){.type = SL_FIELD_ADDR, .addr = &tuple->dst});
    if (has_ports)
        event_port(to, FIELD_DEST_PORT, known, tuple->dst_port);
    event_text(to, FIELD_PROTO, event_protocol(tuple->protocol, texts->protocol));
    event_number(to, FIELD_IP_V, sl_addr_is_ipv4(&tuple->src) ? 4 : 6);
    if (known && event_is_icmp(event)) {
        event_number(to, FIELD_ICMP_TYPE, tuple->src_port);
        event_number(to, FIELD_ICMP_CODE, tuple->dst_port);
    }
}

EVENT_PART void event_head(void *to, const struct sl_event *event, struct event_texts *texts)
{
    const struct sl_origin *origin = &event->origin;

    event_time_of(to, FIELD_TIMESTAMP, origin->time_ns);
    if (origin->flow != 0)
        event_number(to, FIELD_FLOW_ID, origin->flow);
    if (event->live)
        event_text(to, FIELD_IN_IFACE, event->source);
    else if (origin->position != 0)
        event_number(to, FIELD_PCAP_CNT, origin->position);
    event_text(to, FIELD_EVENT_TYPE, sl_event_type(event->kind));
    if (origin->vlan[0] != SL_NO_VLAN)
        event_take(to, FIELD_VLAN,
                   (struct sl_field){.type = SL_FIELD_NUMBERS,
                                     .n = 1u + (origin->vlan[1] != SL_NO_VLAN),
                                     .numbers = origin->vlan});
    if (event->has_tuple)
        event_tuple(to, event, texts);
}

/* What a flow says at its end is of no packet. */
EVENT_INLINE const char *event_packet_source(const struct sl_event *event)
{
    return event->origin.flow != 0 && event->origin.position == 0 ? "stream (flow timeout)"
                                                                  : "wire/pcap";
}

EVENT_INLINE void event_community_id(void *to, const struct sl_event *event)
{
    if (event->community_id != NULL)
        event_text(to, FIELD_COMMUNITY_ID, event->community_id);
}

EVENT_INLINE void event_message(void *to, const struct sl_event *event)
{
    event_bytes(to, FIELD_DNS, SL_FIELD_MESSAGE, event->payload, event->payload_len);
}

EVENT_INLINE void event_tx_id(void *to, const struct sl_event *event)
{
    if (event->message != NULL)
        event_number(to, FIELD_TX_ID, event->message->transaction);
    else if (event->nth_message != 0)
        event_number(to, FIELD_TX_ID, event->nth_message - 1);
}

/* As in Suricata where it drops no packets: what a drop rule asks for was allowed. */
EVENT_INLINE const char *event_action(const struct sl_signature *signature)
{
    static const char reject[] = "reject"; /* or rejectsrc, rejectdst, rejectboth */
    const bool is_reject =
        signature->action != NULL && strncasecmp(signature->action, reject, sizeof reject - 1) == 0;

    return is_reject ? "blocked" : "allowed";
}

EVENT_INLINE void event_packet(void *to, const struct sl_event *event)
{
    event_bytes(to, FIELD_PACKET, SL_FIELD_BYTES, event->packet.bytes, event->packet.len);
    event_object(to, FIELD_PACKET_INFO);
    event_number(to, FIELD_LINK_TYPE, event->origin.link_type);
    event_text(to, FIELD_LINK_NAME, event->packet.link);
    event_end(to);
}

/* The alert of a rule that passes its packet. */
EVENT_INLINE void event_verdict(void *to, const struct sl_signature *signature)
{
    if (signature->action == NULL || strcasecmp(signature->action, "pass") != 0)
        return;
    event_object(to, FIELD_VERDICT);
    event_text(to, FIELD_VERDICT_ACTION, "pass");
    event_end(to);
}

EVENT_INLINE void event_ntp(void *to, const struct sl_event *event, struct event_texts *texts)
{
    const uint8_t *const message = event->payload, *const id = message + NTP_REFERENCE_ID_AT;

    snprintf(texts->ntp_reference, sizeof texts->ntp_reference, "%02x:%02x:%02x:%02x", id[0], id[1],
             id[2], id[3]);
    event_object(to, FIELD_NTP);
    event_number(to, FIELD_NTP_VERSION, ntp_version(message));
    event_number(to, FIELD_NTP_MODE, ntp_mode(message));
    event_number(to, FIELD_NTP_STRATUM, message[NTP_STRATUM_AT]);
    event_text(to, FIELD_NTP_REFERENCE_ID, texts->ntp_reference);
    event_end(to);
}

/* The flow so far, from its client on. */
EVENT_INLINE void event_alert_flow(void *to, const struct sl_event *event)
{
    const struct sl_flow_total *total = event->total;
    const struct sl_tuple *tuple = &event->tuple;
    const bool from_client = (event->origin.flow_flags & SL_FLOW_TO_SERVER) != 0;

    event_object(to, FIELD_FLOW);
    event_number(to, FIELD_FLOW_PKTS_TOSERVER, total->packets[0]);
    event_number(to, FIELD_FLOW_PKTS_TOCLIENT, total->packets[1]);
    event_number(to, FIELD_FLOW_BYTES_TOSERVER, total->bytes[0]);
    event_number(to, FIELD_FLOW_BYTES_TOCLIENT, total->bytes[1]);
    event_time_of(to, FIELD_FLOW_START, total->first_ns);
    event_take(
        to, FIELD_FLOW_SRC_IP,
        (struct sl_field){.type = SL_FIELD_ADDR, .addr = from_client ? &tuple->src : &tuple->dst});
    event_take(
        to, FIELD_FLOW_DEST_IP,
        (struct sl_field){.type = SL_FIELD_ADDR, .addr = from_client ? &tuple->dst : &tuple->src});
    if (event_has_ports(event)) {
        event_number(to, FIELD_FLOW_SRC_PORT, from_client ? tuple->src_port : tuple->dst_port);
        event_number(to, FIELD_FLOW_DEST_PORT, from_client ? tuple->dst_port : tuple->src_port);
    }
    event_end(to);
}

EVENT_PART void event_alert(void *to, const struct sl_event *event, struct event_texts *texts)
{
    const struct sl_signature *signature = event->signature;

    event_tx_id(to, event);
    event_object(to, FIELD_ALERT);
    event_text(to, FIELD_ACTION, event_action(signature));
    event_number(to, FIELD_GID, signature->gid);
    event_number(to, FIELD_SIGNATURE_ID, signature->sid);
    event_number(to, FIELD_REV, signature->rev);
    event_text(to, FIELD_SIGNATURE, signature->msg);
    event_text(to, FIELD_CATEGORY, signature->category);
    event_number(to, FIELD_SEVERITY, signature->priority);
    event_list(to, FIELD_REFERENCES, signature->references);
    event_list(to, FIELD_METADATA, signature->metadata);
    event_end(to);
    event_verdict(to, signature);
    if (event->message != NULL)
        event_alert_message(to, event->message, texts);
    if (event->origin.app != SL_APP_UNKNOWN) {
        if (dns_has_form(event->origin.app) &&
            (event->tuple.protocol == SL_IP_UDP || event->nth_message != 0))
            event_message(to, event);
        else if (event->origin.app == SL_APP_NTP && event->payload_len >= NTP_LEN)
            event_ntp(to, event, texts);
        event_text(to, FIELD_APP_PROTO, sl_app_name((enum sl_app)event->origin.app));
    }
    if (event->origin.flow != 0)
        event_text(to, FIELD_DIRECTION, event_direction(event));
    if (event->total != NULL)
        event_alert_flow(to, event);
    if (event->payload_len != 0)
        event_bytes(to, FIELD_PAYLOAD, SL_FIELD_BYTES, event->payload, event_payload_len(event));
    event_number(to, FIELD_STREAM, 0);
    if (event->packet.len != 0)
        event_packet(to, event);
}

/* Of a header, or of a message that broke a rule of its protocol. */
EVENT_PART void event_anomaly(void *to, const struct sl_event *event, struct event_texts *texts)
{
    if (event->message != NULL) {
        event_message_anomaly(to, event->message, texts);
        return;
    }
    event_object(to, FIELD_ANOMALY);
    event_text(to, FIELD_ANOMALY_TYPE, "decode");
    event_text(to, FIELD_ANOMALY_EVENT, event->check);
    event_end(to);
}

/* Query and answer in version 2 of Suricata's format. */
EVENT_INLINE void event_dns(void *to, const struct sl_name_match *match, struct event_texts *texts)
{
    static const struct {
        uint16_t bit;
        enum event_field id;
    } flags[] = {{0x8000, FIELD_DNS_QR},
                 {0x0400, FIELD_DNS_AA},
                 {0x0200, FIELD_DNS_TC},
                 {0x0100, FIELD_DNS_RD},
                 {0x0080, FIELD_DNS_RA}};
    const bool answer = (match->dns.flags & 0x8000) != 0;

    event_object(to, FIELD_DNS);
    event_number(to, FIELD_DNS_VERSION, 2);
    event_text(to, FIELD_DNS_TYPE, answer ? "answer" : "query");
    event_number(to, FIELD_DNS_ID, match->dns.id);
    if (answer) {
        snprintf(texts->dns_flags, sizeof texts->dns_flags, "%x", match->dns.flags);
        event_text(to, FIELD_DNS_FLAGS, texts->dns_flags);
    }
    for (size_t i = 0; answer && i < sizeof flags / sizeof *flags; i++)
        if ((match->dns.flags & flags[i].bit) != 0)
            event_flag(to, flags[i].id, true);
    event_text(to, FIELD_DNS_RRNAME, match->name);
    event_text(to, FIELD_DNS_RRTYPE, dns_type_text(match->dns.rrtype, texts->dns_type));
    if (answer)
        event_text(to, FIELD_DNS_RCODE, dns_rcode_text(match->dns.flags, texts->dns_rcode));
    event_number(to, FIELD_DNS_OPCODE, match->dns.flags >> 11 & 15);
    event_end(to);
}

EVENT_INLINE void event_http(void *to, const struct sl_event *event, struct event_texts *texts)
{
    const struct sl_name_match *match = event->match;
    const struct sl_span *target = &match->http.target, *method = &match->http.method;

    event_object(to, FIELD_HTTP);
    event_text(to, FIELD_HTTP_HOSTNAME, match->http.host);
    if (match->http.port != 0)
        event_number(to, FIELD_HTTP_PORT, match->http.port);
    event_bytes(to, FIELD_HTTP_URL, SL_FIELD_TEXT, event->payload + target->offset, target->len);
    event_bytes(to, FIELD_HTTP_METHOD, SL_FIELD_TEXT, event->payload + method->offset, method->len);
    snprintf(texts->http_protocol, sizeof texts->http_protocol, "HTTP/1.%u", match->http.minor);
    event_text(to, FIELD_HTTP_PROTOCOL, texts->http_protocol);
    event_end(to);
}

EVENT_INLINE void event_tls(void *to, const struct sl_name_match *match, struct event_texts *texts)
{
    event_object(to, FIELD_TLS);
    event_text(to, FIELD_TLS_SNI, match->name);
    event_text(to, FIELD_TLS_VERSION, event_tls_version(match->tls.version, texts->tls_version));
    event_end(to);
}

EVENT_INLINE void event_ndn(void *to, const struct sl_name_match *match)
{
    event_object(to, FIELD_NDN);
    event_text(to, FIELD_NDN_TYPE, match->ndn.data ? "data" : "interest");
    event_text(to, FIELD_NDN_NAME, match->name);
    event_end(to);
}

/* The rule that a table has for the name: the fields of `sluice lookup --json --explain`, and the
 * verdict. */
EVENT_INLINE void event_rule(void *to, const struct sl_name_match *match)
{
    event_object(to, FIELD_NAMES);
    event_text(to, FIELD_NAMES_NAME, match->name);
    event_text(to, FIELD_NAMES_PREFIX, match->prefix);
    event_text(to, FIELD_NAMES_ACTION, match->action);
    if (match->verdict != NULL)
        event_text(to, FIELD_NAMES_VERDICT, match->verdict);
    event_list(to, match->hops ? FIELD_NAMES_NEXT_HOPS : FIELD_NAMES_VALUES, match->values);
    event_text(to, FIELD_NAMES_LIST, match->list);
    event_text(to, FIELD_NAMES_FORMAT, match->format);
    event_number(to, FIELD_NAMES_LINE, match->line);
    event_end(to);
}

/* A flow that began midstream is inspected as others are, which Suricata calls to ignore it. */
EVENT_INLINE void event_midstream(void *to)
{
    event_take(to, FIELD_FLOW_EXCEPTION, (struct sl_field){.type = SL_FIELD_LIST});
    event_object(to, FIELD_END);
    event_text(to, FIELD_FLOW_EXCEPTION_TARGET, "stream_midstream");
    event_text(to, FIELD_FLOW_EXCEPTION_POLICY, "ignore");
    event_end(to);
    event_take(to, FIELD_END, (struct sl_field){.type = SL_FIELD_LIST_END});
}

EVENT_INLINE void event_flow_object(void *to, const struct sl_flow_record *flow)
{
    event_object(to, FIELD_FLOW);
    event_number(to, FIELD_FLOW_PKTS_TOSERVER, flow->client.packets);
    event_number(to, FIELD_FLOW_PKTS_TOCLIENT, flow->server.packets);
    event_number(to, FIELD_FLOW_BYTES_TOSERVER, flow->client.bytes);
    event_number(to, FIELD_FLOW_BYTES_TOCLIENT, flow->server.bytes);
    event_time_of(to, FIELD_FLOW_START, flow->first_ns);
    event_time_of(to, FIELD_FLOW_END, flow->last_ns);
    event_number(to, FIELD_FLOW_AGE, event_age(flow));
    event_text(to, FIELD_FLOW_STATE, sl_flow_state_name(flow->state));
    event_text(to, FIELD_FLOW_REASON, sl_flow_reason_name(flow->reason));
    event_flag(to, FIELD_FLOW_ALERTED, flow->alerted);
    if (flow->passed || flow->dropped)
        event_text(to, FIELD_FLOW_ACTION, flow->passed ? "pass" : "drop");
    if (flow->midstream)
        event_midstream(to);
    event_end(to);
}

EVENT_INLINE void event_tcp_flags(void *to, enum event_field id, uint8_t flags, char text[2])
{
    static const char digits[] = "0123456789abcdef";

    text[0] = digits[flags >> 4];
    text[1] = digits[flags & 15];
    event_bytes(to, id, SL_FIELD_TEXT, text, 2);
}

EVENT_INLINE void event_tcp(void *to, const struct sl_flow_record *flow, struct event_texts *texts)
{
    static const enum event_field by_bit[8] = {FIELD_TCP_FIN, FIELD_TCP_SYN, FIELD_TCP_RST,
                                               FIELD_TCP_PSH, FIELD_TCP_ACK, FIELD_TCP_URG,
                                               FIELD_TCP_ECN, FIELD_TCP_CWR};
    static const uint8_t order[8] = {1, 0, 2, 3, 4, 5, 6, 7}; /* SYN is shown first */
    const uint8_t flags = flow->client.tcp_flags | flow->server.tcp_flags;

    event_object(to, FIELD_TCP);
    event_tcp_flags(to, FIELD_TCP_FLAGS, flags, texts->tcp_flags[0]);
    event_tcp_flags(to, FIELD_TCP_FLAGS_TS, flow->client.tcp_flags, texts->tcp_flags[1]);
    event_tcp_flags(to, FIELD_TCP_FLAGS_TC, flow->server.tcp_flags, texts->tcp_flags[2]);
    for (size_t i = 0; i < sizeof order; i++)
        if ((flags >> order[i] & 1) != 0)
            event_flag(to, by_bit[order[i]], true);
    event_text(to, FIELD_TCP_STATE, sl_tcp_state_name(flow->tcp_state));
    event_end(to);
}

/* A flow has no packet that it was found in, and its community_id stands behind its object. */
EVENT_PART void event_flow(void *to, const struct sl_event *event, struct event_texts *texts)
{
    const struct sl_flow_record *flow = event->flow;

    if (event_is_icmp(event) && flow->server.packets != 0) {
        event_number(to, FIELD_RESPONSE_ICMP_TYPE, flow->server.icmp_type);
        event_number(to, FIELD_RESPONSE_ICMP_CODE, flow->server.icmp_code);
    }
    if (flow->app_proto != NULL)
        event_text(to, FIELD_APP_PROTO, flow->app_proto);
    event_flow_object(to, flow);
    event_community_id(to, event);
    if (flow->tuple.protocol == SL_IP_TCP)
        event_tcp(to, flow, texts);
}

/* The fields of a packet's event behind its head. */
EVENT_PART void event_body(void *to, const struct sl_event *event, struct event_texts *texts)
{
    event_text(to, FIELD_PKT_SRC, event_packet_source(event));
    event_community_id(to, event);
    switch (event->kind) {
    case SL_EVENT_ALERT:
        event_alert(to, event, texts);
        return;
    case SL_EVENT_ANOMALY:
        event_anomaly(to, event, texts);
        return;
    case SL_EVENT_DNS_MESSAGE:
        event_message(to, event);
        return;
    case SL_EVENT_HTTP_MESSAGE:
        event_tx_id(to, event);
        event_http_message(to, event->message);
        return;
    case SL_EVENT_SMTP_MESSAGE:
    case SL_EVENT_SSH_MESSAGE:
    case SL_EVENT_FTP_MESSAGE:
        event_tx_id(to, event);
        event_protocol_object(to, event->message, false, texts);
        return;
    case SL_EVENT_TLS_MESSAGE:
    case SL_EVENT_QUIC_MESSAGE:
        event_protocol_object(to, event->message, true, texts);
        return;
    case SL_EVENT_FILE:
        event_fileinfo(to, event->message, texts);
        return;
    case SL_EVENT_PACKET:
        event_packet(to, event);
        return;
    case SL_EVENT_DNS:
        event_dns(to, event->match, texts);
        break;
    case SL_EVENT_HTTP:
        event_http(to, event, texts);
        break;
    case SL_EVENT_TLS:
        event_tls(to, event->match, texts);
        break;
    default:
        event_ndn(to, event->match);
    }
    event_rule(to, event->match);
}

/* The fields of EVE. */
EVENT_INLINE void event_visit(void *to, const struct sl_event *event, struct event_texts *texts)
{
    event_head(to, event, texts);
    if (event->kind == SL_EVENT_FLOW)
        event_flow(to, event, texts);
    else
        event_body(to, event, texts);
    if (!event->live)
        event_text(to, FIELD_PCAP_FILENAME, event->source);
}

/* The number, the header and the first question of a message. */
EVENT_INLINE void event_question(void *to, const struct sl_event *event, struct event_texts *texts)
{
    struct dns_reader reader;
    struct dns_record record;

    if (!dns_open(&reader, event->payload, event->payload_len))
        return;
    const uint16_t flags = reader.header.flags;

    event_text(to, FIELD_DNS_TYPE, (flags & DNS_QR) != 0 ? "response" : "request");
    event_tx_id(to, event);
    event_number(to, FIELD_DNS_ID, reader.header.id);
    event_text(to, FIELD_DNS_RCODE, dns_rcode_text(flags, texts->dns_rcode));
    if (!dns_next(&reader, &record) || record.section != DNS_QUESTION)
        return;
    event_bytes(to, FIELD_DNS_RRNAME, SL_FIELD_TEXT, texts->dns_name,
                dns_name_text(event->payload, record.name, texts->dns_name));
    event_text(to, FIELD_DNS_RRTYPE, dns_type_text(record.type, texts->dns_type));
}

/* Those that EVE leaves out. */
EVENT_INLINE void event_visit_rest(void *to, const struct sl_event *event,
                                   struct event_texts *texts)
{
    if (event->kind == SL_EVENT_DNS_MESSAGE)
        event_question(to, event, texts);
    if (event->live && event->origin.position != 0)
        event_number(to, FIELD_PCAP_CNT, event->origin.position);
    if (event->kind == SL_EVENT_ALERT)
        event_text(to, FIELD_CLASSTYPE, event->signature->classtype);
    else if (event->kind != SL_EVENT_FLOW && event->origin.flow != 0)
        event_text(to, FIELD_DIRECTION, event_direction(event));
}

EVENT_INLINE void event_pick_field(void *to, enum event_field id, const struct sl_field *field)
{
    struct event_picks *picks = to;
    struct sl_field *picked = &picks->field[id];

    picks->has[id] = true;
    /* One by one: a copy of the struct would have to wait for its parts. */
    picked->type = field->type;
    picked->n = field->n;
    picked->number = field->number; /* the largest member, so all of them */
}

/* Picks fields: EVENT_TAKE passes those that its file wants to event_pick_field. */
EVENT_INLINE void event_pick(struct event_picks *picks, const struct sl_event *event)
{
    memset(picks->has, 0, sizeof picks->has);
    event_visit(picks, event, &picks->texts);
    event_visit_rest(picks, event, &picks->texts);
}

#endif

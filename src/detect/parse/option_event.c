/* SPDX-License-Identifier: MIT */
/* The events of Suricata's decoder, of its streams and of its parsers that a check says too. */
#include "detect/evaluate/ipv6_events.h"
#include "rule_fail.h"
#include "rule_option.h"
#include "sluice/app.h"
#include "sluice/dissect.h"
#include "stream/stream.h"

static const struct event {
    const char *name;
    uint8_t field; /* enum rule_field */
    uint8_t value;
    uint8_t ip_version; /* 0: any */
} events[] = {
    {"ipv4.pkt_too_small", RULE_DEFECT, SL_DEFECT_IPV4_SHORT, 0},
    {"ipv4.wrong_ip_version", RULE_DEFECT, SL_DEFECT_IPV4_VERSION, 0},
    {"ipv4.icmpv6", RULE_IP_PROTOCOL, SL_IP_ICMPV6, 4},
    {"ipv6.pkt_too_small", RULE_DEFECT, SL_DEFECT_IPV6_SHORT, 0},
    {"ipv6.wrong_ip_version", RULE_DEFECT, SL_DEFECT_IPV6_VERSION, 0},
    {"ipv6.trunc_pkt", RULE_DEFECT, SL_DEFECT_IPV6_PAYLOAD_LEN, 0},
    {"ipv6.trunc_exthdr", RULE_IPV6_EVENTS, IPV6_EVENT_TRUNCATED, 0},
    {"ipv6.exthdr_useless_fh", RULE_IPV6_EVENTS, IPV6_EVENT_USELESS_FRAGMENT, 0},
    {"ipv6.frag_invalid_length", RULE_IPV6_EVENTS, IPV6_EVENT_FRAGMENT_LEN, 0},
    {"ipv6.frag_pkt_too_large", RULE_IPV6_EVENTS, IPV6_EVENT_FRAGMENT_TOO_LARGE, 0},
    {"ipv6.hopopts_unknown_opt", RULE_IPV6_EVENTS, IPV6_EVENT_HOP_OPTION, 0},
    {"ipv6.dstopts_unknown_opt", RULE_IPV6_EVENTS, IPV6_EVENT_DESTINATION_OPTION, 0},
    {"ipv4.frag_overlap", RULE_FRAGMENT_OVERLAP, 1, 4},
    {"ipv6.frag_overlap", RULE_FRAGMENT_OVERLAP, 1, 6},
    {"ipv6.icmpv4", RULE_IP_PROTOCOL, SL_IP_ICMP, 6},
    {"tcp.pkt_too_small", RULE_DEFECT, SL_DEFECT_TCP_SHORT, 0},
    {"udp.pkt_too_small", RULE_DEFECT, SL_DEFECT_UDP_SHORT, 0},
    {"sctp.pkt_too_small", RULE_DEFECT, SL_DEFECT_SCTP_SHORT, 0},
    {"vlan.header_too_small", RULE_DEFECT, SL_DEFECT_VLAN_SHORT, 0},
};

static enum sl_status add_equal(struct rule_parser *parser, uint8_t field, uint32_t value)
{
    /* Events of IPv6 are bits of one field. */
    const uint32_t mask = field == RULE_IPV6_EVENTS ? value : UINT32_MAX;

    return rule_check_add(
        parser, (struct rule_check){.field = field, .mask = mask, .first = value, .last = value});
}

static enum sl_status check_name(struct rule_parser *parser, struct rule_text name)
{
    return rule_is_keyword(name)
               ? SL_OK
               : rule_bad(parser, "'%.*s' is no name of an event", RULE_QUOTE(name));
}

/* The other events skip the rule. */
enum sl_status rule_read_decode_event(struct rule_parser *parser, struct rule_text value)
{
    enum sl_status status = check_name(parser, value);

    if (status != SL_OK)
        return status;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (!rule_text_is(value, events[i].name))
            continue;
        if (events[i].ip_version != 0)
            status = add_equal(parser, RULE_IP_VERSION, events[i].ip_version);
        return status == SL_OK ? add_equal(parser, events[i].field, events[i].value) : status;
    }
    return rule_skip(parser, "decode-event:", value);
}

/* Suricata has more events of streams than these; the others skip the rule. */
enum sl_status rule_read_stream_event(struct rule_parser *parser, struct rule_text value)
{
    const enum sl_status status = check_name(parser, value);

    for (uint32_t i = 0; i < STREAM_N_EVENTS && status == SL_OK; i++)
        if (rule_text_is(value, stream_event_name((enum stream_event)i)))
            return rule_check_add(
                parser, (struct rule_check){
                            .field = RULE_STREAM_EVENT, .which = RULE_ANY, .first = i, .last = i});
    return status == SL_OK ? rule_skip(parser, "stream-event:", value) : status;
}

/* The events of parsers that sluice reports; the others skip the rule. */
enum sl_status rule_read_app_layer_event(struct rule_parser *parser, struct rule_text value)
{
    enum sl_status status = check_name(parser, value);
    enum sl_app app = SL_APP_UNKNOWN;
    const uint32_t event = sl_app_event_find(value.at, value.len, &app);
    struct rule_text name = value, protocol;

    if (status != SL_OK)
        return status;
    if (rule_text_split(&name, '.', &protocol) && rule_text_is(protocol, "dns") &&
        rule_read_dns_event(parser, name, &status))
        return status;
    if (event == 0)
        return rule_skip(parser, "app-layer-event:", value);
    status = rule_app_take(parser, app);
    return status == SL_OK ? rule_check_add(parser, (struct rule_check){.field = RULE_APP_EVENT,
                                                                        .which = RULE_ANY,
                                                                        .first = event,
                                                                        .last = event})
                           : status;
}

/* SPDX-License-Identifier: MIT */
#include "evaluate_header.h"

#include "app/dhcp.h"
#include "app/dns.h"
#include "app/ntp.h"
#include "app/snmp.h"
#include "base/bytes.h"
#include "detect/rule_ip_option.h"
#include "detect/rule_time.h"
#include "ipv6_events.h"

/* A number of 1, 2 or 4 bytes at an offset of a header. False: it was not captured. */
static bool read_bytes(const uint8_t *header, uint32_t header_len, uint32_t at, uint32_t n,
                       uint32_t *value)
{
    if (header == NULL || at + n > header_len)
        return false;
    *value = n == 1 ? header[at] : n == 2 ? load_be16(header + at) : load_be32(header + at);
    return true;
}

static bool read_ip(const struct rule_view *view, uint32_t at, uint32_t n, uint32_t *value)
{
    return read_bytes(view->ip, view->ip_len, at, n, value);
}

static bool read_ipv4(const struct rule_view *view, uint32_t at, uint32_t n, uint32_t *value)
{
    return (view->protocols & RULE_IPV4) != 0 && read_ip(view, at, n, value);
}

/* A number of the transport header of one of the protocols. */
static bool read_transport(const struct rule_view *view, uint32_t protocols, uint32_t at,
                           uint32_t n, uint32_t *value)
{
    return (view->protocols & protocols) != 0 &&
           read_bytes(view->transport, view->transport_len, at, n, value);
}

/* ---- options of IPv4 and TCP ----------------------------------------------------------------- */

/* The options that were not read yet. Each is a byte that names it. The kinds but 0 and 1 have
 * their length behind it. */
struct options {
    const uint8_t *at;
    uint32_t len;
};

/* Takes the next option off the front, with the byte that names it. False: there is none. */
static bool next_option(struct options *rest, struct options *option)
{
    enum { END = 0, NOTHING = 1 };

    if (rest->len == 0)
        return false;
    option->at = rest->at;
    option->len = rest->at[0] > NOTHING && rest->len > 1 ? rest->at[1] : 1;
    if (option->len > rest->len || (rest->at[0] > NOTHING && option->len < 2))
        return false;
    rest->at += option->len;
    rest->len = option->at[0] == END ? 0 : rest->len - option->len;
    return true;
}

/* The options behind the fixed part of a header. None where the header was cut off. */
static struct options options_of(const uint8_t *header, uint32_t captured, uint32_t fixed,
                                 uint32_t header_len)
{
    if (header_len < fixed || header_len > captured)
        return (struct options){NULL, 0};
    return (struct options){header + fixed, header_len - fixed};
}

static bool read_ip_options(const struct rule_view *view, uint32_t *value)
{
    struct options option, rest;
    uint32_t words;

    if (!read_ipv4(view, 0, 1, &words))
        return false;
    rest = options_of(view->ip, view->ip_len, 20, 4 * (words & 15));
    *value = 0;
    while (next_option(&rest, &option))
        *value |= rule_ip_option_bit(option.at[0]);
    return true;
}

/* The value, of n bytes, of a TCP option. */
static bool read_tcp_option(const struct rule_view *view, uint8_t kind, uint32_t n, uint32_t *value)
{
    struct options option, rest;
    uint32_t words;

    if (!read_transport(view, RULE_TCP, 12, 1, &words))
        return false;
    rest = options_of(view->transport, view->transport_len, 20, 4 * (words >> 4));
    while (next_option(&rest, &option))
        if (option.at[0] == kind && option.len == 2 + n)
            return read_bytes(option.at, option.len, 2, n, value);
    return false;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* The messages of ICMP that have an identifier and a sequence number: echo, timestamp, information
 * and address mask (RFC 792, RFC 950); of ICMPv6 echo. */
static bool is_icmp_query(const struct rule_view *view)
{
    static const uint32_t queries =
        1u << 0 | 1u << 8 | 1u << 13 | 1u << 14 | 1u << 15 | 1u << 16 | 1u << 17 | 1u << 18;
    uint32_t type;

    if (read_transport(view, RULE_ICMPV4, 0, 1, &type))
        return type < 32 && (queries >> type & 1) != 0;
    return read_transport(view, RULE_ICMPV6, 0, 1, &type) && (type == 128 || type == 129);
}

/* The flags of a message of DNS. */
static bool read_dns_flags(const struct rule_view *view, uint32_t *value)
{
    return rule_view_is_message(view, SL_APP_DNS) &&
           read_bytes(view->scan->payload, view->scan->len, 2, 2, value);
}

/* The message is walked over once, for all rules. */
static bool read_dns_events(struct rule_view *view, uint32_t *value)
{
    if (!rule_view_is_message(view, SL_APP_DNS))
        return false;
    if (!view->knows_dns_events)
        view->dns_events =
            dns_events(view->scan->payload, view->scan->len, (view->flow & SL_FLOW_TO_SERVER) != 0);
    view->knows_dns_events = true;
    *value = view->dns_events;
    return true;
}

static bool read_dns_field(const struct rule_view *view, enum rule_field field, uint32_t *value)
{
    uint32_t flags;

    if (!read_dns_flags(view, &flags))
        return false;
    *value = field == RULE_DNS_OPCODE ? dns_opcode((uint16_t)flags) : dns_rcode((uint16_t)flags);
    return true;
}

/* A number of another message. */
static bool read_message_field(const struct rule_view *view, enum rule_field field, uint32_t *value)
{
    static const enum dhcp_option options[] = {DHCP_LEASE_TIME, DHCP_RENEWAL_TIME,
                                               DHCP_REBINDING_TIME};
    const uint8_t *const message = view->scan->payload;
    struct snmp_message snmp;

    if (field <= RULE_NTP_STRATUM) {
        if (view->app != SL_APP_NTP || view->scan->len < NTP_LEN)
            return false;
        *value = field == RULE_NTP_VERSION ? ntp_version(message)
                 : field == RULE_NTP_MODE  ? ntp_mode(message)
                                           : message[NTP_STRATUM_AT];
        return true;
    }
    if (field > RULE_SNMP_PDU_TYPE)
        return view->app == SL_APP_DHCP &&
               dhcp_number(value, message, view->scan->len, options[field - RULE_DHCP_LEASE_TIME]);
    if (view->app != SL_APP_SNMP || !snmp_read(&snmp, message, view->scan->len))
        return false;
    *value = field == RULE_SNMP_VERSION ? snmp.version : snmp.pdu_type;
    return field == RULE_SNMP_VERSION || snmp.has_pdu_type;
}

/* The versions of TLS as bits: of SSL 2 and 3, then of TLS 1.0 and later. */
static uint32_t version_bit(uint16_t version)
{
    if (version == 0x0002)
        return 1;
    return version >= 0x0300 && version <= 0x0304 ? 2u << (version - 0x0300) : 0;
}

static bool read_said_field(const struct sl_app_message *message, enum rule_field field,
                            uint32_t *value)
{
    if (message != NULL && field == RULE_FILE_SIZE && message->file != NULL) {
        *value = message->file->size < UINT32_MAX ? (uint32_t)message->file->size : UINT32_MAX;
        return true;
    }
    if (message == NULL || message->app != SL_APP_TLS || field == RULE_FILE_SIZE)
        return false;
    *value =
        field == RULE_TLS_VERSION ? version_bit(message->version[message->side]) : message->seen;
    return true;
}

static bool read_call_field(const struct sl_app_message *message, enum rule_field field,
                            uint32_t *value)
{
    if (message == NULL || message->app != SL_APP_DCERPC || message->call.n_fragments[0] == 0)
        return false;
    *value = field == RULE_CALL_OPNUM ? message->call.opnum : message->call.major;
    return true;
}

static bool read_ftp_field(const struct sl_app_message *message, enum rule_field field,
                           uint32_t *value)
{
    if (message == NULL || message->app != SL_APP_FTP)
        return false;
    *value = field == RULE_FTP_PORT ? message->port : message->ftp_mode;
    return *value != 0;
}

/* A time of the certificate of the message's server. */
static bool read_time(const struct sl_app_message *message, enum sl_app_value_id id,
                      uint32_t *seconds)
{
    const struct sl_app_half *half = &message->half[1];

    for (uint32_t i = 0; i < half->n_values; i++)
        if (half->value[i].id == id)
            return rule_time_read((const char *)half->value[i].bytes, half->value[i].len, seconds);
    return false;
}

static bool read_certificate_field(const struct rule_view *view, enum rule_field field,
                                   uint32_t *value)
{
    const struct sl_app_message *message = view->message;

    if (message == NULL || message->app != SL_APP_TLS || message->n_certificates == 0)
        return false;
    if (field == RULE_TLS_NOT_BEFORE)
        return read_time(message, SL_TLS_CERT_NOT_BEFORE, value);
    if (field == RULE_TLS_NOT_AFTER)
        return read_time(message, SL_TLS_CERT_NOT_AFTER, value);
    *value = message->n_certificates;
    if (field == RULE_TLS_CHAIN)
        return true;
    if (view->origin == NULL || !read_time(message, SL_TLS_CERT_NOT_AFTER, value))
        return false;
    *value = view->origin->time_ns / 1000000000 > *value;
    return true;
}

static bool read_icmp_field(const struct rule_view *view, enum rule_field field, uint32_t *value)
{
    const uint32_t icmp = RULE_ICMPV4 | RULE_ICMPV6;

    switch (field) {
    case RULE_ICMP_ID:
        return is_icmp_query(view) && read_transport(view, icmp, 4, 2, value);
    case RULE_ICMP_SEQ:
        return is_icmp_query(view) && read_transport(view, icmp, 6, 2, value);
    case RULE_ICMPV6_MTU: /* of "packet too big" */
        return read_transport(view, RULE_ICMPV6, 0, 1, value) && *value == 2 &&
               read_transport(view, RULE_ICMPV6, 4, 4, value);
    default:
        return false;
    }
}

static bool read_tcp_field(const struct rule_view *view, enum rule_field field, uint32_t *value)
{
    switch (field) {
    case RULE_TCP_SEQ:
        return read_transport(view, RULE_TCP, 4, 4, value);
    case RULE_TCP_ACK:
        return read_transport(view, RULE_TCP, 8, 4, value);
    case RULE_TCP_WINDOW:
        return read_transport(view, RULE_TCP, 14, 2, value);
    case RULE_TCP_MSS:
        return read_tcp_option(view, 2, 2, value);
    case RULE_TCP_WSCALE:
        return read_tcp_option(view, 3, 1, value);
    default:
        return read_icmp_field(view, field, value);
    }
}

/* IGMP's first byte, behind an IPv4 header. */
static bool read_igmp_type(const struct rule_view *view, uint32_t *value)
{
    enum { IGMP = 2 };
    uint32_t words, fragment;

    return view->ip_protocol == IGMP && read_ipv4(view, 0, 1, &words) &&
           read_ipv4(view, 6, 2, &fragment) && (fragment & 0x1FFF) == 0 &&
           read_ip(view, 4 * (words & 15), 1, value);
}

static uint32_t count_vlans(const struct rule_view *view)
{
    uint32_t n = 0;

    while (view->origin != NULL && n < 2 && view->origin->vlan[n] != SL_NO_VLAN)
        n++;
    return n;
}

bool rule_view_rare_field(struct rule_view *view, enum rule_field field, uint32_t *value)
{
    switch (field) {
    case RULE_TTL:
        return read_ip(view, (view->protocols & RULE_IPV4) != 0 ? 8 : 7, 1, value);
    case RULE_TOS:
        return read_ipv4(view, 1, 1, value);
    case RULE_IP_ID:
        return read_ipv4(view, 4, 2, value);
    case RULE_IP_PROTOCOL:
        *value = view->ip_protocol;
        return view->ip != NULL;
    case RULE_FRAGMENT_BITS:
        return read_ipv4(view, 6, 1, value);
    case RULE_FRAGMENT_OFFSET:
        if (!read_ipv4(view, 6, 2, value))
            return false;
        *value &= 0x1FFF;
        return true;
    case RULE_IP_OPTIONS:
        return read_ip_options(view, value);
    case RULE_IGMP_TYPE:
        return read_igmp_type(view, value);
    case RULE_VLAN_LAYERS:
        *value = count_vlans(view);
        return true;
    case RULE_IP_VERSION:
        if (!read_ip(view, 0, 1, value))
            return false;
        *value >>= 4;
        return true;
    case RULE_DNS_OPCODE:
    case RULE_DNS_RCODE:
        return read_dns_field(view, field, value);
    case RULE_DNS_EVENTS:
        return read_dns_events(view, value);
    case RULE_NTP_VERSION:
    case RULE_NTP_MODE:
    case RULE_NTP_STRATUM:
    case RULE_SNMP_VERSION:
    case RULE_SNMP_PDU_TYPE:
    case RULE_DHCP_LEASE_TIME:
    case RULE_DHCP_RENEWAL_TIME:
    case RULE_DHCP_REBINDING_TIME:
        return read_message_field(view, field, value);
    case RULE_TLS_VERSION:
    case RULE_TLS_SEEN:
    case RULE_FILE_SIZE:
        return read_said_field(view->message, field, value);
    case RULE_FTP_PORT:
    case RULE_FTP_MODE:
        return read_ftp_field(view->message, field, value);
    case RULE_CALL_OPNUM:
    case RULE_CALL_VERSION:
        return read_call_field(view->message, field, value);
    case RULE_TLS_CHAIN:
    case RULE_TLS_NOT_BEFORE:
    case RULE_TLS_NOT_AFTER:
    case RULE_TLS_EXPIRED:
        return read_certificate_field(view, field, value);
    case RULE_IPV6_EVENTS:
        if ((view->protocols & RULE_IPV6) == 0)
            return false;
        *value = ipv6_events(view->ip, view->ip_len);
        return true;
    case RULE_DEFECT:
        *value = view->defect;
        return true;
    case RULE_FRAGMENT_OVERLAP:
        *value = view->overlaps;
        return true;
    case RULE_SAME_ADDRESS:
        *value = view->src == view->dst;
        return view->ip != NULL;
    default:
        return read_tcp_field(view, field, value);
    }
}

/* ---- fields that repeat ---------------------------------------------------------------------- */

/* The values so far. */
struct tally {
    const struct rule_check *check;
    uint32_t index; /* of the value that counts, where the check asks for one */
    uint32_t n, n_met;
    bool met; /* by that value */
};

/* For a field of n values. */
static struct tally tally_begin(const struct rule_check *check, uint32_t n)
{
    const uint32_t index = (uint32_t)(check->which < 0 ? (int64_t)n + check->which : check->which);

    return (struct tally){.check = check, .index = index};
}

static void tally_add(struct tally *tally, uint32_t value)
{
    const bool met = rule_check_holds(tally->check, value);

    tally->n_met += met;
    tally->met |= met && tally->n == tally->index;
    tally->n++;
}

static bool tally_end(const struct tally *tally)
{
    if (tally->check->which == RULE_ANY)
        return tally->n_met != 0;
    return tally->check->which == RULE_ALL ? tally->n != 0 && tally->n_met == tally->n : tally->met;
}

static bool meets_vlan(const struct rule_check *check, const struct rule_view *view)
{
    const uint32_t n = count_vlans(view);
    struct tally tally = tally_begin(check, n);

    for (uint32_t i = 0; i < n; i++)
        tally_add(&tally, view->origin->vlan[i]);
    return tally_end(&tally);
}

/* Adds the types of questions of a request, or of answers of a response. */
static void tally_types(struct tally *tally, const struct rule_view *view)
{
    struct dns_reader reader;
    struct dns_record record;

    if (!dns_open(&reader, view->scan->payload, view->scan->len))
        return;
    const enum dns_section section =
        (reader.header.flags & DNS_QR) != 0 ? DNS_ANSWER : DNS_QUESTION;

    while (dns_next(&reader, &record) && record.section <= section)
        if (record.section == section)
            tally_add(tally, record.type);
}

static bool meets_rrtype(const struct rule_check *check, const struct rule_view *view)
{
    struct tally tally = tally_begin(check, 0);

    if (!rule_view_is_message(view, SL_APP_DNS))
        return false;
    tally_types(&tally, view);
    if (check->which < 0) { /* the place of the last is known now */
        tally = tally_begin(check, tally.n);
        tally_types(&tally, view);
    }
    return tally_end(&tally);
}

static bool is_in_wide(const struct rule_check *check, uint64_t value)
{
    return (value >= check->wide->first && value <= check->wide->last) != check->negated;
}

/* Times are compared without fractions of seconds. */
static bool meets_age(const struct rule_check *check, const struct sl_flow_total *total)
{
    const int64_t second = 1000000000;
    const int64_t age = total->last_ns / second - total->first_ns / second;

    return is_in_wide(check, total->first_ns != 0 && age > 0 ? (uint64_t)age : 0);
}

/* Sums of the client and of the server. */
static bool meets_sums(const struct rule_check *check, const uint64_t sums[2])
{
    if (check->which == RULE_ANY)
        return is_in_wide(check, sums[0]) || is_in_wide(check, sums[1]);
    if (check->which == RULE_ALL)
        return is_in_wide(check, sums[0]) && is_in_wide(check, sums[1]);
    return is_in_wide(check, sums[check->which]);
}

/* An event is reported once. Rules with other options see it when its side ends. */
static bool meets_app_event(const struct rule_check *check, const struct rule_view *view)
{
    if (view->message == NULL)
        return false;
    if (view->sees == RULE_SEES_EVENTS)
        return view->message->event == check->first;
    return view->message->step == SL_APP_END && (view->message->events >> check->first & 1) != 0;
}

/* The protocol of a side; 0: it is not known so far. Without facts it is the packet's. */
static uint8_t app_of_side(const struct rule_view *view, int side)
{
    if ((view->protocols & RULE_TCP) != 0)
        return view->facts != NULL ? view->facts->app[side] : view->app;
    return view->app == SL_APP_UNKNOWN && (view->protocols & RULE_UDP) != 0 && view->scan->len != 0
               ? SL_N_APPS
               : view->app;
}

/* A side that shows no protocol has another than the rule's. */
static bool is_app(const struct rule_check *check, uint8_t app)
{
    return app != SL_APP_UNKNOWN && ((check->mask >> app & 1) != 0) != check->negated;
}

/* Where totals are unknown, each datagram is as the first. */
static bool is_app_found(const struct rule_view *view, int side)
{
    if ((view->protocols & RULE_TCP) != 0)
        return view->facts == NULL || view->facts->app_found;
    return view->total == NULL || view->total->packets[side] == 1;
}

static bool meets_app(const struct rule_check *check, const struct rule_view *view)
{
    const int sender = (view->flow & SL_FLOW_TO_SERVER) != 0 ? 0 : 1;
    const uint8_t client = app_of_side(view, 0), server = app_of_side(view, 1);

    switch (check->which) {
    case RULE_APP_OF_SENDER:
        return is_app(check, sender == 0 ? client : server);
    case RULE_APP_OF_FLOW:
        return is_app(check, view->app != SL_APP_UNKNOWN ? view->app : client);
    case RULE_APP_BEFORE:
        return view->facts != NULL && is_app(check, view->facts->app_before);
    case RULE_APP_OF_EITHER:
        if (check->negated)
            return (is_app(check, client) || client == SL_APP_UNKNOWN) &&
                   (is_app(check, server) || server == SL_APP_UNKNOWN) &&
                   (client | server) != SL_APP_UNKNOWN;
        return is_app(check, client) || is_app(check, server);
    case RULE_APP_OF_CLIENT:
        return is_app(check, client);
    case RULE_APP_OF_SERVER:
        return is_app(check, server);
    default:
        return is_app_found(view, sender);
    }
}

bool rule_view_meets_repeated(const struct rule_check *check, const struct rule_view *view)
{
    switch (check->field) {
    case RULE_VLAN_ID:
        return meets_vlan(check, view);
    case RULE_APP:
        return meets_app(check, view);
    case RULE_FLOW_AGE:
        return view->total != NULL && meets_age(check, view->total);
    case RULE_FLOW_PACKETS:
        return view->total != NULL && meets_sums(check, view->total->packets);
    case RULE_FLOW_BYTES:
        return view->total != NULL && meets_sums(check, view->total->bytes);
    case RULE_STREAM_SIZE:
        return view->facts != NULL && meets_sums(check, view->facts->size);
    case RULE_STREAM_EVENT:
        return view->facts != NULL && (view->facts->events >> check->first & 1) != 0;
    case RULE_APP_EVENT:
        return meets_app_event(check, view);
    default:
        return meets_rrtype(check, view);
    }
}

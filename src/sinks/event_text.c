/* SPDX-License-Identifier: MIT */
#include "event_text.h"

#include <stdio.h>
#include <string.h>

#include "base/decimal.h"

/* IANA's protocol numbers under the names of Suricata's events; those that networks carry. */
static const char *const protocol_names[256] = {
    [0] = "HOPOPT",     [1] = "ICMP",        [2] = "IGMP",         [4] = "IP-in-IP",
    [6] = "TCP",        [8] = "EGP",         [9] = "IGP",          [12] = "PUP",
    [17] = "UDP",       [22] = "XNS-IDP",    [27] = "RDP",         [29] = "ISO-TP4",
    [33] = "DCCP",      [36] = "XTP",        [41] = "IPv6",        [43] = "IPv6-Route",
    [44] = "IPv6-Frag", [45] = "IDRP",       [46] = "RSVP",        [47] = "GRE",
    [50] = "ESP",       [51] = "AH",         [55] = "MOBILE",      [57] = "SKIP",
    [58] = "IPv6-ICMP", [59] = "IPv6-NoNxt", [60] = "IPv6-Opts",   [88] = "EIGRP",
    [89] = "OSPF",      [94] = "OS",         [97] = "ETHERIP",     [98] = "ENCAP",
    [103] = "PIM",      [108] = "IPComp",    [112] = "VRRP",       [113] = "PGM",
    [115] = "L2TP",     [124] = "IS-IS",     [132] = "SCTP",       [133] = "FC",
    [135] = "Mobility", [136] = "UDPLite",   [137] = "MPLS-in-IP", [138] = "manet",
    [139] = "HIP",      [140] = "Shim6",     [141] = "WESP",       [142] = "ROHC",
};

static char *put_pair(char *out, uint32_t value, char behind)
{
    out[0] = (char)('0' + value / 10);
    out[1] = (char)('0' + value % 10);
    out[2] = behind;
    return out + 3;
}

struct date {
    uint32_t year, month, day;
};

/* The date of days since 1970 in the Gregorian calendar: Hinnant, "chrono-compatible low-level date
 * algorithms". In years that begin in March the leap day is the last, and the lengths of months
 * repeat every five. gmtime_r would take a lock that all threads share. */
static struct date date_of(int64_t days)
{
    const int64_t since_0 = days + 719468; /* since 0000-03-01; above 0 for all times there are */
    const uint32_t era = (uint32_t)(since_0 / 146097), of_era = (uint32_t)(since_0 % 146097);
    const uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const uint32_t month = (5 * of_year + 2) / 153; /* 0 is March */

    return (struct date){
        .year = 400 * era + year + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = of_year - (153 * month + 2) / 5 + 1,
    };
}

void event_time(char out[EVENT_TIME_LEN], int64_t time_ns, char separator)
{
    const int64_t second_ns = 1000000000, day_ns = 86400 * second_ns;
    /* Rounds down before 1970 too. 64 bits of nanoseconds end in the years 1677 and 2262. */
    const int64_t below = time_ns % day_ns < 0;
    const struct date date = date_of(time_ns / day_ns - below);
    const uint64_t of_day = (uint64_t)(time_ns % day_ns + below * day_ns);
    const uint32_t seconds = (uint32_t)(of_day / (uint64_t)second_ns);
    const uint32_t micros = (uint32_t)(of_day % (uint64_t)second_ns / 1000);

    char digits[8];

    out = decimal_fixed(out, date.year, 4);
    *out++ = '-';
    out = put_pair(out, date.month, '-');
    out = put_pair(out, date.day, separator);
    out = put_pair(out, seconds / 3600, ':');
    out = put_pair(out, seconds / 60 % 60, ':');
    out = put_pair(out, seconds % 60, '.');
    decimal_fixed(digits, micros, 6);
    memcpy(out, digits, 6);
}

const char *event_protocol(uint8_t protocol, char number[4])
{
    if (protocol_names[protocol] != NULL)
        return protocol_names[protocol];
    snprintf(number, 4, "%u", protocol);
    return number;
}

const char *event_direction(const struct sl_event *event)
{
    return event->origin.flow_flags & SL_FLOW_TO_SERVER ? "to_server" : "to_client";
}

bool event_has_ports(const struct sl_event *event)
{
    const uint8_t protocol = event->tuple.protocol;

    return event->has_tuple &&
           (protocol == SL_IP_TCP || protocol == SL_IP_UDP || protocol == SL_IP_SCTP);
}

bool event_is_icmp(const struct sl_event *event)
{
    const uint8_t protocol = event->tuple.protocol;

    return event->has_tuple && (protocol == SL_IP_ICMP || protocol == SL_IP_ICMPV6);
}

bool event_has_transport(const struct sl_event *event)
{
    return event->origin.flow != 0 || event->tuple.src_port != 0 || event->tuple.dst_port != 0;
}

static int64_t whole_seconds(int64_t time_ns)
{
    const int64_t second_ns = 1000000000;

    return time_ns / second_ns - (time_ns % second_ns < 0);
}

uint64_t event_age(const struct sl_flow_record *flow)
{
    const int64_t first = whole_seconds(flow->first_ns), last = whole_seconds(flow->last_ns);

    return last > first ? (uint64_t)(last - first) : 0;
}

uint32_t event_payload_len(const struct sl_event *event)
{
    return event->payload_len < SL_EVENT_PAYLOAD_MAX ? event->payload_len : SL_EVENT_PAYLOAD_MAX;
}

/* SPDX-License-Identifier: MIT */
/* Texts of an event that all sinks write alike. */
#ifndef SINKS_EVENT_TEXT_H
#define SINKS_EVENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/event.h"

enum { EVENT_TIME_LEN = 26 };

/* "2026-01-02T10:11:12.123456" in UTC, with the separator in place of the T; no NUL. */
void event_time(char out[EVENT_TIME_LEN], int64_t time_ns, char separator);

/* The name that Suricata writes ("TCP", "IPv6-ICMP"), else the number. Returns a name or `number`.
 */
const char *event_protocol(uint8_t protocol, char number[4]);

/* "to_server" or "to_client". */
const char *event_direction(const struct sl_event *event);

/* TCP, UDP and SCTP have ports, ICMP and ICMPv6 a type and a code. */
bool event_has_ports(const struct sl_event *event);
bool event_is_icmp(const struct sl_event *event);

/* Whether those are known: later fragments and cut headers have none, and no flow either (flow.h).
 */
bool event_has_transport(const struct sl_event *event);

/* Seconds from a flow's first packet to its last, as Suricata counts: of whole seconds. */
uint64_t event_age(const struct sl_flow_record *flow);

/* Bytes of the payload to keep. */
uint32_t event_payload_len(const struct sl_event *event);

#endif

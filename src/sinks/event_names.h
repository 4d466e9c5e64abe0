/* SPDX-License-Identifier: MIT */
/* What sinks say of names in packets, in the words of Suricata's events. */
#ifndef SINKS_EVENT_NAMES_H
#define SINKS_EVENT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/sink.h"

enum { EVENT_NUMBER_LEN = 16 };

/* DNS: "query" or "answer"; HTTP: the method; NDN: "interest" or "data"; TLS: NULL. *len bytes, not
 * ended by NUL. */
const char *event_name_kind(const struct sl_event *event, size_t *len);

/* "A", "AAAA", ...; "TYPE65280" (RFC 3597) in `number` where there is no name. */
const char *event_dns_type(uint16_t type, char number[EVENT_NUMBER_LEN]);

/* "NOERROR", "NXDOMAIN", ... of a header's flags. */
const char *event_dns_rcode(uint16_t flags, char number[EVENT_NUMBER_LEN]);

/* "TLS 1.2", "TLSv1", "SSLv3"; "0x0305" for others. */
const char *event_tls_version(uint16_t version, char number[EVENT_NUMBER_LEN]);

/* "blocked" or "allowed" where the list says one of them, else NULL. */
const char *event_verdict(enum sl_names_action action);

#endif

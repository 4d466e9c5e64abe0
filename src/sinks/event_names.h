/* SPDX-License-Identifier: MIT */
/* Numbers of DNS and TLS in the words of Suricata's events. */
#ifndef SINKS_EVENT_NAMES_H
#define SINKS_EVENT_NAMES_H

#include <stdint.h>

enum { EVENT_NUMBER_LEN = 16 };

/* "A", "AAAA", ...; "TYPE65280" (RFC 3597) in `number` where there is no name. */
const char *event_dns_type(uint16_t type, char number[EVENT_NUMBER_LEN]);

/* "NOERROR", "NXDOMAIN", ... of a header's flags. */
const char *event_dns_rcode(uint16_t flags, char number[EVENT_NUMBER_LEN]);

/* "TLS 1.2", "TLSv1", "SSLv3"; "0x0305" for others. */
const char *event_tls_version(uint16_t version, char number[EVENT_NUMBER_LEN]);

#endif

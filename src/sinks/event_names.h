/* SPDX-License-Identifier: MIT */
/* Numbers of TLS in the words of Suricata's events. */
#ifndef SINKS_EVENT_NAMES_H
#define SINKS_EVENT_NAMES_H

#include <stdint.h>

enum { EVENT_NUMBER_LEN = 24 };

/* "TLS 1.2", "TLSv1", "SSLv3"; "0x0305" for others. */
const char *event_tls_version(uint16_t version, char number[EVENT_NUMBER_LEN]);

#endif

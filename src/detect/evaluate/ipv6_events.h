/* SPDX-License-Identifier: MIT */
/* Oddities in the extension headers of IPv6, as events of Suricata's decoder name them. */
#ifndef DETECT_IPV6_EVENTS_H
#define DETECT_IPV6_EVENTS_H

#include <stdint.h>

enum {
    IPV6_EVENT_TRUNCATED = 1,          /* a header ends behind the packet */
    IPV6_EVENT_USELESS_FRAGMENT = 2,   /* a fragment header of a whole datagram */
    IPV6_EVENT_FRAGMENT_LEN = 4,       /* more follow, and it is no multiple of 8 bytes */
    IPV6_EVENT_FRAGMENT_TOO_LARGE = 8, /* the datagram would have more than 65,535 bytes */
    IPV6_EVENT_HOP_OPTION = 16,        /* an unknown option for each hop */
    IPV6_EVENT_DESTINATION_OPTION = 32 /* one for the destination */
};

/* The events of a packet whose IPv6 header begins here, with len bytes from there on. None where
 * not all of it was captured. */
uint32_t ipv6_events(const uint8_t *ip, uint32_t len);

#endif

/* SPDX-License-Identifier: MIT */
/* DNS over TCP: messages with their length before them (RFC 1035, 4.2.2). app_parser.h has the
 * interface. Each message is a transaction; its news are APP_HEAD and APP_DONE. A flow holds one
 * message a side. Behind a gap, or a length that no message has, a side is given up. */
#ifndef APP_DNS_TCP_H
#define APP_DNS_TCP_H

#include "app_parser.h"

extern const struct app_parser dns_tcp_parser;

enum app_likeness dns_tcp_probe(enum app_side side, const uint8_t *bytes, uint32_t len);

#endif

/* SPDX-License-Identifier: MIT */
/* SSH up to where it encrypts (RFC 4253): the banners, and the lists of algorithms, of which HASSH
 * is made. A flow has one transaction. Its news are APP_HEAD for a banner and for lists of either
 * side, then APP_DONE.
 *
 * A flow holds one line or packet a side, of at most SSH_PACKET_MAX bytes, and the side's banner
 * and lists, which came in one. */
#ifndef APP_SSH_H
#define APP_SSH_H

#include "app_parser.h"

enum {
    SSH_LINE_MAX = 255,     /* bytes of a banner, as the protocol has it */
    SSH_LINES_MAX = 1024,   /* lines that a server may send before it */
    SSH_PACKET_MAX = 35000, /* bytes of a packet */
    SSH_HASSH_LEN = 32
};

extern const struct app_parser ssh_parser;

enum app_likeness ssh_probe(enum app_side side, const uint8_t *bytes, uint32_t len);

#endif

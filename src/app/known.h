/* SPDX-License-Identifier: MIT */
/* Protocols that are known by their first bytes, and not read. Flows, packets and rules have their
 * names. A side of a TCP stream is given up at once. */
#ifndef APP_KNOWN_H
#define APP_KNOWN_H

#include "app_parser.h"

/* The protocol that a side's first bytes are of. NULL: none, or too few are there. */
const struct app_parser *known_find(enum app_side side, const uint8_t *bytes, uint32_t len,
                                    bool *too_short);

/* The protocol of a datagram. SL_APP_UNKNOWN: none of these. */
enum sl_app known_datagram(const uint8_t *message, uint32_t len);

#endif

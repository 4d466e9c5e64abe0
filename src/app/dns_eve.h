/* SPDX-License-Identifier: MIT */
/* The object `dns` of EVE events, as Suricata 8 writes it: version 3 of the format, answers in
 * detail. Events of type dns and alerts have the same object. */
#ifndef APP_DNS_EVE_H
#define APP_DNS_EVE_H

#include "app_visit.h"
#include "dns.h"

#define DNS_NO_TX_ID UINT64_MAX

/* Visits the object `dns` of a message with its key. tx_id counts the messages of the flow from 0;
 * DNS_NO_TX_ID: it is not known, and left out.
 * Returns the damage that ended reading. Records before it were visited, and lists are closed. Of a
 * message without a header nothing is visited. Any thread. */
enum dns_damage dns_eve_visit(const struct app_visit *visit, const uint8_t *bytes, uint32_t len,
                              uint64_t tx_id);

#endif

/* SPDX-License-Identifier: MIT */
/* DHCP (RFC 2131, RFC 2132): numbers among the options of a message. */
#ifndef APP_DHCP_H
#define APP_DHCP_H

#include <stdbool.h>
#include <stdint.h>

enum dhcp_option { DHCP_LEASE_TIME = 51, DHCP_RENEWAL_TIME = 58, DHCP_REBINDING_TIME = 59 };

bool dhcp_probe(const uint8_t *message, uint32_t len);

/* Gives an option of 4 bytes as a number. False: the message does not have it. */
bool dhcp_number(uint32_t *number, const uint8_t *message, uint32_t len, enum dhcp_option option);

#endif

/* SPDX-License-Identifier: MIT */
/* SNMP (RFC 1157, RFC 3416, RFC 3412, RFC 3414): the parts of a message that rules name. */
#ifndef APP_SNMP_H
#define APP_SNMP_H

#include <stdbool.h>
#include <stdint.h>

struct snmp_span {
    const uint8_t *at; /* NULL: the message does not have it */
    uint32_t len;
};

struct snmp_message {
    uint32_t version;           /* 1, 2 (2c) or 3 */
    struct snmp_span community; /* of versions 1 and 2 */
    struct snmp_span user;      /* of version 3: the user of its security model */
    bool has_pdu_type;          /* it is not encrypted */
    uint32_t pdu_type;          /* 0: get request, to 8: report */
};

/* False: it is no SNMP. */
bool snmp_read(struct snmp_message *message, const uint8_t *bytes, uint32_t len);

#endif

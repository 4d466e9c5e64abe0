/* SPDX-License-Identifier: MIT */
#include "snmp.h"

/* Tags of BER (X.690). PDUs have context tags from 0xA0 on. */
enum { INTEGER = 0x02, OCTETS = 0x04, SEQUENCE = 0x30, PDU = 0xA0, PDU_LAST = 0xA8 };

/* Takes a value of this tag off the front. False: there is none, or not all of it. */
static bool take(struct snmp_span *rest, uint8_t tag, struct snmp_span *value)
{
    uint32_t len, head = 2;

    if (rest->len < 2 || rest->at[0] != tag)
        return false;
    len = rest->at[1];
    if (len > 0x84 || len == 0x80)
        return false;
    if (len > 0x80) { /* so many bytes of length */
        const uint32_t n = len & 0x7F;

        if (rest->len < 2 + n)
            return false;
        for (len = 0; head < 2 + n; head++)
            len = len << 8 | rest->at[head];
    }
    if (len > rest->len - head)
        return false;
    *value = (struct snmp_span){rest->at + head, len};
    rest->at += head + len;
    rest->len -= head + len;
    return true;
}

static void read_pdu(struct snmp_message *message, struct snmp_span rest)
{
    if (rest.len == 0 || rest.at[0] < PDU || rest.at[0] > PDU_LAST)
        return;
    message->has_pdu_type = true;
    message->pdu_type = rest.at[0] - (uint32_t)PDU;
}

/* Header, security parameters, and the PDU in its scope, which may be encrypted. */
static bool read_version_3(struct snmp_message *message, struct snmp_span rest)
{
    struct snmp_span header, octets, usm, value, scope;

    if (!take(&rest, SEQUENCE, &header) || !take(&rest, OCTETS, &octets))
        return false;
    if (take(&octets, SEQUENCE, &usm) && take(&usm, OCTETS, &value) &&
        take(&usm, INTEGER, &value) && take(&usm, INTEGER, &value))
        (void)take(&usm, OCTETS, &message->user);
    if (take(&rest, SEQUENCE, &scope) && take(&scope, OCTETS, &value) &&
        take(&scope, OCTETS, &value))
        read_pdu(message, scope);
    return true;
}

bool snmp_read(struct snmp_message *message, const uint8_t *bytes, uint32_t len)
{
    struct snmp_span all = {bytes, len}, rest, version;

    *message = (struct snmp_message){0};
    if (!take(&all, SEQUENCE, &rest) || !take(&rest, INTEGER, &version) || version.len != 1 ||
        version.at[0] > 3 || version.at[0] == 2)
        return false;
    message->version = version.at[0] == 3 ? 3 : version.at[0] + 1u;
    if (message->version == 3)
        return read_version_3(message, rest);
    if (!take(&rest, OCTETS, &message->community))
        return false;
    read_pdu(message, rest);
    return message->has_pdu_type;
}

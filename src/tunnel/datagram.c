/* SPDX-License-Identifier: MIT */
#include "datagram.h"

enum { KIND = 0xD1, VERSION = 1 };

void datagram_write_header(uint8_t out[DATAGRAM_HEADER], const struct datagram_header *header)
{
    out[0] = KIND;
    out[1] = VERSION;
    datagram_put(out + 2, header->sequence, 6);
    datagram_put(out + 8, header->from, 4);
    datagram_put(out + 12, header->to, 4);
}

bool datagram_read(struct datagram_header *header, const uint8_t *bytes, uint32_t len)
{
    if (len < DATAGRAM_HEADER || bytes[0] != KIND || bytes[1] != VERSION)
        return false;
    header->sequence = datagram_get(bytes + 2, 6);
    header->from = (uint32_t)datagram_get(bytes + 8, 4);
    header->to = (uint32_t)datagram_get(bytes + 12, 4);
    for (uint32_t at = DATAGRAM_HEADER; at < len;) {
        if (len - at < RECORD_HEADER || bytes[at] >= RECORD_KINDS)
            return false;

        const uint32_t record_len = (uint32_t)datagram_get(bytes + at + 1, 2);
        if (record_len > len - at - RECORD_HEADER)
            return false;
        at += RECORD_HEADER + record_len;
    }
    return header->from != 0 && header->sequence != 0;
}

void record_write_header(uint8_t out[RECORD_HEADER], enum record_kind kind, uint32_t len)
{
    out[0] = (uint8_t)kind;
    datagram_put(out + 1, len, 2);
}

bool record_next(struct record *record, const uint8_t *bytes, uint32_t len, uint32_t *at)
{
    if (*at >= len)
        return false;
    record->kind = (enum record_kind)bytes[*at];
    record->len = (uint32_t)datagram_get(bytes + *at + 1, 2);
    record->bytes = bytes + *at + RECORD_HEADER;
    *at += RECORD_HEADER + record->len;
    return true;
}

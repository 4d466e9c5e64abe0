/* SPDX-License-Identifier: MIT */
/* The name of an NDN packet (packet format 0.3), bare or in an NDNLPv2 packet. For host and CUDA
 * code: every loop is bounded by the bytes of the packet, and nothing outside of them is read. */
#ifndef NAMES_NAME_PACKET_CORE_H
#define NAMES_NAME_PACKET_CORE_H

#include "name_build.h"

/* The reason that there is no name. */
enum name_packet_why {
    NAME_PACKET_CUT,
    NAME_PACKET_BAD,      /* a number is not in its shortest form, or lengths contradict */
    NAME_PACKET_FRAGMENT, /* a fragment of NDNLPv2 */
    NAME_PACKET_EMPTY,    /* a link packet that carries nothing */
    NAME_PACKET_OTHER,    /* neither Interest nor Data */
    NAME_PACKET_NO_NAME,
    NAME_PACKET_COMPONENT, /* a type out of 1 to 65535, or a digest that is not 32 bytes */
    NAME_PACKET_LONG,      /* longer than SL_NAME_LEN_MAX */
    NAME_PACKET_GOOD
};

enum {
    NAME_NDN_INTEREST = 0x05,
    NAME_NDN_DATA = 0x06,
    NAME_NDN_NAME = 0x07,
    NAME_NDN_LP_PACKET = 0x64,
    NAME_NDN_LP_FRAGMENT = 0x50,
    NAME_NDN_LP_FRAG_COUNT = 0x53,
    NAME_NDN_DIGEST_LEN = 32
};

/* A value: [at, end) by its length. The bytes before `have` are here. */
struct name_range {
    uint32_t at, end, have;
};

/* The VAR-NUMBER at range->at. */
BYTES_INLINE enum name_packet_why name_ndn_number(const uint8_t *bytes, struct name_range *range,
                                                  uint32_t *number)
{
    const enum name_packet_why short_of =
        range->have < range->end ? NAME_PACKET_CUT : NAME_PACKET_BAD;

    if (range->at >= range->have)
        return short_of;
    const uint32_t first = bytes[range->at];
    const uint32_t more = first < 253 ? 0 : first == 253 ? 2 : first == 254 ? 4 : 8;

    if (more > range->have - range->at - 1)
        return short_of;
    range->at++;
    if (more == 8) /* could be shorter, or is larger than any packet */
        return NAME_PACKET_BAD;
    *number = more == 0 ? first : 0;
    for (uint32_t i = 0; i < more; i++)
        *number = *number << 8 | bytes[range->at++];
    return name_number_len(*number) == more + 1 ? NAME_PACKET_GOOD : NAME_PACKET_BAD;
}

/* The TLV at range->at, which goes behind it. */
BYTES_INLINE enum name_packet_why name_ndn_take(const uint8_t *bytes, struct name_range *range,
                                                uint32_t *type, struct name_range *value)
{
    uint32_t len;
    enum name_packet_why why = name_ndn_number(bytes, range, type);

    if (why == NAME_PACKET_GOOD)
        why = name_ndn_number(bytes, range, &len);
    if (why != NAME_PACKET_GOOD)
        return why;
    if (len > range->end - range->at)
        return NAME_PACKET_BAD;
    value->at = range->at;
    value->end = range->at + len;
    value->have = value->end < range->have ? value->end : range->have;
    if (value->have < value->at)
        value->have = value->at;
    range->at = value->end;
    return NAME_PACKET_GOOD;
}

/* NDNLPv2: header fields, then the fragment, which *value becomes. A packet in several fragments is
 * not looked into: its name may not be whole in the first. */
BYTES_INLINE enum name_packet_why name_ndn_open_link(const uint8_t *bytes, uint32_t *type,
                                                     struct name_range *value)
{
    struct name_range packet = *value, field;

    while (packet.at < packet.end) {
        enum name_packet_why why = name_ndn_take(bytes, &packet, type, &field);

        if (why != NAME_PACKET_GOOD)
            return why;
        if (*type == NAME_NDN_LP_FRAG_COUNT) {
            if (field.have < field.end)
                return NAME_PACKET_CUT;
            if (field.end - field.at != 1 || bytes[field.at] != 1)
                return NAME_PACKET_FRAGMENT;
        }
        if (*type == NAME_NDN_LP_FRAGMENT)
            return name_ndn_take(bytes, &field, type, value);
    }
    return NAME_PACKET_EMPTY;
}

BYTES_INLINE enum name_packet_why name_ndn_check(const uint8_t *bytes, struct name_range name)
{
    struct name_range component;
    uint32_t type;

    while (name.at < name.end) {
        const enum name_packet_why why = name_ndn_take(bytes, &name, &type, &component);

        if (why != NAME_PACKET_GOOD)
            return why;
        if (type == 0 || type > SL_NAME_TYPE_MAX ||
            (type <= 2 && component.end - component.at != NAME_NDN_DIGEST_LEN))
            return NAME_PACKET_COMPONENT;
    }
    return NAME_PACKET_GOOD;
}

struct name_ndn {
    struct name_range name;
    uint32_t end; /* of the packet, which may be behind what is here */
    bool data;
};

/* Reads the name of the packet at `at`. */
BYTES_INLINE enum name_packet_why name_ndn_read(struct name_ndn *ndn, const uint8_t *bytes,
                                                uint32_t at, uint32_t len)
{
    struct name_range all = {at, UINT32_MAX, len}, value;
    uint32_t type;
    enum name_packet_why why = name_ndn_take(bytes, &all, &type, &value);

    if (why != NAME_PACKET_GOOD)
        return why;
    ndn->end = all.at;
    if (type == NAME_NDN_LP_PACKET) {
        why = name_ndn_open_link(bytes, &type, &value);
        if (why != NAME_PACKET_GOOD)
            return why;
    }
    if (type != NAME_NDN_INTEREST && type != NAME_NDN_DATA)
        return NAME_PACKET_OTHER;
    ndn->data = type == NAME_NDN_DATA;
    why = name_ndn_take(bytes, &value, &type, &ndn->name);
    if (why != NAME_PACKET_GOOD)
        return why;
    if (type != NAME_NDN_NAME)
        return NAME_PACKET_NO_NAME;
    if (ndn->name.have < ndn->name.end)
        return NAME_PACKET_CUT;
    if (ndn->name.end - ndn->name.at > SL_NAME_LEN_MAX)
        return NAME_PACKET_LONG;
    return name_ndn_check(bytes, ndn->name);
}

#endif

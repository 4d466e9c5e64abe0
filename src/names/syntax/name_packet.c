/* SPDX-License-Identifier: MIT */
/* The names of NDN packets: reasons in words. */
#include "name_packet_core.h"

static const char *why_no_packet(enum name_packet_why why)
{
    switch (why) {
    case NAME_PACKET_LONG:
        return name_too_long;
    case NAME_PACKET_FRAGMENT:
        return "a fragment of a packet";
    case NAME_PACKET_EMPTY:
        return "a link packet that carries nothing";
    case NAME_PACKET_OTHER:
        return "neither an Interest nor a Data packet";
    case NAME_PACKET_NO_NAME:
        return "the packet does not begin with a name";
    case NAME_PACKET_COMPONENT:
        return "a component's type is not 1 to 65535, or a digest component is not 32 bytes";
    case NAME_PACKET_BAD:
        return "a number is not in its shortest form, or a field runs over the end of what it is "
               "in";
    default:
        return "not a whole NDN packet";
    }
}

const char *sl_name_from_packet(struct sl_name *name, const uint8_t *packet, size_t packet_len)
{
    const uint32_t len = packet_len < UINT32_MAX ? (uint32_t)packet_len : UINT32_MAX - 1;
    struct name_ndn ndn;
    const enum name_packet_why why = name_ndn_read(&ndn, packet, 0, len);

    if (why != NAME_PACKET_GOOD)
        return why_no_packet(why);
    if (ndn.end > len)
        return why_no_packet(NAME_PACKET_CUT);
    *name = (struct sl_name){.bytes = packet + ndn.name.at,
                             .len = ndn.name.end - ndn.name.at,
                             .host_len = ndn.name.end - ndn.name.at,
                             .syntax = SL_NAME_NDN};
    return NULL;
}

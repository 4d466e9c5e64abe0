/* SPDX-License-Identifier: MIT */
#include "ipv6_events.h"

#include <stdbool.h>

#include "base/bytes.h"

enum {
    HEADER_LEN = 40,
    HOP_BY_HOP = 0,
    ROUTING = 43,
    FRAGMENT = 44,
    AUTHENTICATION = 51,
    DESTINATION = 60,
    HEADERS_MAX = 16,
    DATAGRAM_MAX = 65535
};

/* RFC 8200, 4.2; RFC 2711; RFC 2675; RFC 6275. */
static bool is_known_option(uint8_t option)
{
    enum { PAD_1 = 0, PAD_N = 1, ROUTER_ALERT = 5, JUMBO = 0xC2, HOME_ADDRESS = 0xC9 };

    return option == PAD_1 || option == PAD_N || option == ROUTER_ALERT || option == JUMBO ||
           option == HOME_ADDRESS;
}

/* Whether options behind the two bytes of their header have one that is not known. */
static bool has_unknown_option(const uint8_t *header, uint32_t len)
{
    for (uint32_t at = 2; at < len; at += header[at] == 0 ? 1 : 2u + header[at + 1]) {
        if (!is_known_option(header[at]))
            return true;
        if (header[at] != 0 && len - at < 2)
            return false;
    }
    return false;
}

static uint32_t fragment_events(const uint8_t *header, uint32_t data_len)
{
    const uint32_t offset = load_be16(header + 2) & 0xFFF8;
    const bool more = (header[3] & 1) != 0;

    if (offset == 0 && !more)
        return IPV6_EVENT_USELESS_FRAGMENT;
    return (more && data_len % 8 != 0 ? IPV6_EVENT_FRAGMENT_LEN : 0u) |
           (offset + data_len > DATAGRAM_MAX ? IPV6_EVENT_FRAGMENT_TOO_LARGE : 0u);
}

static bool is_extension(uint8_t protocol)
{
    return protocol == HOP_BY_HOP || protocol == ROUTING || protocol == FRAGMENT ||
           protocol == AUTHENTICATION || protocol == DESTINATION;
}

static uint32_t extension_len(uint8_t protocol, const uint8_t *header)
{
    if (protocol == FRAGMENT)
        return 8;
    return protocol == AUTHENTICATION ? (header[1] + 2u) * 4 : (header[1] + 1u) * 8;
}

uint32_t ipv6_events(const uint8_t *ip, uint32_t len)
{
    uint32_t events = 0;

    if (len < HEADER_LEN || !is_extension(ip[6]))
        return 0;

    const uint32_t payload_len = load_be16(ip + 4);
    uint32_t rest = payload_len != 0 ? payload_len : len - HEADER_LEN;
    const uint8_t *header = ip + HEADER_LEN;
    uint8_t protocol = ip[6];

    if (rest > len - HEADER_LEN)
        return 0;
    for (uint32_t n = 0; n < HEADERS_MAX; n++) {
        if (rest < 2)
            return events | IPV6_EVENT_TRUNCATED;
        if (!is_extension(protocol))
            return events;

        const uint32_t header_len = extension_len(protocol, header);

        if (header_len > rest)
            return events | IPV6_EVENT_TRUNCATED;
        if (protocol == FRAGMENT)
            events |= fragment_events(header, rest - header_len);
        if (protocol == HOP_BY_HOP && has_unknown_option(header, header_len))
            events |= IPV6_EVENT_HOP_OPTION;
        if (protocol == DESTINATION && has_unknown_option(header, header_len))
            events |= IPV6_EVENT_DESTINATION_OPTION;
        if (protocol == FRAGMENT && (events & IPV6_EVENT_USELESS_FRAGMENT) == 0)
            return events; /* the others are those of the datagram */
        protocol = header[0];
        header += header_len;
        rest -= header_len;
    }
    return events;
}

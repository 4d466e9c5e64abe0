/* SPDX-License-Identifier: MIT */
#include "known.h"

#include "base/bytes.h"
#include "base/least.h"

/* ---- parsers that read nothing --------------------------------------------------------------- */

static void *open_flow(void)
{
    static char flow; /* of all: it has no state */

    return &flow;
}

static enum app_verdict give_flow(void *flow, enum app_side side, const uint8_t *bytes,
                                  uint32_t len, uint32_t *taken,
                                  const struct app_listener *listener)
{
    (void)flow, (void)side, (void)bytes, (void)listener;
    *taken = len;
    return APP_GIVEN_UP;
}

static enum app_verdict gap_flow(void *flow, enum app_side side, uint64_t len,
                                 const struct app_listener *listener)
{
    (void)flow, (void)side, (void)len, (void)listener;
    return APP_GIVEN_UP;
}

static void close_flow(void *flow, const struct app_listener *listener)
{
    (void)flow, (void)listener;
}

static uint64_t held_by(const void *flow)
{
    (void)flow;
    return 0;
}

/* It reports nothing, so that nothing is shown. */
#define KNOWN(of)                \
    [of] = {.app = (of),         \
            .open = open_flow,   \
            .give = give_flow,   \
            .gap = gap_flow,     \
            .close = close_flow, \
            .held = held_by}

static const struct app_parser parsers[SL_N_APPS] = {
    KNOWN(SL_APP_HTTP2), KNOWN(SL_APP_SMB),   KNOWN(SL_APP_RDP),  KNOWN(SL_APP_RFB),
    KNOWN(SL_APP_MQTT),  KNOWN(SL_APP_PGSQL), KNOWN(SL_APP_DNP3), KNOWN(SL_APP_ENIP),
};

/* ---- first bytes ----------------------------------------------------------------------------- */

enum { CLIENT = 1, SERVER = 2, EITHER = CLIENT | SERVER };

/* Bytes behind those that may be anything: of a length, for example. */
static const struct pattern {
    const char *first, *then;
    uint8_t first_len, then_at, then_len;
    uint8_t sides;
    uint8_t app;
} patterns[] = {
    {"PRI * HTTP/2.0\r\n", "", 16, 0, 0, CLIENT, SL_APP_HTTP2},
    {"RFB 003.", "", 8, 0, 0, SERVER, SL_APP_RFB},
    {"\0", "\xFFSMB", 1, 4, 4, EITHER, SL_APP_SMB},
    {"\0", "\xFESMB", 1, 4, 4, EITHER, SL_APP_SMB},
    {"\0", "\xFDSMB", 1, 4, 4, EITHER, SL_APP_SMB},
    {"\0\0\0\x08\x04\xD2\x16\x2F", "", 8, 0, 0, CLIENT, SL_APP_PGSQL}, /* asks for TLS */
    {"\0\0\0\x10\x04\xD2\x16\x2E", "", 8, 0, 0, CLIENT, SL_APP_PGSQL}, /* cancels a query */
    {"\0\0", "\0\3\0\0user", 2, 4, 8, CLIENT, SL_APP_PGSQL},
    {"\x10", "\0\4MQTT", 1, 2, 6, CLIENT, SL_APP_MQTT}, /* a length of one byte, and of two */
    {"\x10", "\0\4MQTT", 1, 3, 6, CLIENT, SL_APP_MQTT},
    {"\x10", "\0\6MQIsdp", 1, 2, 8, CLIENT, SL_APP_MQTT},
    {"\x65\0\4\0\0\0\0\0\0\0\0\0", "", 12, 0, 0, CLIENT, SL_APP_ENIP}, /* asks for a session, */
    {"\x63\0\0\0\0\0\0\0\0\0\0\0", "", 12, 0, 0, CLIENT, SL_APP_ENIP}, /* for the identity */
};

static enum app_likeness like_bytes(const char *wanted, uint32_t wanted_len, const uint8_t *bytes,
                                    uint32_t len)
{
    if (memcmp(wanted, bytes, least(len, wanted_len)) != 0)
        return APP_UNLIKE;
    return len < wanted_len ? APP_TOO_SHORT : APP_LIKE;
}

static enum app_likeness like_pattern(const struct pattern *pattern, const uint8_t *bytes,
                                      uint32_t len)
{
    const enum app_likeness likeness = like_bytes(pattern->first, pattern->first_len, bytes, len);

    if (likeness != APP_LIKE || pattern->then_len == 0)
        return likeness;
    if (len <= pattern->then_at)
        return APP_TOO_SHORT;
    return like_bytes(pattern->then, pattern->then_len, bytes + pattern->then_at,
                      len - pattern->then_at);
}

/* A frame's head of eight bytes has a checksum of its own (IEEE 1815). */
static enum app_likeness like_dnp3(const uint8_t *bytes, uint32_t len)
{
    enum { HEAD = 8, CRC = 2, POLYNOMIAL = 0xA6BC };
    uint16_t crc = 0;

    if (like_bytes("\x05\x64", 2, bytes, len) == APP_UNLIKE)
        return APP_UNLIKE;
    if (len < HEAD + CRC)
        return APP_TOO_SHORT;
    for (uint32_t i = 0; i < HEAD * 8; i++) {
        const uint16_t bit = (crc ^ bytes[i / 8] >> i % 8) & 1;

        crc = (uint16_t)(crc >> 1 ^ (bit != 0 ? POLYNOMIAL : 0));
    }
    return get_le(bytes + HEAD, 2) == (uint16_t)~crc ? APP_LIKE : APP_UNLIKE;
}

/* A connection request of X.224 in a packet of TPKT. */
static enum app_likeness like_rdp(const uint8_t *bytes, uint32_t len)
{
    enum { HEAD = 6, REQUEST = 0xE0 };

    if (like_bytes("\x03\0", 2, bytes, len) == APP_UNLIKE)
        return APP_UNLIKE;
    if (len < HEAD)
        return APP_TOO_SHORT;
    return bytes[5] == REQUEST && load_be16(bytes + 2) == bytes[4] + 5u ? APP_LIKE : APP_UNLIKE;
}

const struct app_parser *known_find(enum app_side side, const uint8_t *bytes, uint32_t len,
                                    bool *too_short)
{
    static const struct {
        enum app_likeness (*look)(const uint8_t *bytes, uint32_t len);
        uint8_t sides, app;
    } forms[] = {{like_dnp3, EITHER, SL_APP_DNP3}, {like_rdp, CLIENT, SL_APP_RDP}};
    enum app_likeness likeness;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if ((patterns[i].sides >> side & 1) == 0)
            continue;
        likeness = like_pattern(&patterns[i], bytes, len);
        if (likeness == APP_LIKE)
            return &parsers[patterns[i].app];
        *too_short |= likeness == APP_TOO_SHORT;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((forms[i].sides >> side & 1) == 0)
            continue;
        likeness = forms[i].look(bytes, len);
        if (likeness == APP_LIKE)
            return &parsers[forms[i].app];
        *too_short |= likeness == APP_TOO_SHORT;
    }
    return NULL;
}

/* ---- datagrams ------------------------------------------------------------------------------- */

/* ISAKMP (RFC 7296, 3.1): the versions of IKE, and the length of all of it. */
static bool ike_probe(const uint8_t *message, uint32_t len)
{
    enum { HEAD = 28, VERSION_AT = 17, LEN_AT = 24 };

    return len >= HEAD && (message[VERSION_AT] == 0x10 || message[VERSION_AT] == 0x20) &&
           load_be32(message + LEN_AT) == len;
}

/* EtherNet/IP: a command that finds devices, the length behind the head, no status, no options. */
static bool enip_probe(const uint8_t *message, uint32_t len)
{
    enum { HEAD = 24, LIST_SERVICES = 0x04, LIST_IDENTITY = 0x63, LIST_INTERFACES = 0x64 };
    const uint32_t command = len >= HEAD ? get_le(message, 2) : 0;

    return (command == LIST_SERVICES || command == LIST_IDENTITY || command == LIST_INTERFACES) &&
           get_le(message + 2, 2) == len - HEAD && load_be32(message + 8) == 0 &&
           load_be32(message + 20) == 0;
}

enum sl_app known_datagram(const uint8_t *message, uint32_t len)
{
    if (ike_probe(message, len))
        return SL_APP_IKE;
    return enip_probe(message, len) ? SL_APP_ENIP : SL_APP_UNKNOWN;
}

/* SPDX-License-Identifier: MIT */
/* Oddities in extension headers of IPv6. */
#include "test.h"

#include "detect/evaluate/ipv6_events.h"

enum { FRAGMENT = 44, DESTINATION = 60, HOPS = 0, UDP = 17 };

/* A packet: the first next header, then its extension headers and data. Its own memory, so that a
 * byte behind it is found. */
static uint32_t events_of(uint8_t next, const char *bytes, uint32_t len)
{
    uint8_t *packet = calloc(40 + len, 1);

    packet[0] = 0x60;
    packet[5] = (uint8_t)len;
    packet[6] = next;
    memcpy(packet + 40, bytes, len);

    const uint32_t events = ipv6_events(packet, 40 + len);

    assert_int_equal(ipv6_events(packet, 39 + len), 0); /* not all of it was captured */
    free(packet);
    return events;
}

static void test_events(void **state)
{
    static const struct {
        uint8_t next;
        const char *bytes;
        uint32_t len, events;
    } expected[] = {
        {UDP, "12345678", 8, 0},
        {UDP, "", 1, 0},
        {FRAGMENT,
         "\x11\0\0\0\0\0\0\1"
         "12345678",
         16, IPV6_EVENT_USELESS_FRAGMENT},
        {FRAGMENT, "\x11\0\0\0\0\0\0\1", 8, IPV6_EVENT_USELESS_FRAGMENT | IPV6_EVENT_TRUNCATED},
        {FRAGMENT,
         "\x11\0\0\1\0\0\0\1"
         "12345678",
         16, 0},
        {FRAGMENT,
         "\x11\0\0\1\0\0\0\1"
         "1234567",
         15, IPV6_EVENT_FRAGMENT_LEN},
        {FRAGMENT,
         "\x11\0\0\x08\0\0\0\1"
         "1234567",
         15, 0},
        {FRAGMENT,
         "\x11\0\xFF\xF8\0\0\0\1"
         "1234567",
         15, 0},
        {FRAGMENT,
         "\x11\0\xFF\xF8\0\0\0\1"
         "12345678",
         16, IPV6_EVENT_FRAGMENT_TOO_LARGE},
        {FRAGMENT, "\x11\0\0\1\0\0\0", 7, IPV6_EVENT_TRUNCATED},
        {DESTINATION,
         "\x11\0\1\4\0\0\0\0"
         "12",
         10, 0},
        {DESTINATION,
         "\x11\0\x1E\4\0\0\0\0"
         "12",
         10, IPV6_EVENT_DESTINATION_OPTION},
        {DESTINATION,
         "\x11\0\0\0\0\0\0\x1E"
         "12",
         10, IPV6_EVENT_DESTINATION_OPTION},
        {DESTINATION,
         "\x11\0\0\0\0\0\0\1"
         "12",
         10, 0},
        {DESTINATION,
         "\x11\1\0\0\0\0\0\0"
         "12",
         10, IPV6_EVENT_TRUNCATED},
        {HOPS,
         "\x3C\0\x1E\4\0\0\0\0"
         "\x11\0\x1E\4\0\0\0\0"
         "12",
         18, IPV6_EVENT_HOP_OPTION | IPV6_EVENT_DESTINATION_OPTION},
        {HOPS,
         "\x2C\0\5\2\0\0\1\0"
         "\x3C\0\0\1\0\0\0\1"
         "\x11\0\x1E\4\0\0\0\0",
         24, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const uint32_t found = events_of(expected[i].next, expected[i].bytes, expected[i].len);

        if (found != expected[i].events)
            fail_msg("case %zu: 0x%x, not 0x%x", i, found, expected[i].events);
    }
}

/* Any bytes behind a header are read within the packet. */
static void test_any_bytes(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        static const uint8_t nexts[] = {0, 43, 44, 51, 60};
        char bytes[64];
        const uint32_t len = test_below(&random, 64);

        for (uint32_t k = 0; k < len; k++)
            bytes[k] = (char)(test_below(&random, 4) != 0 ? nexts[test_below(&random, 5)]
                                                          : test_below(&random, 256));
        (void)events_of(nexts[test_below(&random, 5)], bytes, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_events),
                                       cmocka_unit_test(test_any_bytes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <arpa/inet.h>

#include "base/address_text.h"
#include "sluice/dissect.h"

static void check_net(const char *text, const char *inside, const char *outside)
{
    struct sl_net net, in, out;

    assert_int_equal(sl_net_parse(&net, text, strlen(text)), SL_OK);
    assert_int_equal(sl_net_parse(&in, inside, strlen(inside)), SL_OK);
    assert_true(sl_net_contains(&net, &in.addr));
    assert_int_equal(sl_net_parse(&out, outside, strlen(outside)), SL_OK);
    assert_false(sl_net_contains(&net, &out.addr));
}

static void test_nets_contain_their_addresses(void **state)
{
    (void)state;
    check_net("192.0.2.0/24", "192.0.2.255", "192.0.3.0");
    check_net("192.0.2.9/31", "192.0.2.8", "192.0.2.10");
    check_net("10.1.2.3", "10.1.2.3", "10.1.2.2");
    check_net("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::");
    check_net("0.0.0.0/0", "255.255.255.255", "::1");
}

static void test_bad_nets_are_refused(void **state)
{
    static const char *const bad[] = {"",           "1.2.3",     "1.2.3.4/33", "1.2.3.4/",
                                      "1.2.3.4/-1", "::/129",    "x",          "1.2.3.4/0x8",
                                      "1.2.3.4 ",   "1.2.3.256", "::1/1 2",    "1.2.3.4/1000"};
    struct sl_net net;
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sl_net_parse(&net, bad[i], strlen(bad[i])), SL_EINVAL);
    memset(text, '1', sizeof text);
    assert_int_equal(sl_net_parse(&net, text, sizeof text), SL_EINVAL);
}

static void test_addresses_print_as_they_are_written(void **state)
{
    static const char *const texts[] = {"192.0.2.1", "2001:db8::1", "::", "255.255.255.255"};
    struct sl_net net;
    char out[SL_ADDR_TEXT_LEN];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(sl_net_parse(&net, texts[i], strlen(texts[i])), SL_OK);
        assert_string_equal(sl_addr_format(&net.addr, out), texts[i]);
    }
    for (uint32_t i = 0; i < 256; i++) {
        char expected[32];

        snprintf(expected, sizeof expected, "%u.%u.%u.%u", i, 255 - i, i ^ 0x55, i);
        assert_int_equal(sl_net_parse(&net, expected, strlen(expected)), SL_OK);
        assert_string_equal(sl_addr_format(&net.addr, out), expected);
    }
}

/* Groups of few values, so that runs of zeros have all places and lengths. */
static void test_addresses_of_ipv6_print_as_inet_ntop_has_them(void **state)
{
    static const uint16_t values[] = {0, 0, 0, 1, 0xFFFF, 0x1A0, 0xA, 0x10, 0xBCD};
    uint64_t random = 7;

    (void)state;
    for (int i = 0; i < 500000; i++) {
        char written[ADDRESS_IPV6_LEN + 1], out[SL_ADDR_TEXT_LEN], expected[INET6_ADDRSTRLEN];
        const uint32_t mapped = test_below(&random, 4);
        struct sl_addr addr;

        for (int g = 0; g < 8; g++)
            store_be16(addr.byte + 2 * g,
                       values[test_below(&random, sizeof values / sizeof *values)]);
        if (mapped == 0)
            memcpy(addr.byte, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF", 12);
        written[address_put_ipv6(written, addr.byte)] = '\0';
        assert_string_equal(written, inet_ntop(AF_INET6, addr.byte, expected, sizeof expected));
        if (!sl_addr_is_ipv4(&addr))
            assert_string_equal(sl_addr_format(&addr, out), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nets_contain_their_addresses),
        cmocka_unit_test(test_bad_nets_are_refused),
        cmocka_unit_test(test_addresses_print_as_they_are_written),
        cmocka_unit_test(test_addresses_of_ipv6_print_as_inet_ntop_has_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

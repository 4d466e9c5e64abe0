/* SPDX-License-Identifier: MIT */
/* Messages of protocols that fit a datagram. */
#include "test.h"

#include "app/dhcp.h"
#include "app/ntp.h"
#include "app/snmp.h"

#define BYTES(text) ((const uint8_t *)(text)), (uint32_t)(sizeof(text) - 1)

static void test_snmp(void **state)
{
    static const char v2[] = "\x30\x13\x02\x01\x01\x04\x06public\xA1\x06\x02\x01\x01\x02\x01\x00";
    static const char v3[] = "\x30\x31\x02\x01\x03\x30\x0E\x02\x01\x01\x02\x02\xFF\xE3\x04\x01\x03"
                             "\x02\x02\x00\x03\x04\x0F\x30\x0D\x04\x02"
                             "ab\x02\x01\x01\x02\x01\x02"
                             "\x04\x01u\x30\x0B\x04\x01x\x04\x00\xA8\x04\x02\x02\x01\x00";
    struct snmp_message message;

    (void)state;
    assert_true(snmp_read(&message, BYTES(v2)));
    assert_int_equal(message.version, 2);
    assert_int_equal(message.community.len, 6);
    assert_memory_equal(message.community.at, "public", 6);
    assert_true(message.has_pdu_type);
    assert_int_equal(message.pdu_type, 1);
    assert_null(message.user.at);
    for (uint32_t len = 0; len < sizeof v2 - 1; len++) /* cut off */
        assert_false(snmp_read(&message, (const uint8_t *)v2, len));

    assert_true(snmp_read(&message, BYTES(v3)));
    assert_int_equal(message.version, 3);
    assert_int_equal(message.user.len, 1);
    assert_int_equal(message.user.at[0], 'u');
    assert_true(message.has_pdu_type);
    assert_int_equal(message.pdu_type, 8);
    assert_null(message.community.at);
    assert_false(snmp_read(&message, BYTES("\x30\x84\xFF\xFF\xFF\xFF\x02\x01\x01")));
    assert_false(snmp_read(&message, BYTES("\x30\x80\x02\x01\x01\x04\x00\xA0\x00")));
    assert_false(snmp_read(&message, BYTES("\x30\x07\x02\x01\x02\x04\x00\xA0\x00")));
}

static void test_dhcp(void **state)
{
    uint8_t message[260] = {2, 1, 6};
    uint32_t number;

    (void)state;
    memcpy(message + 236, "\x63\x82\x53\x63", 4);
    assert_true(dhcp_probe(message, sizeof message));
    assert_false(dhcp_probe(message, 239));
    memcpy(message + 240, "\0\x35\1\5\x33\4\0\0\x0E\x10\x3B\3\0\0\1\xFF", 16);
    assert_true(dhcp_number(&number, message, sizeof message, DHCP_LEASE_TIME));
    assert_int_equal(number, 3600);
    assert_false(dhcp_number(&number, message, sizeof message, DHCP_REBINDING_TIME));
    assert_false(dhcp_number(&number, message, sizeof message, DHCP_RENEWAL_TIME));
    assert_false(dhcp_number(&number, message, 249, DHCP_LEASE_TIME));
    message[236] = 0;
    assert_false(dhcp_probe(message, sizeof message));
}

static void test_ntp(void **state)
{
    uint8_t message[48] = {0x23, 2};

    (void)state;
    assert_true(ntp_probe(message, 48, 123, 5000));
    assert_true(ntp_probe(message, 48, 5000, 123));
    assert_false(ntp_probe(message, 48, 5000, 124));
    assert_false(ntp_probe(message, 47, 123, 123));
    assert_int_equal(ntp_version(message), 4);
    assert_int_equal(ntp_mode(message), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snmp),
        cmocka_unit_test(test_dhcp),
        cmocka_unit_test(test_ntp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

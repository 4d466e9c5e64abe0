/* SPDX-License-Identifier: MIT */
/* Rules that ask for parts of messages in datagrams, but for DNS. */
#include "detect_fixture.h"

#include "sluice/app.h"

static const char request[] = "INVITE sip:a@b.example SIP/2.0\r\n"
                              "To: <sip:one@b.example>\r\n"
                              "t: <sip:two@b.example>\r\n"
                              "Content-Type: application/sdp\r\n"
                              "\r\n"
                              "o=x 1\r\nb=AS:64\r\nb=CT:128\r\n";

static bool message_matches(const char *protocol, const char *options, const char *message,
                            uint32_t message_len)
{
    const struct packet packet = {
        .kind = UDP, .dst_port = 123, .payload = message, .payload_len = message_len};
    struct sl_batch *batch = fixture_batch(1);
    char text[512];
    size_t n;

    snprintf(text, sizeof text, "alert %s any any -> any any (%s sid:1;)\n", protocol, options);
    struct sl_rules *rules = load_rules(text);
    assert_non_null(sl_rules_signature(rules, 0));
    add_packet(batch, &packet);
    dissect_batch(batch);
    sl_app_find(batch);
    free(alerts_of(rules, batch, &n));
    assert_true(sl_rules_need_app(rules));
    sl_batch_free(batch);
    sl_rules_free(rules);
    return n == 1;
}

static bool matches(const char *options, const char *message)
{
    return message_matches("sip", options, message, 0);
}

/* Of a field's values 64 are tried. */
static void test_many_values(void **state)
{
    static char message[1024] = "ACK sip:a SIP/2.0\r\n";

    (void)state;
    for (int i = 0; i < 63; i++)
        strcat(message, "t:x\r\n");
    strcat(message, "t:two\r\n");
    assert_true(matches("sip.to; content:\"two\";", message));
    assert_true(matches("sip.to; to_uppercase; content:\"TWO\";", message));
    memcpy(message + strlen(message) - 7, "t:one\r\nt:two\r\n", 15);
    assert_true(matches("sip.to; content:\"one\";", message));
    assert_false(matches("sip.to; content:\"two\";", message));
    assert_false(matches("sip.to; to_uppercase; content:\"TWO\";", message));
}

static void test_other_datagrams(void **state)
{
    static const char snmp[] = "\x30\x13\x02\x01\x01\x04\x06public\xA1\x06\x02\x01\x01\x02\x01\x00";
    static const char ntp[48] = "\x24\x02\0\0\0\0\0\0\0\0\0\0LOCL";
    static char dhcp[250] = "\1\1\6";
    static const struct {
        const char *protocol, *options;
        bool expected;
    } trials[] = {
        {"snmp", "snmp.community; content:\"public\"; bsize:6;", true},
        {"snmp", "snmp.community; content:\"private\";", false},
        {"snmp", "snmp.usm; content:\"public\";", false},
        {"udp", "snmp.version:2; snmp.pdu_type:get_next_request;", true},
        {"udp", "snmp.version:3;", false},
        {"snmp", "snmp.pdu_type:!response;", true},
        {"ntp", "ntp.version:>3; ntp.mode:server; ntp.stratum:2;", true},
        {"ntp", "ntp.mode:!server;", false},
        {"ntp", "ntp.reference_id; content:\"LOCL\"; bsize:4;", true},
        {"snmp", "ntp.mode:4;", false},
        {"dhcp", "dhcp.leasetime:<7200; dhcp.leasetime:>3599;", true},
        {"dhcp", "dhcp.renewal_time:>0;", false},
        {"ntp", "", true},
    };

    (void)state;
    memcpy(dhcp + 236, "\x63\x82\x53\x63\x33\4\0\0\x0E\x10\xFF", 11);
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        const char *options = trials[i].options;
        const bool is_ntp = strcmp(trials[i].protocol, "ntp") == 0;
        const bool is_dhcp = strcmp(trials[i].protocol, "dhcp") == 0;

        if (message_matches(trials[i].protocol, options,
                            is_ntp    ? ntp
                            : is_dhcp ? dhcp
                                      : snmp,
                            is_ntp    ? (uint32_t)sizeof ntp
                            : is_dhcp ? (uint32_t)sizeof dhcp
                                      : (uint32_t)sizeof snmp - 1) != trials[i].expected)
            fail_msg("%s %s: not %d", trials[i].protocol, options, trials[i].expected);
    }
}

static void test_buffers(void **state)
{
    static const struct {
        const char *options;
        bool expected;
    } trials[] = {
        {"", true},
        {"sip.method; content:\"INVITE\"; bsize:6;", true},
        {"sip.method; content:\"sip\";", false},
        {"sip_method:invite;", true},
        {"sip_method:INV;", false},
        {"sip_method:!bye; content:\"b=CT\";", true},
        {"sip_method:!Invite;", false},
        {"sip_stat_code:4;", false},
        {"sip.method; absent;", false},
        {"sip.stat_code; absent;", false}, /* no request could have it */
        {"sip.content_type; absent:or_else; content:\"nothing\";", false},
        {"sip.to; absent:or_else; content:\"two\";", true},
        {"sdp.media.media_info; absent;", true},
        {"sip.uri; content:\"sip:a\"; startswith;", true},
        {"sip.request_line; content:\"SIP/2.0\"; endswith;", true},
        {"sip.response_line; content:\"SIP/2.0\";", false},
        {"sip.to; content:\"one\";", true},
        {"sip.to; content:\"two\";", true},
        {"sip.to; content:\"one\"; content:\"two\";", false},
        {"sip.to; content:\"one\"; sip.to; content:\"two\";", true},
        {"sip.to; content:!\"one\"; content:\"two\";", true},
        {"sip.from; content:!\"one\";", false},
        {"sip.to; to_uppercase; content:\"SIP:TWO\";", true},
        {"sip.to; dotprefix; content:\".<sip\"; startswith;", true},
        {"sip.to; pcre:\"/two@/\";", true},
        {"sdp.origin; content:\"x 1\"; bsize:3;", true},
        {"sdp.bandwidth; content:\"CT\"; startswith;", true},
        {"sdp.session_name; content:\"x\";", false},
        {"content:\"b=CT\";", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
        if (matches(trials[i].options, request) != trials[i].expected)
            fail_msg("%s: not %d", trials[i].options, trials[i].expected);
    assert_true(matches("sip_stat_code:4;", "SIP/2.0 404 Not Found\r\n\r\n"));
    assert_true(matches("sip_stat_code:404;", "SIP/2.0 404 Not Found\r\n\r\n"));
    assert_false(matches("sip_stat_code:0;", "SIP/2.0 404 Not Found\r\n\r\n"));
    assert_false(matches("sip_stat_code:403;", "SIP/2.0 404 Not Found\r\n\r\n"));
    assert_true(matches("sip.stat_code; content:\"404\";", "SIP/2.0 404 Not Found\r\n\r\n"));
    assert_false(matches("content:\"To\";", "to be or not To be SIP/2.0\r\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buffers),
                                       cmocka_unit_test(test_many_values),
                                       cmocka_unit_test(test_other_datagrams)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

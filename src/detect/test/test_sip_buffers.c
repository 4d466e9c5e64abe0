/* SPDX-License-Identifier: MIT */
/* Rules that look for contents in parts of SIP messages. */
#include "detect_fixture.h"

#include "sluice/app.h"

static const char request[] = "INVITE sip:a@b.example SIP/2.0\r\n"
                              "To: <sip:one@b.example>\r\n"
                              "t: <sip:two@b.example>\r\n"
                              "Content-Type: application/sdp\r\n"
                              "\r\n"
                              "o=x 1\r\nb=AS:64\r\nb=CT:128\r\n";

static bool matches(const char *options, const char *message)
{
    const struct packet packet = {.kind = UDP, .payload = message};
    struct sl_batch *batch = fixture_batch(1);
    char text[512];
    size_t n;

    snprintf(text, sizeof text, "alert sip any any -> any any (%s sid:1;)\n", options);
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

static void test_buffers(void **state)
{
    static const struct {
        const char *options;
        bool expected;
    } trials[] = {
        {"", true},
        {"sip.method; content:\"INVITE\"; bsize:6;", true},
        {"sip.method; content:\"sip\";", false},
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
    assert_true(matches("sip.stat_code; content:\"404\";", "SIP/2.0 404 Not Found\r\n\r\n"));
    assert_false(matches("content:\"To\";", "to be or not To be SIP/2.0\r\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buffers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

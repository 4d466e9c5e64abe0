/* SPDX-License-Identifier: MIT */
/* Parts of messages of SIP. */
#include "test.h"

#include "app/sip.h"

/* All values of a field, with '|' behind each. */
static const char *values(const char *message, enum sip_field field)
{
    static char text[512];
    struct sip_walk walk = {0};
    struct sip_span value;
    size_t len = 0;

    text[0] = '\0';
    while (sip_next(&value, &walk, (const uint8_t *)message, (uint32_t)strlen(message), field))
        len += (size_t)snprintf(text + len, sizeof text - len, "%.*s|", (int)value.len,
                                message + value.at);
    return text;
}

static const char request[] = "INVITE sip:a@b.example SIP/2.0\r\n"
                              "v: SIP/2.0/UDP 192.0.2.1\r\n"
                              "VIA :SIP/2.0/UDP 192.0.2.2 \r\n"
                              "From: \"x\"\r\n <sip:x@b.example>\r\n"
                              "To: <sip:a@b.example>\n"
                              "no header\r\n"
                              "Toward: c\r\n"
                              "c: Application/SDP\r\n"
                              "\r\n"
                              "v=0\r\n"
                              "o=- 1 1 IN IP4 192.0.2.1\r\n"
                              "s=call\r\n"
                              "b=AS:64\r\n"
                              "b=CT:9\r\n"
                              "m=audio 9 RTP/AVP 0\r\n"
                              "i=first\r\n"
                              "c=IN IP4 192.0.2.3\r\n"
                              "a=x\r\n"
                              "m=video 8 RTP/AVP 1";

static void test_request(void **state)
{
    (void)state;
    assert_string_equal(values(request, SIP_METHOD), "INVITE|");
    assert_string_equal(values(request, SIP_URI), "sip:a@b.example|");
    assert_string_equal(values(request, SIP_REQUEST_LINE), "INVITE sip:a@b.example SIP/2.0|");
    assert_string_equal(values(request, SIP_PROTOCOL), "SIP/2.0|");
    assert_string_equal(values(request, SIP_STAT_CODE), "");
    assert_string_equal(values(request, SIP_RESPONSE_LINE), "");
    assert_string_equal(values(request, SIP_VIA), "SIP/2.0/UDP 192.0.2.1|SIP/2.0/UDP 192.0.2.2|");
    assert_string_equal(values(request, SIP_FROM), "\"x\"\r\n <sip:x@b.example>|");
    assert_string_equal(values(request, SIP_TO), "<sip:a@b.example>|");
    assert_string_equal(values(request, SIP_USER_AGENT), "");
    assert_string_equal(values(request, SIP_CONTENT_TYPE), "Application/SDP|");
}

static void test_sdp(void **state)
{
    (void)state;
    assert_string_equal(values(request, SDP_ORIGIN), "- 1 1 IN IP4 192.0.2.1|");
    assert_string_equal(values(request, SDP_SESSION_NAME), "call|");
    assert_string_equal(values(request, SDP_BANDWIDTH), "AS:64|CT:9|");
    assert_string_equal(values(request, SDP_SESSION_INFO), "");
    assert_string_equal(values(request, SDP_CONNECTION_DATA), "");
    assert_string_equal(values(request, SDP_ATTRIBUTE), "");
    assert_string_equal(values(request, SDP_MEDIA), "audio 9 RTP/AVP 0|video 8 RTP/AVP 1|");
    assert_string_equal(values(request, SDP_MEDIA_INFO), "first|");
    assert_string_equal(values(request, SDP_MEDIA_CONNECTION_DATA), "IN IP4 192.0.2.3|");
    assert_string_equal(values("OPTIONS * SIP/2.0\r\nc: text/plain\r\n\r\no=1\r\n", SDP_ORIGIN),
                        "");
}

static void test_response(void **state)
{
    static const char response[] = "SIP/2.0 180 Ringing now\r\nUser-Agent:u\r\n";

    (void)state;
    assert_string_equal(values(response, SIP_PROTOCOL), "SIP/2.0|");
    assert_string_equal(values(response, SIP_STAT_CODE), "180|");
    assert_string_equal(values(response, SIP_STAT_MSG), "Ringing now|");
    assert_string_equal(values(response, SIP_RESPONSE_LINE), "SIP/2.0 180 Ringing now|");
    assert_string_equal(values(response, SIP_METHOD), "");
    assert_string_equal(values(response, SIP_USER_AGENT), "u|");
    assert_string_equal(values("SIP/2.0 200", SIP_STAT_MSG), "|");
    assert_string_equal(values("", SIP_TO), "");
}

static void test_probe(void **state)
{
    static const struct {
        const char *message;
        bool is_sip;
    } expected[] = {
        {request, true},
        {"SIP/2.0 200 OK", true},
        {"ACK sip:a SIP/2.0", true},
        {"SIP/2.0 2000 OK", false},
        {"SIP/2 200 OK", false},
        {"GET / HTTP/1.1\r\n", false},
        {"ACK SIP/2.0\r\n", false},
        {"Ack sip:a SIP/2.0\r\n", false},
        {"ACK sip:a\r\nSIP/2.0", false},
        {" ACK sip:a SIP/2.0", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        if (sip_probe((const uint8_t *)expected[i].message,
                      (uint32_t)strlen(expected[i].message)) != expected[i].is_sip)
            fail_msg("'%s'", expected[i].message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_sdp),
        cmocka_unit_test(test_response),
        cmocka_unit_test(test_probe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* DNS and SIP over TCP, whole and in random pieces. */
#include "test.h"

#include "app_trial.h"

static const char query[] = "\x00\x1d\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
                            "\x07"
                            "example\x03"
                            "org\x00\x00\x01\x00\x01";
static const char response[] = "\x00\x2d\x12\x34\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00"
                               "\x07"
                               "example\x03"
                               "org\x00\x00\x01\x00\x01"
                               "\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x05\x00\x04\xc0\x00\x02\x01";

/* Both sides' bytes, in pieces of about `mean`. */
static char *report_of(const char *sent[2], const uint32_t len[2], uint32_t mean)
{
    struct app_trial trial;
    uint64_t seed = mean + 1;

    trial_begin(&trial);
    for (int side = 0; side < 2; side++)
        trial_give(&trial, (enum app_side)side, sent[side], len[side], mean, &seed);
    trial_end(&trial);
    assert_false(trial.failed);
    char *told = strdup(trial.told.len != 0 ? (char *)trial.told.bytes : "");
    assert_non_null(told);
    trial_free(&trial);
    return told;
}

static uint32_t count(const char *text, const char *word)
{
    uint32_t n = 0;

    for (text = strstr(text, word); text != NULL; text = strstr(text + 1, word))
        n++;
    return n;
}

static void expect(const char *sent[2], const uint32_t len[2], uint32_t n_heads)
{
    char *whole = report_of(sent, len, 0);

    for (uint32_t mean = 1; mean <= 40; mean++) {
        char *cut = report_of(sent, len, mean);

        assert_string_equal(cut, whole);
        free(cut);
    }
    assert_int_equal(count(whole, " head "), n_heads);
    assert_int_equal(count(whole, " done"), n_heads);
    free(whole);
}

static void test_messages_follow_one_another(void **state)
{
    char two[2 * sizeof query], long_one[2 + 512] = {0};
    const char *sent[2] = {two, response};
    uint32_t len[2] = {2 * (sizeof query - 1), sizeof response - 1};

    (void)state;
    memcpy(two, query, sizeof query - 1);
    memcpy(two + sizeof query - 1, query, sizeof query - 1);
    expect(sent, len, 3);
    len[0] -= 1; /* the second is not whole */
    expect(sent, len, 2);
    memcpy(long_one, response, sizeof response - 1); /* more than is kept before it is known */
    long_one[0] = 2;
    long_one[1] = 0;
    long_one[11] = 40; /* as many records behind it */
    sent[1] = long_one;
    len[1] = sizeof long_one;
    expect(sent, len, 2);
}

static void test_others_are_none(void **state)
{
    static const char short_one[] = "\x00\x0b\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00";
    const char *sent[2] = {short_one, "RFB 003.00\n"};
    uint32_t len[2] = {sizeof short_one - 1, 11};
    char bad[sizeof query + sizeof short_one];

    (void)state;
    expect(sent, len, 0);
    memcpy(bad, query, sizeof query - 1);
    memcpy(bad + sizeof query - 1, short_one, sizeof short_one);
    sent[0] = bad;
    len[0] = sizeof query + sizeof short_one - 2;
    expect(sent, len, 1);
}

/* A request with a body, empty lines, another request, and two responses. */
static void test_sip_has_heads_and_bodies(void **state)
{
    const char *sent[2] = {
        "INVITE sip:a SIP/2.0\r\nl: 6\r\n\r\n\r\n\r\nv="
        "\r\n\r\nACK tel:1 SIP/2.0\r\nTo: b\r\n\r\n",
        "SIP/2.0 100 Trying\n\nSIP/2.0 200 OK\r\nContent-Length: 3 \r\n\r\nx\n\n"};
    uint32_t len[2] = {(uint32_t)strlen(sent[0]), (uint32_t)strlen(sent[1])};

    (void)state;
    expect(sent, len, 4);
    len[1]--; /* the body is not whole */
    expect(sent, len, 3);
    char *told = report_of(sent, len, 0);
    assert_non_null(strstr(told, "sip 0 c head [INVITE sip:a SIP/2.0"));
    assert_non_null(strstr(told, "sip 1 c head [ACK tel:1 SIP/2.0"));
    assert_non_null(strstr(told, "sip 2 s head [SIP/2.0 100 Trying"));
    free(told);
}

/* A side is given up behind what is no message; the other one is read. */
static void test_sip_is_bounded(void **state)
{
    static const char *const heads[] = {"INVITE sip:a SIP/2.0\r\nContent-Length: 65536\r\n\r\n",
                                        "INVITE sip:a SIP/2.0\r\nl: 99999999999\r\n\r\n",
                                        "INVITE sip:a HTTP/1.1\r\n\r\n",
                                        "INVITE sip:a SIP/2.0\r\n"};
    const uint32_t size = 70000;
    char *bytes = malloc(size);
    const char *sent[2] = {bytes, "SIP/2.0 200 OK\r\n\r\n"};
    const uint32_t len[2] = {size, (uint32_t)strlen(sent[1])};

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        memset(bytes, 'x', size);
        memcpy(bytes, heads[i], strlen(heads[i]));
        memcpy(bytes + size - 4, "\r\n\r\n", 4);

        char *whole = report_of(sent, len, 0), *cut = report_of(sent, len, 1000);

        assert_int_equal(count(whole, " head "), 1);
        assert_string_equal(cut, whole);
        free(whole);
        free(cut);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_follow_one_another),
        cmocka_unit_test(test_others_are_none),
        cmocka_unit_test(test_sip_has_heads_and_bodies),
        cmocka_unit_test(test_sip_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

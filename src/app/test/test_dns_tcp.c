/* SPDX-License-Identifier: MIT */
/* DNS over TCP, whole and in random pieces. */
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
static char *told_of(const char *sent[2], const uint32_t len[2], uint32_t mean)
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
    char *whole = told_of(sent, len, 0);

    for (uint32_t mean = 1; mean <= 40; mean++) {
        char *cut = told_of(sent, len, mean);

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
    const char *sent[2] = {short_one, "SSH-2.0-x\r\n"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_follow_one_another),
        cmocka_unit_test(test_others_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

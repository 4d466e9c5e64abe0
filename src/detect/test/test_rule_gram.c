/* SPDX-License-Identifier: MIT */
/* The runs of bytes that rules ask of a message: a run that is there is never denied. */
#include "detect_fixture.h"

#include "detect/compile/rule_gram.h"
#include "sluice/app.h"

static uint32_t below(uint32_t n)
{
    return (uint32_t)rand() % n;
}

/* A run lies anywhere in bytes of few kinds, in either case. */
static void test_what_is_there_is_never_denied(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        static const char letters[] = "aAbB/. \xE1\xC1";
        uint8_t bytes[64], lower[64];
        const uint32_t len = RULE_GRAM_LEN + below(60), n = RULE_GRAM_LEN + below(len - 3);
        const uint32_t at = below(len - n + 1);
        struct rule_grams grams;

        for (uint32_t i = 0; i < len; i++) {
            bytes[i] = (uint8_t)letters[below(sizeof letters - 1)];
            lower[i] = bytes[i] == 'A' || bytes[i] == 'B' ? bytes[i] | 0x20 : bytes[i];
        }
        rule_grams_begin(&grams);
        rule_grams_add(&grams, bytes, len);
        for (int folded = 0; folded < 2; folded++) {
            const uint8_t *run = (folded != 0 ? lower : bytes) + at;
            const struct rule_asked_grams asked = {(uint16_t)rule_gram_at(run),
                                                   (uint16_t)rule_gram_at(run + n - RULE_GRAM_LEN)};

            assert_true(rule_grams_have(&grams, asked));
        }
    }
}

static void test_what_is_not_there_is_denied(void **state)
{
    const struct rule_asked_grams any = {RULE_GRAM_ANY, RULE_GRAM_ANY};
    const uint8_t *const text = (const uint8_t *)"some text";
    const struct rule_asked_grams begins = {(uint16_t)rule_gram_at(text),
                                            (uint16_t)rule_gram_at(text + 5)};
    struct rule_grams grams;

    (void)state;
    rule_grams_begin(&grams);
    assert_true(rule_grams_have(&grams, any));
    assert_false(rule_grams_have(&grams, begins));
    rule_grams_add(&grams, text, 3);
    assert_false(rule_grams_have(&grams, begins));
    rule_grams_add(&grams, text, 8); /* all but the last run */
    assert_false(rule_grams_have(&grams, begins));
    rule_grams_add(&grams, text, 9);
    assert_true(rule_grams_have(&grams, begins));
}

/* The content whose runs a rule asks for; NULL: it asks for none. */
static void check_asked(const char *options, const char *content, uint64_t expected)
{
    uint64_t values = 0;
    char text[512];

    snprintf(text, sizeof text, "alert http any any -> any any (%s sid:1;)\n", options);
    struct sl_rules *rules = load_rules(text);
    assert_int_equal(rules->n_rules, 1);
    const struct rule_asked_grams asked = rule_asked_grams_of(rules->rule[0], &values);

    assert_true(values == expected);
    if (content == NULL) {
        assert_int_equal(asked.first, RULE_GRAM_ANY);
        assert_int_equal(asked.last, RULE_GRAM_ANY);
    } else {
        const uint8_t *bytes = (const uint8_t *)content;

        assert_int_equal(asked.first, rule_gram_at(bytes));
        assert_int_equal(asked.last, rule_gram_at(bytes + strlen(content) - RULE_GRAM_LEN));
    }
    sl_rules_free(rules);
}

static void test_rules_ask_for_a_content_that_they_need(void **state)
{
    const uint64_t uri = sl_app_value_bit(SL_HTTP_URI), host = sl_app_value_bit(SL_HTTP_HOST);

    (void)state;
    check_asked("http.uri; content:\"/Login\";", "/login", uri);
    check_asked("http.uri; content:\"short\"; http.host; content:\"longer.com\";", "longer.com",
                host);
    check_asked("http.uri; content:\"abc\";", NULL, 0);
    check_asked("http.uri; content:!\"absent\";", NULL, 0);
    check_asked("http.uri; to_sha1; content:\"other bytes\";", NULL, 0);
    check_asked("http.uri; base64_decode:relative; base64_data; content:\"decoded\";", NULL, 0);
    check_asked("file.data; content:\"a body\";", NULL, 0);
    check_asked("file.name; content:\"a name\";", NULL, 0);
    check_asked("content:\"a packet\"; http.uri; content:\"/x\";", NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_there_is_never_denied),
        cmocka_unit_test(test_what_is_not_there_is_denied),
        cmocka_unit_test(test_rules_ask_for_a_content_that_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* The runs of bytes that rules ask of a message: a run that is there is never denied. */
#include "detect_fixture.h"

#include "detect/compile/rule_gram.h"
#include "sluice/app.h"

static const struct rule_gram_values all = {UINT64_MAX, UINT64_MAX};

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
        const struct sl_app_value value = {bytes, len, SL_HTTP_URI};
        const uint32_t opening_len = 1 + below(len);
        struct rule_grams grams;

        for (uint32_t i = 0; i < len; i++) {
            bytes[i] = (uint8_t)letters[below(sizeof letters - 1)];
            lower[i] = bytes[i] == 'A' || bytes[i] == 'B' ? bytes[i] | 0x20 : bytes[i];
        }
        rule_grams_begin(&grams);
        rule_grams_add(&grams, &all, &value);
        for (int folded = 0; folded < 2; folded++) {
            const uint8_t *run = (folded != 0 ? lower : bytes) + at;
            const struct rule_asked_grams asked = {(uint16_t)rule_gram_at(run),
                                                   (uint16_t)rule_gram_at(run + n - RULE_GRAM_LEN)};

            const struct rule_asked_grams opens = {
                (uint16_t)rule_gram_of_opening(SL_HTTP_URI, folded != 0 ? lower : bytes,
                                               opening_len),
                RULE_GRAM_ANY};

            assert_true(rule_grams_have(&grams, asked));
            assert_true(rule_grams_have(&grams, opens));
        }
    }
}

static void add(struct rule_grams *grams, enum sl_app_value_id id, const char *text, uint32_t len)
{
    const struct sl_app_value value = {(const uint8_t *)text, len, id};

    rule_grams_add(grams, &all, &value);
}

static void test_what_is_not_there_is_denied(void **state)
{
    const struct rule_asked_grams any = {RULE_GRAM_ANY, RULE_GRAM_ANY};
    const char *const text = "some text";
    const uint8_t *const bytes = (const uint8_t *)text;
    const struct rule_asked_grams runs = {(uint16_t)rule_gram_at(bytes),
                                          (uint16_t)rule_gram_at(bytes + 5)};
    struct rule_grams grams;

    (void)state;
    rule_grams_begin(&grams);
    assert_true(rule_grams_have(&grams, any));
    assert_false(rule_grams_have(&grams, runs));
    add(&grams, SL_HTTP_URI, text, 3);
    assert_false(rule_grams_have(&grams, runs));
    add(&grams, SL_HTTP_URI, text, 8); /* all but the last run */
    assert_false(rule_grams_have(&grams, runs));
    add(&grams, SL_HTTP_URI, text, 9);
    assert_true(rule_grams_have(&grams, runs));
}

static bool begins(const struct rule_grams *grams, enum sl_app_value_id id, const char *text)
{
    const uint32_t hash = rule_gram_of_opening(id, (const uint8_t *)text, (uint32_t)strlen(text));

    return rule_grams_have(grams, (struct rule_asked_grams){(uint16_t)hash, RULE_GRAM_ANY});
}

static void test_openings_are_of_their_values(void **state)
{
    struct rule_grams grams;

    (void)state;
    rule_grams_begin(&grams);
    add(&grams, SL_HTTP_URI, "/index", 6);
    add(&grams, SL_HTTP_HOST, "ab", 2);
    assert_true(begins(&grams, SL_HTTP_URI, "/"));
    assert_true(begins(&grams, SL_HTTP_URI, "/IND"));
    assert_true(begins(&grams, SL_HTTP_URI, "/index of more")); /* four bytes are compared */
    assert_false(begins(&grams, SL_HTTP_URI, "index"));
    assert_false(begins(&grams, SL_HTTP_HOST, "/"));
    assert_true(begins(&grams, SL_HTTP_HOST, "ab"));
    assert_false(begins(&grams, SL_HTTP_HOST, "abc"));
}

/* The content whose runs a rule asks for; NULL: it asks for none. */
static void check_asked(const char *options, const char *content, uint64_t expected)
{
    struct rule_gram_values values = {0};
    char text[512];

    snprintf(text, sizeof text, "alert http any any -> any any (%s sid:1;)\n", options);
    struct sl_rules *rules = load_rules(text);
    assert_int_equal(rules->n_rules, 1);
    const struct rule_asked_grams asked = rule_asked_grams_of(rules->rule[0], &values);

    assert_true(values.runs == expected && values.openings == 0);
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

/* The opening that a compiled rule asks for; NULL: it asks for none. */
static void check_opening(const char *options, enum sl_app_value_id id, const char *opening)
{
    const struct sl_literal *literals;
    size_t n_literals;
    struct rule_gram_values values = {0};
    char text[512];

    snprintf(text, sizeof text, "alert http any any -> any any (%s sid:1;)\n", options);
    struct sl_rules *rules = load_rules(text);
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, NULL), SL_OK);
    const struct rule_asked_grams asked = rule_asked_grams_of(rules->rule[0], &values);

    assert_true(values.openings == (opening != NULL ? sl_app_value_bit(id) : 0));
    assert_true(values.runs == 0);
    assert_int_equal(asked.first, opening != NULL
                                      ? rule_gram_of_opening(id, (const uint8_t *)opening,
                                                             (uint32_t)strlen(opening))
                                      : (uint32_t)RULE_GRAM_ANY);
    assert_int_equal(asked.last, RULE_GRAM_ANY);
    sl_rules_free(rules);
}

static void test_rules_ask_for_an_opening(void **state)
{
    (void)state;
    check_opening("http.user_agent; content:\"EI\"; depth:2; endswith;", SL_HTTP_USER_AGENT, "ei");
    check_opening("http.user_agent; content:\"z\"; startswith;", SL_HTTP_USER_AGENT, "z");
    check_opening("http.user_agent; content:\"EI\"; depth:3;", SL_HTTP_USER_AGENT, NULL);
    check_opening("http.user_agent; content:\"EI\"; offset:1; depth:2;", SL_HTTP_USER_AGENT, NULL);
    check_opening("http.user_agent; content:!\"EI\"; depth:2;", SL_HTTP_USER_AGENT, NULL);
    check_opening("http.user_agent; to_lowercase; content:\"ei\"; depth:2;", SL_HTTP_USER_AGENT,
                  NULL);
    check_opening("http.request_header; content:\"A:\"; startswith;", SL_HTTP_START, NULL);
    check_opening("file.data; content:\"MZ\"; startswith;", SL_APP_BODY, "mz");
    check_opening("file.name; content:\"a\"; startswith;", SL_FILE_NAME, NULL);
}

static void test_what_no_rule_asks_of_a_value_is_not_there(void **state)
{
    const struct rule_gram_values runs = {sl_app_value_bit(SL_HTTP_URI), 0};
    const struct rule_gram_values openings = {0, sl_app_value_bit(SL_HTTP_URI)};
    const struct sl_app_value value = {(const uint8_t *)"text", 4, SL_HTTP_URI};
    const struct rule_asked_grams run = {(uint16_t)rule_gram_at(value.bytes), RULE_GRAM_ANY};
    struct rule_grams grams;

    (void)state;
    rule_grams_begin(&grams);
    rule_grams_add(&grams, &runs, &value);
    assert_true(rule_grams_have(&grams, run));
    assert_false(begins(&grams, SL_HTTP_URI, "t"));
    rule_grams_begin(&grams);
    rule_grams_add(&grams, &openings, &value);
    assert_false(rule_grams_have(&grams, run));
    assert_true(begins(&grams, SL_HTTP_URI, "t"));
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
        cmocka_unit_test(test_openings_are_of_their_values),
        cmocka_unit_test(test_what_no_rule_asks_of_a_value_is_not_there),
        cmocka_unit_test(test_rules_ask_for_a_content_that_they_need),
        cmocka_unit_test(test_rules_ask_for_an_opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

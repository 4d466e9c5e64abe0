/* SPDX-License-Identifier: MIT */
/* Places between segments: wherever a literal that rules want in streams is cut, the filter passes
 * the place. */
#include "detect_fixture.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/least.h"
#include "detect/match/match_class.h"
#include "detect/match/seam_filter.h"

enum { RULES = 40, ROUNDS = 30 };

static struct seam_filter *filter_of(const struct sl_rules *rules)
{
    struct seam_filter *filter = calloc(1, sizeof *filter);

    assert_non_null(filter);
    seam_filter_make(filter, rules->index);
    return filter;
}

static struct sl_rules *compile(const char *text)
{
    struct sl_rules *rules = load_rules(text);
    const struct sl_literal *literals;
    size_t n_literals;
    struct sl_diag diag;

    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
    return rules;
}

static void add_rule(char *text, size_t cap, unsigned sid)
{
    static const char *const buffers[] = {"", "", "", "http.uri;", "file.data;"};
    const size_t begin = strlen(text), len = 2 + (size_t)rand() % 39;
    size_t at = begin;

    at += (size_t)snprintf(text + at, cap - at, "alert %s any any -> any any (%s content:\"|",
                           sid % 5 == 3 ? "http" : "tcp", buffers[sid % 5]);
    for (size_t i = 0; i < len; i++)
        at += (size_t)snprintf(text + at, cap - at, "%s%02X", i == 0 ? "" : " ",
                               rand() % 3 == 0 ? 'A' + rand() % 58 : rand() % 256);
    snprintf(text + at, cap - at, "|\"; %s sid:%u;)\n", rand() % 2 == 0 ? "nocase;" : "", sid);
}

static void check_literal(const struct seam_filter *filter, const struct sl_literal *literal)
{
    uint8_t bytes[SL_RULE_LITERAL_MAX];

    for (uint32_t i = 0; i < literal->len; i++)
        bytes[i] =
            (uint8_t)(rand() % 2 == 0 ? toupper(literal->bytes[i]) : tolower(literal->bytes[i]));
    if ((literal->flags & SL_LITERAL_NOCASE) == 0)
        memcpy(bytes, literal->bytes, literal->len);
    for (uint32_t cut = 1; cut < literal->len; cut++) {
        const uint32_t n_before = (uint32_t)least(cut, SEAM_BYTES);

        assert_true(seam_filter_passes(filter, bytes + cut - n_before, n_before, bytes + cut,
                                       (uint32_t)least(literal->len - cut, SEAM_BYTES)));
    }
}

static void test_literals_pass_wherever_they_are_cut(void **state)
{
    static char text[RULES * 400];
    uint32_t n_checked = 0;

    (void)state;
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        text[0] = '\0';
        for (unsigned sid = 1; sid <= RULES; sid++)
            add_rule(text, sizeof text, sid);
        struct sl_rules *rules = compile(text);
        struct seam_filter *filter = filter_of(rules);

        for (uint32_t id = 0; id < rules->index->n_literals; id++)
            if (match_class_wants(MATCH_STREAM, &rules->index->wants[id])) {
                check_literal(filter, &rules->index->literal[id]);
                n_checked++;
            }
        free(filter);
        sl_rules_free(rules);
    }
    assert_true(n_checked > ROUNDS * RULES / 3);
}

static bool passes(const struct seam_filter *filter, const char *before, const char *behind)
{
    return seam_filter_passes(filter, (const uint8_t *)before, (uint32_t)strlen(before),
                              (const uint8_t *)behind, (uint32_t)strlen(behind));
}

static void test_other_places_do_not_pass(void **state)
{
    struct sl_rules *rules =
        compile("alert tcp any any -> any any (content:\"abcd\"; sid:1;)\n"
                "alert tcp any any -> any any (content:\"|01 02|\"; sid:2;)\n"
                "alert http any any -> any any (http.uri; content:\"/index\"; sid:3;)\n");
    struct seam_filter *filter = filter_of(rules);

    (void)state;
    assert_true(passes(filter, "xxA", "bCd"));
    assert_true(passes(filter, "xab", "CDx"));
    assert_true(passes(filter, "abc", "dxx"));
    assert_true(passes(filter, "abc", "d"));
    assert_true(passes(filter, "\x01", "\x02"));
    assert_false(passes(filter, "xxa", "bdx"));
    assert_false(passes(filter, "xxa", "bc")); /* no more bytes come */
    assert_false(passes(filter, "bc", "dxx"));
    assert_false(passes(filter, "xbc", "dxx"));
    assert_false(passes(filter, "/in", "dex"));
    free(filter);
    sl_rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_pass_wherever_they_are_cut),
        cmocka_unit_test(test_other_places_do_not_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

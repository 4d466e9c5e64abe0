/* SPDX-License-Identifier: MIT */
/* A set is the same, whatever the number of threads that read it. */
#include "test.h"

#include "detect/rule.h"
#include "sluice/detect.h"

enum { N_RULES = 2000, TEXT_MAX = 1 << 20 };

static char text[TEXT_MAX];

/* Rules of which many share lists, chains and expressions, and some are not loaded. Lines between
 * them change what the next ones mean. */
static void write_rules(void)
{
    size_t len = 0;

    for (unsigned i = 0; i < N_RULES; i++) {
        static const char *const options[] = {
            "content:\"abc%u\"; classtype:unknown-%u;",
            "content:\"x\"; pcre:\"/a%ub+(c|d)*/i\"; classtype:trojan-activity; rev:%u;",
            "dns.query; to_lowercase; xor:\"0a%02u\"; content:\"abc\"; rev:%u;",
            "http.uri; dataset:isset,set%u,type string; rev:%u;",
            "dns.query; dataset:isset,set%u,type md5; rev:%u;",
            "content:\"broken%u; rev:%u;",
            "frobnicate:%u; content:\"a\"; rev:%u;",
            "lua:script%u.lua; content:\"a\"; rev:%u;",
            "\\\n content:\"joined%u\"; rev:%u;",
            "content:\"snort3%u\", depth 10; rev:%u;",
        };
        char body[128];

        snprintf(body, sizeof body, options[i * 7919 % 10], i % 23 + 10, i % 5);
        len += (size_t)snprintf(text + len, TEXT_MAX - len,
                                "alert %s any any -> [10.%u.0.0/16,$LATER] any (msg:\"r%u\"; %s "
                                "sid:%u;)\n",
                                i % 4 == 3 ? "http" : "tcp", i % 37, i, body, i * 31 % 1700 + 1);
        if (i == 700)
            len += (size_t)snprintf(text + len, TEXT_MAX - len,
                                    "config classification: unknown-1,now known,2\n");
    }
    assert_true(len < TEXT_MAX - 1);
}

static struct sl_rules *load(unsigned threads)
{
    const struct sl_literal *literals;
    struct sl_rules *rules;
    struct sl_diag diag;
    size_t n;

    assert_int_equal(sl_rules_create(&rules, &diag), SL_OK);
    assert_int_equal(sl_rules_set(rules, "LATER", "192.168.1.1", &diag), SL_OK);
    rules->threads = threads;
    assert_int_equal(sl_rules_load_text(rules, "threads.rules", text, strlen(text), &diag), SL_OK);
    assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_OK);
    return rules;
}

typedef const struct sl_diag *get_note(const struct sl_rules *rules, size_t i);

static void compare_notes(const struct sl_rules *one, const struct sl_rules *many, get_note *get)
{
    size_t n = 0;

    for (;; n++) {
        const struct sl_diag *diag = get(one, n);
        struct sl_diag known;

        if (diag == NULL)
            break;
        known = *diag;
        diag = get(many, n);
        assert_non_null(diag);
        assert_string_equal(diag->text, known.text);
        assert_int_equal(diag->line, known.line);
        assert_int_equal(diag->column, known.column);
    }
    assert_true(n > 100);
    assert_null(get(many, n));
}

static void compare_rules(const struct rule *one, const struct rule *many)
{
    assert_int_equal(one->key[1], many->key[1]);
    assert_int_equal(one->signature.line, many->signature.line);
    assert_int_equal(one->signature.priority, many->signature.priority);
    assert_string_equal(one->signature.msg, many->signature.msg);
    assert_int_equal(one->n_payloads, many->n_payloads);
    for (size_t i = 0; i < one->n_payloads; i++) {
        const struct rule_expression *expression = one->payload[i].expression;

        assert_int_equal(one->payload[i].kind, many->payload[i].kind);
        assert_int_equal(one->payload[i].len, many->payload[i].len);
        assert_int_equal(expression == NULL, many->payload[i].expression == NULL);
        if (expression != NULL) {
            assert_true(many->payload[i].expression->is_fast);
            assert_int_equal(expression->automaton == NULL,
                             many->payload[i].expression->automaton == NULL);
        }
    }
}

static void test_numbers_of_threads(void **state)
{
    static const unsigned threads[] = {2, 3, 7, SPREAD_THREADS_MAX, SPREAD_THREADS_MAX + 1};
    struct sl_rules *one;

    (void)state;
    write_rules();
    one = load(1);
    assert_true(one->n_rules > N_RULES / 3);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        struct sl_rules *many = load(threads[i]);
        struct sl_rules_count a, b;

        sl_rules_count(one, &a);
        sl_rules_count(many, &b);
        assert_memory_equal(&a, &b, sizeof a);
        compare_notes(one, many, sl_rules_bad_line);
        compare_notes(one, many, sl_rules_skipped_rule);
        compare_notes(one, many, sl_rules_unknown_class);
        assert_int_equal(one->n_rules, many->n_rules);
        for (size_t k = 0; k < one->n_rules; k++)
            compare_rules(one->rule[k], many->rule[k]);
        sl_rules_free(many);
    }
    sl_rules_free(one);
}

/* One expression for all rules that have its text. */
static void test_shared(void **state)
{
    struct sl_rules *rules;
    unsigned n = 0;

    (void)state;
    write_rules();
    rules = load(7);
    for (const struct rule_expression *each = rules->expression; each != NULL; each = each->next)
        n++;
    assert_int_equal(n, 23);
    assert_int_equal(rules->expressions.n_used, 23);
    sl_rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_threads),
        cmocka_unit_test(test_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

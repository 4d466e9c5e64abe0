/* SPDX-License-Identifier: MIT */
/* What a packet costs that is made against a bounded option. An ordinary packet of the same length,
 * on which the same rule is tried, is the measure. It counts as 3 us at least: a run takes that
 * for each packet, whatever its rules. */
#include <time.h>

#include "detect_fixture.h"

enum { LEN = 1460, PACKETS = 20, TRIALS = 15, FACTOR_MAX = 20, RUN_NS = 3000 };

static const char ordinary_text[] =
    "GET /news/2024/05/index.html?page=7&user=anna HTTP/1.1\r\nHost: www.example.org\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html,*/*;q=0.8\r\n"
    "Accept-Language: de,en;q=0.5\r\nCookie: session=4f1c09ab; theme=dark; seen=1,2,3\r\n\r\n";

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds of a packet of this payload: the best of several trials. */
static double cost(const char *rule, const char *payload, uint64_t *stopped)
{
    const struct packet packet = {.payload = payload, .payload_len = LEN};
    struct sl_batch *batch = fixture_batch(PACKETS);
    struct sl_rules *rules = load_rules(rule);
    const struct sl_literal *literals;
    struct sl_evaluator *evaluator;
    const struct sl_alert *alerts;
    struct sl_hits hits;
    struct sl_diag diag;
    size_t n_literals, n;
    double best = 1e18;

    for (uint32_t i = 0; i < PACKETS; i++)
        add_packet(batch, &packet);
    dissect_batch(batch);
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
    assert_int_equal(sl_evaluator_create(&evaluator, rules, &diag), SL_OK);
    claim_hits(&hits, batch, n_literals);
    for (int i = 0; i < TRIALS; i++) {
        const double begin = cpu_ns();

        assert_int_equal(sl_evaluator_run(evaluator, batch, &hits, &alerts, &n), SL_OK);
        const double took = (cpu_ns() - begin) / PACKETS;
        best = took < best ? took : best;
    }
    *stopped = sl_evaluator_stopped(evaluator);
    sl_evaluator_free(evaluator);
    sl_rules_free(rules);
    sl_batch_free(batch);
    free(hits.hit);
    return best;
}

static void repeat(char *payload, const char *text, size_t len)
{
    for (size_t i = 0; i < LEN; i++)
        payload[i] = text[i % len];
}

static void test_hostile_packets_cost_little(void **state)
{
    static const struct {
        const char *options, *text, *end; /* a text that is repeated, and one at the end */
    } cases[] = {
        {"pcre:\"/(a+)+b/\"", "a", "cb"},
        {"pcre:\"/(?:a|aa)+[xy]$/\"", "a", "z"},
        {"pcre:\"/a*?a*?a*?[bc]d/\"", "a", "d"},
        {"pcre:\"/[ab]+[ac]+[ad]+x/\"", "a", "zx"},
        {"pcre:\"/(?:\\w+\\s?)+;/\"", "a", "!;"},
        {"pcre:\"/[a-z0-9]+\\s*=\\s*\\w+[;&]\\w+#/i\"", "a= b;", "#"},
        {"pcre:\"/[^\\r]*[^\\n]*#/\"", "a", "#b"},
        {"content:\"e\"; pcre:\"/^[a-z]+=\\d+;/R\"", "e", "1"},
        {"content:\"e\"; pcre:\"/^(?:e|ee)+;/R\"", "e", "1"},
        {"content:\"e\"; pcre:!\"/\\bx/R\"; content:\"y\"; within:1", "e", "x"},
        {"content:\"e\"; byte_extract:1,0,n,relative; content:\"xy\"; distance:n", NULL, "z"},
        {"content:\"e\"; byte_jump:1,0,relative; content:\"x\"; within:1", NULL, "z"},
        {"content:\"e\"; byte_math:bytes 1,offset 0,oper *,rvalue 3,result n,relative; "
         "byte_extract:1,1,m,relative; byte_test:1,=,m,n,relative; content:\"xy\"",
         NULL, "z"},
    };
    char hostile[LEN], ordinary[LEN], rule[512];
    size_t n_stopped = 0;
    double most = 0;

    (void)state;
    repeat(ordinary, ordinary_text, sizeof ordinary_text - 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t stopped[2];

        if (cases[i].text != NULL)
            repeat(hostile, cases[i].text, strlen(cases[i].text));
        for (uint32_t k = 0; cases[i].text == NULL && k < LEN; k++)
            hostile[k] = (char)(k % 2 == 0 ? 'e' : k / 2 % 251);
        memcpy(hostile + LEN - strlen(cases[i].end), cases[i].end, strlen(cases[i].end));
        snprintf(rule, sizeof rule, "alert tcp any any -> any any (%s; sid:1;)", cases[i].options);

        const double plain = cost(rule, ordinary, &stopped[0]);
        const double worst = cost(rule, hostile, &stopped[1]);
        const double factor = worst / (plain > RUN_NS ? plain : RUN_NS);

        print_message("%6.1f times %6.0f ns: %s\n", factor, plain, cases[i].options);
        most = factor > most ? factor : most;
        n_stopped += stopped[1] != 0;
    }
    /* Of packets that no bound stops, the test would prove nothing. */
    assert_in_range(n_stopped, 8, SIZE_MAX);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    test_skip("the sanitizers change what steps cost");
#else
    assert_true(most <= FACTOR_MAX);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hostile_packets_cost_little)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

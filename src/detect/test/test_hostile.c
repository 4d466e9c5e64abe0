/* SPDX-License-Identifier: MIT */
/* What a packet costs that is made against a bounded option. An ordinary packet of the same length,
 * on which the same rule is tried, is the measure. It counts as 3 us at least: a run takes that
 * for each packet, whatever its rules. The 3 us are of a core on which the yardstick, a rule on the
 * ordinary packet, takes 430 ns. A core changes its pace, so all three are timed in turn. */
#include <time.h>

#include "detect_fixture.h"

enum { LEN = 1460, PACKETS = 20, TRIALS = 51, FACTOR_MAX = 20, RUN_NS = 3000, YARDSTICK_NS = 430 };

static const char yardstick_options[] = "pcre:\"/(?:a|aa)+[xy]$/\"";

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

/* A rule that is tried on packets of one payload. */
struct trial {
    struct sl_batch *batch;
    struct sl_rules *rules;
    struct sl_evaluator *evaluator;
    struct sl_hits hits;
};

static struct trial trial_open(const char *options, const char *payload)
{
    const struct packet packet = {.payload = payload, .payload_len = LEN};
    struct trial trial = {.batch = fixture_batch(PACKETS)};
    const struct sl_literal *literals;
    struct sl_diag diag;
    size_t n_literals;
    char rule[512];

    snprintf(rule, sizeof rule, "alert tcp any any -> any any (%s; sid:1;)", options);
    trial.rules = load_rules(rule);
    for (uint32_t i = 0; i < PACKETS; i++)
        add_packet(trial.batch, &packet);
    dissect_batch(trial.batch);
    assert_int_equal(sl_rules_compile(trial.rules, &literals, &n_literals, &diag), SL_OK);
    assert_int_equal(sl_evaluator_create(&trial.evaluator, trial.rules, &diag), SL_OK);
    claim_hits(&trial.hits, trial.batch, n_literals);
    return trial;
}

/* Nanoseconds of a packet. */
static double trial_ns(const struct trial *trial)
{
    const struct sl_alert *alerts;
    const double begin = cpu_ns();
    size_t n;

    assert_int_equal(sl_evaluator_run(trial->evaluator, trial->batch, &trial->hits, &alerts, &n),
                     SL_OK);
    return (cpu_ns() - begin) / PACKETS;
}

/* Rules that were stopped. */
static uint64_t trial_close(struct trial *trial)
{
    const uint64_t stopped = sl_evaluator_stopped(trial->evaluator);

    sl_evaluator_free(trial->evaluator);
    sl_rules_free(trial->rules);
    sl_batch_free(trial->batch);
    free(trial->hits.hit);
    return stopped;
}

static int compare_factors(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* How many times an ordinary packet the hostile one costs: the lower quartile of the trials.
 * Another program may have the core in some. */
static double factor_of(const char *options, const char *hostile, const char *ordinary,
                        uint64_t *stopped)
{
    struct trial yardstick = trial_open(yardstick_options, ordinary);
    struct trial plain = trial_open(options, ordinary), worst = trial_open(options, hostile);
    double factors[TRIALS];

    for (int i = 0; i < TRIALS; i++) {
        const double run = trial_ns(&yardstick) * RUN_NS / YARDSTICK_NS;
        const double least = trial_ns(&plain);

        factors[i] = trial_ns(&worst) / (least > run ? least : run);
    }
    qsort(factors, TRIALS, sizeof factors[0], compare_factors);
    (void)trial_close(&yardstick);
    (void)trial_close(&plain);
    *stopped = trial_close(&worst);
    return factors[TRIALS / 4];
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
    char hostile[LEN], ordinary[LEN];
    size_t n_stopped = 0;
    double most = 0;

    (void)state;
    repeat(ordinary, ordinary_text, sizeof ordinary_text - 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t stopped;

        if (cases[i].text != NULL)
            repeat(hostile, cases[i].text, strlen(cases[i].text));
        for (uint32_t k = 0; cases[i].text == NULL && k < LEN; k++)
            hostile[k] = (char)(k % 2 == 0 ? 'e' : k / 2 % 251);
        memcpy(hostile + LEN - strlen(cases[i].end), cases[i].end, strlen(cases[i].end));

        const double factor = factor_of(cases[i].options, hostile, ordinary, &stopped);

        print_message("%6.1f times: %s\n", factor, cases[i].options);
        most = factor > most ? factor : most;
        n_stopped += stopped != 0;
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

/* SPDX-License-Identifier: MIT */
/* The cost of a packet that is made against a bounded option. An ordinary packet of the same
 * length, on which the same rule is tried, is the measure. It counts as the time at least that a
 * run takes for each packet, whatever its rules. That time is of a core on which the yardstick, a
 * rule on the ordinary packet, takes the time beside it. A core changes its pace, so all are timed
 * in turn. */
#include <float.h>
#include <time.h>

#include "detect_fixture.h"

enum { FACTOR_MAX = 20, ROUNDS_MAX = 4, LEN_MAX = 60000 };

/* Packets of one length. */
struct size {
    uint32_t len, n_packets;
    int n_trials;
    double run_ns, yardstick_ns;
};

static const struct size usual = {1460, 20, 51, 3000, 750};
static const struct size longest = {LEN_MAX, 1, 11, 55000, 30500};

static const char yardstick_options[] = "content:\"zq\"";

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

static struct trial trial_open(const struct size *size, const char *options, const char *payload)
{
    const struct packet packet = {.payload = payload, .payload_len = size->len};
    struct trial trial = {.batch = fixture_batch(size->n_packets)};
    const struct sl_literal *literals;
    struct sl_diag diag;
    size_t n_literals;
    char rule[512];

    snprintf(rule, sizeof rule, "alert tcp any any -> any any (%s; sid:1;)", options);
    trial.rules = load_rules(rule);
    for (uint32_t i = 0; i < size->n_packets; i++)
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
    return (cpu_ns() - begin) / trial->batch->n_items;
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

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* How many times an ordinary packet the hostile one costs, each by its fastest trial: another
 * program may have the core in some. */
static double factor_of_trials(const struct size *size, const struct trial *yardstick,
                               const struct trial *plain, const struct trial *worst)
{
    double run_ns = DBL_MAX, plain_ns = DBL_MAX, worst_ns = DBL_MAX;

    for (int i = 0; i < (TEST_SANITIZED ? 1 : size->n_trials); i++) {
        run_ns = least(run_ns, trial_ns(yardstick) * size->run_ns / size->yardstick_ns);
        plain_ns = least(plain_ns, trial_ns(plain));
        worst_ns = least(worst_ns, trial_ns(worst));
    }
    return worst_ns / (plain_ns > run_ns ? plain_ns : run_ns);
}

/* The same, over up to four rounds: a core may be slow for all trials of one. */
static double factor_of(const struct size *size, const char *options, const char *hostile,
                        const char *ordinary, uint64_t *stopped)
{
    struct trial yardstick = trial_open(size, yardstick_options, ordinary);
    struct trial plain = trial_open(size, options, ordinary);
    struct trial worst = trial_open(size, options, hostile);
    double factor = DBL_MAX;

    for (int round = 0; round < (TEST_SANITIZED ? 1 : ROUNDS_MAX) && factor > FACTOR_MAX; round++)
        factor = least(factor, factor_of_trials(size, &yardstick, &plain, &worst));
    (void)trial_close(&yardstick);
    (void)trial_close(&plain);
    *stopped = trial_close(&worst);
    return factor;
}

static void repeat(char *payload, uint32_t len, const char *text)
{
    const size_t n = strlen(text);

    for (size_t i = 0; i < len; i++)
        payload[i] = text[i % n];
}

/* A text that is repeated, or NULL for bytes of all values, and one at the end. */
struct hostile {
    const char *options, *text, *end;
};

static void write_hostile(char *payload, uint32_t len, const struct hostile *hostile)
{
    if (hostile->text != NULL)
        repeat(payload, len, hostile->text);
    for (uint32_t k = 0; hostile->text == NULL && k < len; k++)
        payload[k] = (char)(k % 2 == 0 ? 'e' : k / 2 % 251);
    memcpy(payload + len - strlen(hostile->end), hostile->end, strlen(hostile->end));
}

/* The largest factor; `n_stopped`: the cases that a bound stops. */
static double try_cases(const struct size *size, const struct hostile *cases, size_t n_cases,
                        size_t *n_stopped)
{
    static char payload[LEN_MAX], ordinary[LEN_MAX];
    double most = 0;

    *n_stopped = 0;
    repeat(ordinary, size->len, ordinary_text);
    for (size_t i = 0; i < n_cases; i++) {
        uint64_t stopped;

        write_hostile(payload, size->len, &cases[i]);

        const double factor = factor_of(size, cases[i].options, payload, ordinary, &stopped);

        print_message("%5u bytes, %5.1f times%s: %s\n", size->len, factor,
                      stopped != 0 ? ", stopped" : "", cases[i].options);
        most = factor > most ? factor : most;
        *n_stopped += stopped != 0;
    }
    return most;
}

/* Contents of equal bytes, which occur everywhere or nearly. */
#define RUN_15 "aaaaaaaaaaaaaaa"
#define RUN_30 RUN_15 RUN_15
#define TWO "content:\"a\"; distance:0; content:\"a\"; distance:0"

static const struct hostile cases[] = {
    {"pcre:\"/(a+)+b/\"", "a", "cb"},
    {"pcre:\"/(?:a|aa)+[xy]$/\"", "a", "z"},
    {"pcre:\"/a*?a*?a*?[bc]d/\"", "a", "d"},
    {"pcre:\"/[ab]+[ac]+[ad]+x/\"", "a", "zx"},
    {"pcre:\"/(?:\\w+\\s?)+;/\"", "a", "!;"},
    {"pcre:\"/[a-z0-9]+\\s*=\\s*\\w+[;&]\\w+#/i\"", "a= b;", "#"},
    {"pcre:\"/[^\\r]*[^\\n]*#/\"", "a", "#b"},
    {"pcre:\"/[^x]*[yz]/\"", "a", "x"},
    {"pcre:\"/<object\\s*[^>]*\\s*classid\\s*=/\"", "\t", "<"},
    /* An automaton does not say where these match. */
    {"pcre:\"/(?:a|aa)+(?!c)c/\"", "a", "c"},
    {"pcre:\"/[ab]+[ac]+[ad]+\\bx/\"", "a", "x"},
    {"pcre:\"/(\\w+)\\1\\1!/\"", "a", "b!"},
    {"pcre:\"/(\\w+)\\1\\1!/i\"", "a", "b!"},
    {"pcre:\"/(?C5)(\\w+)\\1+(?C)!/i\"", "a", "b!"},
    {"pcre:\"/(?P<x>\\w+)(?P=x)!/i\"", "a", "b!"},
    {"pcre:\"/(.+)b\\1c\\1!/i\"", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "b!"},
    {"pcre:\"/(\\w{400})\\w+\\1!/i\"", "a", "b!"},
    {"pcre:\"/\\w+?\\w++(?=x)!/i\"", "a", "b!"},
    {"pcre:\"/(?:\\w(?!\\w{400}!))+!/\"", "a", "b!"},
    {"pcre:\"/(?:\\w(?>\\w{200,}))+\\b!/i\"", "a", "b!"},
    {"pcre:\"/a*?a*?a*?(?=c)[bc]d/\"", "a", "bd"},
    {"pcre:\"/[^\\r]*(?<!a)#/\"", "a", "#"},
    {"pcre:\"/(?:\\w+\\s?)+(?=x);/\"", "a", "a;"},
    {"pcre:\"/(?:(?!x)\\w)+?(?<=x)[;,]/\"", "a", ";"},
    {"pcre:\"/(a(?1)?b)[^x]*c/\"", "ab", "x"},
    {"pcre:\"/(a+)+b/\"; content:\"c\"; within:1", "a", "b"},
    {"content:\"e\"; pcre:\"/^[a-z]+=\\d+;/R\"", "e", "1"},
    {"content:\"e\"; pcre:\"/^(?:e|ee)+(?!;);/R\"", "e", ";"},
    {"content:\"e\"; pcre:!\"/\\bx/R\"; content:\"y\"; within:1", "e", "x"},
    {"content:\"e\"; byte_extract:1,0,n,relative; content:\"xy\"; distance:n", NULL, "z"},
    {"content:\"e\"; byte_jump:1,0,relative; content:\"x\"; within:1", NULL, "z"},
    {"content:\"e\"; byte_math:bytes 1,offset 0,oper *,rvalue 3,result n,relative; "
     "byte_extract:1,1,m,relative; byte_test:1,=,m,n,relative; content:\"xy\"",
     NULL, "z"},
    {"content:\"e\"; content:\"e\"; distance:1; content:\"e\"; distance:2; content:\"x\"; within:1",
     "e", "z"},
    {"content:\"e\"; content:!\"x\"; within:900; content:\"y\"; within:1", "e", "z"},
    {"content:\"e\"; isdataat:!9,relative; byte_test:4,>,9,-4,relative,string; content:\"x\"; "
     "within:1",
     "e", "z"},
    {"content:\"e\"; base64_decode:bytes 900,offset 1,relative; base64_data; content:\"xyz\"", "e",
     "z"},
    {"content:\"e\",offset 0; base64_decode:bytes 900,offset 1,relative; base64_data; "
     "content:\"xyz\"",
     "e!", "z"},
    {"content:\"e\",offset 0; base64_decode; base64_data; content:\"xyz\"", "e!", "z"},
    {"base64_decode; base64_data; pcre:\"/(a+)+b/\"", "aGFoYWFh", "z"},
    {"content:\"" RUN_15 "b" RUN_15 "a\"", "a", "z"},
    {"content:\"" RUN_30 "ba\"; nocase", "a", "z"},
    {"content:\"" RUN_30 "aa\"", RUN_30 "ab", "z"},
    {"content:\"" RUN_30 "aa\"; nocase", RUN_30 "ab", "z"},
    {"content:\"" RUN_30 RUN_30 RUN_30 RUN_30 "ba\"", "a", "z"},
    {"content:\"" RUN_30 RUN_30 RUN_30 "b" RUN_30 "\"; nocase", "a", "z"},
    {"content:\"" RUN_30 "\"; content:\"" RUN_30 "\"; distance:-29; content:\"" RUN_30
     "\"; distance:-29; content:\"x\"; within:1",
     "a", "z"},
    {TWO "; " TWO "; " TWO "; " TWO "; " TWO "; content:\"x\"; within:1", "a", "z"},
    {"content:\"a\"; content:!\"" RUN_30 "b\"; within:31; content:!\"" RUN_15 "ba\"; within:99; "
     "content:\"x\"; within:1",
     "a", "z"},
};

static void test_hostile_packets_cost_little(void **state)
{
    size_t n_stopped, n_long_stopped;
    const double most = try_cases(&usual, cases, sizeof cases / sizeof cases[0], &n_stopped);
    const double most_of_long =
        try_cases(&longest, cases, sizeof cases / sizeof cases[0], &n_long_stopped);

    (void)state;
    /* Of packets that no bound stops, the test would prove nothing. */
    assert_in_range(n_stopped, 8, SIZE_MAX);
    assert_in_range(n_long_stopped, 8, SIZE_MAX);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)most;
    (void)most_of_long;
    test_skip("the sanitizers change what steps cost");
#else
    assert_true(most <= FACTOR_MAX);
    assert_true(most_of_long <= FACTOR_MAX);
#endif
}

#define DASHES_64 "----------------------------------------------------------------"
#define DASHES_512 DASHES_64 DASHES_64 DASHES_64 DASHES_64 DASHES_64 DASHES_64 DASHES_64 DASHES_64

static const char long_value[] =
    " generate_replication_package0:='" DASHES_512 DASHES_512 "';name=>0";

/* Matches that take PCRE2 many steps are found: Suricata's limits let them pass. */
static void test_laborious_matches_are_found(void **state)
{
    static const struct hostile matches[] = {
        {"pcre:\"/(\\w+)\\s*:=\\s*'\\w{128,}'.*\\1|layer\\s*=>\\s*'\\w{128,}/s\"", "ab ",
         "layer => 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
        {"pcre:\"/(\\w+)\\s*:=\\s*'[^']{1024,}'\\s*;.*name\\s*=>\\s*\\1|name\\s*=>\\s*'[^']{1024,}/"
         "is\"",
         "-", long_value},
        {"pcre:\"/[^x]*[yz]/\"", "a", "y"},
        {"pcre:\"/(?:a|aa)+[xy]$/\"", "a", "x"},
        {"pcre:\"/[a-f]{200}$/\"", "a", "f"},
        {"pcre:\"/\\w+\\s*=\\s*\\w+;/\"", "a", " = b;"},
        {"pcre:\"/(?:a|b|ab)+(?=c)c$/\"", "-", "abababababababababc"},
    };
    const struct size *const sizes[] = {&usual, &longest};
    static char payload[LEN_MAX];

    (void)state;
    for (size_t i = 0; i < 2 * sizeof matches / sizeof matches[0]; i++) {
        const struct sl_alert *alerts;
        struct trial trial;
        size_t n;

        print_message("%u bytes: %s\n", sizes[i % 2]->len, matches[i / 2].options);
        write_hostile(payload, sizes[i % 2]->len, &matches[i / 2]);
        trial = trial_open(sizes[i % 2], matches[i / 2].options, payload);
        assert_int_equal(sl_evaluator_run(trial.evaluator, trial.batch, &trial.hits, &alerts, &n),
                         SL_OK);
        assert_int_equal(n, sizes[i % 2]->n_packets);
        assert_int_equal(trial_close(&trial), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laborious_matches_are_found),
                                       cmocka_unit_test(test_hostile_packets_cost_little)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

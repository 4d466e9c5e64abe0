/* SPDX-License-Identifier: MIT */
/* The cost of a packet that is made against a bounded option: the steps of a rule on it, of all its
 * options and transforms, beside those that an ordinary packet of the same length takes a run. The
 * time of a step has bounds as well, which SLUICE_TEST_STEP_TIMES lets this test measure. */
#include <float.h>
#include <time.h>

#include "detect/evaluate/rule_findings.h"
#include "detect/evaluate/rule_work.h"
#include "detect_fixture.h"
#include "sluice/app.h"

enum { FACTOR_MAX = 20, ROUNDS_MAX = 4, LEN_MAX = 60000 };

/* Packets of one length. */
struct size {
    uint32_t len, n_packets;
    int n_trials;
    double run_ns, yardstick_ns; /* of a run, and of the yardstick, on the same core */
};

static const struct size brief = {.len = 300, .n_packets = 20};
static const struct size usual = {1460, 20, 51, 3000, 750};
static const struct size longest = {LEN_MAX, 1, 11, 55000, 30500};

static const char yardstick_options[] = "content:\"zq\"";

/* It holds the literals that the cases' expressions require, so that automata run on it as well. */
static const char ordinary_text[] =
    "GET /news/2024/05/index.html?page=7&user=anna HTTP/1.1\r\nHost: www.example.org\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html,*/*;q=0.8\r\n"
    "Accept-Language: de,en;q=0.5\r\nCookie: session=4f1c09ab; theme=dark; seen=1,2,3\r\n"
    "Referer: http://www.example.org/a#!/news\r\n\r\n";

/* The steps that a run takes for an ordinary packet, whatever its rules. With Emerging Threats'
 * rules it takes 7.4 us for packets of 970 bytes, and 0.74 us for those of 150. */
static uint64_t steps_of_run(uint32_t len)
{
    return 500 + 2 * (uint64_t)len;
}

/* A rule that is tried on packets of one payload, or on what they say. */
struct trial {
    struct sl_batch *batch;
    struct sl_rules *rules;
    struct sl_evaluator *evaluator;
    struct sl_hits hits;
    struct sl_app_message message; /* of the first packet, where the rule asks for a URI */
    struct sl_app_value value;
    bool has_message;
};

/* A payload as questions of DNS: a name of its bytes, and others that refer to it. */
static uint32_t make_names(uint8_t *message, const char *payload, uint32_t len)
{
    enum { LABEL = 63, LABELS = 3, REFERENCE = 6 };
    const uint32_t n = (len - 12 - LABELS * (LABEL + 1) - 5) / REFERENCE;
    uint32_t at = 12;

    memset(message, 0, len);
    store_be16(message + 2, 0x0100);
    for (uint32_t i = 0; i < LABELS; i++, at += LABEL + 1) {
        message[at] = LABEL;
        memcpy(message + at + 1, payload + (i < LABELS - 1 ? i * LABEL : len - LABEL), LABEL);
    }
    memcpy(message + at, "\0\0\1\0\1", 5);
    at += 5;
    for (uint32_t i = 0; i < n; i++, at += REFERENCE)
        memcpy(message + at, "\xC0\x0C\0\1\0\1", REFERENCE);
    store_be16(message + 4, (uint16_t)(n + 1));
    return at;
}

static void add_packets(struct trial *trial, const struct size *size, const char *options,
                        const char *payload)
{
    static uint8_t names[LEN_MAX];
    struct packet packet = {.payload = payload, .payload_len = size->len};

    if (strncmp(options, "dns.", 4) == 0) {
        packet = (struct packet){.kind = UDP, .dst_port = 53, .payload = (const char *)names};
        packet.payload_len = make_names(names, payload, size->len);
    }
    trial->has_message = strncmp(options, "http.", 5) == 0;
    for (uint32_t i = 0; i < (trial->has_message ? 1 : size->n_packets); i++)
        add_packet(trial->batch, &packet);
    dissect_batch(trial->batch);
    sl_app_find(trial->batch);
    if (!trial->has_message)
        return;
    trial->batch->origin[0].app = SL_APP_HTTP;
    trial->value = (struct sl_app_value){(const uint8_t *)payload, size->len, SL_HTTP_URI};
    trial->message = (struct sl_app_message){.app = SL_APP_HTTP};
    trial->message.half[0] =
        (struct sl_app_half){.value = &trial->value, .n_values = 1, .has_head = true};
}

static void trial_open(struct trial *trial, const struct size *size, const char *options,
                       const char *payload)
{
    const struct sl_literal *literals;
    struct sl_diag diag;
    size_t n_literals;
    char rule[512];

    *trial = (struct trial){.batch = fixture_batch(size->n_packets)};
    snprintf(rule, sizeof rule, "alert ip any any -> any any (%s; sid:1;)", options);
    trial->rules = load_rules(rule);
    add_packets(trial, size, options, payload);
    assert_int_equal(sl_rules_compile(trial->rules, &literals, &n_literals, &diag), SL_OK);
    assert_int_equal(sl_evaluator_create(&trial->evaluator, trial->rules, &diag), SL_OK);
    claim_hits(&trial->hits, trial->batch, n_literals);
    for (size_t i = 0; i < trial->hits.n; i++)
        if ((sl_rules_buffers(trial->rules) & ~(uint32_t)SL_BUFFER_PAYLOAD) != 0)
            trial->hits.hit[i].id |= (uint64_t)sl_rules_buffers(trial->rules) << 32;
}

/* Alerts. */
static size_t trial_run(struct trial *trial)
{
    const struct sl_alert *alerts;
    size_t n;

    if (trial->has_message)
        sl_evaluator_set_messages(trial->evaluator, &trial->message, 1);
    assert_int_equal(sl_evaluator_run(trial->evaluator, trial->batch, &trial->hits, &alerts, &n),
                     SL_OK);
    return n;
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

/* ---- steps ----------------------------------------------------------------------------------- */

/* The steps of a packet. */
static uint64_t steps_of(const struct size *size, const char *options, const char *payload,
                         uint64_t *stopped)
{
    struct trial trial;

    trial_open(&trial, size, options, payload);
    (void)trial_run(&trial);

    const uint64_t steps = evaluator_steps(trial.evaluator) / trial.batch->n_items;

    *stopped = trial_close(&trial);
    return steps;
}

/* How many times an ordinary packet the hostile one costs. */
static double factor_of_steps(const struct size *size, const char *options, const char *hostile,
                              const char *ordinary, uint64_t *stopped)
{
    (void)ordinary;
    return (double)steps_of(size, options, hostile, stopped) / (double)steps_of_run(size->len);
}

/* ---- times ----------------------------------------------------------------------------------- */

static double cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds of a packet. */
static double trial_ns(struct trial *trial)
{
    const double begin = cpu_ns();

    (void)trial_run(trial);
    return (cpu_ns() - begin) / trial->batch->n_items;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* The factor by times, each by its fastest trial: another program may have the core in some. A core
 * changes its pace, so all are timed in turn, beside the yardstick. */
static double factor_of_trials(const struct size *size, struct trial *yardstick,
                               struct trial *plain, struct trial *worst)
{
    double run_ns = DBL_MAX, plain_ns = DBL_MAX, worst_ns = DBL_MAX;

    for (int i = 0; i < size->n_trials; i++) {
        run_ns = least(run_ns, trial_ns(yardstick) * size->run_ns / size->yardstick_ns);
        plain_ns = least(plain_ns, trial_ns(plain));
        worst_ns = least(worst_ns, trial_ns(worst));
    }
    return worst_ns / (plain_ns > run_ns ? plain_ns : run_ns);
}

/* The same, over up to four rounds: a core may be slow for all trials of one. */
static double factor_of_times(const struct size *size, const char *options, const char *hostile,
                              const char *ordinary, uint64_t *stopped)
{
    struct trial yardstick, plain, worst;
    double factor = DBL_MAX;

    trial_open(&yardstick, size, yardstick_options, ordinary);
    trial_open(&plain, size, options, ordinary);
    trial_open(&worst, size, options, hostile);
    for (int round = 0; round < ROUNDS_MAX && factor > FACTOR_MAX; round++)
        factor = least(factor, factor_of_trials(size, &yardstick, &plain, &worst));
    (void)trial_close(&yardstick);
    (void)trial_close(&plain);
    *stopped = trial_close(&worst);
    return factor;
}

/* ---- packets --------------------------------------------------------------------------------- */

typedef double factor_of(const struct size *size, const char *options, const char *hostile,
                         const char *ordinary, uint64_t *stopped);

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
static double try_cases(factor_of *factor_by, const struct size *size, const struct hostile *cases,
                        size_t n_cases, size_t *n_stopped)
{
    static char payload[LEN_MAX], ordinary[LEN_MAX];
    double most = 0;

    *n_stopped = 0;
    repeat(ordinary, size->len, ordinary_text);
    for (size_t i = 0; i < n_cases; i++) {
        uint64_t stopped;

        write_hostile(payload, size->len, &cases[i]);

        const double factor = factor_by(size, cases[i].options, payload, ordinary, &stopped);

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
#define NEAR "content:\"a\"; within:40; content:!\"aab\"; within:90"

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
    {"content:\"a\"; " NEAR "; " NEAR "; " NEAR "; " NEAR "; " NEAR "; content:\"x\"; within:1",
     "a", "z"},
    {"content:\"a\"; " NEAR "; " NEAR "; " NEAR "; " NEAR "; " NEAR "; content:\"x\"; within:1",
     "ab", "z"},
    {"content:\"a\"; content:!\"" RUN_30 "b\"; within:31; content:!\"" RUN_15 "ba\"; within:99; "
     "content:\"x\"; within:1",
     "a", "z"},
    /* Names that repeat one another, and values of messages. */
    {"dns.query; content:\"a\"; content:\"a\"; distance:1; content:\"x\"; within:1", "a", "a"},
    {"dns.query; pcre:\"/(\\w+)\\1\\1!/\"", "a", "b"},
    {"dns.query; pcrexform:\"((?:a|aa)+)(?!c)[cx]\"; content:\"z\"; content:!\"x\"", "a", "z"},
    {"http.uri; pcre:\"/(?:a|aa)+(?!c)c/\"", "a", "c"},
    {"http.uri; pcrexform:\"((?:a|aa)+)(?!c)c\"; pcre:\"/(\\w+)\\1\\1!/\"", "a", "b!"},
    {"http.uri; content:\"a\"; content:\"a\"; distance:1; pcre:\"/(a+)+b/R\"", "a", "z"},
};

/* Of packets that no bound stops, the test would prove nothing. */
static void expect_factors(factor_of *factor_by, const struct size *size)
{
    size_t n_stopped;
    const double most =
        try_cases(factor_by, size, cases, sizeof cases / sizeof cases[0], &n_stopped);

    assert_in_range(n_stopped, 8, SIZE_MAX);
    assert_true(most <= FACTOR_MAX);
}

static void test_hostile_packets_take_few_steps(void **state)
{
    (void)state;
    expect_factors(factor_of_steps, &brief);
    expect_factors(factor_of_steps, &usual);
    expect_factors(factor_of_steps, &longest);
}

static void test_hostile_packets_take_little_time(void **state)
{
    (void)state;
    if (getenv("SLUICE_TEST_STEP_TIMES") == NULL || TEST_SANITIZED) {
        test_skip("SLUICE_TEST_STEP_TIMES is not set, or a sanitizer changes what steps cost");
        return;
    }
    expect_factors(factor_of_times, &usual);
    expect_factors(factor_of_times, &longest);
}

/* What a rule may spend on its options and on the transforms of a buffer. */
static void test_bounds_are_small_for_all_lengths(void **state)
{
    (void)state;
    for (uint32_t len = 0; len <= UINT16_MAX; len++) {
        struct rule_work work = {.spent = 0};

        rule_work_begin(&work, len);
        assert_true(work.effort_left + work.search_left + rule_work_transform_effort(len) <=
                    FACTOR_MAX * steps_of_run(len));
    }
}

/* No automaton runs, with two steps a byte, where literals that each match holds are in another
 * order. */
static void test_missing_literals_spare_a_run(void **state)
{
    static const struct hostile orders[] = {
        {"pcre:\"/[ab]+q[ac]+xyz/\"", "a", "qxyz"},
        {"pcre:\"/[ab]+q[ac]+xyz/\"", "a", "xyzq"},
    };
    static char payload[LEN_MAX];
    uint64_t steps[2], stopped;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        write_hostile(payload, usual.len, &orders[i]);
        steps[i] = steps_of(&usual, orders[i].options, payload, &stopped);
        assert_int_equal(stopped, 0);
    }
    assert_in_range(steps[0], 2 * (uint64_t)usual.len, UINT64_MAX);
    assert_in_range(steps[1], 1, usual.len);
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
        struct trial trial;

        print_message("%u bytes: %s\n", sizes[i % 2]->len, matches[i / 2].options);
        write_hostile(payload, sizes[i % 2]->len, &matches[i / 2]);
        trial_open(&trial, sizes[i % 2], matches[i / 2].options, payload);
        assert_int_equal(trial_run(&trial), sizes[i % 2]->n_packets);
        assert_int_equal(trial_close(&trial), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laborious_matches_are_found),
                                       cmocka_unit_test(test_bounds_are_small_for_all_lengths),
                                       cmocka_unit_test(test_hostile_packets_take_few_steps),
                                       cmocka_unit_test(test_missing_literals_spare_a_run),
                                       cmocka_unit_test(test_hostile_packets_take_little_time)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

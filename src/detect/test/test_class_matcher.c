/* SPDX-License-Identifier: MIT */
/* The tables of classes of items: which literals each has, and that sifted hits are those of a
 * table of all literals. */
#include "detect_fixture.h"

#include "detect/match/class_matcher.h"
#include "sluice/app.h"

enum { MAX_ITEMS = 256, MAX_HITS = 4096 };

/* A set of rules and both its matchers. */
struct trial {
    struct sl_rules *rules;
    const struct sl_literal *literals;
    size_t n_literals;
    struct sl_mpm_table *whole;
    struct class_matcher *classes;
    uint8_t run_ends; /* of the limits */
    struct sl_batch *batch;
};

static void open_trial(struct trial *trial, const char *text)
{
    struct sl_mpm_config config;
    struct sl_rules_count count;

    trial->run_ends = 0;
    trial->rules = load_rules(text);
    sl_rules_count(trial->rules, &count);
    assert_int_equal(count.loaded, count.lines);
    assert_int_equal(sl_rules_compile(trial->rules, &trial->literals, &trial->n_literals, NULL),
                     SL_OK);
    sl_mpm_config_init(&config);
    assert_int_equal(sl_mpm_build(&trial->whole, &config, trial->literals, trial->n_literals, NULL),
                     SL_OK);
    assert_int_equal(
        class_matcher_build(&trial->classes, trial->rules, trial->whole, &config, NULL, NULL),
        SL_OK);
    trial->batch = fixture_batch(MAX_ITEMS);
    assert_int_equal(sl_batch_reserve_made(trial->batch, 65536, MAX_ITEMS / 2, NULL), SL_OK);
}

static void close_trial(struct trial *trial)
{
    sl_batch_free(trial->batch);
    class_matcher_free(trial->classes);
    sl_mpm_free(trial->whole);
    sl_rules_free(trial->rules);
}

static void add_made(struct trial *trial, const char *payload, uint32_t buffers)
{
    const uint32_t len = (uint32_t)strlen(payload);

    memcpy(sl_batch_made_room(trial->batch), payload, len);
    sl_batch_append_made(trial->batch, len,
                         (struct sl_made){.item = MATCH_TO_CLIENT, .buffers = buffers});
}

/* The payload in an item of each class, item i in class i, and in a made item of no class. */
static void add_one_of_each(struct trial *trial, const char *payload, uint32_t buffers)
{
    static const struct packet packets[MATCH_STREAM] = {
        [MATCH_ANY] = {.kind = SCTP},
        [MATCH_TO_CLIENT] = {.kind = TCP},
        [MATCH_TO_SERVER] = {.kind = TCP6, .flow = SL_FLOW_TO_SERVER},
        [MATCH_UDP] = {.kind = UDP, .flow = SL_FLOW_TO_SERVER}};

    for (int class = 0; class < MATCH_STREAM; class ++) {
        struct packet packet = packets[class];

        packet.payload = payload;
        add_packet(trial->batch, &packet);
    }
    dissect_batch(trial->batch);
    add_made(trial, payload, SL_BUFFER_STREAM);
    add_made(trial, payload, SL_BUFFER_BODY);
    add_made(trial, payload, SL_BUFFER_HTTP_HEADER);
    add_made(trial, payload, buffers);
}

/* Hits of a table, of its engine, in a batch with its made items. */
static enum sl_status match(const struct trial *trial, const struct sl_engine *engine,
                            const void *table, struct sl_hits *hits)
{
    const struct sl_batch whole = sl_batch_whole(trial->batch);
    const struct sl_backend *backend = sl_engine_choose(engine, SL_DEVICE_CPU, NULL);
    const struct sl_limits limits = {
        .max_items = MAX_ITEMS, .max_bytes = 1 << 20, .run_ends = trial->run_ends};
    void *context;

    assert_int_equal(sl_engine_open(&context, engine, backend, table, &limits, NULL), SL_OK);
    assert_int_equal(backend->submit(context, &whole, hits), SL_OK);
    const enum sl_status status = backend->wait(context);
    backend->close(context);
    return status;
}

static enum sl_status match_classes(const struct trial *trial, struct sl_hits *hits)
{
    return match(trial, class_matcher_engine(trial->classes), trial->classes, hits);
}

/* ---- the literals of classes ----------------------------------------------------------------- */

/* The items that a literal is found in, a bit each, before hits are sifted. */
static uint32_t items_of(const struct trial *trial, const char *literal)
{
    static struct sl_hit hit[MAX_HITS];
    struct sl_hits hits = {.hit = hit, .cap = MAX_HITS};
    uint32_t items = 0;

    assert_int_equal(match_classes(trial, &hits), SL_OK);
    for (size_t i = 0; i < hits.n; i++) {
        assert_true(hits.hit[i].id < trial->n_literals);
        const struct sl_literal *found = &trial->literals[hits.hit[i].id];

        if (found->len == strlen(literal) && memcmp(found->bytes, literal, found->len) == 0)
            items |= 1u << hits.hit[i].item;
    }
    return items;
}

static void test_each_class_has_its_literals(void **state)
{
    enum { ANY = 1 << MATCH_ANY | 1 << MATCH_CLASSES, BY_UDP = 1 << MATCH_UDP };
    enum { CLIENT = 1 << MATCH_TO_CLIENT, SERVER = 1 << MATCH_TO_SERVER };
    enum { STREAM = 1 << MATCH_STREAM, BODY = 1 << MATCH_BODY };
    enum { HEAD = 1 << MATCH_HEAD };
    static const struct {
        const char *literal;
        uint32_t items;
    } wanted[] = {
        {"of-uri", ANY},
        {"of-answer", ANY | CLIENT | STREAM},
        {"of-request", ANY | SERVER | STREAM},
        {"of-either", ANY | CLIENT | SERVER | STREAM},
        {"of-udp", ANY | BY_UDP | STREAM},
        {"of-ip", ANY | CLIENT | SERVER | BY_UDP | STREAM},
        {"of-body", ANY | CLIENT | BODY},
        {"of-upload", ANY | SERVER | BODY},
        {"of-sctp", ANY | STREAM},
        {"of-header", ANY | HEAD},
    };
    struct trial trial;

    (void)state;
    open_trial(
        &trial,
        "alert http any any -> any any (http.uri; content:\"of-uri\"; sid:1;)\n"
        "alert tcp any any -> any any (flow:to_client; content:\"of-answer\"; sid:2;)\n"
        "alert tcp any any -> any any (flow:to_server; content:\"of-request\"; sid:3;)\n"
        "alert tcp any any -> any any (content:\"of-either\"; sid:4;)\n"
        "alert udp any any -> any any (content:\"of-udp\"; sid:5;)\n"
        "alert ip any any -> any any (content:\"of-ip\"; sid:6;)\n"
        "alert http any any -> any any (flow:to_client; file.data; content:\"of-body\"; sid:7;)\n"
        "alert http any any -> any any (flow:to_server; http.request_body; content:\"of-upload\"; "
        "sid:8;)\n"
        "alert sctp any any -> any any (content:\"of-sctp\"; sid:9;)\n"
        "alert http any any -> any any (http.header; content:\"of-header\"; sid:10;)\n");
    add_one_of_each(&trial,
                    "of-uri of-answer of-request of-either of-udp of-ip of-body of-upload of-sctp "
                    "of-header",
                    SL_BUFFER_HTTP_URI);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (items_of(&trial, wanted[i].literal) != wanted[i].items)
            fail_msg("%s: items 0x%x, expected 0x%x", wanted[i].literal,
                     items_of(&trial, wanted[i].literal), wanted[i].items);
    close_trial(&trial);
}

static void test_a_packet_without_flow_is_to_client(void **state)
{
    static const struct packet packet = {.flow = NO_FLOW, .payload = "of-answer of-request"};
    struct trial trial;

    (void)state;
    open_trial(&trial, "alert tcp any any -> any any (flow:to_server; content:\"of-request\"; "
                       "sid:1;)\n"
                       "alert tcp any any -> any any (flow:to_client; content:\"of-answer\"; "
                       "sid:2;)\n");
    add_packet(trial.batch, &packet);
    dissect_batch(trial.batch);
    assert_int_equal(match_class_of(trial.batch, 0), MATCH_TO_CLIENT);
    assert_int_equal(items_of(&trial, "of-answer"), 1);
    assert_int_equal(items_of(&trial, "of-request"), 0);
    close_trial(&trial);
}

/* ---- the same hits --------------------------------------------------------------------------- */

static void check_same(const struct trial *trial)
{
    static struct sl_hit hit[2][MAX_HITS];
    struct sl_hits hits[2];

    for (int i = 0; i < 2; i++) {
        hits[i] = (struct sl_hits){.hit = hit[i], .cap = MAX_HITS};
        assert_int_equal(i == 0 ? match(trial, sl_mpm_engine(trial->whole), trial->whole, &hits[i])
                                : match_classes(trial, &hits[i]),
                         SL_OK);
        sl_hits_resolve_made(&hits[i], trial->batch);
        sl_rules_sift(trial->rules, trial->batch, &hits[i]);
        hits[i].in_order = false;
        sl_hits_sort(&hits[i]);
    }
    assert_int_equal(hits[0].n, hits[1].n);
    assert_memory_equal(hits[0].hit, hits[1].hit, hits[0].n * sizeof(struct sl_hit));
}

/* Rules of all protocols, sides and buffers for words of a few letters, and packets of all kinds
 * and flows with these words. */
static void add_random_rule(char *text, size_t cap, unsigned sid)
{
    static const char *const protocols[] = {"tcp", "udp", "ip", "http", "icmp", "dns", "pkthdr"};
    static const char *const flows[] = {"", "flow:to_client;", "flow:to_server;",
                                        "flow:established;"};
    static const char *const of_http[] = {"", "http.uri;", "http.header;", "file.data;",
                                          "http.user_agent;"};
    const char *const protocol = protocols[(unsigned)rand() % 7];
    const char *const buffer = strcmp(protocol, "http") == 0  ? of_http[rand() % 5]
                               : strcmp(protocol, "dns") == 0 ? "dns.query;"
                                                              : "";
    const bool may_flow = strcmp(protocol, "icmp") != 0 && strcmp(protocol, "pkthdr") != 0;
    const size_t len = strlen(text);

    snprintf(text + len, cap - len,
             "alert %s any any -> any any (%s %s content:\"%c%c%c%c\"; sid:%u;)\n", protocol,
             may_flow ? flows[rand() % 4] : "", buffer, 'a' + rand() % 3, 'a' + rand() % 3,
             'a' + rand() % 3, 'a' + rand() % 3, sid);
}

static void test_sifted_hits_are_the_same(void **state)
{
    static const enum kind kinds[] = {TCP, UDP, ICMP, SCTP, GRE_TCP, TCP6, OTHER_IP, ARP};
    static const uint32_t often[] = {SL_BUFFER_STREAM, SL_BUFFER_STREAM_BACK, SL_BUFFER_BODY};
    static char text[65536];

    (void)state;
    srand(1);
    for (int round = 0; round < 20; round++) {
        struct trial trial;
        char payload[64];

        text[0] = '\0';
        for (unsigned sid = 1; sid <= 60; sid++)
            add_random_rule(text, sizeof text, sid);
        open_trial(&trial, text);
        for (int i = 0; i < 100; i++) {
            const struct packet packet = {.kind = kinds[rand() % 8],
                                          .ip_protocol = 89,
                                          .flow = rand() % 8 == 0 ? NO_FLOW : (unsigned)rand() % 16,
                                          .fragment = (uint16_t)(rand() % 8 == 0 ? 0x2001 : 0),
                                          .payload = payload};

            for (size_t k = 0; k + 1 < sizeof payload; k++)
                payload[k] = (char)('a' + rand() % 3);
            payload[1 + (unsigned)rand() % (sizeof payload - 1)] = '\0';
            payload[sizeof payload - 1] = '\0';
            add_packet(trial.batch, &packet);
        }
        dissect_batch(trial.batch);
        for (uint32_t i = 0; i < 60; i++) {
            const unsigned bit = (unsigned)rand() % 26;

            memcpy(sl_batch_made_room(trial.batch), payload, sizeof payload);
            sl_batch_append_made(
                trial.batch, sizeof payload,
                (struct sl_made){.item = (uint32_t)rand() % 100,
                                 .buffers = bit < 23 ? 1u << bit : often[bit - 23]});
        }
        check_same(&trial);
        close_trial(&trial);
    }
}

static void test_hits_beyond_the_room_are_counted(void **state)
{
    static struct sl_hit hit[MAX_HITS];
    struct sl_hits all = {.hit = hit, .cap = MAX_HITS}, few = {.hit = hit, .cap = 3};
    struct trial trial;

    (void)state;
    open_trial(&trial, "alert ip any any -> any any (content:\"abc\"; sid:1;)\n");
    add_one_of_each(&trial, "abcabc abc", SL_BUFFER_HTTP_URI);
    assert_int_equal(match_classes(&trial, &all), SL_OK);
    assert_int_equal(all.n, 3 * (MATCH_CLASSES - 1)); /* no rule looks into a body or a header */
    assert_int_equal(match_classes(&trial, &few), SL_EOVERFLOW);
    assert_int_equal(few.n, all.n);
    close_trial(&trial);
}

/* Inside runs hits are left out, but for items of streams. */
static void test_streams_have_hits_inside_runs(void **state)
{
    enum { N = 7 };
    static struct sl_hit hit[MAX_HITS];
    struct sl_hits hits = {.hit = hit, .cap = MAX_HITS};
    uint32_t count[MATCH_CLASSES + 1] = {0};
    struct trial trial;

    (void)state;
    open_trial(&trial, "alert ip any any -> any any (content:\"aaaa\"; sid:1;)\n");
    trial.run_ends = MATCH_RUN_ENDS;
    add_one_of_each(&trial, "aaaaaaaaaa", SL_BUFFER_HTTP_URI);
    assert_int_equal(match_classes(&trial, &hits), SL_OK);
    for (size_t i = 0; i < hits.n; i++)
        count[hits.hit[i].item]++;
    assert_int_equal(count[MATCH_STREAM], N);
    assert_int_equal(count[MATCH_TO_CLIENT], 2);
    assert_int_equal(count[MATCH_UDP], 2);
    close_trial(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_class_has_its_literals),
        cmocka_unit_test(test_a_packet_without_flow_is_to_client),
        cmocka_unit_test(test_sifted_hits_are_the_same),
        cmocka_unit_test(test_hits_beyond_the_room_are_counted),
        cmocka_unit_test(test_streams_have_hits_inside_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Rules without a literal: packets that the filter of headers passes over match none of them, and
 * are those without a key. */
#include "detect_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "detect/compile/rule_compile.h"

enum { RULES = 4, PACKETS = 120, ROUNDS = TEST_SANITIZED ? 40 : 150, PARTS = 3 };

/* What the packets add to streams. */
struct laid {
    struct sl_stream_part part[PACKETS][PARTS];
    const struct sl_stream_part *of_item[PACKETS];
};

static const char *const ports[] = {"any", "any", "7", "[7,9,19]", "1000:1010", "!7"};

#define ANY_OF(array) (array)[(size_t)rand() % (sizeof(array) / sizeof(array)[0])]

static void add_rule(char *text, size_t cap, unsigned sid)
{
    static const char *const protocols[] = {"tcp", "tcp", "udp", "udp", "tcp-pkt", "ip", "sctp"};
    static const char *const addresses[] = {"any",
                                            "any",
                                            "any",
                                            "203.0.113.9",
                                            "[203.0.113.0/24,2001:db8::1]",
                                            "!203.0.113.9",
                                            "192.168.0.0/15",
                                            "192.168.0.1",
                                            "10.0.0.0/8"};
    static const char *const options[] = {
        "", "", "flags:S;", "flags:SA,12;", "dsize:0;", "ip_proto:6;", "ttl:64;"};
    const size_t len = strlen(text);

    snprintf(text + len, cap - len, "alert %s %s %s %s %s %s (%s sid:%u;)\n", ANY_OF(protocols),
             ANY_OF(addresses), ANY_OF(ports), rand() % 3 == 0 ? "<>" : "->", ANY_OF(addresses),
             ANY_OF(ports), ANY_OF(options), sid);
}

static struct sl_batch *make_packets(void)
{
    static const enum kind kinds[] = {TCP, TCP, TCP6, UDP, UDP, SCTP, GRE_TCP, ICMP, ARP};
    static const uint16_t numbers[] = {7, 9, 19, 1000, 1010, 2000};
    static const uint8_t flags[] = {0x02, 0x12, 0x10, 0x18, 0x01};
    static const uint32_t addresses[] = {0, 0xCB007109, 0x0A010203, 0xC6336401};
    struct sl_batch *batch = fixture_batch(PACKETS);

    for (int i = 0; i < PACKETS; i++) {
        const struct packet packet = {.kind = ANY_OF(kinds),
                                      .src = ANY_OF(addresses),
                                      .dst = ANY_OF(addresses),
                                      .src_port = ANY_OF(numbers),
                                      .dst_port = ANY_OF(numbers),
                                      .tcp_flags = ANY_OF(flags),
                                      .fragment = rand() % 8 == 0 ? 0x2000 : 0,
                                      .payload = rand() % 2 == 0 ? "" : "bytes",
                                      .flow = rand() % 2 == 0 ? NO_FLOW : SL_FLOW_TO_SERVER};

        add_packet(batch, &packet);
    }
    dissect_batch(batch);
    return batch;
}

static size_t alerts_by(const char *text, const struct sl_batch *batch, struct sl_alert **alerts)
{
    struct sl_rules *rules = load_rules(text);
    size_t n;

    *alerts = alerts_of(rules, batch, &n);
    sl_rules_free(rules);
    return n;
}

/* A rule that no packet meets, but that is tried on each of them, takes the filter away. */
static void test_results_are_those_without_the_filter(void **state)
{
    size_t n_all = 0;

    (void)state;
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        char text[2048] = "", unfiltered[4096];
        struct sl_alert *filtered, *all;
        struct sl_batch *batch = make_packets();

        for (unsigned sid = 1; sid <= RULES; sid++)
            add_rule(text, sizeof text, sid);
        snprintf(unfiltered, sizeof unfiltered,
                 "%salert ip any any -> any any (dsize:>60000; sid:9;)\n", text);

        const size_t n = alerts_by(text, batch, &filtered);

        assert_int_equal(alerts_by(unfiltered, batch, &all), n);
        assert_memory_equal(filtered, all, n * sizeof *all);
        n_all += n;
        free(filtered);
        free(all);
        sl_batch_free(batch);
    }
    assert_true(n_all > ROUNDS * PACKETS / 20);
}

/* Up to three parts of either side, for most packets of TCP. */
static void lay_streams(struct laid *laid, const struct sl_batch *batch)
{
    memset(laid, 0, sizeof *laid);
    for (uint32_t item = 0; item < PACKETS; item++) {
        const int n = rand() % (PARTS + 1);
        const bool whole = rand() % 3 != 0;
        uint64_t offset[2] = {(uint64_t)rand() % 5000, (uint64_t)rand() % 5000};

        if (batch->packet[item].protocol != SL_IP_TCP || batch->packet[item].transport == 0)
            continue;
        for (int i = 0; i < n; i++) {
            struct sl_stream_part *part = &laid->part[item][i];

            part->bytes = (const uint8_t *)"bytes";
            part->len = 5;
            part->reversed = rand() % 3 == 0;
            part->offset = offset[part->reversed];
            offset[part->reversed] += part->len;
            part->whole = whole;
            part->next = i + 1 < n ? part + 1 : NULL;
        }
        laid->of_item[item] = n != 0 ? laid->part[item] : NULL;
    }
}

/* Rules with a content that is no literal: they see streams. */
static void add_rule_of_streams(char *text, size_t cap)
{
    static const char *const protocols[] = {"tcp", "tcp", "tcp-stream", "tcp-pkt"};
    static const char *const ports_of[] = {"7", "[7,9,19]", "1010"};
    const size_t len = strlen(text);

    snprintf(text + len, cap - len,
             "alert %s any %s %s any %s (content:\"b\"; sid:%d;)\n"
             "alert %s any %s %s any %s (content:!\"zz\"; sid:%d;)\n",
             ANY_OF(protocols), ANY_OF(ports), rand() % 3 == 0 ? "<>" : "->", ANY_OF(ports_of), 90,
             ANY_OF(protocols), ANY_OF(ports_of), rand() % 3 == 0 ? "<>" : "->", ANY_OF(ports), 91);
}

/* Takes the filter away. */
static void pass_all(struct rule_index *index)
{
    index->header.all_tcp = index->header.all_udp = RULE_SEES_ALL;
}

static size_t alerts_with(const struct sl_rules *rules, const struct sl_batch *batch,
                          const struct laid *laid, struct sl_alert **alerts)
{
    struct sl_evaluator *evaluator;
    const struct sl_alert *found;
    struct sl_hits hits = {0};
    struct sl_diag diag;
    size_t n;

    assert_int_equal(sl_evaluator_create(&evaluator, rules, &diag), SL_OK);
    sl_evaluator_set_streams(evaluator, laid->of_item);
    assert_int_equal(sl_evaluator_run(evaluator, batch, &hits, &found, &n), SL_OK);
    *alerts = calloc(n + 1, sizeof **alerts);
    memcpy(*alerts, found, n * sizeof *found);
    sl_evaluator_free(evaluator);
    return n;
}

static void test_streams_pass_by_either_side(void **state)
{
    static struct laid laid;
    size_t n_all = 0;

    (void)state;
    srand(2);
    for (int round = 0; round < 4 * ROUNDS; round++) {
        char text[2048] = "";
        const struct sl_literal *literals;
        struct sl_batch *batch = make_packets();
        struct sl_alert *filtered, *all;
        size_t n_literals;
        struct sl_diag diag;

        for (unsigned sid = 1; sid <= RULES; sid++)
            add_rule(text, sizeof text, sid);
        add_rule_of_streams(text, sizeof text);
        struct sl_rules *rules = load_rules(text);

        assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
        lay_streams(&laid, batch);
        const size_t n = alerts_with(rules, batch, &laid, &filtered);

        pass_all(rules->index);
        assert_int_equal(alerts_with(rules, batch, &laid, &all), n);
        assert_memory_equal(filtered, all, n * sizeof *all);
        n_all += n;
        free(filtered);
        free(all);
        sl_rules_free(rules);
        sl_batch_free(batch);
    }
    assert_true(n_all > ROUNDS * PACKETS / 20);
}

/* Whether the filter of one rule passes a packet, or what it adds to a stream. */
static bool passes(const char *text, const struct packet *packet, bool in_stream)
{
    struct sl_rules *rules = load_rules(text);
    struct sl_batch *batch = fixture_batch(1);
    const struct sl_literal *literals;
    size_t n_literals;
    struct sl_diag diag;

    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
    add_packet(batch, packet);
    dissect_batch(batch);
    const uint32_t sees = rule_header_filter_sees(&rules->index->header, batch, 0);
    sl_batch_free(batch);
    sl_rules_free(rules);
    return (sees & (in_stream ? RULE_SEES_STREAMS : RULE_SEES_PACKETS)) != 0;
}

static void test_packets_without_a_key_do_not_pass(void **state)
{
    static const char to_80[] = "alert tcp any any -> any 80 (sid:1;)";
    static const char of_syn[] = "alert tcp any any -> any any (flags:S; sid:1;)";
    static const char stream_to_80[] = "alert tcp any any -> any 80 (content:!\"x\"; sid:1;)";
    static const char stream_to_host[] =
        "alert tcp any any -> 192.0.2.1 any (content:!\"x\"; sid:1;)";
    static const char to_host[] = "alert udp any any -> 192.0.2.1 any (sid:1;)";

    (void)state;
    assert_true(passes(to_80, &(struct packet){.dst_port = 80}, false));
    assert_false(passes(to_80, &(struct packet){.dst_port = 81}, false));
    assert_false(passes(to_80, &(struct packet){.kind = TCP6, .dst_port = 81}, false));
    assert_false(passes(to_80, &(struct packet){.src_port = 80}, false));
    assert_false(passes(to_80, &(struct packet){.dst_port = 80}, true));
    assert_true(passes(stream_to_80, &(struct packet){.dst_port = 80}, true));
    assert_true(passes(stream_to_80, &(struct packet){.src_port = 80}, true));
    assert_false(passes(stream_to_80, &(struct packet){.src_port = 81}, true));
    assert_false(passes(stream_to_80, &(struct packet){.src_port = 80}, false));
    assert_true(passes(of_syn, &(struct packet){.tcp_flags = 0x02}, false));
    assert_false(passes(of_syn, &(struct packet){.tcp_flags = 0x10}, false));
    assert_false(passes(of_syn, &(struct packet){.kind = UDP}, false));
    assert_true(passes(to_host, &(struct packet){.kind = UDP, .dst = 0xC0000201}, false));
    assert_false(passes(to_host, &(struct packet){.kind = UDP, .src = 0xC0000201}, false));
    assert_false(passes(to_host, &(struct packet){.kind = TCP, .dst = 0xC0000201}, false));
    assert_true(passes(stream_to_host, &(struct packet){.dst = 0xC0000201}, true));
    assert_true(passes(stream_to_host, &(struct packet){.src = 0xC0000201}, true));
    assert_false(passes(stream_to_host, &(struct packet){.src = 0xC0A80101}, true));
    assert_false(passes(stream_to_host, &(struct packet){.src = 0xC0000201}, false));
    assert_true(passes("alert tcp any any -> 192.0.2.1 any (sid:1;)",
                       &(struct packet){.kind = TCP6}, false));
    assert_true(passes(to_80, &(struct packet){.kind = ARP}, false));
    assert_true(passes(to_80, &(struct packet){.kind = GRE_TCP}, false));
}

static void test_both_ways_between_ports(void **state)
{
    static const char rule[] = "alert udp any 19 <> any 7 (sid:1;)";

    (void)state;
    assert_true(rule_matches(rule, &(struct packet){.kind = UDP, .src_port = 19, .dst_port = 7}));
    assert_true(rule_matches(rule, &(struct packet){.kind = UDP, .src_port = 7, .dst_port = 19}));
    assert_false(rule_matches(rule, &(struct packet){.kind = UDP, .src_port = 7, .dst_port = 7}));
    assert_false(rule_matches(rule, &(struct packet){.kind = UDP, .src_port = 19, .dst_port = 9}));
    assert_true(rule_matches("alert udp any any <> any 7 (sid:1;)",
                             &(struct packet){.kind = UDP, .src_port = 7, .dst_port = 7}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_those_without_the_filter),
        cmocka_unit_test(test_streams_pass_by_either_side),
        cmocka_unit_test(test_packets_without_a_key_do_not_pass),
        cmocka_unit_test(test_both_ways_between_ports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

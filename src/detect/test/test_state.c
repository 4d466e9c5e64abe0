/* SPDX-License-Identifier: MIT */
/* State beside its rules: it outlives them, wrong options have a reason, and the cost of floods is
 * bounded. */
#include "detect_fixture.h"

#include <time.h>

#include "detect/state/flow_bits.h"

/* ---- options --------------------------------------------------------------------------------- */

static void test_bad_options_have_a_reason(void **state)
{
    static const struct {
        const char *options, *reason;
    } rules[] = {
        {"flow.pkts:left,5;", "the direction is 'left', not toserver, toclient, either or both"},
        {"flow.bytes:both,&1=1;", "the sum of the flow takes no mask"},
        {"flow.age:x;", "flow.age is 'x', not n, <n, >n or a<>b of numbers up to 4294967295"},
        {"flow.pkts_toclient:4294967296;",
         "the sum of the flow is '4294967296', not n, <n, >n or a<>b of numbers up to 4294967295"},
        {"threshold:type backoff, track by_src, count 1, multiplier 2;",
         "type backoff has no track by_flow"},
        {"threshold:type backoff, track by_flow, count 1, multiplier 2, seconds 9;",
         "type backoff takes no seconds"},
        {"threshold:type backoff, track by_flow, count 1;", "threshold has no multiplier"},
        {"threshold:type both, track by_flow, count 1, multiplier 2, seconds 9;",
         "multiplier is one of type backoff"},
        {"detection_filter:track by_src, count 1, seconds 9, unique_on src_port;",
         "unique_on is no part of a detection_filter of a protocol with ports"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        char text[256];

        snprintf(text, sizeof text, "alert ip any any -> any any (%s sid:1;)", rules[i].options);

        struct sl_rules *loaded = load_rules(text);
        const struct sl_diag *diag = sl_rules_bad_line(loaded, 0);

        if (diag == NULL) {
            fail_msg("is not bad: %s", text);
            return;
        }
        assert_string_equal(diag->text, rules[i].reason);
        sl_rules_free(loaded);
    }
}

/* ---- another set of rules -------------------------------------------------------------------- */

/* Rules, with their evaluator. */
struct snapshot {
    struct sl_rules *rules;
    struct sl_evaluator *evaluator;
};

static struct snapshot take(const char *text)
{
    struct snapshot snapshot = {.rules = load_rules(text)};
    const struct sl_literal *literals;
    size_t n;

    assert_int_equal(sl_rules_compile(snapshot.rules, &literals, &n, NULL), SL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(sl_evaluator_create(&snapshot.evaluator, snapshot.rules, NULL), SL_OK);
    return snapshot;
}

static void drop(struct snapshot *snapshot)
{
    sl_evaluator_free(snapshot->evaluator);
    sl_rules_free(snapshot->rules);
}

/* A bit for each sid that alerts on one more packet of the flow. */
static uint32_t alerts_of_packet(struct sl_state *state, const struct snapshot *snapshot,
                                 void *slot)
{
    static const struct packet packet = {.kind = UDP, .flow = SL_FLOW_TO_SERVER};
    struct sl_batch *batch = fixture_batch(1);
    const struct sl_alert *alerts;
    uint32_t sids = 0;
    size_t n, n_held;

    add_packet(batch, &packet);
    dissect_batch(batch);
    batch->origin[0].time_ns = 1;
    assert_int_equal(sl_evaluator_run(snapshot->evaluator, batch, NULL, &alerts, &n), SL_OK);
    (void)sl_evaluator_candidates(snapshot->evaluator, &n_held);
    for (size_t i = 0; i < n_held; i++)
        (void)sl_state_settle(state, snapshot->evaluator, i, 0, slot);
    sl_state_decide(state, snapshot->evaluator, batch);
    sl_evaluator_conclude(snapshot->evaluator, &alerts, &n);
    for (size_t i = 0; i < n; i++)
        sids |= UINT32_C(1) << sl_rules_signature(snapshot->rules, alerts[i].signature)->sid;
    sl_batch_free(batch);
    return sids;
}

/* A state, and the table that it takes its memory for. */
struct kept {
    struct sl_state *state;
    struct sl_flow_table *table;
    struct sl_flow_slot slot;
};

static struct kept open_state(void)
{
    struct sl_flow_config flows;
    struct sl_state_config config;
    struct kept kept;

    sl_state_config_init(&config);
    sl_flow_config_init(&flows);
    assert_int_equal(sl_state_create(&kept.state, &kept.slot, &config, NULL), SL_OK);
    assert_int_equal(sl_flow_table_create(&kept.table, &flows, NULL), SL_OK);
    assert_int_equal(sl_state_open(kept.state, kept.table, NULL), SL_OK);
    return kept;
}

static void close_state(struct kept *kept)
{
    sl_flow_table_free(kept->table);
    sl_state_free(kept->state);
}

#define ANY "alert udp any any -> any any "

/* Also where a set of rules between the two has none of its names. */
static void test_state_outlives_its_rules(void **state)
{
    static const char *const before =
        ANY "(flowbits:set,a; noalert; sid:1;)\n" ANY "(flowint:n,+,1; noalert; sid:2;)\n" ANY
            "(xbits:set,b,track ip_src; noalert; sid:3;)\n" ANY
            "(threshold:type threshold, track by_src, count 3, seconds 60; sid:4;)\n" ANY
            "(ip.src; dataset:set,d,type ip; sid:5;)\n" ANY
            "(detection_filter:track by_dst, count 2, seconds 60; sid:13;)\n";
    /* Rules that name none of it. */
    static const char *const between = ANY "(sid:1;)\n" ANY "(flowbits:isset,z; sid:9;)\n" ANY
                                           "(ip.src; dataset:isset,other,type ip; sid:11;)\n";
    /* Other rules, other places, and the names in another order. */
    static const char *const after =
        ANY "(ip.src; dataset:isset,d,type ip; dataset:unset,other,type ip; sid:12;)\n" ANY
            "(ip.src; dataset:set,d,type ip; sid:5;)\n" ANY
            "(ip.src; dataset:isset,d; dataset:set,e,type ip; sid:11;)\n" ANY
            "(threshold:type threshold, track by_src, count 3, seconds 60; sid:4;)\n" ANY
            "(threshold:type threshold, track by_src, count 3, seconds 60; sid:6;)\n" ANY
            "(xbits:isset,b,track ip_src; sid:7;)\n" ANY "(flowint:n,==,2; sid:8;)\n" ANY
            "(flowbits:isset,a; sid:9;)\n" ANY "(flowbits:isset,n; sid:10;)\n" ANY
            "(detection_filter:track by_dst, count 2, seconds 60; sid:13;)\n";
    struct snapshot first = take(before), middle = take(between), second = take(after);
    struct kept kept = open_state();

    (void)state;
    assert_int_equal(sl_state_adopt(kept.state, first.rules, NULL), SL_OK);

    void *of_flow = calloc(1, kept.slot.len);

    assert_non_null(of_flow);
    assert_int_equal(alerts_of_packet(kept.state, &first, of_flow), 1 << 5);
    assert_int_equal(alerts_of_packet(kept.state, &first, of_flow), 0);
    drop(&first);
    assert_int_equal(sl_state_adopt(kept.state, middle.rules, NULL), SL_OK);
    assert_int_equal(alerts_of_packet(kept.state, &middle, of_flow), 1 << 1);
    drop(&middle);
    assert_int_equal(sl_state_adopt(kept.state, second.rules, NULL), SL_OK);
    /* The third match of sid 4 and of sid 13, the first of sid 6. */
    assert_int_equal(alerts_of_packet(kept.state, &second, of_flow),
                     1 << 4 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 11 | 1 << 13);
    kept.slot.release(kept.slot.user, 0, of_flow);
    drop(&second);
    free(of_flow);
    close_state(&kept);
}

/* ---- floods ---------------------------------------------------------------------------------- */

/* The greatest cost of a flood beside ordinary use; in a pool and a table as large as a run's. */
enum {
    FACTOR_MAX = 20,
    ROUNDS = 5,
    PACKETS = 128,
    READERS = 32,
    HOSTS = 1 << 18,
    SOURCES = 1 << 12
};

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A flow of many, and packets whose TTL chooses the rules that they match. */
struct flows {
    struct kept kept;
    struct snapshot snapshot;
    uint8_t *of_flow;
};

/* Runs PACKETS packets of this TTL, of one flow after another. */
static void run_packets(const struct flows *flows, uint8_t ttl)
{
    const struct packet packet = {.kind = UDP, .flow = SL_FLOW_TO_SERVER, .ttl = ttl};
    struct sl_batch *batch = fixture_batch(PACKETS);
    const struct sl_alert *alerts;
    size_t n, n_held;

    for (uint32_t i = 0; i < PACKETS; i++)
        add_packet(batch, &packet);
    dissect_batch(batch);
    assert_int_equal(sl_evaluator_run(flows->snapshot.evaluator, batch, NULL, &alerts, &n), SL_OK);
    (void)sl_evaluator_candidates(flows->snapshot.evaluator, &n_held);
    assert_int_equal(n_held, PACKETS);
    for (size_t i = 0; i < n_held; i++)
        (void)sl_state_settle(flows->kept.state, flows->snapshot.evaluator, i, 0,
                              flows->of_flow + i * flows->kept.slot.len);
    sl_batch_free(batch);
}

/* Rules that set a variable each, and rules that read variables that are never set. */
static const char *bit_rules(void)
{
    static char text[(FLOW_BITS_MAX + READERS) * 128];
    size_t len = 0;

    for (int i = 0; i < FLOW_BITS_MAX; i++)
        len +=
            (size_t)snprintf(text + len, sizeof text - len,
                             ANY "(ttl:%d; flowbits:set,b%d; noalert; sid:%d;)\n", 1 + i, i, 1 + i);
    for (int i = 0; i < READERS; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                ANY "(ttl:200; flowbits:isset,absent%d; sid:%d;)\n", i, 500 + i);
    return text;
}

/* Nanoseconds of a packet that reads variables, in a shard of flows that have n each. They were set
 * in turns, so that they lie apart. */
static double bits_cost(uint8_t n)
{
    struct flows flows = {.kept = open_state(), .snapshot = take(bit_rules())};
    double least = 1e18;

    flows.of_flow = calloc(PACKETS, flows.kept.slot.len);
    assert_non_null(flows.of_flow);
    for (uint8_t ttl = 1; ttl <= n; ttl++)
        run_packets(&flows, ttl);
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now_ns();

        run_packets(&flows, 200);
        const double cost = (now_ns() - begin) / PACKETS;
        least = cost < least ? cost : least;
    }
    free(flows.of_flow);
    drop(&flows.snapshot);
    close_state(&flows.kept);
    return least;
}

/* Packets of so many sources, from `first` on. */
static struct sl_batch *sources(uint32_t first, uint32_t n)
{
    struct sl_batch *batch = fixture_batch(SOURCES);

    for (uint32_t i = 0; i < SOURCES; i++) {
        const struct packet packet = {.kind = UDP, .src = 0x0A000000 + first + i % n};

        add_packet(batch, &packet);
    }
    dissect_batch(batch);
    return batch;
}

/* Nanoseconds of a packet that sets a variable of its source, of n in turns; 0: all are new, and
 * the table is full. */
static double hosts_cost(uint32_t n)
{
    struct kept kept = open_state();
    struct snapshot snapshot = take(ANY "(xbits:set,b,track ip_src,expire 60; noalert; sid:1;)");
    const uint32_t n_rounds = n == 0 ? HOSTS / SOURCES + ROUNDS : ROUNDS;
    const struct sl_alert *alerts;
    struct sl_state_stats stats;
    double least = 1e18;
    size_t n_alerts;

    for (uint32_t round = 0; round < n_rounds; round++) {
        struct sl_batch *batch = n == 0 ? sources(round * SOURCES, SOURCES) : sources(0, n);
        const double begin = now_ns();

        assert_int_equal(sl_evaluator_run(snapshot.evaluator, batch, NULL, &alerts, &n_alerts),
                         SL_OK);
        sl_state_decide(kept.state, snapshot.evaluator, batch);
        const double cost = (now_ns() - begin) / SOURCES;
        least = round + ROUNDS >= n_rounds && cost < least ? cost : least;
        sl_batch_free(batch);
    }
    sl_state_stats(kept.state, &stats);
    assert_int_equal(stats.hosts, n == 0 ? HOSTS : n);
    assert_int_equal(stats.hosts_evicted, n == 0 ? ROUNDS * SOURCES : 0);
    drop(&snapshot);
    close_state(&kept);
    return least;
}

static void check(const char *what, double ordinary, double flood)
{
    print_message("%s: %.0f ns, in a flood %.0f ns: %.1f times\n", what, ordinary, flood,
                  flood / ordinary);
    assert_true(flood < FACTOR_MAX * ordinary);
}

static void test_floods_are_bounded(void **state)
{
    (void)state;
    check("a packet of 32 rules that read, in flows with 2 variables", bits_cost(2),
          bits_cost(FLOW_BITS_MAX));
    check("a packet of one of 1,000 hosts that have a variable", hosts_cost(1000), hosts_cost(0));
}

/* A rule of addresses that passes or drops takes the packets behind it in its flow, under other
 * rules as well. One that asks more of a packet does not, nor one whose alert may be held back. */
static void test_flows_end(void **state)
{
    static const struct {
        const char *action, *options;
        uint32_t alerts, later; /* of a packet, of the next one of its flow */
    } rules[] = {
        {"pass", "", 0, 0},
        {"pass", "alert; ", 1 << 2, 0},
        {"pass", "dsize:0; ", 0, 1 << 1},
        {"pass", "dsize:0; alert; ", 1 << 2, 1 << 1},
        {"drop", "", 1 << 1 | 1 << 2, 0},
        {"reject", "", 1 << 1 | 1 << 2, 0},
        {"drop", "noalert; ", 1 << 1, 0},
        {"drop", "dsize:0; ", 1 << 1 | 1 << 2, 1 << 1},
        {"drop", "flowbits:isset,none; ", 1 << 1, 1 << 1},
        {"drop", "threshold:type limit, track by_src, count 1, seconds 9; ", 1 << 1 | 1 << 2, 0},
        {"drop", "detection_filter:track by_src, count 9, seconds 9; ", 1 << 1, 1 << 1},
        {"alert", "", 1 << 1 | 1 << 2, 1 << 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct snapshot other = take(ANY "(sid:1;)\npass udp any any -> 9.9.9.9 any (sid:3;)\n");
        struct flow_bits ended = {0}, unknown = {0};
        struct kept kept = open_state();
        char text[256];

        snprintf(text, sizeof text, ANY "(sid:1;)\n%s udp any any -> any any (%ssid:2;)\n",
                 rules[i].action, rules[i].options);

        struct snapshot first = take(text);

        assert_int_equal(alerts_of_packet(kept.state, &first, &ended), rules[i].alerts);
        assert_int_equal(alerts_of_packet(kept.state, &other, &ended), rules[i].later);
        assert_int_equal(alerts_of_packet(kept.state, &other, &unknown), 1 << 1);
        assert_int_equal(sl_state_passed(kept.state, 0, &ended),
                         rules[i].later == 0 && rules[i].action[0] == 'p');
        assert_int_equal(sl_state_dropped(kept.state, 0, &ended),
                         rules[i].later == 0 && rules[i].action[0] != 'p');
        drop(&first);
        drop(&other);
        close_state(&kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_options_have_a_reason),
        cmocka_unit_test(test_state_outlives_its_rules),
        cmocka_unit_test(test_flows_end),
        cmocka_unit_test(test_floods_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

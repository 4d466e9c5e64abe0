/* SPDX-License-Identifier: MIT */
/* Random traffic against the oracle. */
#include "test.h"

#include "flow_comparison.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PACKETS = 6000, TRIAL_STEP = 3 }; /* each is slow */
#else
enum { PACKETS = 20000, TRIAL_STEP = 1 };
#endif

static uint64_t random_state = 0x9E3779B97F4A7C15;

static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % n;
}

/* Time mostly goes on a little, and at times by what a timeout is, or back. */
static int64_t random_step(void)
{
    switch (random_below(24)) {
    case 0:
        return (1 + random_below(8)) * SECOND;
    case 1:
        return (1 + random_below(8)) * SECOND + 1;
    case 2:
        return -(int64_t)random_below(9) * SECOND;
    case 3:
        return random_below(8) == 0 ? -(8 * SECOND) - 1 : 0;
    case 4:
        return random_below(8) == 0 ? (int64_t)random_below(100) * SECOND : 0;
    default:
        return random_below(1000000);
    }
}

static struct flow_event random_event(int64_t *time, uint32_t n_hosts)
{
    static const uint8_t protocols[] = {SL_IP_TCP,  SL_IP_TCP,  SL_IP_TCP,    SL_IP_TCP, SL_IP_UDP,
                                        SL_IP_SCTP, SL_IP_ICMP, SL_IP_ICMPV6, 89};
    static const uint8_t tcp_flags[] = {SYN,       SYN | ACK, ACK, ACK,       PSH | ACK, FIN | ACK,
                                        FIN | ACK, RST,       0,   SYN | FIN, SYN | RST, FIN};
    static const uint16_t ports[] = {80, 1023, 1024, 40000};
    static const uint8_t types[] = {8, 0, 128, 129, 3};
    struct flow_event event = {.protocol = protocols[random_below(sizeof protocols)]};

    event.tcp_flags = tcp_flags[random_below(sizeof tcp_flags)];
    event.icmp_type = types[random_below(sizeof types)];
    event.icmp_id = (uint16_t)random_below(2);
    event.seq = 0xFFFFFFFC + random_below(8);
    event.ack = 0xFFFFFFFC + random_below(8);
    event.payload_len = random_below(3);
    event.ipv6 = random_below(8) == 0;
    event.vlan = random_below(16) == 0 ? 7 : 0;
    for (uint32_t i = 0; i < 2; i++) {
        event.addr[i] = (uint8_t)(1 + random_below(n_hosts));
        event.port[i] = ports[random_below(n_hosts == 2 ? 2 : 4)];
    }
    event.no_ip = random_below(50) == 0;
    event.later_fragment = random_below(50) == 0;
    event.short_transport =
        random_below(50) == 0 && !event.ipv6 && !event.no_ip && event.protocol != 89;
    *time += random_step();
    event.time = random_below(40) == 0 ? 0 : *time;
    event.wire_len = random_below(2) == 0 ? 40 : 60 + random_below(2000); /* whole, or cut */
    event.alerted = random_below(30) == 0;
    event.app = (uint8_t)(random_below(20) == 0 ? random_below(4) : 0);
    return event;
}

/* Makes it a packet between the ends of the one before, in either direction. */
static void follow(struct flow_event *event, const struct flow_event *before)
{
    const uint32_t turn = random_below(2);

    event->protocol = before->protocol;
    event->icmp_id = before->icmp_id;
    event->ipv6 = before->ipv6;
    event->vlan = before->vlan;
    for (uint32_t i = 0; i < 2; i++) {
        event->addr[i] = before->addr[i ^ turn];
        event->port[i] = before->port[i ^ turn];
    }
    event->short_transport = false; /* which not all protocols have */
}

static struct comparison comparison;

/* Random traffic against the oracle: `n` packets over so few hosts and ports that flows come back,
 * in batches of random sizes, some of them in trains. Returns the table's counters. */
static struct sl_flow_stats compare_with_oracle(const struct sl_flow_config *config, uint32_t n,
                                                uint32_t n_hosts)
{
    struct flow_event events[COMPARISON_BATCH];
    int64_t time = 1700000000 * SECOND;

    comparison_start(&comparison, config);
    while (n != 0) {
        const uint32_t n_batch = 1 + random_below(n < COMPARISON_BATCH ? n : COMPARISON_BATCH);

        for (uint32_t i = 0; i < n_batch; i++) {
            events[i] = random_event(&time, n_hosts);
            if (i != 0 && random_below(4) < random_below(4))
                follow(&events[i], &events[i - 1]);
        }
        comparison_track(&comparison, events, n_batch);
        n -= n_batch;
    }
    return comparison_end(&comparison);
}

static void test_random_traffic(void **state)
{
    (void)state;
    for (uint32_t max_flows = 1; max_flows <= 64; max_flows += max_flows < 8 ? 1 : 28) {
        for (uint32_t n_hosts = 2; n_hosts <= 8; n_hosts += 3) {
            const struct sl_flow_config config = {.max_flows = max_flows,
                                                  .tcp_handshake_seconds = 3,
                                                  .tcp_established_seconds = 8,
                                                  .tcp_closed_seconds = random_below(3),
                                                  .new_seconds = 2,
                                                  .established_seconds = 5,
                                                  .hash_key = {random_below(3), max_flows}};

            (void)compare_with_oracle(&config, PACKETS, n_hosts);
            assert_true(comparison.tracker.n_trained > PACKETS / 100);
        }
    }
}

/* With long timeouts the flows of 250 hosts are more than the shards hold. */
static void test_random_traffic_over_shards(void **state)
{
    (void)state;
    for (uint32_t trial = 0; trial < 4; trial += TRIAL_STEP) {
        const uint32_t n_shards = trial % 2 == 0 ? 2 : 8;
        const uint32_t seconds = trial < 2 ? 3 : 30000;
        const struct sl_flow_config config = {.max_flows = n_shards * 1024 + 5,
                                              .tcp_handshake_seconds = seconds,
                                              .tcp_established_seconds = 3 * seconds,
                                              .tcp_closed_seconds = seconds,
                                              .new_seconds = seconds,
                                              .established_seconds = 2 * seconds,
                                              .hash_key = {n_shards, 1}};
        struct sl_flow_table *table;

        assert_int_equal(sl_flow_table_create(&table, &config, NULL), SL_OK);
        assert_int_equal(sl_flow_n_shards(table), n_shards);
        sl_flow_table_free(table);
        (void)compare_with_oracle(&config, 10000, 5);
        const struct sl_flow_stats stats = compare_with_oracle(&config, 40000, 250);
        assert_true(trial < 2 ? stats.timed_out > 10000 : stats.evicted > 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_traffic),
                                       cmocka_unit_test(test_random_traffic_over_shards)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

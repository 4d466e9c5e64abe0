/* SPDX-License-Identifier: MIT */
/* Packets of one flow, its end, and the choice of the client. */
#include "test.h"

#include "dissect/flow_key.h"
#include "flow_tracker.h"
#include "frame_fixture.h"
#include "sluice/dissect.h"

/* One packet, one batch. Time goes on by `after`. */
static struct sl_origin send_event(struct tracker *t, struct flow_event event, int64_t after)
{
    event.time = t->time += after;
    sl_batch_reset(t->batch);
    tracker_add(t, &event);
    tracker_run(t);
    return t->batch->origin[0];
}

static struct flow_event tcp(uint8_t src, uint16_t src_port, uint8_t dst, uint16_t dst_port,
                             uint8_t tcp_flags, uint32_t seq, uint32_t ack)
{
    return (struct flow_event){.protocol = SL_IP_TCP,
                               .addr = {src, dst},
                               .port = {src_port, dst_port},
                               .tcp_flags = tcp_flags,
                               .seq = seq,
                               .ack = ack};
}

/* Of the connection that most tests have: client 1, port 40000, server 2, port 80. */
static struct flow_event from_client(uint8_t tcp_flags, uint32_t seq, uint32_t ack)
{
    return tcp(1, 40000, 2, 80, tcp_flags, seq, ack);
}

static struct flow_event from_server(uint8_t tcp_flags, uint32_t seq, uint32_t ack)
{
    return tcp(2, 80, 1, 40000, tcp_flags, seq, ack);
}

static struct flow_event udp(uint8_t src, uint16_t src_port, uint8_t dst, uint16_t dst_port)
{
    return (struct flow_event){
        .protocol = SL_IP_UDP, .addr = {src, dst}, .port = {src_port, dst_port}};
}

static struct flow_event icmp(uint8_t src, uint8_t dst, uint8_t type, uint16_t id)
{
    return (struct flow_event){
        .protocol = SL_IP_ICMP, .addr = {src, dst}, .icmp_type = type, .icmp_id = id};
}

#define EXPECT(t, event, after, flow, flags)                          \
    do {                                                              \
        const struct sl_origin origin_ = send_event(t, event, after); \
        tracker_expect(t, &origin_, flow, flags);                     \
    } while (0)

enum {
    TO_SERVER = SL_FLOW_TO_SERVER,
    ESTABLISHED = SL_FLOW_ESTABLISHED,
    MIDSTREAM = SL_FLOW_MIDSTREAM,
    NEW = SL_FLOW_NEW | SL_FLOW_FIRST,
    FIRST = SL_FLOW_FIRST,
    OPENED = SL_FLOW_ESTABLISHED | SL_FLOW_OPENED
};

static void start_default(struct tracker *t)
{
    struct sl_flow_config config;

    sl_flow_config_init(&config);
    tracker_start(t, &config);
}

static void test_defaults(void **state)
{
    struct sl_flow_config config;

    (void)state;
    sl_flow_config_init(&config);
    assert_int_equal(config.max_flows, 262144);
    assert_int_equal(config.tcp_handshake_seconds, 60);
    assert_int_equal(config.tcp_established_seconds, 600);
    assert_int_equal(config.tcp_closed_seconds, 60);
    assert_int_equal(config.new_seconds, 30);
    assert_int_equal(config.established_seconds, 300);
    assert_false(config.keep_ends);
    assert_int_equal(config.hash_key[0] | config.hash_key[1], 0);
}

static void test_bad_sizes_are_refused(void **state)
{
    struct sl_flow_table *table;
    struct sl_flow_config config;
    struct sl_diag diag = {.text = ""};

    (void)state;
    sl_flow_config_init(&config);
    config.max_flows = 0;
    assert_int_equal(sl_flow_table_create(&table, &config, &diag), SL_EINVAL);
    assert_non_null(strstr(diag.text, "0 flows"));
    config.max_flows = (1u << 28) + 1;
    assert_int_equal(sl_flow_table_create(&table, &config, &diag), SL_EINVAL);
    config.max_flows = 1;
    assert_int_equal(sl_flow_table_create(&table, &config, NULL), SL_OK);
    sl_flow_table_free(table);
    sl_flow_table_free(NULL);
}

static void test_handshake_and_close(void **state)
{
    struct tracker t;

    (void)state;
    start_default(&t);
    EXPECT(&t, from_client(SYN, 100, 0), 0, 1, TO_SERVER | NEW);
    EXPECT(&t, from_client(SYN, 100, 0), SECOND, 1, TO_SERVER);
    EXPECT(&t, from_server(ACK, 500, 101), 0, 1, FIRST); /* no handshake without the server's SYN */
    EXPECT(&t, from_client(ACK, 101, 501), 0, 1, TO_SERVER);
    EXPECT(&t, from_server(SYN | ACK, 500, 101), 0, 1, 0);
    EXPECT(&t, from_server(PSH | ACK, 501, 101), 0, 1, 0);
    EXPECT(&t, from_client(ACK, 101, 501), 0, 1, TO_SERVER | OPENED);
    EXPECT(&t, from_server(PSH | ACK, 501, 101), 0, 1, ESTABLISHED);

    EXPECT(&t, from_client(FIN | ACK, 101, 501), 0, 1, TO_SERVER | ESTABLISHED);
    EXPECT(&t, from_server(FIN | ACK, 501, 101), 0, 1, ESTABLISHED); /* not acknowledged */
    EXPECT(&t, from_client(ACK, 102, 502), 0, 1, TO_SERVER | ESTABLISHED);
    EXPECT(&t, from_client(SYN, 900, 0), 0, 1, TO_SERVER | ESTABLISHED); /* so not closed */
    EXPECT(&t, from_server(ACK, 502, 102), 0, 1, ESTABLISHED);
    EXPECT(&t, from_server(ACK, 502, 102), 0, 1, ESTABLISHED);
    EXPECT(&t, from_client(SYN | ACK, 900, 0), 0, 1, TO_SERVER | ESTABLISHED);
    EXPECT(&t, from_client(SYN, 900, 0), 0, 2, TO_SERVER | NEW);
    assert_int_equal(tracker_stats(&t).tcp, 2);
    assert_int_equal(tracker_stats(&t).active, 1);
    assert_int_equal(
        tracker_stats(&t).timed_out + tracker_stats(&t).evicted + tracker_stats(&t).midstream, 0);
    tracker_stop(&t);
}

static void test_client_alone(void **state)
{
    struct tracker t;

    (void)state;
    start_default(&t);
    EXPECT(&t, from_client(SYN, 100, 0), 0, 1, TO_SERVER | NEW);
    EXPECT(&t, from_client(SYN, 100, 0), 0, 1, TO_SERVER);
    EXPECT(&t, from_client(ACK, 101, 501), 0, 1, TO_SERVER | OPENED);
    EXPECT(&t, from_client(PSH | ACK, 101, 501), 0, 1, TO_SERVER | ESTABLISHED);
    tracker_stop(&t);
}

/* The SYN has sequence number 100, and some bytes behind it. */
static void test_bytes_of_the_syn(void **state)
{
    static const struct {
        uint32_t acknowledged;
        bool opens;
    } cases[] = {{100, false},        {101, false},         {102, true},
                 {1500, true},        {101 + 65535, true},  {101 + 65536, false},
                 {0x80000000, false}, {100 - 20000u, false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tracker t;

        start_default(&t);
        EXPECT(&t, from_client(SYN, 100, 0), 0, 1, TO_SERVER | NEW);
        EXPECT(&t, from_server(SYN | ACK, 500, cases[i].acknowledged), 0, 1,
               cases[i].opens ? FIRST | OPENED : FIRST);
        tracker_stop(&t);
    }
}

/* A second FIN does not move what is to be acknowledged. */
static void test_first_fin_counts(void **state)
{
    struct tracker t;

    (void)state;
    start_default(&t);
    EXPECT(&t, from_client(FIN | ACK, 101, 1), 0, 1, TO_SERVER | OPENED | MIDSTREAM | NEW);
    EXPECT(&t, from_client(FIN | ACK, 199, 1), 0, 1, TO_SERVER | ESTABLISHED | MIDSTREAM);
    EXPECT(&t, from_server(FIN | ACK, 501, 102), 0, 1, ESTABLISHED | MIDSTREAM | FIRST);
    EXPECT(&t, from_client(ACK, 102, 502), 0, 1, TO_SERVER | ESTABLISHED | MIDSTREAM);
    EXPECT(&t, from_client(SYN, 9, 0), 0, 2, TO_SERVER | NEW);
    tracker_stop(&t);
}

static void test_acknowledged_fin_wraps_around(void **state)
{
    struct flow_event fin = from_client(FIN | ACK, 0xFFFFFFFE, 501);
    struct tracker t;

    (void)state;
    fin.payload_len = 3;
    start_default(&t);
    EXPECT(&t, fin, 0, 1, TO_SERVER | OPENED | MIDSTREAM | NEW);
    EXPECT(&t, from_server(FIN | ACK, 501, 1), 0, 1, ESTABLISHED | MIDSTREAM | FIRST);
    EXPECT(&t, from_client(ACK, 2, 502), 0, 1, TO_SERVER | ESTABLISHED | MIDSTREAM);
    EXPECT(&t, from_client(SYN, 9, 0), 0, 1, TO_SERVER | ESTABLISHED | MIDSTREAM);
    EXPECT(&t, from_server(ACK, 502, 2), 0, 1, ESTABLISHED | MIDSTREAM);
    EXPECT(&t, from_client(SYN, 9, 0), 0, 2, TO_SERVER | NEW);
    tracker_stop(&t);
}

static void test_reset_closes(void **state)
{
    struct tracker t;

    (void)state;
    start_default(&t);
    EXPECT(&t, from_client(SYN, 100, 0), 0, 1, TO_SERVER | NEW);
    EXPECT(&t, from_server(RST | ACK, 0, 101), 0, 1, FIRST);
    EXPECT(&t, from_server(RST, 0, 101), 0, 1, 0);
    EXPECT(&t, from_client(SYN, 200, 0), 0, 2, TO_SERVER | NEW);
    EXPECT(&t, from_server(RST | SYN, 0, 0), 0, 2, FIRST);
    EXPECT(&t, from_client(SYN, 300, 0), 0, 3, TO_SERVER | NEW);
    assert_int_equal(tracker_stats(&t).midstream, 0);
    tracker_stop(&t);
}

static void test_the_client_of_a_midstream_flow(void **state)
{
    static const struct {
        struct flow_event event;
        bool to_server;
    } rows[] = {
        {{.protocol = SL_IP_TCP, .port = {40000, 80}, .tcp_flags = ACK}, true},
        {{.protocol = SL_IP_TCP, .port = {80, 40000}, .tcp_flags = ACK}, false},
        {{.protocol = SL_IP_TCP, .port = {1023, 1024}, .tcp_flags = ACK}, false},
        {{.protocol = SL_IP_TCP, .port = {1024, 1023}, .tcp_flags = ACK}, true},
        {{.protocol = SL_IP_TCP, .port = {1024, 2000}, .tcp_flags = ACK}, true},
        {{.protocol = SL_IP_TCP, .port = {20, 1023}, .tcp_flags = ACK}, true},
        {{.protocol = SL_IP_TCP, .port = {80, 40000}, .tcp_flags = SYN}, true},
        {{.protocol = SL_IP_TCP, .port = {5000, 40000}, .tcp_flags = SYN | ACK}, false},
        {{.protocol = SL_IP_TCP, .port = {80, 40000}, .tcp_flags = SYN | ACK}, false},
        {{.protocol = SL_IP_TCP, .port = {40000, 80}, .tcp_flags = SYN | ACK}, false},
        {{.protocol = SL_IP_UDP, .port = {53, 40000}}, false},
        {{.protocol = SL_IP_UDP, .port = {53, 53}}, true},
        {{.protocol = SL_IP_SCTP, .port = {7, 40000}}, false},
        {{.protocol = SL_IP_ICMP, .icmp_type = 0, .icmp_id = 9}, true},
        {{.protocol = 89}, true},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint8_t src = 1; src <= 2; src++) { /* from the lower address, and from the higher */
            struct flow_event event = rows[i].event;
            struct tracker t;

            event.addr[0] = src;
            event.addr[1] = 3 - src;
            start_default(&t);

            const struct sl_origin origin = send_event(&t, event, 0);
            assert_int_equal((origin.flow_flags & TO_SERVER) != 0, rows[i].to_server);
            tracker_stop(&t);
        }
    }
}

static void test_a_late_syn_determines_the_client(void **state)
{
    struct tracker t;

    (void)state;
    start_default(&t);
    EXPECT(&t, tcp(1, 5000, 2, 6000, ACK, 1, 1), 0, 1, TO_SERVER | OPENED | MIDSTREAM | NEW);
    EXPECT(&t, tcp(2, 6000, 1, 5000, SYN, 0, 0), 0, 1, TO_SERVER | ESTABLISHED | MIDSTREAM | FIRST);
    EXPECT(&t, tcp(1, 5000, 2, 6000, SYN, 0, 0), 0, 1, ESTABLISHED | MIDSTREAM);
    assert_int_equal(tracker_stats(&t).midstream, 1);
    tracker_stop(&t);
}

static void test_both_sides_of_udp(void **state)
{
    struct tracker t;

    (void)state;
    start_default(&t);
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 1, TO_SERVER | NEW);
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 1, TO_SERVER);
    EXPECT(&t, udp(2, 53, 1, 5000), 0, 1, ESTABLISHED | FIRST);
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 1, TO_SERVER | ESTABLISHED);
    EXPECT(&t, udp(1, 53, 2, 5000), 0, 2, NEW); /* the same ports on the other ends */
    assert_int_equal(tracker_stats(&t).udp, 2);
    tracker_stop(&t);
}

static void test_ends_that_are_alike(void **state)
{
    struct tracker t;

    (void)state;
    start_default(&t);
    /* Equal addresses: the ports decide. */
    EXPECT(&t, udp(1, 6000, 1, 5000), 0, 1, TO_SERVER | NEW);
    EXPECT(&t, udp(1, 5000, 1, 6000), 0, 1, ESTABLISHED | FIRST);
    EXPECT(&t, udp(1, 6000, 1, 5000), 0, 1, TO_SERVER | ESTABLISHED);
    /* Equal ports: the addresses decide. */
    EXPECT(&t, udp(2, 123, 1, 123), 0, 2, TO_SERVER | NEW);
    EXPECT(&t, udp(1, 123, 2, 123), 0, 2, ESTABLISHED | FIRST);
    /* Equal in both: an end that sends to itself is the client. */
    EXPECT(&t, udp(1, 7000, 1, 7000), 0, 3, TO_SERVER | NEW);
    EXPECT(&t, udp(1, 7000, 1, 7000), 0, 3, TO_SERVER);
    tracker_stop(&t);
}

static void test_icmp(void **state)
{
    struct tracker t;

    (void)state;
    start_default(&t);
    EXPECT(&t, icmp(1, 2, 8, 77), 0, 1, TO_SERVER | NEW);
    EXPECT(&t, icmp(2, 1, 0, 77), 0, 1, ESTABLISHED | FIRST);
    EXPECT(&t, icmp(1, 2, 8, 78), 0, 2, TO_SERVER | NEW);
    EXPECT(&t, icmp(1, 2, 8, 0), 0, 3, TO_SERVER | NEW);
    EXPECT(&t, icmp(2, 1, 3, 77), 0, 4, TO_SERVER | NEW); /* no echo: its id is none */
    EXPECT(&t, icmp(1, 2, 11, 0), 0, 4, ESTABLISHED | FIRST);
    assert_int_equal(tracker_stats(&t).other, 4);
    tracker_stop(&t);
}

/* Its Ethernet padding is no identifier. */
static void test_echo_without_identifier(void **state)
{
    struct flow_event event = icmp(1, 2, 8, 77);
    struct tracker t;

    (void)state;
    start_default(&t);
    event.time = t.time;
    tracker_add(&t, &event);
    store_be16(t.batch->bytes + 16, 24);
    tracker_run(&t);
    tracker_expect(&t, &t.batch->origin[0], 1, TO_SERVER | NEW);
    EXPECT(&t, icmp(1, 2, 3, 0), 0, 1, TO_SERVER);
    tracker_stop(&t);
}

static void test_vlans_are_apart(void **state)
{
    struct flow_event event = udp(1, 5000, 2, 53);
    struct tracker t;

    (void)state;
    start_default(&t);
    EXPECT(&t, event, 0, 1, TO_SERVER | NEW);
    event.vlan = 5;
    EXPECT(&t, event, 0, 2, TO_SERVER | NEW);
    event.vlan = 6;
    EXPECT(&t, event, 0, 3, TO_SERVER | NEW);
    event.vlan = 5;
    EXPECT(&t, event, 0, 2, TO_SERVER);
    event.vlan = 0;
    EXPECT(&t, event, 0, 1, TO_SERVER);
    tracker_stop(&t);
}

static void test_packets_without_flow(void **state)
{
    struct flow_event event = udp(1, 5000, 2, 53);
    struct tracker t;

    (void)state;
    start_default(&t);
    event.no_ip = true;
    EXPECT(&t, event, 0, 0, 0);
    event.no_ip = false;
    event.later_fragment = true;
    EXPECT(&t, event, 0, 0, 0);
    event.ipv6 = true;
    EXPECT(&t, event, 0, 0, 0);
    event = udp(1, 5000, 2, 53);
    event.short_transport = true;
    EXPECT(&t, event, 0, 0, 0);
    assert_int_equal(t.stats.defects[SL_DEFECT_UDP_SHORT], 1);
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 1, TO_SERVER | NEW);
    tracker_stop(&t);
}

/* A length that lies behind the ports leaves the flow; one before them does not, and a first
 * fragment that ends before them has none. */
static void test_defects_and_flows(void **state)
{
    const struct flow_event syn = from_client(SYN, 1, 0);
    const struct flow_event ospf = {.protocol = 89, .addr = {1, 2}};
    struct tracker t;

    (void)state;
    start_default(&t);
    tracker_add(&t, &syn);
    tracker_add(&t, &syn);
    tracker_add(&t, &ospf);
    tracker_add(&t, &ospf);
    t.batch->bytes[t.batch->packet[0].offset + 46] = 0x40;               /* data offset */
    store_be16(t.batch->bytes + t.batch->packet[1].offset + 16, 20 + 8); /* total length */
    t.batch->bytes[t.batch->packet[1].offset + 20] = 0x20;               /* more fragments */
    store_be16(t.batch->bytes + t.batch->packet[2].offset + 16, 21);     /* total length */
    tracker_run(&t);
    assert_int_equal(t.batch->packet[0].defect, SL_DEFECT_TCP_HEADER_LEN);
    assert_int_equal(t.batch->packet[1].defect, SL_DEFECT_NONE);
    assert_int_equal(t.batch->packet[2].defect, SL_DEFECT_IPV4_TOTAL_LEN);
    tracker_expect(&t, &t.batch->origin[0], 1, TO_SERVER | NEW);
    tracker_expect(&t, &t.batch->origin[1], 0, 0);
    tracker_expect(&t, &t.batch->origin[2], 0, 0);
    tracker_expect(&t, &t.batch->origin[3], 2, TO_SERVER | NEW);
    tracker_stop(&t);
}

static void test_timeouts_by_state(void **state)
{
    const struct sl_flow_config config = {.max_flows = 8,
                                          .tcp_handshake_seconds = 5,
                                          .tcp_established_seconds = 9,
                                          .tcp_closed_seconds = 2,
                                          .new_seconds = 3,
                                          .established_seconds = 6};
    struct tracker t;

    (void)state;
    tracker_start(&t, &config);
    EXPECT(&t, from_client(SYN, 0, 0), 0, 1, TO_SERVER | NEW);
    EXPECT(&t, from_client(SYN, 0, 0), 5 * SECOND, 1, TO_SERVER);
    EXPECT(&t, from_client(SYN, 0, 0), 5 * SECOND + 1, 2, TO_SERVER | NEW);
    EXPECT(&t, from_server(SYN | ACK, 0, 1), 5 * SECOND, 2, FIRST);
    EXPECT(&t, from_client(ACK, 1, 1), 5 * SECOND, 2, TO_SERVER | OPENED);
    EXPECT(&t, from_client(ACK, 1, 1), 9 * SECOND, 2, TO_SERVER | ESTABLISHED);
    EXPECT(&t, from_client(RST, 1, 1), 9 * SECOND, 2, TO_SERVER | ESTABLISHED);
    EXPECT(&t, from_client(ACK, 1, 1), 2 * SECOND, 2, TO_SERVER | ESTABLISHED);
    EXPECT(&t, from_client(ACK, 1, 1), 2 * SECOND + 1, 3, TO_SERVER | OPENED | MIDSTREAM | NEW);
    EXPECT(&t, from_client(ACK, 1, 1), 9 * SECOND + 1, 4, TO_SERVER | OPENED | MIDSTREAM | NEW);
    assert_int_equal(tracker_stats(&t).timed_out, 3);
    assert_int_equal(tracker_stats(&t).active, 1);
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 5, TO_SERVER | NEW);
    EXPECT(&t, icmp(1, 2, 8, 1), 0, 6, TO_SERVER | NEW);
    EXPECT(&t, icmp(1, 2, 8, 2), 3 * SECOND + 1, 7, TO_SERVER | NEW);
    assert_int_equal(tracker_stats(&t).timed_out, 5);
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 8, TO_SERVER | NEW);
    EXPECT(&t, udp(1, 5000, 2, 53), 3 * SECOND, 8, TO_SERVER);
    EXPECT(&t, udp(2, 53, 1, 5000), 0, 8, ESTABLISHED | FIRST);
    EXPECT(&t, udp(1, 5000, 2, 53), 6 * SECOND, 8, TO_SERVER | ESTABLISHED);
    assert_int_equal(tracker_stats(&t).timed_out, 7);
    EXPECT(&t, udp(1, 5000, 2, 53), 6 * SECOND + 1, 9, TO_SERVER | NEW);
    assert_int_equal(tracker_stats(&t).timed_out, 8);
    assert_int_equal(tracker_stats(&t).active, 1);
    tracker_stop(&t);
}

static void test_time_that_jumps(void **state)
{
    const struct sl_flow_config config = {.max_flows = 8,
                                          .tcp_handshake_seconds = 1,
                                          .tcp_established_seconds = 10,
                                          .tcp_closed_seconds = 1,
                                          .new_seconds = 4,
                                          .established_seconds = 4};
    struct tracker t;

    (void)state;
    tracker_start(&t, &config);
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 1, TO_SERVER | NEW);
    /* Back, but not further than the longest timeout: the clock stands still. */
    EXPECT(&t, udp(1, 5000, 2, 53), -10 * SECOND, 1, TO_SERVER);
    EXPECT(&t, udp(1, 5000, 2, 53), 14 * SECOND, 1, TO_SERVER);
    /* Unknown: the same. */
    t.time = 0;
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 1, TO_SERVER);
    t.time = (1700000000 + 8) * SECOND;
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 1, TO_SERVER);
    /* Further back: a new time. */
    EXPECT(&t, udp(1, 5000, 2, 53), -10 * SECOND - 1, 2, TO_SERVER | NEW);
    EXPECT(&t, udp(1, 5000, 2, 53), 4 * SECOND, 2, TO_SERVER);
    EXPECT(&t, udp(1, 5000, 2, 53), 4 * SECOND + 1, 3, TO_SERVER | NEW);
    /* The ends of time. */
    t.time = INT64_MAX;
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 4, TO_SERVER | NEW);
    t.time = INT64_MIN;
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 5, TO_SERVER | NEW);
    EXPECT(&t, udp(1, 5000, 2, 53), 4 * SECOND, 5, TO_SERVER);
    t.time = INT64_MAX;
    EXPECT(&t, udp(1, 5000, 2, 53), 0, 6, TO_SERVER | NEW);
    assert_int_equal(tracker_stats(&t).timed_out, 5);
    tracker_stop(&t);
}

static void test_the_longest_idle_is_evicted(void **state)
{
    struct sl_flow_config config;
    struct tracker t;

    (void)state;
    sl_flow_config_init(&config);
    config.max_flows = 3;
    tracker_start(&t, &config);
    EXPECT(&t, udp(1, 5001, 2, 53), 0, 1, TO_SERVER | NEW);
    EXPECT(&t, from_client(ACK, 1, 1), 0, 2, TO_SERVER | OPENED | MIDSTREAM | NEW);
    EXPECT(&t, icmp(1, 2, 8, 1), 0, 3, TO_SERVER | NEW);
    EXPECT(&t, udp(2, 53, 1, 5001), 0, 1, ESTABLISHED | FIRST);
    EXPECT(&t, udp(1, 5002, 2, 53), 0, 4, TO_SERVER | NEW); /* 2 had to go */
    EXPECT(&t, udp(1, 5001, 2, 53), 0, 1, TO_SERVER | ESTABLISHED);
    EXPECT(&t, icmp(1, 2, 8, 1), 0, 3, TO_SERVER);
    EXPECT(&t, from_client(ACK, 1, 1), 0, 5, TO_SERVER | OPENED | MIDSTREAM | NEW); /* 4 */
    EXPECT(&t, udp(1, 5001, 2, 53), 0, 1, TO_SERVER | ESTABLISHED);
    assert_int_equal(tracker_stats(&t).evicted, 2);
    assert_int_equal(tracker_stats(&t).active, 3);
    assert_int_equal(tracker_stats(&t).flows, 5);
    tracker_stop(&t);
}

/* The id of a flow of one packet, at a sensor that hashes with this key. */
static uint64_t id_at(struct flow_event event, int64_t time, uint32_t sensor_id, uint64_t hash_key)
{
    struct sl_flow_config config;
    struct tracker t;

    sl_flow_config_init(&config);
    config.max_flows = 1;
    config.sensor_id = sensor_id;
    config.hash_key[1] = hash_key;
    tracker_start(&t, &config);
    t.time = time;
    const struct sl_origin origin = send_event(&t, event, 0);
    tracker_stop(&t);
    return origin.flow;
}

/* The id depends on what makes a flow, its start and the sensor, and on nothing else. */
static void test_ids_of_flows(void **state)
{
    const int64_t now = 1700000000 * SECOND;
    const struct flow_event event = udp(1, 5000, 2, 53);
    const uint64_t id = id_at(event, now, 0, 0);
    struct flow_event other = event;

    (void)state;
    assert_in_range(id, 1, (UINT64_C(1) << 51) - 1);
    assert_int_equal(id_at(event, now, 0, 77), id);
    assert_int_equal(id_at(udp(2, 53, 1, 5000), now, 0, 0), id);
    assert_int_not_equal(id_at(event, now + 1, 0, 0), id);
    assert_int_not_equal(id_at(event, 0, 0, 0), id);
    assert_int_not_equal(id_at(event, now, 1, 0), id);
    assert_int_not_equal(id_at(event, now, UINT32_MAX, 0), id_at(event, now, 1, 0));
    assert_int_not_equal(id_at(udp(1, 53, 2, 5000), now, 0, 0), id);
    assert_int_not_equal(id_at(udp(1, 5001, 2, 53), now, 0, 0), id);
    assert_int_not_equal(id_at(udp(3, 5000, 2, 53), now, 0, 0), id);
    other.vlan = 9;
    assert_int_not_equal(id_at(other, now, 0, 0), id);
    other = event;
    other.protocol = SL_IP_TCP;
    assert_int_not_equal(id_at(other, now, 0, 0), id);
}

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Flows that differ in few bits, among them the least of the time, have ids that look random: of
 * 200,000 no two are the same (expected: 9 in a million tries), and every bit is set in half. */
static void test_ids_are_spread(void **state)
{
    enum { N_IDS = 200000 };
    uint64_t *const ids = malloc(N_IDS * sizeof *ids), secret[FLOW_KEY_WORDS];
    uint32_t set[51] = {0};

    (void)state;
    assert_non_null(ids);
    flow_key_secret(secret, (const uint64_t[2]){0, 0});
    for (uint64_t i = 0; i < N_IDS; i++) {
        const struct flow_key key = {{0, 0xFFFF0A000001, 0, 0xFFFF0A000002 + i % 50,
                                      53 | (1024 + i / 50 % 50) << 16, SL_IP_UDP}};

        ids[i] = flow_key_id(&key, (int64_t)(i / 2500), secret);
        for (uint32_t bit = 0; bit < 51; bit++)
            set[bit] += ids[i] >> bit & 1;
    }
    for (uint32_t bit = 0; bit < 51; bit++)
        assert_in_range(set[bit], N_IDS / 2 - 1500, N_IDS / 2 + 1500); /* 6.7 sigma */
    qsort(ids, N_IDS, sizeof *ids, compare_ids);
    for (uint32_t i = 1; i < N_IDS; i++)
        assert_true(ids[i] != ids[i - 1]);
    free(ids);
}

static uint32_t take_all(void *user, const struct sl_flow_train *train)
{
    const struct tracker *t = user;
    uint32_t i = 0;

    for (; i < train->n && train->packet[i].is_usual; i++)
        assert_int_equal(train->flow, t->batch->origin[train->first + i].flow);
    return i;
}

static void take_one(void *user, const struct sl_flow_segment *segment)
{
    const struct tracker *t = user;

    assert_int_equal(segment->flow, t->batch->origin[segment->item].flow);
}

/* A table that keeps no ends does not know where a flow begins anew. */
static void test_trains_without_ends(void **state)
{
    static const int64_t seconds[] = {1, 2, 900000, 900001};
    struct sl_flow_config config;
    struct tracker t;
    const struct sl_flow_visitor visitor = {.segment = take_one, .train = take_all, .user = &t};
    struct sl_flow_table *table;
    struct sl_diag diag;

    (void)state;
    sl_flow_config_init(&config);
    tracker_start(&t, &config);
    assert_int_equal(sl_flow_table_create(&table, &config, &diag), SL_OK);
    for (uint32_t i = 0; i < 4; i++) {
        struct flow_event event = from_client(ACK, 1, 1);

        event.time = seconds[i] * SECOND;
        tracker_add(&t, &event);
    }
    sl_dissect(t.batch, &t.stats);
    sl_flow_keys_read(t.keys, table, t.batch);
    sl_flow_deal(table, t.batch, t.keys);
    for (uint32_t shard = 0; shard < sl_flow_n_shards(table); shard++) {
        sl_flow_track_shard(table, t.batch, t.keys, shard);
        sl_flow_visit_shard(table, t.batch, t.keys, shard, &visitor);
    }
    assert_true(t.batch->origin[0].flow == t.batch->origin[1].flow);
    assert_true(t.batch->origin[1].flow != t.batch->origin[2].flow);
    sl_flow_table_free(table);
    tracker_stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_trains_without_ends),
        cmocka_unit_test(test_bad_sizes_are_refused),
        cmocka_unit_test(test_handshake_and_close),
        cmocka_unit_test(test_client_alone),
        cmocka_unit_test(test_bytes_of_the_syn),
        cmocka_unit_test(test_first_fin_counts),
        cmocka_unit_test(test_acknowledged_fin_wraps_around),
        cmocka_unit_test(test_reset_closes),
        cmocka_unit_test(test_the_client_of_a_midstream_flow),
        cmocka_unit_test(test_a_late_syn_determines_the_client),
        cmocka_unit_test(test_both_sides_of_udp),
        cmocka_unit_test(test_ends_that_are_alike),
        cmocka_unit_test(test_icmp),
        cmocka_unit_test(test_echo_without_identifier),
        cmocka_unit_test(test_vlans_are_apart),
        cmocka_unit_test(test_packets_without_flow),
        cmocka_unit_test(test_defects_and_flows),
        cmocka_unit_test(test_timeouts_by_state),
        cmocka_unit_test(test_time_that_jumps),
        cmocka_unit_test(test_the_longest_idle_is_evicted),
        cmocka_unit_test(test_ids_of_flows),
        cmocka_unit_test(test_ids_are_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

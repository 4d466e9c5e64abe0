/* SPDX-License-Identifier: MIT */
/* The output of sinks for flows that ended: golden lines, rows, and fields. */
#include <jansson.h>
#include <sqlite3.h>

#include "test_sink_events.h"

enum { N_GOLDEN = 4, N_RANDOM = 20000 };

static const char *const addresses[N_GOLDEN][2] = {
    {"192.0.2.1", "192.0.2.2"},
    {"2001:db8::1", "2001:db8::2"},
    {"10.0.0.1", "10.0.0.2"},
    {"fe80::1", "ff02::1"},
};

static const struct sl_flow_record records[N_GOLDEN] = {
    {.id = 42,
     .tuple = {.src_port = 40000, .dst_port = 80, .protocol = SL_IP_TCP},
     .vlan = {SL_NO_VLAN, SL_NO_VLAN},
     .first_ns = INT64_C(1767348672900000000),
     .last_ns = INT64_C(1767348674123456789),
     .end_ns = INT64_C(1767348684123456789),
     .client = {.packets = 5, .bytes = 700, .tcp_flags = 0x1B},
     .server = {.packets = 4, .bytes = 90000, .tcp_flags = 0x52},
     .state = SL_FLOW_STATE_CLOSED,
     .tcp_state = SL_TCP_CLOSED,
     .reason = SL_FLOW_END_TIMEOUT,
     .alerted = true,
     .passed = true,
     .midstream = true,
     .app_proto = "http"},
    {.id = 43,
     .tuple = {.src_port = 5353, .dst_port = 53, .protocol = SL_IP_UDP},
     .vlan = {100, 4095},
     .first_ns = 1000,
     .last_ns = 1000,
     .end_ns = 2000,
     .client = {.packets = 1, .bytes = 60},
     .state = SL_FLOW_STATE_NEW,
     .reason = SL_FLOW_END_SHUTDOWN,
     .app_proto = "failed"},
    {.id = 44,
     .tuple = {.src_port = 8, .dst_port = 0, .protocol = SL_IP_ICMP},
     .vlan = {SL_NO_VLAN, SL_NO_VLAN},
     .client = {.packets = UINT64_MAX, .bytes = UINT64_MAX, .icmp_type = 8},
     .server = {.packets = 1, .bytes = 98, .icmp_type = 0},
     .state = SL_FLOW_STATE_ESTABLISHED,
     .reason = SL_FLOW_END_FORCED},
    {.id = 45,
     .tuple = {.src_port = 134, .dst_port = 0, .protocol = SL_IP_ICMPV6},
     .vlan = {SL_NO_VLAN, SL_NO_VLAN},
     .first_ns = -1,
     .last_ns = 1,
     .client = {.packets = 2, .bytes = 300, .icmp_type = 134},
     .state = SL_FLOW_STATE_NEW,
     .reason = SL_FLOW_END_TIMEOUT},
};

static const char *const ids[N_GOLDEN] = {"1:one=", NULL, "1:three=", NULL};

/* As a run describes a flow. */
static struct sl_event event_of(struct sl_flow_record *record, int i)
{
    struct sl_event event = {.kind = SL_EVENT_FLOW,
                             .flow = record,
                             .source = i == 1 ? "eth0" : "a.pcap",
                             .live = i == 1,
                             .community_id = ids[i],
                             .has_tuple = true};

    record->tuple.src = make_addr(addresses[i][0]);
    record->tuple.dst = make_addr(addresses[i][1]);
    event.origin.time_ns = record->end_ns;
    event.origin.flow = record->id;
    event.origin.vlan[0] = record->vlan[0];
    event.origin.vlan[1] = record->vlan[1];
    event.tuple = record->tuple;
    return event;
}

static struct sl_event golden_flow(int i)
{
    static struct sl_flow_record record;

    record = records[i];
    return event_of(&record, i);
}

static void test_console(void **state)
{
    static const char *const lines[N_GOLDEN] = {
        "2026-01-02 10:11:24.123456  FLOW  http closed, timeout, alerted  "
        "to server 5 packets, 700 bytes  to client 4 packets, 90000 bytes  2 s  "
        "TCP 192.0.2.1:40000 -> 192.0.2.2:80",
        "1970-01-01 00:00:00.000002  FLOW  failed new, shutdown  "
        "to server 1 packet, 60 bytes  to client 0 packets, 0 bytes  0 s  "
        "UDP [2001:db8::1]:5353 -> [2001:db8::2]:53",
        "1970-01-01 00:00:00.000000  FLOW  established, forced  "
        "to server 18446744073709551615 packets, 18446744073709551615 bytes  "
        "to client 1 packet, 98 bytes  0 s  ICMP 10.0.0.1 -> 10.0.0.2 type 8 code 0",
        "1970-01-01 00:00:00.000000  FLOW  new, timeout  "
        "to server 2 packets, 300 bytes  to client 0 packets, 0 bytes  1 s  "
        "IPv6-ICMP fe80::1 -> ff02::1 type 134 code 0",
    };

    (void)state;
    check_console(golden_flow, lines, N_GOLDEN);
}

static void test_eve(void **state)
{
    static const char *const lines[N_GOLDEN] = {
        "{\"timestamp\":\"2026-01-02T10:11:24.123456+0000\",\"flow_id\":42,"
        "\"event_type\":\"flow\",\"src_ip\":\"192.0.2.1\",\"src_port\":40000,"
        "\"dest_ip\":\"192.0.2.2\",\"dest_port\":80,\"proto\":\"TCP\",\"ip_v\":4,\"app_proto\":"
        "\"http\","
        "\"flow\":{\"pkts_toserver\":5,\"pkts_toclient\":4,\"bytes_toserver\":700,"
        "\"bytes_toclient\":90000,\"start\":\"2026-01-02T10:11:12.900000+0000\","
        "\"end\":\"2026-01-02T10:11:14.123456+0000\",\"age\":2,\"state\":\"closed\","
        "\"reason\":\"timeout\",\"alerted\":true,\"action\":\"pass\",\"exception_policy\":"
        "[{\"target\":\"stream_midstream\",\"policy\":\"ignore\"}]},\"community_id\":\"1:one=\","
        "\"tcp\":{\"tcp_flags\":\"5b\",\"tcp_flags_ts\":\"1b\",\"tcp_flags_tc\":\"52\","
        "\"syn\":true,\"fin\":true,\"psh\":true,\"ack\":true,\"ecn\":true,\"state\":\"closed\"},"
        "\"pcap_filename\":\"a.pcap\"}",

        "{\"timestamp\":\"1970-01-01T00:00:00.000002+0000\",\"flow_id\":43,\"in_iface\":\"eth0\","
        "\"event_type\":\"flow\",\"vlan\":[100,4095],\"src_ip\":\"2001:db8::1\","
        "\"src_port\":5353,\"dest_ip\":\"2001:db8::2\",\"dest_port\":53,\"proto\":\"UDP\",\"ip_v\":"
        "6,"
        "\"app_proto\":\"failed\",\"flow\":{\"pkts_toserver\":1,\"pkts_toclient\":0,"
        "\"bytes_toserver\":60,\"bytes_toclient\":0,"
        "\"start\":\"1970-01-01T00:00:00.000001+0000\","
        "\"end\":\"1970-01-01T00:00:00.000001+0000\",\"age\":0,\"state\":\"new\","
        "\"reason\":\"shutdown\",\"alerted\":false}}",

        "{\"timestamp\":\"1970-01-01T00:00:00.000000+0000\",\"flow_id\":44,"
        "\"event_type\":\"flow\",\"src_ip\":\"10.0.0.1\",\"dest_ip\":\"10.0.0.2\","
        "\"proto\":\"ICMP\",\"ip_v\":4,\"icmp_type\":8,\"icmp_code\":0,\"response_icmp_type\":0,"
        "\"response_icmp_code\":0,\"flow\":{\"pkts_toserver\":18446744073709551615,"
        "\"pkts_toclient\":1,\"bytes_toserver\":18446744073709551615,\"bytes_toclient\":98,"
        "\"start\":\"1970-01-01T00:00:00.000000+0000\","
        "\"end\":\"1970-01-01T00:00:00.000000+0000\",\"age\":0,\"state\":\"established\","
        "\"reason\":\"forced\",\"alerted\":false},\"community_id\":\"1:three=\","
        "\"pcap_filename\":\"a.pcap\"}",

        "{\"timestamp\":\"1970-01-01T00:00:00.000000+0000\",\"flow_id\":45,"
        "\"event_type\":\"flow\",\"src_ip\":\"fe80::1\",\"dest_ip\":\"ff02::1\","
        "\"proto\":\"IPv6-ICMP\",\"ip_v\":6,\"icmp_type\":134,\"icmp_code\":0,"
        "\"flow\":{\"pkts_toserver\":2,\"pkts_toclient\":0,\"bytes_toserver\":300,"
        "\"bytes_toclient\":0,\"start\":\"1969-12-31T23:59:59.999999+0000\","
        "\"end\":\"1970-01-01T00:00:00.000000+0000\",\"age\":1,\"state\":\"new\","
        "\"reason\":\"timeout\",\"alerted\":false},\"pcap_filename\":\"a.pcap\"}",
    };

    (void)state;
    check_eve(golden_flow, lines, N_GOLDEN);
}

static void test_sqlite(void **state)
{
    static const char sql[] =
        "SELECT time||'|'||flow_id||'|'||ifnull(packet,'-')||'|'||ifnull(direction,'-')||'|'||"
        "ifnull(app_proto,'-')||'|'||start_time||'|'||end_time||'|'||age||'|'||state||'|'||"
        "reason||'|'||alerted||'|'||pkts_toserver||'|'||pkts_toclient||'|'||bytes_toserver||'|'||"
        "bytes_toclient||'|'||ifnull(tcp_flags||tcp_flags_ts||tcp_flags_tc||tcp_state,'-')||'|'||"
        "ifnull(community_id,'-') FROM flows WHERE flow_id < 44 ORDER BY id";
    static const char *const rows[] = {
        "2026-01-02 10:11:24.123456|42|-|-|http|2026-01-02 10:11:12.900000|"
        "2026-01-02 10:11:14.123456|2|closed|timeout|1|5|4|700|90000|5b1b52closed|1:one=",
        "1970-01-01 00:00:00.000002|43|-|-|failed|1970-01-01 00:00:00.000001|"
        "1970-01-01 00:00:00.000001|0|new|shutdown|0|1|0|60|0|-|-",
    };
    sqlite3 *db = NULL;
    sqlite3_stmt *found = NULL;

    (void)state;
    write_events(scratch_spec("sqlite", "flows.db"), golden_flow, N_GOLDEN);
    assert_int_equal(sqlite3_open_v2(scratch_path("flows.db"), &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &found, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sqlite3_step(found), SQLITE_ROW);
        assert_string_equal((const char *)sqlite3_column_text(found, 0), rows[i]);
    }
    assert_int_equal(sqlite3_step(found), SQLITE_DONE);
    sqlite3_finalize(found);
    sqlite3_close(db);
}

static void random_record(struct sl_flow_record *record, uint64_t *random)
{
    record->id = test_random(random) >> 13;
    record->tuple.src_port = (uint16_t)test_random(random);
    record->tuple.dst_port = (uint16_t)test_random(random);
    record->first_ns = (int64_t)test_random(random);
    record->last_ns = (int64_t)test_random(random);
    record->end_ns = (int64_t)test_random(random);
    record->client.packets = test_random(random) >> 1;
    record->client.bytes = test_random(random) >> 1;
    record->server.bytes = test_random(random) >> 1;
    record->client.tcp_flags = (uint8_t)test_random(random);
    record->server.tcp_flags = (uint8_t)test_random(random);
    record->tcp_state = (enum sl_tcp_state)test_below(random, SL_N_TCP_STATES);
    record->alerted = test_below(random, 2) == 0;
}

static void check_flags(const json_t *tcp, const struct sl_flow_record *record)
{
    static const char *const names[8] = {"fin", "syn", "rst", "psh", "ack", "urg", "ecn", "cwr"};
    const uint8_t flags = record->client.tcp_flags | record->server.tcp_flags;

    for (int i = 0; i < 8; i++)
        assert_int_equal(json_is_true(json_object_get(tcp, names[i])), flags >> i & 1);
    assert_int_equal(strtoul(json_string_value(json_object_get(tcp, "tcp_flags")), NULL, 16),
                     flags);
}

/* Any numbers and times: each line is one object of JSON with the values that were meant. */
static void test_any_record(void **state)
{
    struct sl_sink *sink = open_sink(scratch_spec("eve", "any.json"));
    struct sl_flow_record *record = calloc(N_RANDOM, sizeof *record);
    char *line = NULL;
    struct sl_diag diag;
    uint64_t random = 5;
    size_t cap = 0;

    (void)state;
    for (int i = 0; i < N_RANDOM; i++) {
        record[i] = records[i % N_GOLDEN];
        random_record(&record[i], &random);
        const struct sl_event event = event_of(&record[i], i % N_GOLDEN);
        assert_int_equal(sl_sink_write(sink, &event, &diag), SL_OK);
    }
    close_sink(sink, N_RANDOM);

    FILE *file = fopen(scratch_path("any.json"), "r");
    assert_non_null(file);
    for (int i = 0; i < N_RANDOM; i++) {
        const ssize_t len = getline(&line, &cap, file);
        json_t *object = json_loadb(line, (size_t)len, JSON_REJECT_DUPLICATES, NULL);
        const json_t *flow = json_object_get(object, "flow"), *tcp = json_object_get(object, "tcp");

        assert_non_null(flow);
        assert_int_equal(json_integer_value(json_object_get(flow, "pkts_toserver")),
                         record[i].client.packets);
        assert_int_equal(json_integer_value(json_object_get(flow, "bytes_toclient")),
                         record[i].server.bytes);
        assert_true(json_integer_value(json_object_get(flow, "age")) >= 0);
        assert_int_equal(json_is_true(json_object_get(flow, "alerted")), record[i].alerted);
        assert_int_equal(tcp != NULL, i % N_GOLDEN == 0);
        if (tcp != NULL)
            check_flags(tcp, &record[i]);
        json_decref(object);
    }
    fclose(file);
    free(line);
    free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_console),
        cmocka_unit_test(test_eve),
        cmocka_unit_test(test_sqlite),
        cmocka_unit_test(test_any_record),
    };

    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}

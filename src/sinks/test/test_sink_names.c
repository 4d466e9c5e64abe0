/* SPDX-License-Identifier: MIT */
/* The output of sinks for names that a table has a rule for: golden lines of each protocol, hostile
 * texts read back by jansson and SQLite, and a database of before there were names. */
#include <jansson.h>
#include <sqlite3.h>

#include "test_sink_events.h"

enum { N_GOLDEN = 5, N_RANDOM = 20000 };

static const uint8_t payload[] = "GET http://A.test:80/x?\"y HTTP/1.0\r\n";
static const char *const none[] = {NULL};
static const char *const hops[] = {"262 10", "9", NULL};
static const char *const categories[] = {"news", "\xFF\"", NULL};

static const enum sl_event_kind kinds[N_GOLDEN] = {SL_EVENT_DNS, SL_EVENT_DNS, SL_EVENT_HTTP,
                                                   SL_EVENT_TLS, SL_EVENT_NDN};

static const struct sl_name_match matches[N_GOLDEN] = {
    {.name = "www.ads.test",
     .prefix = "ads.test",
     .action = "block",
     .verdict = "blocked",
     .values = none,
     .list = "a.txt",
     .format = "domains",
     .line = 3,
     .dns = {.id = 7, .flags = 0x0100, .rrtype = 28}},
    {.name = "x\\032y.test",
     .prefix = "test",
     .action = "allow",
     .verdict = "allowed",
     .values = none,
     .list = "b\xFF.txt",
     .format = "adblock",
     .line = 4294967295,
     .dns = {.id = 65535, .flags = 0x8583, .rrtype = 65280}},
    {.name = "a.test/x?%22y",
     .prefix = "a.test/x",
     .action = "category",
     .values = categories,
     .list = "u",
     .format = "urls",
     .line = 1,
     .http = {.host = "a.test", .method = {0, 3}, .target = {4, 21}, .port = 80, .minor = 0}},
    {.name = "parc.com",
     .prefix = "com",
     .action = "nxdomain",
     .verdict = "blocked",
     .values = none,
     .list = "z",
     .format = "rpz",
     .line = 9,
     .tls = {.version = 0x0303}},
    {.name = "/com/v=7",
     .prefix = "/com",
     .action = "forward",
     .values = hops,
     .hops = true,
     .list = "r",
     .format = "nfdc",
     .line = 2,
     .ndn = {.data = true}},
};

static struct sl_event event_of(int i)
{
    struct sl_event event = golden_event(kinds[i], i < 2 ? SL_IP_UDP : SL_IP_TCP, 53);

    event.match = &matches[i];
    event.has_tuple = i != 4;
    event.payload = payload;
    event.payload_len = sizeof payload - 1;
    return event;
}

static void test_console(void **state)
{
    static const char *const lines[N_GOLDEN] = {
        "1970-01-01 00:00:00.000001  NAME  dns query AAAA www.ads.test  block  "
        "(ads.test, a.txt:3)  UDP 10.0.0.1:40000 -> 10.0.0.2:53",
        "1970-01-01 00:00:00.000001  NAME  dns answer 65280 x\\032y.test  allow  "
        "(test, b\\xff.txt:4294967295)  UDP 10.0.0.1:40000 -> 10.0.0.2:53",
        "1970-01-01 00:00:00.000001  NAME  http GET a.test/x?%22y  category news,\\xff\"  "
        "(a.test/x, u:1)  TCP 10.0.0.1:40000 -> 10.0.0.2:53",
        "1970-01-01 00:00:00.000001  NAME  tls parc.com  nxdomain  (com, z:9)  "
        "TCP 10.0.0.1:40000 -> 10.0.0.2:53",
        "1970-01-01 00:00:00.000001  NAME  ndn data /com/v=7  forward 262 10,9  (/com, r:2)",
    };

    (void)state;
    check_console(event_of, lines, N_GOLDEN);
}

#define HEAD(type)                                                       \
    "{\"timestamp\":\"1970-01-01T00:00:00.000001+0000\",\"flow_id\":45," \
    "\"pcap_cnt\":10,\"event_type\":\"" type "\","
#define TUPLE(proto)                                                       \
    "\"src_ip\":\"10.0.0.1\",\"src_port\":40000,\"dest_ip\":\"10.0.0.2\"," \
    "\"dest_port\":53,\"proto\":\"" proto "\",\"ip_v\":4,"
#define TAIL "},\"pcap_filename\":\"a.pcap\"}"

static void test_eve(void **state)
{
    static const char *const lines[N_GOLDEN] = {
        HEAD("dns") TUPLE(
            "UDP") "\"pkt_src\":\"wire/pcap\",\"dns\":{\"version\":2,\"type\":\"query\",\"id\":7,"
                   "\"rrname\":\"www.ads.test\",\"rrtype\":\"AAAA\",\"opcode\":0},"
                   "\"names\":{\"name\":\"www.ads.test\",\"prefix\":\"ads.test\",\"action\":"
                   "\"block\","
                   "\"verdict\":\"blocked\",\"list\":\"a.txt\",\"format\":\"domains\",\"line\":"
                   "3" TAIL,

        HEAD("dns") TUPLE(
            "UDP") "\"pkt_src\":\"wire/"
                   "pcap\",\"dns\":{\"version\":2,\"type\":\"answer\",\"id\":65535,"
                   "\"flags\":\"8583\",\"qr\":true,\"aa\":true,\"rd\":true,\"ra\":true,"
                   "\"rrname\":\"x\\\\032y.test\",\"rrtype\":\"65280\",\"rcode\":\"NXDOMAIN\","
                   "\"opcode\":0},\"names\":{\"name\":\"x\\\\032y.test\",\"prefix\":\"test\","
                   "\"action\":\"allow\",\"verdict\":\"allowed\",\"list\":\"b\\\\xff.txt\","
                   "\"format\":\"adblock\",\"line\":4294967295" TAIL,

        HEAD("http") TUPLE(
            "TCP") "\"pkt_src\":\"wire/pcap\",\"http\":{\"hostname\":\"a.test\",\"http_port\":80,"
                   "\"url\":\"http://A.test:80/"
                   "x?\\\"y\",\"http_method\":\"GET\",\"protocol\":\"HTTP/1.0\"},"
                   "\"names\":{\"name\":\"a.test/x?%22y\",\"prefix\":\"a.test/"
                   "x\",\"action\":\"category\","
                   "\"values\":[\"news\",\"\\\\xff\\\"\"],\"list\":\"u\",\"format\":\"urls\","
                   "\"line\":1" TAIL,

        HEAD("tls") TUPLE(
            "TCP") "\"pkt_src\":\"wire/pcap\",\"tls\":{\"sni\":\"parc.com\",\"version\":\"TLS "
                   "1.2\"},"
                   "\"names\":{\"name\":\"parc.com\",\"prefix\":\"com\",\"action\":\"nxdomain\","
                   "\"verdict\":\"blocked\",\"list\":\"z\",\"format\":\"rpz\",\"line\":9" TAIL,

        HEAD("ndn") "\"pkt_src\":\"wire/pcap\",\"ndn\":{\"type\":\"data\",\"name\":\"/com/v=7\"},"
                    "\"names\":{\"name\":\"/com/v=7\",\"prefix\":\"/com\",\"action\":\"forward\","
                    "\"next_hops\":[{\"hop\":\"262\",\"cost\":10},{\"hop\":\"9\"}],"
                    "\"list\":\"r\",\"format\":\"nfdc\",\"line\":2" TAIL,
    };

    (void)state;
    check_eve(event_of, lines, N_GOLDEN);
}

/* The first row of a query, its columns with bars between. */
static void check_rows(const char *path, const char *sql, const char *expected)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    char text[4096] = "";

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    while (sqlite3_step(rows) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(rows); i++) {
            const unsigned char *column = sqlite3_column_text(rows, i);

            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? "|" : "",
                     column != NULL ? (const char *)column : "-");
        }
        strcat(text, "\n");
    }
    assert_string_equal(text, expected);
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

static const char all_rows[] =
    "SELECT packet,dest_port,protocol,kind,name,prefix,action,verdict,value,list,line FROM names";

static void test_sqlite(void **state)
{
    (void)state;
    write_events(scratch_spec("sqlite", "names.db"), event_of, N_GOLDEN);
    check_rows(scratch_path("names.db"), all_rows,
               "10|53|dns|query|www.ads.test|ads.test|block|blocked|-|a.txt|3\n"
               "10|53|dns|answer|x\\032y.test|test|allow|allowed|-|b\\xff.txt|4294967295\n"
               "10|53|http|GET|a.test/x?%22y|a.test/x|category|-|news,\\xff\"|u|1\n"
               "10|53|tls|-|parc.com|com|nxdomain|blocked|-|z|9\n"
               "10|-|ndn|data|/com/v=7|/com|forward|-|262 10,9|r|2\n");
}

/* A database of version 1 has no table of names and no community ids; it gets both, and keeps what
 * it has. */
static void test_an_old_database_gets_what_it_lacks(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    struct sl_diag diag;
    sqlite3 *db = NULL;

    (void)state;
    struct sl_sink *sink = open_sink(scratch_spec("sqlite", "old.db"));
    make_plain(made, 1);
    assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
    close_sink(sink, 1);
    assert_int_equal(sqlite3_open(scratch_path("old.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "DROP TABLE names; DROP TABLE flows; DROP TABLE dns;"
                                  "DROP TABLE http; DROP TABLE tls; DROP TABLE files;"
                                  "DROP TABLE packets; DROP TABLE smtp; DROP TABLE ssh;"
                                  "DROP TABLE ftp;"
                                  "ALTER TABLE alerts DROP COLUMN community_id;"
                                  "ALTER TABLE anomalies DROP COLUMN community_id;"
                                  "PRAGMA user_version = 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    write_events(scratch_spec("sqlite", "old.db"), event_of, N_GOLDEN);
    check_rows(scratch_path("old.db"), "SELECT count(*) FROM names", "5\n");
    check_rows(scratch_path("old.db"), "SELECT count(*), community_id FROM alerts", "1|-\n");
    check_rows(scratch_path("old.db"), "PRAGMA user_version", "6\n");
    free(made);
}

static void hostile(char *text, uint32_t cap, uint64_t *random)
{
    static const uint8_t odd[] = {'"', '\\', 1, 0x7F, 0x80, 0xC2, 0xFF, '\n', ' ', '/', '0', 0xE2};
    const uint32_t len = test_below(random, cap);

    for (uint32_t i = 0; i < len; i++)
        text[i] = (char)(test_below(random, 2) == 0 ? odd[test_below(random, sizeof odd)]
                                                    : 1 + test_below(random, 255));
    text[len] = '\0';
}

/* Any texts and fields: each line is one object of JSON, with the strings that were meant. */
static void test_hostile(void **state)
{
    char text[7][64], *line = NULL;
    const char *values[3] = {text[5], text[6], NULL};
    struct sl_sink *sink = open_sink(scratch_spec("eve", "hostile.json"));
    struct sl_diag diag;
    uint64_t random = 5;
    size_t cap = 0;

    (void)state;
    for (int i = 0; i < N_RANDOM; i++) {
        struct sl_event event = event_of(i % N_GOLDEN);
        struct sl_name_match match = matches[i % N_GOLDEN];

        for (int k = 0; k < 7; k++)
            hostile(text[k], sizeof text[k], &random);
        if (event.kind == SL_EVENT_DNS)
            match.dns.rrtype = match.dns.flags = (uint16_t)test_random(&random);
        else if (event.kind == SL_EVENT_TLS)
            match.tls.version = (uint16_t)test_random(&random);
        match.name = text[0];
        match.http.host = text[1];
        match.prefix = text[2];
        match.hops = test_below(&random, 4) == 0;
        match.verdict = test_below(&random, 2) == 0 ? "blocked" : NULL;
        match.values = values + test_below(&random, 3);
        match.list = text[3];
        match.format = text[4];
        match.line = (uint32_t)i;
        event.match = &match;
        assert_int_equal(sl_sink_write(sink, &event, &diag), SL_OK);
    }
    close_sink(sink, N_RANDOM);

    FILE *file = fopen(scratch_path("hostile.json"), "r");
    assert_non_null(file);
    for (int i = 0; i < N_RANDOM; i++) {
        const ssize_t len = getline(&line, &cap, file);
        json_error_t error;
        json_t *object = json_loadb(line, (size_t)len, JSON_REJECT_DUPLICATES, &error);

        if (object == NULL)
            fail_msg("%s: %s", error.text, line);
        const json_t *names = json_object_get(object, "names");
        assert_int_equal(json_integer_value(json_object_get(names, "line")), i);
        assert_true(json_is_string(json_object_get(names, "name")));
        assert_true(json_is_object(json_object_get(object, sl_event_type(kinds[i % N_GOLDEN]))));
        json_decref(object);
    }
    fclose(file);
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_console), cmocka_unit_test(test_eve),
        cmocka_unit_test(test_sqlite),  cmocka_unit_test(test_an_old_database_gets_what_it_lacks),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}

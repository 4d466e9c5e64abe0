/* SPDX-License-Identifier: MIT */
/* The output of sinks for DNS messages: golden lines of a response, a request and one that is cut
 * off. */
#include <sqlite3.h>

#include "sluice/app.h"
#include "test_sink_events.h"

enum { N_MESSAGES = 3 };

static const uint8_t response[] = "\x12\x34\x81\x80\0\1\0\2\0\0\0\0"
                                  "\1a\4test\0\0\1\0\1"
                                  "\xC0\x0C\0\5\0\1\0\0\0\x3C\0\4\1b\xC0\x0E"
                                  "\1b\xC0\x0E\0\1\0\1\0\0\0\x3C\0\4\x7F\0\0\1";
static const uint8_t request[] = "\0\7\1\0\0\1\0\0\0\0\0\0\1\"\4test\0\0\x10\0\1";

static struct sl_event message_event(int i)
{
    struct sl_event event = golden_event(SL_EVENT_DNS_MESSAGE, SL_IP_UDP, 53);

    event.payload = i == 0 ? response : request;
    event.payload_len = (uint32_t)(i == 0 ? sizeof response : sizeof request) - 1;
    if (i == 2)
        event.payload_len = 14; /* in the question's name */
    event.nth_message = i == 1 ? 3 : 0;
    return event;
}

static void test_console(void **state)
{
    static const char *const lines[N_MESSAGES] = {
        "1970-01-01 00:00:00.000001  DNS  response A a.test  NOERROR  "
        "UDP 10.0.0.1:40000 -> 10.0.0.2:53",
        "1970-01-01 00:00:00.000001  DNS  request TXT \".test  NOERROR  "
        "UDP 10.0.0.1:40000 -> 10.0.0.2:53",
        "1970-01-01 00:00:00.000001  DNS  request  NOERROR  UDP 10.0.0.1:40000 -> 10.0.0.2:53",
    };

    (void)state;
    check_console(message_event, lines, N_MESSAGES);
}

#define HEAD                                                               \
    "{\"timestamp\":\"1970-01-01T00:00:00.000001+0000\",\"flow_id\":45,"   \
    "\"pcap_cnt\":10,\"event_type\":\"dns\","                              \
    "\"src_ip\":\"10.0.0.1\",\"src_port\":40000,\"dest_ip\":\"10.0.0.2\"," \
    "\"dest_port\":53,\"proto\":\"UDP\",\"ip_v\":4,\"pkt_src\":\"wire/"    \
    "pcap\",\"dns\":{\"version\":3,"
#define TAIL "},\"pcap_filename\":\"a.pcap\"}"

static void test_eve(void **state)
{
    static const char *const lines[N_MESSAGES] = {
        HEAD "\"type\":\"response\",\"id\":4660,\"flags\":\"8180\",\"qr\":true,\"rd\":true,"
             "\"ra\":true,\"opcode\":0,\"rcode\":\"NOERROR\","
             "\"queries\":[{\"rrname\":\"a.test\",\"rrtype\":\"A\"}],"
             "\"answers\":[{\"rrname\":\"a.test\",\"rrtype\":\"CNAME\",\"ttl\":60,"
             "\"rdata\":\"b.test\"},"
             "{\"rrname\":\"b.test\",\"rrtype\":\"A\",\"ttl\":60,\"rdata\":\"127.0.0.1\"}],"
             "\"grouped\":{\"A\":[\"127.0.0.1\"],\"CNAME\":[\"b.test\"]}" TAIL,
        HEAD "\"type\":\"request\",\"tx_id\":2,\"id\":7,\"flags\":\"100\",\"rd\":true,"
             "\"opcode\":0,\"rcode\":\"NOERROR\","
             "\"queries\":[{\"rrname\":\"\\\".test\",\"rrtype\":\"TXT\"}]" TAIL,
        HEAD "\"type\":\"request\",\"id\":7,\"flags\":\"100\",\"rd\":true,\"opcode\":0,"
             "\"rcode\":\"NOERROR\"" TAIL,
    };

    (void)state;
    check_eve(message_event, lines, N_MESSAGES);
}

/* An alert has the message that it was found in. */
static void test_alert(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    struct sl_sink *sink = open_sink(scratch_spec("eve", "alert.json"));
    struct sl_diag diag;
    char line[4096];

    (void)state;
    make_plain(made, 1);
    made->event.origin.app = SL_APP_MDNS;
    made->event.payload = request;
    made->event.payload_len = sizeof request - 1;
    made->event.nth_message = 1;
    made->event.packet.bytes = (const uint8_t *)"\x01\x02\xff";
    made->event.packet.len = 3;
    made->event.packet.link = "EN10MB";
    made->event.origin.link_type = 1;
    assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
    close_sink(sink, 1);
    FILE *file = fopen(scratch_path("alert.json"), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "},\"dns\":{\"version\":3,\"type\":\"request\",\"tx_id\":0,"));
    assert_non_null(strstr(line, "\"pkt_src\":\"wire/pcap\",\"tx_id\":0,\"alert\":{"));
    assert_non_null(strstr(line, "\"rrtype\":\"TXT\"}]},\"app_proto\":\"mdns\","));
    assert_non_null(strstr(line, "\"stream\":0,\"packet\":\"AQL/\",\"packet_info\":{"
                                 "\"linktype\":1,\"linktype_name\":\"EN10MB\"}"));
    fclose(file);
    free(made);
}

static void check_row(sqlite3_stmt *select, const char *const *columns)
{
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    for (int i = 0; i < 6; i++) {
        const char *text = (const char *)sqlite3_column_text(select, i);

        if (columns[i] == NULL)
            assert_null(text);
        else
            assert_string_equal(text, columns[i]);
    }
}

static void test_sqlite(void **state)
{
    static const char *const rows[N_MESSAGES][6] = {
        {"10.0.0.1", "response", "4660", "NOERROR", "a.test", "A"},
        {"10.0.0.1", "request", "7", "NOERROR", "\".test", "TXT"},
        {"10.0.0.1", "request", "7", "NOERROR", NULL, NULL},
    };
    sqlite3_stmt *select;
    sqlite3 *database;

    (void)state;
    write_events(scratch_spec("sqlite", "dns.db"), message_event, N_MESSAGES);
    assert_int_equal(sqlite3_open(scratch_path("dns.db"), &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database,
                                        "SELECT src_ip, kind, message, rcode, rrname, rrtype "
                                        "FROM dns ORDER BY id",
                                        -1, &select, NULL),
                     SQLITE_OK);
    for (int i = 0; i < N_MESSAGES; i++)
        check_row(select, rows[i]);
    assert_int_equal(sqlite3_step(select), SQLITE_DONE);
    sqlite3_finalize(select);
    sqlite3_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_console),
        cmocka_unit_test(test_eve),
        cmocka_unit_test(test_alert),
        cmocka_unit_test(test_sqlite),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}

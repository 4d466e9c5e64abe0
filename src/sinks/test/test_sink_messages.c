/* SPDX-License-Identifier: MIT */
/* The output of sinks for messages of flows, of files and of tagged packets: golden lines and rows.
 */
#include <sqlite3.h>

#include "test_sink_events.h"

enum { N_EVENTS = 10 };

#define VALUE(value_id, string)                                                         \
    {                                                                                   \
        .bytes = (const uint8_t *)(string), .len = sizeof(string) - 1, .id = (value_id) \
    }
#define HALF(array) .value = (array), .n_values = sizeof(array) / sizeof *(array), .has_head = true

static const struct sl_app_value request[] = {
    VALUE(SL_HTTP_METHOD, "GET"),
    VALUE(SL_HTTP_URI, "/a b?c"),
    VALUE(SL_HTTP_URI_RAW, "/a%20b?c"),
    VALUE(SL_HTTP_HOST, "shop.test"),
    VALUE(SL_HTTP_PROTOCOL, "HTTP/1.1"),
    VALUE(SL_HTTP_HEADER, "Host: shop.test:81\r\nX-Forwarded-For: 192.0.2.9\r\n"),
    VALUE(SL_HTTP_USER_AGENT, "curl/8 \"x\""),
    VALUE(SL_HTTP_REFERER, "http://a.test/"),
};

static const struct sl_app_value response[] = {
    VALUE(SL_HTTP_HEADER, "Content-Range: bytes 0-99/200\r\nLocation: /b\r\n"),
    VALUE(SL_HTTP_STAT_CODE, "206"),
    VALUE(SL_HTTP_CONTENT_TYPE, "text/html; charset=utf-8"),
    VALUE(SL_HTTP_LOCATION, "/b"),
};

static const struct sl_app_value part[] = {
    VALUE(SL_HTTP_HEADER, "Content-Range: bytes 0-99/200\r\n")};

static const struct sl_app_value broken[] = {VALUE(SL_HTTP_STAT_CODE, "2x")};

static const struct sl_app_value client[] = {
    VALUE(SL_TLS_SNI, "shop.test"),  VALUE(SL_TLS_JA3_HASH, "0a"),
    VALUE(SL_TLS_JA3, "771,1-2,,,"), VALUE(SL_TLS_JA4, "t13d0102h2_a_b"),
    VALUE(SL_TLS_ALPN, "h2"),        VALUE(SL_TLS_ALPN, "http/1.1"),
};

static const struct sl_app_value server[] = {
    VALUE(SL_TLS_CERT_SUBJECT, "CN=shop.test"),
    VALUE(SL_TLS_CERT_ISSUER, "CN=ca.test"),
    VALUE(SL_TLS_CERT_SERIAL, "0A:1B"),
    VALUE(SL_TLS_CERT_FINGERPRINT, "aa:bb"),
    VALUE(SL_TLS_CERT_NOT_BEFORE, "2024-01-31T23:59:59"),
    VALUE(SL_TLS_CERT_NOT_AFTER, "2025-01-31T23:59:59"),
    VALUE(SL_TLS_JA3S_HASH, "0b"),
    VALUE(SL_TLS_JA3S, "771,1,"),
    VALUE(SL_TLS_CERT, "\x30\x82\xff"),
    VALUE(SL_TLS_CERT, "\x30"),
    VALUE(SL_TLS_CERT_ALT_NAME, "www.shop.test"),
    VALUE(SL_TLS_ALPN, "h2"),
};

static const struct sl_app_value mail[] = {
    VALUE(SL_SMTP_HELO, "me"),      VALUE(SL_SMTP_MAIL_FROM, "<a@b>"),
    VALUE(SL_SMTP_RCPT_TO, "<c>"),  VALUE(SL_SMTP_RCPT_TO, "<d>"),
    VALUE(SL_EMAIL_FROM, "A"),      VALUE(SL_EMAIL_TO, "C"),
    VALUE(SL_EMAIL_SUBJECT, "hi"),  VALUE(SL_EMAIL_MESSAGE_ID, "<1>"),
    VALUE(SL_EMAIL_URL, "ftp://x"), VALUE(SL_EMAIL_ATTACHMENT, "e"),
};

static const struct sl_app_value ssh_client[] = {VALUE(SL_SSH_PROTO, "2.0"),
                                                 VALUE(SL_SSH_SOFTWARE, "a")};

static const struct sl_app_value ssh_server[] = {
    VALUE(SL_SSH_PROTO, "1.99"), VALUE(SL_SSH_SOFTWARE, "b"), VALUE(SL_SSH_HASSH, "0c"),
    VALUE(SL_SSH_HASSH_STRING, "k;a;b;")};

static const struct sl_app_value command[] = {VALUE(SL_FTP_COMMAND, "PASV")};

static const struct sl_app_value replies[] = {VALUE(SL_FTP_COMPLETION_CODE, "150"),
                                              VALUE(SL_FTP_COMPLETION_CODE, "227"),
                                              VALUE(SL_FTP_REPLY, "x"), VALUE(SL_FTP_REPLY, "y")};

static const struct sl_app_file file = {
    .name = VALUE(SL_FILE_NAME, "/a b"),
    .magic = VALUE(SL_FILE_MAGIC, "ASCII text"),
    .size = 1,
    .state = SL_FILE_CLOSED,
    .hashes = 1 << SL_FILE_MD5 | 1 << SL_FILE_SHA256,
    .hash = {[SL_FILE_MD5] = {0x12, 0xef}, [SL_FILE_SHA256] = {0xfe, 0x01}},
};

#define ZEROS_28 "0000000000000000000000000000"
#define MD5 "12ef" ZEROS_28
#define SHA256 "fe01" ZEROS_28 ZEROS_28 "0000"

static const struct sl_app_message messages[N_EVENTS] = {
    {.app = SL_APP_HTTP,
     .transaction = 2,
     .half = {{HALF(request)}, {HALF(response), .body_len = 300, .wire_len = 100}},
     .status = 206,
     .port = 81},
    {.app = SL_APP_HTTP, .half = {{.value = NULL}, {HALF(broken)}}},
    {.app = SL_APP_TLS,
     .half = {{HALF(client)}, {HALF(server)}},
     .seen = SL_TLS_SEEN_RESUMED,
     .version = {0x0304, 0x0303}},
    {.app = SL_APP_QUIC, .half = {{HALF(client)}}, .quic_version = 0xff00001d},
    {.app = SL_APP_HTTP,
     .step = SL_APP_FILE,
     .side = 1,
     .transaction = 3,
     .half = {{HALF(request)}, {HALF(part)}},
     .file = &file},
    {.app = SL_APP_UNKNOWN},
    {.app = SL_APP_HTTP, .step = SL_APP_EVENT, .transaction = 1, .event = 1},
    {.app = SL_APP_SMTP, .half = {{HALF(mail)}}, .mail = SL_MAIL_DONE},
    {.app = SL_APP_SSH, .half = {{HALF(ssh_client)}, {HALF(ssh_server)}}},
    {.app = SL_APP_FTP,
     .half = {{HALF(command)}, {HALF(replies)}},
     .port = 21,
     .ftp_mode = SL_FTP_PASSIVE,
     .truncated = {false, true}},
};

static const enum sl_event_kind kinds[N_EVENTS] = {
    SL_EVENT_HTTP_MESSAGE, SL_EVENT_HTTP_MESSAGE, SL_EVENT_TLS_MESSAGE, SL_EVENT_QUIC_MESSAGE,
    SL_EVENT_FILE,         SL_EVENT_PACKET,       SL_EVENT_ANOMALY,     SL_EVENT_SMTP_MESSAGE,
    SL_EVENT_SSH_MESSAGE,  SL_EVENT_FTP_MESSAGE};

static struct sl_event event_of(int i)
{
    struct sl_event event = golden_event(kinds[i], SL_IP_TCP, 80);

    event.message = &messages[i];
    event.origin.link_type = 1;
    event.packet.bytes = (const uint8_t *)"\x01\x02\xff";
    event.packet.len = 3;
    event.packet.link = "EN10MB";
    return event;
}

#define TIME "1970-01-01 00:00:00.000001  "
#define ENDS "  TCP 10.0.0.1:40000 -> 10.0.0.2:80"

static void test_console(void **state)
{
    static const char *const lines[N_EVENTS] = {
        TIME "HTTP  GET shop.test/a%20b?c  206, 100 bytes" ENDS,
        TIME "HTTP   0 bytes" ENDS,
        TIME "TLS  shop.test  TLS 1.2  CN=shop.test" ENDS,
        TIME "QUIC  shop.test  draft-29" ENDS,
        TIME "FILE  /a b  1 byte, CLOSED  ASCII text  sha256 " SHA256 ENDS,
        TIME "PACKET  3 bytes" ENDS,
        TIME "ANOMALY  REQUEST_TOO_MANY_HEADERS" ENDS,
        TIME "SMTP  <a@b>  hi" ENDS,
        TIME "SSH  a  b" ENDS,
        TIME "FTP  PASV" ENDS,
    };

    (void)state;
    check_console(event_of, lines, N_EVENTS);
}

#define HEAD(type)                                                         \
    "{\"timestamp\":\"1970-01-01T00:00:00.000001+0000\",\"flow_id\":45,"   \
    "\"pcap_cnt\":10,\"event_type\":\"" type "\","                         \
    "\"src_ip\":\"10.0.0.1\",\"src_port\":40000,\"dest_ip\":\"10.0.0.2\"," \
    "\"dest_port\":80,\"proto\":\"TCP\",\"ip_v\":4,\"pkt_src\":\"wire/pcap\","
#define TAIL ",\"pcap_filename\":\"a.pcap\"}"
#define REQUEST(behind)                                                    \
    "\"http\":{\"hostname\":\"shop.test\"," behind "\"url\":\"/a%20b?c\"," \
    "\"http_user_agent\":\"curl/8 \\\"x\\\"\",\"xff\":\"192.0.2.9\","
#define BEHIND_REQUEST \
    "\"http_refer\":\"http://a.test/\",\"http_method\":\"GET\",\"protocol\":\"HTTP/1.1\","
#define RANGE "\"content_range\":{\"raw\":\"bytes 0-99/200\",\"start\":0,\"end\":99,\"size\":200},"
#define CLIENT "\"ja3\":{\"hash\":\"0a\",\"string\":\"771,1-2,,,\"},"
#define FILE_OBJECT(tx)                                                                    \
    "{\"filename\":\"/a b\",\"magic\":\"ASCII text\",\"gaps\":false,\"state\":\"CLOSED\"," \
    "\"md5\":\"" MD5 "\",\"sha256\":\"" SHA256 "\",\"stored\":false,\"size\":1,"           \
    "\"start\":0,\"end\":99,"                                                              \
    "\"tx_id\":" tx "}"

static void test_eve(void **state)
{
    static const char *const lines[N_EVENTS] = {
        HEAD("http") "\"tx_id\":2," REQUEST(
            "\"http_port\":81,") "\"http_content_type\":\"text/html\"," RANGE BEHIND_REQUEST
                                 "\"status\":206,\"redirect\":\"/b\",\"length\":100}" TAIL,
        HEAD("http") "\"tx_id\":0,\"http\":{\"status_string\":\"2x\",\"length\":0}" TAIL,
        HEAD("tls") "\"tls\":{\"subject\":\"CN=shop.test\",\"issuerdn\":\"CN=ca.test\","
                    "\"subjectaltname\":[\"www.shop.test\"],\"session_resumed\":true,"
                    "\"serial\":\"0A:1B\",\"fingerprint\":\"aa:bb\",\"sni\":\"shop.test\","
                    "\"version\":\"TLS 1.2\",\"notbefore\":\"2024-01-31T23:59:59\","
                    "\"notafter\":\"2025-01-31T23:59:59\",\"chain\":[\"MIL/\",\"MA==\"]," CLIENT
                    "\"ja3s\":{\"hash\":\"0b\",\"string\":\"771,1,\"},"
                    "\"ja4\":\"t13d0102h2_a_b\",\"client_alpns\":[\"h2\",\"http/1.1\"],"
                    "\"server_alpns\":[\"h2\"]}" TAIL,
        HEAD("quic") "\"quic\":{\"version\":\"draft-29\",\"sni\":\"shop.test\"," CLIENT
                     "\"ja4\":\"t13d0102h2_a_b\"}" TAIL,
        HEAD("fileinfo") REQUEST("") RANGE BEHIND_REQUEST
        "\"length\":0},\"app_proto\":\"http\",\"fileinfo\":" FILE_OBJECT("3") TAIL,
        HEAD("packet") "\"packet\":\"AQL/\",\"packet_info\":{\"linktype\":1,"
                       "\"linktype_name\":\"EN10MB\"}" TAIL,
        HEAD("anomaly") "\"tx_id\":1,\"anomaly\":{\"app_proto\":\"http\",\"type\":\"applayer\","
                        "\"event\":\"REQUEST_TOO_MANY_HEADERS\",\"layer\":\"proto_parser\"}" TAIL,
        HEAD("smtp") "\"tx_id\":0,\"smtp\":{\"helo\":\"me\",\"mail_from\":\"<a@b>\","
                     "\"rcpt_to\":[\"<c>\",\"<d>\"]},\"email\":{\"status\":\"PARSE_DONE\","
                     "\"from\":\"A\",\"to\":[\"C\"],\"subject\":\"hi\",\"message_id\":\"<1>\","
                     "\"url\":[\"ftp://x\"],\"attachment\":[\"e\"]}" TAIL,
        HEAD("ssh") "\"tx_id\":0,\"ssh\":{\"client\":{\"proto_version\":\"2.0\","
                    "\"software_version\":\"a\"},\"server\":{\"proto_version\":\"1.99\","
                    "\"software_version\":\"b\",\"hassh\":{\"hash\":\"0c\","
                    "\"string\":\"k;a;b;\"}}}" TAIL,
        HEAD("ftp") "\"tx_id\":0,\"ftp\":{\"command\":\"PASV\",\"command_truncated\":false,"
                    "\"completion_code\":[\"150\",\"227\"],\"dynamic_port\":21,"
                    "\"mode\":\"passive\",\"reply\":[\"x\",\"y\"],\"reply_received\":\"yes\","
                    "\"reply_truncated\":true}" TAIL,
    };

    (void)state;
    check_eve(event_of, lines, N_EVENTS);
}

enum { ALERT_MAX = 4096 };

static void write_alert(const struct made_event *made, char line[ALERT_MAX])
{
    struct sl_sink *sink = open_sink(scratch_spec("eve", "alert.json"));
    struct sl_diag diag;

    assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
    close_sink(sink, 1);
    FILE *lines = fopen(scratch_path("alert.json"), "r");
    assert_non_null(lines);
    while (fgets(line, ALERT_MAX, lines) != NULL)
        ;
    fclose(lines);
}

/* An alert has the message and the file that its rule matches. */
static void test_alert(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    char line[ALERT_MAX];

    (void)state;
    make_plain(made, 1);
    made->event.origin.app = SL_APP_HTTP;
    made->event.message = &messages[4];
    write_alert(made, line);
    assert_non_null(strstr(line, "\"pkt_src\":\"wire/pcap\",\"tx_id\":3,\"alert\":{"));
    assert_non_null(strstr(line, "}," REQUEST("") RANGE BEHIND_REQUEST
                           "\"length\":0},"
                           "\"files\":[" FILE_OBJECT("3") "],\"app_proto\":\"http\","
                                                          "\"direction\":"));
    free(made);
}

static void test_alert_of_a_call(void **state)
{
    static const struct sl_app_value interface = {(const uint8_t *)"0-1", 3, SL_DCERPC_INTERFACE};
    static const struct sl_app_message call = {
        .app = SL_APP_DCERPC,
        .half = {{.value = &interface, .n_values = 1, .body_len = 7}, {.body_len = 8}},
        .call = {.id = 9, .opnum = 15, .major = 2, .minor = 1, .n_fragments = {1, 2}}};
    struct made_event *made = malloc(sizeof *made);
    char line[ALERT_MAX];

    (void)state;
    make_plain(made, 1);
    made->event.message = &call;
    write_alert(made, line);
    assert_non_null(strstr(line, "\"dcerpc\":{\"request\":\"REQUEST\",\"req\":{\"opnum\":15,"
                                 "\"frag_cnt\":1,\"stub_data_size\":7},"
                                 "\"response\":\"RESPONSE\","
                                 "\"res\":{\"frag_cnt\":2,\"stub_data_size\":8},"
                                 "\"interfaces\":[{\"uuid\":\"0-1\",\"version\":\"2.1\"}],"
                                 "\"call_id\":9,\"rpc_version\":\"5.0\"}"));
    free(made);
}

static void test_alert_of_a_rule_that_passes(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    struct sl_signature signature;
    char line[ALERT_MAX];

    (void)state;
    make_plain(made, 1);
    signature = *made->event.signature;
    signature.action = "Pass";
    made->event.signature = &signature;
    write_alert(made, line);
    assert_non_null(strstr(line, "},\"verdict\":{\"action\":\"pass\"},"));
    signature.action = "alert";
    write_alert(made, line);
    assert_null(strstr(line, "verdict"));
    free(made);
}

static void test_alert_of_ntp(void **state)
{
    static const uint8_t ntp[48] = {0x1B, 2, [12] = 0x4C, 0, 0xFF, 1};
    struct made_event *made = malloc(sizeof *made);
    char line[ALERT_MAX];

    (void)state;
    make_plain(made, 1);
    made->event.origin.app = SL_APP_NTP;
    made->event.payload = ntp;
    made->event.payload_len = sizeof ntp;
    write_alert(made, line);
    assert_non_null(strstr(line, "\"ntp\":{\"version\":3,\"mode\":3,\"stratum\":2,"
                                 "\"reference_id\":\"4c:00:ff:01\"},\"app_proto\":\"ntp\""));
    free(made);
}

/* An object without a member is one all the same. */
static void test_alert_of_a_mail_without_a_greeting(void **state)
{
    static const struct sl_app_message mails[] = {{.app = SL_APP_SMTP},
                                                  {.app = SL_APP_SMTP, .mail = SL_MAIL_DONE}};
    static const char *const expected[] = {"},\"smtp\":{},\"app_proto\"",
                                           "},\"smtp\":{},\"email\":{\"status\":"};
    struct made_event *made = malloc(sizeof *made);
    char line[ALERT_MAX];

    (void)state;
    make_plain(made, 1);
    made->event.origin.app = SL_APP_SMTP;
    for (int i = 0; i < 2; i++) {
        made->event.message = &mails[i];
        write_alert(made, line);
        assert_non_null(strstr(line, expected[i]));
    }
    free(made);
}

static void check_rows(sqlite3 *database, const char *sql, const char *const *rows)
{
    sqlite3_stmt *select;

    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &select, NULL), SQLITE_OK);
    for (; *rows != NULL; rows++) {
        assert_int_equal(sqlite3_step(select), SQLITE_ROW);
        assert_string_equal((const char *)sqlite3_column_text(select, 0), *rows);
    }
    assert_int_equal(sqlite3_step(select), SQLITE_DONE);
    sqlite3_finalize(select);
}

#define JOIN(a, b) "ifnull(" a ",'-')||' '||" b

static void test_sqlite(void **state)
{
    static const char *const http[] = {
        "GET shop.test /a%20b?c HTTP/1.1 206 100 text/html curl/8 \"x\" http://a.test/ /b",
        "- - - - - 0 - - - -", NULL};
    static const char *const tls[] = {
        "tls TLS 1.2 shop.test CN=shop.test CN=ca.test 0A:1B aa:bb 2024-01-31T23:59:59 "
        "2025-01-31T23:59:59 0a 0b t13d0102h2_a_b",
        "quic draft-29 shop.test - - - - - - 0a - t13d0102h2_a_b", NULL};
    static const char *const files[] = {
        "/a b ASCII text 1 CLOSED 0 " MD5 " - " SHA256 " shop.test /a%20b?c", NULL};
    static const char *const packets[] = {"1 0102FF", NULL};
    sqlite3 *database;

    (void)state;
    write_events(scratch_spec("sqlite", "messages.db"), event_of, N_EVENTS);
    assert_int_equal(sqlite3_open(scratch_path("messages.db"), &database), SQLITE_OK);
    check_rows(
        database,
        "SELECT " JOIN(
            "method",
            JOIN("hostname",
                 JOIN("url",
                      JOIN("protocol",
                           JOIN("status",
                                JOIN("length",
                                     JOIN("content_type",
                                          JOIN("user_agent",
                                               JOIN("refer",
                                                    "ifnull(redirect,'-')"))))))))) " FROM http "
                                                                                    "ORDER BY id",
        http);
    check_rows(
        database,
        "SELECT " JOIN(
            "kind",
            JOIN(
                "version",
                JOIN(
                    "sni",
                    JOIN(
                        "subject",
                        JOIN("issuerdn",
                             JOIN("serial",
                                  JOIN("fingerprint",
                                       JOIN("notbefore",
                                            JOIN("notafter",
                                                 JOIN("ja3",
                                                      JOIN("ja3s",
                                                           "ja4"))))))))))) " FROM tls ORDER BY id",
        tls);
    check_rows(
        database,
        "SELECT " JOIN(
            "filename",
            JOIN("magic",
                 JOIN("size",
                      JOIN("state",
                           JOIN("gaps",
                                JOIN("md5",
                                     JOIN("sha1", JOIN("sha256", JOIN("hostname",
                                                                      "url"))))))))) " FROM files",
        files);
    check_rows(database, "SELECT linktype||' '||hex(bytes) FROM packets", packets);
    sqlite3_close(database);
}

static struct sl_event nameless_of(int i)
{
    static const struct sl_app_file nameless = {.size = 2, .state = SL_FILE_CLOSED};
    static const struct sl_app_message message = {
        .app = SL_APP_HTTP, .step = SL_APP_FILE, .side = 1, .file = &nameless};
    struct sl_event event = golden_event(SL_EVENT_FILE, SL_IP_TCP, 80);

    (void)i;
    event.message = &message;
    return event;
}

/* A response without its request has no URL, which the file would be named by. */
static void test_sqlite_takes_files_without_a_name(void **state)
{
    static const char *const files[] = {"'' 2 CLOSED", NULL};
    sqlite3 *database;

    (void)state;
    write_events(scratch_spec("sqlite", "nameless.db"), nameless_of, 1);
    assert_int_equal(sqlite3_open(scratch_path("nameless.db"), &database), SQLITE_OK);
    check_rows(database, "SELECT quote(filename)||' '||size||' '||state FROM files", files);
    sqlite3_close(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_console),
        cmocka_unit_test(test_eve),
        cmocka_unit_test(test_alert),
        cmocka_unit_test(test_alert_of_a_call),
        cmocka_unit_test(test_alert_of_a_rule_that_passes),
        cmocka_unit_test(test_alert_of_ntp),
        cmocka_unit_test(test_alert_of_a_mail_without_a_greeting),
        cmocka_unit_test(test_sqlite),
        cmocka_unit_test(test_sqlite_takes_files_without_a_name),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}

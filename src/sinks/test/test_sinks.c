/* SPDX-License-Identifier: MIT */
/* The output of sinks: golden lines, and random hostile events read back by jansson and SQLite. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sinks/eve_text.h"
#include "test_sink_events.h"

enum { N_RANDOM = TEST_SANITIZED ? 5000 : 30000 };

/* The events of the golden lines. */
static const char *const golden_references[] = {
    "https://example.org/a?b=\"c\"", "https://cve.mitre.org/cgi-bin/cvename.cgi?name=2021-44228",
    "bugtraq,1234", "http://example.org", NULL};
static const char *const golden_metadata[] = {
    "created_at 2026_01_02", "Tag first", "policy balanced-ips drop", "tag second", "lonely", NULL};
static const char *const no_list[] = {NULL};

static const struct sl_signature golden_signatures[] = {
    {"alert", "message text", "trojan-activity", "A Network Trojan was detected", 1, 2000001, 3, 1,
     golden_references, golden_metadata, "a.rules", 1},
    {"drop", "", "", "", 4294967295, 4294967295, 0, 3, no_list, no_list, "a.rules", 2},
    {"rejectdst", "\x1B[2J \xC3\xA9 \xFF \"\\\n", "a\tb", "\xC2\x9B", 1, 3, 1, 2, no_list, no_list,
     "a.rules", 3},
};

static const uint8_t golden_payload[] = "GET / \"\\\r\n\x00\xFF";

enum { N_GOLDEN = 10 };

#define NO_VLAN                \
    {                          \
        SL_NO_VLAN, SL_NO_VLAN \
    }

static void make_golden(struct sl_event events[N_GOLDEN])
{
    static const struct sl_event golden[N_GOLDEN] = {
        {.kind = SL_EVENT_ALERT,
         .signature = &golden_signatures[0],
         .source = "dir/a.pcap",
         .origin = {.time_ns = INT64_C(1767348672123456789),
                    .position = 7,
                    .flow = 42,
                    .vlan = NO_VLAN,
                    .flow_flags = SL_FLOW_TO_SERVER},
         .tuple = {.src_port = 1234, .dst_port = 80, .protocol = SL_IP_TCP},
         .community_id = "1:LQU9qZlK+B5F3KDmev6m5PMibrg=",
         .payload = golden_payload,
         .payload_len = 12},
        {.kind = SL_EVENT_ALERT,
         .signature = &golden_signatures[1],
         .source = "eth0",
         .live = true,
         .origin = {.time_ns = INT64_C(951782399999999999),
                    .position = 8,
                    .flow = 43,
                    .vlan = {100, SL_NO_VLAN}},
         .tuple = {.src_port = 53, .dst_port = 0, .protocol = SL_IP_UDP}},
        {.kind = SL_EVENT_ALERT,
         .signature = &golden_signatures[2],
         .source = "b\xFF.pcap",
         .origin = {.position = 9, .flow = 44, .vlan = {100, 4095}},
         .tuple = {.src_port = 1, .dst_port = 2, .protocol = SL_IP_SCTP},
         .payload = golden_payload,
         .payload_len = 1},
        {.kind = SL_EVENT_ANOMALY,
         .check = "tcp-syn-fin",
         .source = "a.pcap",
         .origin = {.time_ns = 1000, .position = 10, .flow = 45, .vlan = NO_VLAN},
         .tuple = {.src_port = 65535, .dst_port = 0, .protocol = SL_IP_TCP},
         .payload = golden_payload,
         .payload_len = 5},
        {.kind = SL_EVENT_ANOMALY,
         .check = "ttl-zero",
         .source = "a.pcap",
         .origin = {.time_ns = -1, .position = 11, .flow = 46, .vlan = NO_VLAN},
         .tuple = {.src_port = 8, .dst_port = 0, .protocol = SL_IP_ICMP}},
        {.kind = SL_EVENT_ANOMALY,
         .check = "ttl-zero",
         .source = "a.pcap",
         .origin = {.time_ns = INT64_MIN, .position = 12, .flow = 47, .vlan = NO_VLAN},
         .tuple = {.src_port = 135, .dst_port = 0, .protocol = SL_IP_ICMPV6}},
        /* Fragments that are not first. */
        {.kind = SL_EVENT_ANOMALY,
         .check = "fragment-oversize",
         .source = "a.pcap",
         .origin = {.time_ns = 1, .position = 13, .vlan = NO_VLAN},
         .tuple = {.protocol = SL_IP_UDP}},
        {.kind = SL_EVENT_ANOMALY,
         .check = "land",
         .source = "a.pcap",
         .origin = {.position = 14, .vlan = NO_VLAN},
         .tuple = {.protocol = SL_IP_ICMP}},
        {.kind = SL_EVENT_ANOMALY,
         .check = "land",
         .source = "a.pcap",
         .origin = {.time_ns = INT64_MAX, .position = 15, .vlan = NO_VLAN},
         .tuple = {.protocol = 253}}, /* a protocol without a name */
        /* No IP header; an unknown position. */
        {.kind = SL_EVENT_ANOMALY,
         .check = "link-truncated",
         .source = "a.pcap",
         .origin = {.vlan = NO_VLAN}},
    };
    static const char *const addresses[N_GOLDEN][2] = {
        {"10.0.0.1", "10.0.0.2"},       {"2001:db8::1", "2001:db8::2"},
        {"192.0.2.1", "192.0.2.2"},     {"2001:db8::1", "::"},
        {"10.0.0.1", "10.0.0.2"},       {"fe80::1", "ff02::1"},
        {"2001:db8::1", "2001:db8::2"}, {"10.0.0.1", "10.0.0.1"},
        {"10.0.0.1", "10.0.0.1"},       {NULL, NULL},
    };

    memcpy(events, golden, sizeof golden);
    for (int i = 0; i < N_GOLDEN; i++) {
        events[i].has_tuple = addresses[i][0] != NULL;
        if (!events[i].has_tuple)
            continue;
        events[i].tuple.src = make_addr(addresses[i][0]);
        events[i].tuple.dst = make_addr(addresses[i][1]);
    }
}

/* Writes the golden events and compares the file they came to. */
static void check_golden(const char *spec, const char *path, const char *const lines[N_GOLDEN])
{
    struct sl_event events[N_GOLDEN];
    struct sl_diag diag;

    make_golden(events);

    const bool to_stdout = strchr(spec, '/') == NULL;
    const int saved = to_stdout ? stdout_to(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)) : -1;
    struct sl_sink *sink = open_sink(spec);
    int failures = 0;
    for (int i = 0; i < N_GOLDEN; i++)
        failures += sl_sink_write(sink, &events[i], &diag) != SL_OK;
    close_sink(sink, N_GOLDEN);
    if (to_stdout)
        stdout_back(saved);
    assert_int_equal(failures, 0);

    check_lines(path, lines, N_GOLDEN);
}

static void test_console_golden(void **state)
{
    static const char *const lines[N_GOLDEN] = {
        "2026-01-02 10:11:12.123456  ALERT  [1:2000001:3] message text  "
        "(trojan-activity, priority 1)  TCP 10.0.0.1:1234 -> 10.0.0.2:80",
        "2000-02-28 23:59:59.999999  ALERT  [4294967295:4294967295:0]   (priority 3)  "
        "UDP [2001:db8::1]:53 -> [2001:db8::2]:0",
        "1970-01-01 00:00:00.000000  ALERT  [1:3:1] \\x1b[2J \\xc3\\xa9 \\xff \"\\\\x0a  "
        "(a\\x09b, priority 2)  SCTP 192.0.2.1:1 -> 192.0.2.2:2",
        "1970-01-01 00:00:00.000001  ANOMALY  tcp-syn-fin  TCP [2001:db8::1]:65535 -> [::]:0",
        "1969-12-31 23:59:59.999999  ANOMALY  ttl-zero  ICMP 10.0.0.1 -> 10.0.0.2 type 8 code 0",
        "1677-09-21 00:12:43.145224  ANOMALY  ttl-zero  "
        "IPv6-ICMP fe80::1 -> ff02::1 type 135 code 0",
        "1970-01-01 00:00:00.000000  ANOMALY  fragment-oversize  "
        "UDP 2001:db8::1 -> 2001:db8::2",
        "1970-01-01 00:00:00.000000  ANOMALY  land  ICMP 10.0.0.1 -> 10.0.0.1",
        "2262-04-11 23:47:16.854775  ANOMALY  land  253 10.0.0.1 -> 10.0.0.1",
        "1970-01-01 00:00:00.000000  ANOMALY  link-truncated",
    };

    (void)state;
    check_golden("console", scratch_path("console.txt"), lines);
}

static void test_eve_golden(void **state)
{
    static const char *const lines[N_GOLDEN] = {
        "{\"timestamp\":\"2026-01-02T10:11:12.123456+0000\",\"flow_id\":42,\"pcap_cnt\":7,"
        "\"event_type\":\"alert\",\"src_ip\":\"10.0.0.1\",\"src_port\":1234,"
        "\"dest_ip\":\"10.0.0.2\",\"dest_port\":80,\"proto\":\"TCP\",\"ip_v\":4,\"pkt_src\":\"wire/"
        "pcap\","
        "\"community_id\":\"1:LQU9qZlK+B5F3KDmev6m5PMibrg=\","
        "\"alert\":{\"action\":\"allowed\",\"gid\":1,\"signature_id\":2000001,\"rev\":3,"
        "\"signature\":\"message text\",\"category\":\"A Network Trojan was detected\","
        "\"severity\":1,\"references\":[\"https://example.org/a?b=\\\"c\\\"\","
        "\"https://cve.mitre.org/cgi-bin/cvename.cgi?name=2021-44228\",\"bugtraq,1234\","
        "\"http://example.org\"],\"metadata\":{\"created_at\":[\"2026_01_02\"],"
        "\"policy\":[\"balanced-ips drop\"],\"Tag\":[\"first\",\"second\"]}},"
        "\"direction\":\"to_server\",\"payload\":\"R0VUIC8gIlwNCgD/\","
        "\"payload_printable\":\"GET / \\\"\\\\\\r\\n..\",\"stream\":0,"
        "\"pcap_filename\":\"dir/a.pcap\"}",

        "{\"timestamp\":\"2000-02-28T23:59:59.999999+0000\",\"flow_id\":43,\"in_iface\":\"eth0\","
        "\"event_type\":\"alert\",\"vlan\":[100],\"src_ip\":\"2001:db8::1\",\"src_port\":53,"
        "\"dest_ip\":\"2001:db8::2\",\"dest_port\":0,\"proto\":\"UDP\",\"ip_v\":6,\"pkt_src\":"
        "\"wire/pcap\","
        "\"alert\":{\"action\":\"allowed\",\"gid\":4294967295,\"signature_id\":4294967295,"
        "\"rev\":0,\"signature\":\"\",\"category\":\"\",\"severity\":3},"
        "\"direction\":\"to_client\",\"stream\":0}",

        "{\"timestamp\":\"1970-01-01T00:00:00.000000+0000\",\"flow_id\":44,\"pcap_cnt\":9,"
        "\"event_type\":\"alert\",\"vlan\":[100,4095],\"src_ip\":\"192.0.2.1\",\"src_port\":1,"
        "\"dest_ip\":\"192.0.2.2\",\"dest_port\":2,\"proto\":\"SCTP\",\"ip_v\":4,\"pkt_src\":"
        "\"wire/pcap\","
        "\"alert\":{\"action\":\"blocked\",\"gid\":1,\"signature_id\":3,\"rev\":1,"
        "\"signature\":\"\\u001b[2J \xC3\xA9 \\\\xff \\\"\\\\\\n\",\"category\":\"\\u009b\","
        "\"severity\":2},\"direction\":\"to_client\",\"payload\":\"Rw==\","
        "\"payload_printable\":\"G\",\"stream\":0,\"pcap_filename\":\"b\\\\xff.pcap\"}",

        "{\"timestamp\":\"1970-01-01T00:00:00.000001+0000\",\"flow_id\":45,\"pcap_cnt\":10,"
        "\"event_type\":\"anomaly\",\"src_ip\":\"2001:db8::1\",\"src_port\":65535,"
        "\"dest_ip\":\"::\",\"dest_port\":0,\"proto\":\"TCP\",\"ip_v\":6,\"pkt_src\":\"wire/pcap\","
        "\"anomaly\":{\"type\":\"decode\",\"event\":\"tcp-syn-fin\"},"
        "\"pcap_filename\":\"a.pcap\"}",

        "{\"timestamp\":\"1969-12-31T23:59:59.999999+0000\",\"flow_id\":46,\"pcap_cnt\":11,"
        "\"event_type\":\"anomaly\",\"src_ip\":\"10.0.0.1\",\"dest_ip\":\"10.0.0.2\","
        "\"proto\":\"ICMP\",\"ip_v\":4,\"icmp_type\":8,\"icmp_code\":0,\"pkt_src\":\"wire/pcap\","
        "\"anomaly\":{\"type\":\"decode\",\"event\":\"ttl-zero\"},\"pcap_filename\":\"a.pcap\"}",

        "{\"timestamp\":\"1677-09-21T00:12:43.145224+0000\",\"flow_id\":47,\"pcap_cnt\":12,"
        "\"event_type\":\"anomaly\",\"src_ip\":\"fe80::1\",\"dest_ip\":\"ff02::1\","
        "\"proto\":\"IPv6-ICMP\",\"ip_v\":6,\"icmp_type\":135,\"icmp_code\":0,\"pkt_src\":\"wire/"
        "pcap\","
        "\"anomaly\":{\"type\":\"decode\",\"event\":\"ttl-zero\"},\"pcap_filename\":\"a.pcap\"}",

        "{\"timestamp\":\"1970-01-01T00:00:00.000000+0000\",\"pcap_cnt\":13,"
        "\"event_type\":\"anomaly\",\"src_ip\":\"2001:db8::1\",\"src_port\":0,"
        "\"dest_ip\":\"2001:db8::2\",\"dest_port\":0,\"proto\":\"UDP\",\"ip_v\":6,\"pkt_src\":"
        "\"wire/pcap\","
        "\"anomaly\":{\"type\":\"decode\",\"event\":\"fragment-oversize\"},"
        "\"pcap_filename\":\"a.pcap\"}",

        "{\"timestamp\":\"1970-01-01T00:00:00.000000+0000\",\"pcap_cnt\":14,"
        "\"event_type\":\"anomaly\",\"src_ip\":\"10.0.0.1\",\"dest_ip\":\"10.0.0.1\","
        "\"proto\":\"ICMP\",\"ip_v\":4,\"pkt_src\":\"wire/pcap\","
        "\"anomaly\":{\"type\":\"decode\",\"event\":\"land\"},\"pcap_filename\":\"a.pcap\"}",

        "{\"timestamp\":\"2262-04-11T23:47:16.854775+0000\",\"pcap_cnt\":15,"
        "\"event_type\":\"anomaly\",\"src_ip\":\"10.0.0.1\",\"dest_ip\":\"10.0.0.1\","
        "\"proto\":\"253\",\"ip_v\":4,\"pkt_src\":\"wire/pcap\","
        "\"anomaly\":{\"type\":\"decode\",\"event\":\"land\"},\"pcap_filename\":\"a.pcap\"}",

        "{\"timestamp\":\"1970-01-01T00:00:00.000000+0000\",\"event_type\":\"anomaly\","
        "\"pkt_src\":\"wire/pcap\",\"anomaly\":{\"type\":\"decode\",\"event\":\"link-truncated\"},"
        "\"pcap_filename\":\"a.pcap\"}",
    };
    const char *path;

    (void)state;
    path = scratch_path("golden.json");
    check_golden(scratch_spec("eve", "golden.json"), path, lines);
    check_golden("eve:-", scratch_path("stdout.json"), lines);
}

/* The form of a text of unknown encoding, by jansson's validation: the shortest valid string
 * at each place is one character. */
static const char *as_utf8(const char *text)
{
    static char out[2 * 4 * MADE_TEXT_LEN];
    char *at = out;

    while (*text != '\0') {
        const size_t left = strlen(text);
        json_t *valid = NULL;
        size_t len = 0;

        while (valid == NULL && len < 4 && len < left)
            valid = json_stringn(text, ++len);
        if (valid != NULL) {
            memcpy(at, text, len);
            at += len;
            text += len;
        } else {
            at += sprintf(at, "\\x%02x", (unsigned char)*text++);
        }
        json_decref(valid);
    }
    *at = '\0';
    return out;
}

static const char *iso_time(int64_t time_ns, const char *format)
{
    static char out[64];
    int64_t seconds = time_ns / 1000000000, nanos = time_ns % 1000000000;
    char day[32];

    if (nanos < 0) {
        seconds--;
        nanos += 1000000000;
    }

    const time_t time = (time_t)seconds;
    strftime(day, sizeof day, format, gmtime(&time));
    snprintf(out, sizeof out, "%s.%06u", day, (unsigned)nanos / 1000);
    return out;
}

static const char *address_text(const struct sl_addr *addr)
{
    static char text[INET6_ADDRSTRLEN];
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    const bool is_ipv4 = memcmp(addr->byte, mapped, sizeof mapped) == 0;

    inet_ntop(is_ipv4 ? AF_INET : AF_INET6, addr->byte + (is_ipv4 ? 12 : 0), text, sizeof text);
    return text;
}

static const char *protocol_text(uint8_t protocol)
{
    static char number[4];

    switch (protocol) {
    case 1:
        return "ICMP";
    case 6:
        return "TCP";
    case 17:
        return "UDP";
    case 58:
        return "IPv6-ICMP";
    case 132:
        return "SCTP";
    default:
        sprintf(number, "%u", protocol);
        return number;
    }
}

static bool is_named(uint8_t protocol)
{
    return !isdigit((unsigned char)protocol_text(protocol)[0]);
}

static bool has_ports(const struct sl_event *event)
{
    const uint8_t protocol = event->tuple.protocol;

    return event->has_tuple && (protocol == 6 || protocol == 17 || protocol == 132);
}

static bool has_icmp(const struct sl_event *event)
{
    const struct sl_tuple *tuple = &event->tuple;

    return event->has_tuple && (tuple->protocol == 1 || tuple->protocol == 58) &&
           (event->origin.flow != 0 || tuple->src_port != 0 || tuple->dst_port != 0);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    assert_int_equal(json_object_set_new(object, key, json_string(text)), 0);
}

static void set_uint(json_t *object, const char *key, uint64_t value)
{
    assert_int_equal(json_object_set_new(object, key, json_integer((json_int_t)value)), 0);
}

static json_t *expected_references(const char *const *references)
{
    json_t *array = json_array();

    for (; *references != NULL; references++)
        json_array_append_new(array, json_string(as_utf8(*references)));
    return array;
}

/* The array of a key that is spelt in any case, made where there is none. */
static json_t *metadata_values(json_t *object, const char *key)
{
    const char *known;
    json_t *values;

    json_object_foreach(object, known, values)
    {
        if (strcasecmp(known, key) == 0)
            return values;
    }
    json_object_set_new(object, key, json_array());
    return json_object_get(object, key);
}

static json_t *expected_metadata(const char *const *entries)
{
    json_t *object = json_object();

    for (; *entries != NULL; entries++) {
        char key[MADE_TEXT_LEN] = "";
        const char *at = *entries;
        size_t key_len = 0;

        while (*at == ' ' || *at == '\t')
            at++;
        for (; *at != '\0' && *at != ' ' && *at != '\t'; at++)
            key[key_len++] = *at > ' ' && *at < 0x7F && *at != '"' && *at != '\\' ? *at : '_';
        while (*at == ' ' || *at == '\t')
            at++;
        if (*at != '\0')
            json_array_append_new(metadata_values(object, key), json_string(as_utf8(at)));
    }
    return object;
}

static json_t *expected_alert(const struct sl_signature *signature)
{
    json_t *alert = json_object();
    json_t *references = expected_references(signature->references);
    json_t *metadata = expected_metadata(signature->metadata);

    set_text(alert, "action", "allowed");
    set_uint(alert, "gid", signature->gid);
    set_uint(alert, "signature_id", signature->sid);
    set_uint(alert, "rev", signature->rev);
    set_text(alert, "signature", as_utf8(signature->msg));
    set_text(alert, "category", as_utf8(signature->category));
    set_uint(alert, "severity", signature->priority);
    if (json_array_size(references) != 0)
        json_object_set(alert, "references", references);
    if (json_object_size(metadata) != 0)
        json_object_set(alert, "metadata", metadata);
    json_decref(references);
    json_decref(metadata);
    return alert;
}

static void expect_tuple(json_t *object, const struct sl_event *event)
{
    const struct sl_tuple *tuple = &event->tuple;

    set_text(object, "src_ip", address_text(&tuple->src));
    set_text(object, "dest_ip", address_text(&tuple->dst));
    if (has_ports(event)) {
        set_uint(object, "src_port", tuple->src_port);
        set_uint(object, "dest_port", tuple->dst_port);
    }
    if (has_icmp(event)) {
        set_uint(object, "icmp_type", tuple->src_port);
        set_uint(object, "icmp_code", tuple->dst_port);
    }
}

/* The whole object but the payload and the names of protocols. */
static json_t *expected_object(const struct sl_event *event)
{
    const struct sl_origin *origin = &event->origin;
    json_t *object = json_object();
    char timestamp[72];

    snprintf(timestamp, sizeof timestamp, "%s+0000",
             iso_time(origin->time_ns, "%Y-%m-%dT%H:%M:%S"));
    set_text(object, "timestamp", timestamp);
    set_text(object, "pkt_src",
             origin->flow != 0 && origin->position == 0 ? "stream (flow timeout)" : "wire/pcap");
    set_text(object, event->live ? "in_iface" : "pcap_filename", as_utf8(event->source));
    if (!event->live && origin->position != 0)
        set_uint(object, "pcap_cnt", origin->position);
    if (origin->flow != 0)
        set_uint(object, "flow_id", origin->flow);
    if (event->community_id != NULL)
        set_text(object, "community_id", event->community_id);
    if (origin->vlan[0] != SL_NO_VLAN) {
        json_object_set_new(object, "vlan", json_pack("[i]", origin->vlan[0]));
        if (origin->vlan[1] != SL_NO_VLAN)
            json_array_append_new(json_object_get(object, "vlan"), json_integer(origin->vlan[1]));
    }
    if (event->has_tuple)
        expect_tuple(object, event);
    if (event->kind == SL_EVENT_ANOMALY) {
        set_text(object, "event_type", "anomaly");
        json_object_set_new(object, "anomaly",
                            json_pack("{s:s,s:s}", "type", "decode", "event", event->check));
        return object;
    }
    set_text(object, "event_type", "alert");
    set_uint(object, "stream", 0);
    json_object_set_new(object, "alert", expected_alert(event->signature));
    if (origin->flow != 0)
        set_text(object, "direction",
                 origin->flow_flags & SL_FLOW_TO_SERVER ? "to_server" : "to_client");
    return object;
}

static size_t decode_base64(const char *text, uint8_t *out)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n_bits = 0, len = 0;
    uint32_t bits = 0;

    assert_int_equal(strlen(text) % 4, 0);
    for (; *text != '\0' && *text != '='; text++) {
        const char *digit = strchr(alphabet, *text);

        assert_non_null(digit);
        bits = bits << 6 | (uint32_t)(digit - alphabet);
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            out[len++] = (uint8_t)(bits >> n_bits);
        }
    }
    assert_true(strspn(text, "=") == strlen(text) && strlen(text) <= 2);
    assert_int_equal(bits & ((1u << n_bits) - 1), 0);
    return len;
}

static size_t kept_len(const struct sl_event *event)
{
    return event->payload_len > 4096 ? 4096 : event->payload_len;
}

/* Checks the payload's two forms and takes them out of the object. */
static void check_payload(json_t *object, const struct sl_event *event)
{
    const json_t *base64 = json_object_get(object, "payload");
    const json_t *printable = json_object_get(object, "payload_printable");
    uint8_t decoded[4096 + 3];

    if (event->kind == SL_EVENT_ANOMALY || event->payload_len == 0) {
        assert_null(base64);
        assert_null(printable);
        return;
    }
    assert_true(json_string_length(base64) <= 5464);
    assert_int_equal(decode_base64(json_string_value(base64), decoded), kept_len(event));
    assert_memory_equal(decoded, event->payload, kept_len(event));
    assert_int_equal(json_string_length(printable), kept_len(event));
    for (size_t i = 0; i < kept_len(event); i++) {
        const char byte = (char)event->payload[i];
        const bool kept = (byte >= ' ' && byte <= '~') || byte == '\r' || byte == '\n';

        assert_int_equal(json_string_value(printable)[i], kept ? byte : '.');
    }
    json_object_del(object, "payload");
    json_object_del(object, "payload_printable");
}

/* Named protocols beyond those that sluice dissects are the table's matter. */
static void check_protocol(json_t *object, const struct sl_event *event)
{
    const char *proto = json_string_value(json_object_get(object, "proto"));

    if (!event->has_tuple) {
        assert_null(proto);
        return;
    }
    assert_non_null(proto);
    if (is_named(event->tuple.protocol) || isdigit((unsigned char)*proto))
        assert_string_equal(proto, protocol_text(event->tuple.protocol));
    assert_int_equal(json_integer_value(json_object_get(object, "ip_v")),
                     sl_addr_is_ipv4(&event->tuple.src) ? 4 : 6);
    json_object_del(object, "proto");
    json_object_del(object, "ip_v");
}

static void check_line(const char *line, size_t len, const struct sl_event *event)
{
    json_error_t error;

    for (size_t i = 0; i + 1 < len; i++)
        assert_true((unsigned char)line[i] >= 0x20 && line[i] != 0x7F);
    assert_null(strstr(line, "\xC2\x9B"));

    json_t *object = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL)
        fail_msg("%s at %d: %s", error.text, error.position, line);
    check_payload(object, event);
    check_protocol(object, event);

    json_t *expected = expected_object(event);
    if (!json_equal(object, expected)) {
        char *text = json_dumps(expected, JSON_COMPACT);

        fail_msg("wrote    %s\nexpected %s", line, text);
    }
    json_decref(expected);
    json_decref(object);
}

/* Writes the random events of a seed. */
static void write_random(const char *spec, uint64_t seed)
{
    struct sl_sink *sink = open_sink(spec);
    struct made_event *made = malloc(sizeof *made);
    struct sl_diag diag;

    for (int i = 0; i < N_RANDOM; i++) {
        make_hostile(made, &seed);
        assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
    }
    free(made);
    close_sink(sink, N_RANDOM);
}

static void test_eve_random(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    uint64_t seed = 1;
    char *line = NULL;
    size_t cap = 0;

    (void)state;
    write_random(scratch_spec("eve", "random.json"), seed);

    FILE *file = fopen(scratch_path("random.json"), "r");
    assert_non_null(file);
    for (int i = 0; i < N_RANDOM; i++) {
        const ssize_t len = getline(&line, &cap, file);

        assert_true(len > 0 && line[len - 1] == '\n');
        make_hostile(made, &seed);
        check_line(line, (size_t)len, &made->event);
    }
    assert_int_equal(getline(&line, &cap, file), -1);
    fclose(file);
    free(line);
    free(made);
}

/* Every line of the console is printable ASCII and there is one an event. */
static void test_console_random(void **state)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    int n_lines = 0;

    (void)state;
    const int saved =
        stdout_to(open(scratch_path("random.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    write_random("console", 2);
    stdout_back(saved);

    FILE *file = fopen(scratch_path("random.txt"), "r");
    assert_non_null(file);
    for (; (len = getline(&line, &cap, file)) > 0; n_lines++) {
        assert_int_equal(line[len - 1], '\n');
        for (ssize_t i = 0; i < len - 1; i++)
            assert_in_range(line[i], 0x20, 0x7E);
    }
    assert_int_equal(n_lines, N_RANDOM);
    fclose(file);
    free(line);
}

/* Lines that are longer than any buffer. */
static void test_long_line(void **state)
{
    const size_t msg_len = 1500000;
    struct made_event *made = malloc(sizeof *made);
    char *msg = malloc(msg_len + 1);
    struct sl_diag diag;
    json_error_t error;

    (void)state;
    memset(msg, '"', msg_len);
    msg[msg_len] = '\0';
    make_plain(made, 1);

    struct sl_sink *sink = open_sink(scratch_spec("eve", "long.json"));
    for (int i = 0; i < 3; i++) {
        made->signature.msg = i == 1 ? msg : made->msg;
        assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
    }
    close_sink(sink, 3);

    FILE *file = fopen(scratch_path("long.json"), "r");
    assert_non_null(file);
    for (int i = 0; i < 3; i++) {
        json_t *object = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
        const json_t *text = json_object_get(json_object_get(object, "alert"), "signature");

        assert_non_null(text);
        assert_string_equal(json_string_value(text), i == 1 ? msg : made->msg);
        json_decref(object);
    }
    fclose(file);
    free(msg);
    free(made);
}

static sqlite3 *open_database(const char *path)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    return db;
}

static sqlite3_stmt *select_rows(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *rows = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    return rows;
}

static int64_t select_int(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *rows = select_rows(db, sql);

    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(rows, 0);
    sqlite3_finalize(rows);
    return value;
}

/* A column of the current row, by name; the names are part of the contract with users. */
static int column_of(sqlite3_stmt *rows, const char *name)
{
    for (int i = 0; i < sqlite3_column_count(rows); i++)
        if (strcmp(sqlite3_column_name(rows, i), name) == 0)
            return i;
    fail_msg("no column %s", name);
    return -1;
}

static void check_text(sqlite3_stmt *rows, const char *name, const char *expected)
{
    const int column = column_of(rows, name);

    assert_int_equal(sqlite3_column_type(rows, column), SQLITE_TEXT);
    assert_string_equal((const char *)sqlite3_column_text(rows, column), expected);
}

static void check_null(sqlite3_stmt *rows, const char *name)
{
    assert_int_equal(sqlite3_column_type(rows, column_of(rows, name)), SQLITE_NULL);
}

static void check_int(sqlite3_stmt *rows, const char *name, bool known, int64_t expected)
{
    const int column = column_of(rows, name);

    if (!known) {
        check_null(rows, name);
        return;
    }
    assert_int_equal(sqlite3_column_type(rows, column), SQLITE_INTEGER);
    assert_true(sqlite3_column_int64(rows, column) == expected);
}

static void check_row_tuple(sqlite3_stmt *rows, const struct sl_event *event)
{
    const struct sl_tuple *tuple = &event->tuple;
    const bool ports = has_ports(event) &&
                       (event->origin.flow != 0 || tuple->src_port != 0 || tuple->dst_port != 0);

    check_int(rows, "src_port", ports, tuple->src_port);
    check_int(rows, "dest_port", ports, tuple->dst_port);
    check_int(rows, "icmp_type", has_icmp(event), tuple->src_port);
    check_int(rows, "icmp_code", has_icmp(event), tuple->dst_port);
    if (!event->has_tuple) {
        check_null(rows, "proto");
        check_null(rows, "src_ip");
        check_null(rows, "dest_ip");
        return;
    }
    if (is_named(tuple->protocol))
        check_text(rows, "proto", protocol_text(tuple->protocol));
    check_text(rows, "src_ip", address_text(&tuple->src));
    check_text(rows, "dest_ip", address_text(&tuple->dst));
}

static void check_row_alert(sqlite3_stmt *rows, const struct sl_event *event)
{
    const struct sl_signature *signature = event->signature;
    const int payload = column_of(rows, "payload");

    check_int(rows, "gid", true, signature->gid);
    check_int(rows, "sid", true, signature->sid);
    check_int(rows, "rev", true, signature->rev);
    check_int(rows, "priority", true, signature->priority);
    check_text(rows, "signature", as_utf8(signature->msg));
    check_text(rows, "classtype", as_utf8(signature->classtype));
    check_text(rows, "category", as_utf8(signature->category));
    if (event->payload_len == 0) {
        check_null(rows, "payload");
        return;
    }
    assert_int_equal(sqlite3_column_type(rows, payload), SQLITE_BLOB);
    assert_int_equal(sqlite3_column_bytes(rows, payload), kept_len(event));
    assert_memory_equal(sqlite3_column_blob(rows, payload), event->payload, kept_len(event));
}

static void check_row(sqlite3_stmt *rows, const struct sl_event *event)
{
    const struct sl_origin *origin = &event->origin;

    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    check_text(rows, "time", iso_time(origin->time_ns, "%Y-%m-%d %H:%M:%S"));
    check_int(rows, "time_ns", true, origin->time_ns);
    check_text(rows, "source", as_utf8(event->source));
    check_int(rows, "packet", origin->position != 0, (int64_t)origin->position);
    check_int(rows, "flow_id", origin->flow != 0, (int64_t)origin->flow);
    if (origin->flow != 0)
        check_text(rows, "direction",
                   origin->flow_flags & SL_FLOW_TO_SERVER ? "to_server" : "to_client");
    else
        check_null(rows, "direction");
    if (event->community_id != NULL)
        check_text(rows, "community_id", event->community_id);
    else
        check_null(rows, "community_id");
    check_int(rows, "vlan", origin->vlan[0] != SL_NO_VLAN, origin->vlan[0]);
    check_int(rows, "vlan_inner", origin->vlan[1] != SL_NO_VLAN, origin->vlan[1]);
    check_row_tuple(rows, event);
    if (event->kind == SL_EVENT_ALERT)
        check_row_alert(rows, event);
    else
        check_text(rows, "event", event->check);
}

static void check_pragma(sqlite3 *db, const char *sql, const char *expected)
{
    sqlite3_stmt *rows = select_rows(db, sql);

    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(rows, 0), expected);
    sqlite3_finalize(rows);
}

static void test_sqlite_random(void **state)
{
    struct made_event *made = malloc(sizeof *made);
    uint64_t seed = 3;

    (void)state;
    write_random(scratch_spec("sqlite", "random.db"), seed);
    assert_int_equal(access(scratch_path("random.db-wal"), F_OK), -1);

    sqlite3 *db = open_database(scratch_path("random.db"));
    sqlite3_stmt *alerts = select_rows(db, "SELECT * FROM alerts ORDER BY id");
    sqlite3_stmt *anomalies = select_rows(db, "SELECT * FROM anomalies ORDER BY id");
    for (int i = 0; i < N_RANDOM; i++) {
        make_hostile(made, &seed);
        check_row(made->event.kind == SL_EVENT_ALERT ? alerts : anomalies, &made->event);
    }
    assert_int_equal(sqlite3_step(alerts), SQLITE_DONE);
    assert_int_equal(sqlite3_step(anomalies), SQLITE_DONE);
    sqlite3_finalize(alerts);
    sqlite3_finalize(anomalies);
    check_pragma(db, "PRAGMA integrity_check", "ok");
    check_pragma(db, "PRAGMA journal_mode", "delete");
    assert_int_equal(select_int(db, "SELECT count(*) FROM alerts WHERE datetime(time) IS NULL"), 0);
    sqlite3_close(db);
    free(made);
}

static void write_plain(struct sl_sink *sink, uint32_t first, uint32_t n)
{
    struct made_event *made = malloc(sizeof *made);
    struct sl_diag diag;

    for (uint32_t i = first; i < first + n; i++) {
        make_plain(made, i);
        assert_int_equal(sl_sink_write(sink, &made->event, &diag), SL_OK);
    }
    free(made);
}

/* Rows are added to a database and can be read while the sink is open; lines are added to EVE
 * files. */
static void test_reopen(void **state)
{
    struct sl_diag diag;
    struct stat stat;

    (void)state;
    for (uint32_t run = 1; run <= 2; run++) {
        struct sl_sink *sink = open_sink(scratch_spec("sqlite", "again.db"));

        write_plain(sink, run * 100, 10);
        assert_int_equal(sl_sink_written(sink), 0);
        assert_int_equal(sl_sink_flush(sink, &diag), SL_OK);
        assert_int_equal(sl_sink_written(sink), 10);
        write_plain(sink, run * 100 + 10, 5);

        sqlite3 *db = open_database(scratch_path("again.db"));
        assert_int_equal(select_int(db, "SELECT count(*) FROM alerts"), run * 15 - 5);
        sqlite3_close(db);
        close_sink(sink, 15);

        sink = open_sink(scratch_spec("eve", "again.json"));
        write_plain(sink, 1, 4 - run);
        close_sink(sink, 4 - run);
    }

    sqlite3 *db = open_database(scratch_path("again.db"));
    assert_int_equal(select_int(db, "SELECT count(DISTINCT sid) FROM alerts"), 30);
    sqlite3_close(db);

    assert_int_equal(lstat(scratch_path("again.json"), &stat), 0);
    const off_t first_len = stat.st_size;
    struct sl_sink *sink = open_sink(scratch_spec("eve", "once.json"));
    write_plain(sink, 1, 3);
    write_plain(sink, 1, 2);
    close_sink(sink, 5);
    assert_int_equal(lstat(scratch_path("once.json"), &stat), 0);
    assert_int_equal(first_len, stat.st_size);
}

static void check_refused(const char *spec, enum sl_status status, const char *file,
                          const char *text)
{
    struct sl_diag diag = {.text = ""};
    struct sl_sink *sink = NULL;

    assert_int_equal(sl_sink_open(&sink, spec, &diag), status);
    assert_null(sink);
    assert_string_equal(diag.file, file);
    if (strstr(diag.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", diag.text, text);
    assert_int_equal(sl_sink_open(&sink, spec, NULL), status);
}

static void test_bad_specs(void **state)
{
    static const char known[] = "(expected one of: console, eve:FILE, eve:-, sqlite:FILE)";
    static const char *const unknown[] = {"",     "redis:x", "console:",     "console:x", "Console",
                                          "ev:x", "eves:x",  ":/tmp/x.json", "a.json"};

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char quoted[64];

        snprintf(quoted, sizeof quoted, "no sink \"%s\"", unknown[i]);
        check_refused(unknown[i], SL_EINVAL, "", quoted);
        check_refused(unknown[i], SL_EINVAL, "", known);
    }
    check_refused("eve", SL_EINVAL, "", "the sink \"eve\" names no file (expected eve:FILE");
    check_refused("eve:", SL_EINVAL, "", "the sink \"eve:\" names no file");
    check_refused("sqlite:", SL_EINVAL, "", "names no file (expected sqlite:FILE)");
    check_refused("sqlite:-", SL_EINVAL, "", "standard output");
}

static void test_unwritable(void **state)
{
    const char *spec, *path;

    (void)state;
    path = scratch_path(".");
    spec = scratch_spec("eve", ".");
    check_refused(spec, SL_EIO, path, strerror(EISDIR));
    spec = scratch_spec("sqlite", ".");
    check_refused(spec, SL_EIO, path, "unable to open database file");

    path = scratch_path("none/file");
    spec = scratch_spec("eve", "none/file");
    check_refused(spec, SL_EIO, path, strerror(ENOENT));
    spec = scratch_spec("sqlite", "none/file");
    check_refused(spec, SL_EIO, path, strerror(ENOENT));
}

/* A file that this user may read only; root is nobody for the while. */
static void test_read_only(void **state)
{
    const char *path, *database, *spec;

    (void)state;
    path = scratch_path("read-only");
    database = scratch_path("read-only.db");
    close_sink(open_sink(scratch_spec("sqlite", "read-only.db")), 0);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(chmod(scratch_path("."), 0755), 0);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(database, 0444), 0);

    const bool is_root = geteuid() == 0;
    if (is_root && seteuid(65534) != 0)
        test_skip("root cannot take another user's rights here");
    spec = scratch_spec("eve", "read-only");
    check_refused(spec, SL_EIO, path, strerror(EACCES));
    spec = scratch_spec("sqlite", "read-only.db");
    check_refused(spec, SL_EIO, database, "readonly");
    if (is_root)
        assert_int_equal(seteuid(0), 0);
}

static void make_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_database(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "r");
    char *bytes = NULL;

    assert_non_null(file);
    *len = 0;
    assert_true(getdelim(&bytes, len, EOF, file) >= 0);
    *len = (size_t)ftell(file);
    fclose(file);
    return bytes;
}

/* Other programs' files are refused and stay as they are, to the byte. */
static void test_foreign_database(void **state)
{
    static const struct {
        const char *name, *sql, *text;
    } cases[] = {
        {"tables.db", "CREATE TABLE alerts(id INTEGER)",
         "a database of another program (expected one made by sluice, or none)"},
        {"id.db", "PRAGMA application_id = 7", "a database of another program"},
        {"user.db", "PRAGMA user_version = 1", "a database of another program"},
        {"newer.db", "PRAGMA application_id = 1936487779; PRAGMA user_version = 7",
         "a database of another version of sluice (tables of version 7, expected 6)"},
        {"torn.db", "PRAGMA application_id = 1936487779; PRAGMA user_version = 1", "no such table"},
        {"text.db", NULL, "not a database (expected one made by sluice, or none)"},
    };
    const char *spec, *path;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        path = scratch_path(cases[i].name);
        spec = scratch_spec("sqlite", cases[i].name);
        if (cases[i].sql != NULL)
            make_database(path, cases[i].sql);
        else
            make_file(path, "This is a text of some length and by no means a database, is it?\n");

        size_t before_len, after_len;
        char *before = read_file(path, &before_len);
        check_refused(spec, SL_EIO, path, cases[i].text);
        char *after = read_file(path, &after_len);
        if (strcmp(cases[i].name, "torn.db") != 0) {
            assert_int_equal(before_len, after_len);
            assert_memory_equal(before, after, before_len);
        }
        free(before);
        free(after);
    }
}

/* Names that SQLite would take for something else are files. */
static void test_odd_database_names(void **state)
{
    static const char *const names[] = {":memory:", "file:odd?mode=memory", "a b\"c"};
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    char spec[64];

    (void)state;
    assert_int_equal(chdir(scratch_path(".")), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(spec, sizeof spec, "sqlite:%s", names[i]);

        struct sl_sink *sink = open_sink(spec);
        write_plain(sink, 1, 3);
        close_sink(sink, 3);
        assert_int_equal(access(names[i], F_OK), 0);
    }
    assert_int_equal(fchdir(here), 0);
    close(here);
}

static void test_close_nothing(void **state)
{
    uint64_t written = 1;

    (void)state;
    assert_int_equal(sl_sink_close(NULL, &written, NULL), SL_OK);
    assert_int_equal(written, 0);
    assert_int_equal(sl_sink_close(open_sink(scratch_spec("eve", "empty")), NULL, NULL), SL_OK);
}

/* A byte that does not stand for itself is seen wherever it lies. */
static void test_special_bytes_are_seen_anywhere(void **state)
{
    enum { LEN_MAX = 40 };
    static const uint8_t special[] = {'"', '\\', 0x7F, 0x1F, 0, 0x80, 0xFF};
    char text[LEN_MAX];

    (void)state;
    for (size_t len = 0; len <= LEN_MAX; len++) {
        memset(text, ' ' + (int)len, sizeof text);
        assert_true(len == 2 || eve_are_plain(text, len)); /* ' ' + 2 is a quote */
        memset(text, '~', sizeof text);
        assert_true(eve_are_plain(text, len));
        for (size_t at = 0; at < len; at++)
            for (size_t i = 0; i < sizeof special; i++) {
                text[at] = (char)special[i];
                assert_false(eve_are_plain(text, len));
                text[at] = '~';
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_console_golden),
        cmocka_unit_test(test_eve_golden),
        cmocka_unit_test(test_eve_random),
        cmocka_unit_test(test_console_random),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_sqlite_random),
        cmocka_unit_test(test_special_bytes_are_seen_anywhere),
        cmocka_unit_test(test_reopen),
        cmocka_unit_test(test_bad_specs),
        cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_foreign_database),
        cmocka_unit_test(test_odd_database_names),
        cmocka_unit_test(test_close_nothing),
    };

    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}

/* SPDX-License-Identifier: MIT */
#include "test_sink_events.h"

#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

static char scratch[64];

int scratch_create(void **state)
{
    (void)state;
    snprintf(scratch, sizeof scratch, "/tmp/test_sinks_XXXXXX");
    return mkdtemp(scratch) != NULL ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    (void)stat;
    (void)type;
    (void)ftw;
    return remove(path);
}

int scratch_remove(void **state)
{
    (void)state;
    return nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Results of the two functions below, each kept for eight calls. */
static char *next_result(void)
{
    static char results[8][160];
    static uint32_t n_calls;

    return results[n_calls++ % 8];
}

const char *scratch_path(const char *name)
{
    char *path = next_result();

    snprintf(path, 160, "%s/%s", scratch, name);
    return path;
}

const char *scratch_spec(const char *kind, const char *name)
{
    char *spec = next_result();

    snprintf(spec, 160, "%s:%s/%s", kind, scratch, name);
    return spec;
}

int stdout_to(int fd)
{
    fflush(stdout);

    const int saved = dup(STDOUT_FILENO);
    assert_true(saved >= 0 && fd >= 0);
    assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    close(fd);
    return saved;
}

void stdout_back(int saved)
{
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

struct sl_sink *open_sink(const char *spec)
{
    struct sl_diag diag = {.text = ""};
    struct sl_sink *sink = NULL;

    if (sl_sink_open(&sink, spec, &diag) != SL_OK)
        fail_msg("%s: %s", diag.file, diag.text);
    return sink;
}

void close_sink(struct sl_sink *sink, uint64_t expected)
{
    struct sl_diag diag = {.text = ""};
    uint64_t written = 0;

    if (sl_sink_close(sink, &written, &diag) != SL_OK)
        fail_msg("%s: %s", diag.file, diag.text);
    assert_int_equal(written, expected);
}

struct sl_addr make_addr(const char *text)
{
    struct sl_net net;

    assert_int_equal(sl_net_parse(&net, text, strlen(text)), SL_OK);
    return net.addr;
}

struct sl_event golden_event(enum sl_event_kind kind, uint8_t protocol, uint16_t dst_port)
{
    return (struct sl_event){
        .kind = kind,
        .source = "a.pcap",
        .origin = {.time_ns = 1000, .position = 10, .flow = 45, .vlan = {SL_NO_VLAN, SL_NO_VLAN}},
        .has_tuple = true,
        .tuple = {make_addr("10.0.0.1"), make_addr("10.0.0.2"), 40000, dst_port, protocol}};
}

static void clear(struct made_event *made)
{
    memset(made, 0, offsetof(struct made_event, payload));
    made->signature = (struct sl_signature){
        .action = "alert",
        .msg = made->msg,
        .classtype = made->classtype,
        .category = made->category,
        .references = made->references,
        .metadata = made->metadata_entries,
        .file = "test.rules",
        .line = 1,
    };
    made->event.source = made->source;
    made->event.origin.vlan[0] = SL_NO_VLAN;
    made->event.origin.vlan[1] = SL_NO_VLAN;
}

void make_plain(struct made_event *made, uint32_t number)
{
    clear(made);
    snprintf(made->source, sizeof made->source, "plain.pcap");
    snprintf(made->msg, sizeof made->msg, "alert number %u", number);
    snprintf(made->classtype, sizeof made->classtype, "trojan-activity");
    snprintf(made->category, sizeof made->category, "A Network Trojan was detected");
    memset(made->payload, 'x', 32);
    made->signature.gid = 1;
    made->signature.sid = number;
    made->signature.rev = 1;
    made->signature.priority = 1;
    made->event.kind = SL_EVENT_ALERT;
    made->event.signature = &made->signature;
    made->event.origin.time_ns = INT64_C(1767348672123456789) + number;
    made->event.origin.position = number + 1;
    made->event.origin.flow = number + 1;
    made->event.has_tuple = true;
    made->event.tuple =
        (struct sl_tuple){make_addr("10.0.0.1"), make_addr("10.0.0.2"), 1234, 80, SL_IP_TCP};
    made->event.payload = made->payload;
    made->event.payload_len = 32;
}

/* Pieces of text that break quoting, encodings, terminals and statements. */
static const char *const pieces[] = {
    "plain text ",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "\t",
    "\x01\x1F",
    "\x7F",
    "/",
    "</script>",
    "\\u0000",
    "\\xff",
    "%s%n",
    "{\"a\":[",
    "'); DROP TABLE alerts;--",
    "\x1B[31m",
    "\x1B]0;title\x07",
    "\xC2\x9Bm", /* escape sequences, also in C1 */
    "\xC3\xA9",
    "\xE2\x82\xAC",
    "\xF0\x9F\x98\x80", /* well-formed */
    "\xEF\xBF\xBF",
    "\xF4\x8F\xBF\xBF",
    "\xE2\x80\xAE", /* well-formed and odd */
    "\xC0\x80",
    "\xC1\xBF",
    "\xE0\x80\xAF",
    "\xF0\x80\x80\xAF", /* overlong */
    "\xED\xA0\x80",
    "\xED\xBF\xBF",
    "\xF4\x90\x80\x80", /* surrogates, too high */
    "\x80",
    "\xBF\xBF",
    "\xFE",
    "\xFF",
    "\xF8\x88\x80\x80\x80", /* never lead bytes */
    "\xC3",
    "\xE2\x82",
    "\xF0\x9F\x98", /* cut off */
};

static void hostile_text(char text[MADE_TEXT_LEN], uint64_t *random)
{
    const uint32_t n_pieces = test_below(random, 8);
    size_t len = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < n_pieces; i++) {
        const char any[2] = {(char)(1 + test_below(random, 255)), '\0'};
        const uint32_t at = test_below(random, 2 * sizeof pieces / sizeof *pieces);
        const char *piece = at < sizeof pieces / sizeof *pieces ? pieces[at] : any;

        if (len + strlen(piece) >= MADE_TEXT_LEN)
            continue;
        memcpy(text + len, piece, strlen(piece) + 1);
        len += strlen(piece);
    }
}

static void hostile_metadata(char text[MADE_TEXT_LEN], uint64_t *random)
{
    static const char *const keys[] = {"tag",    "Tag", "TAG",    "cve",      "t\"g", "t\\g",
                                       "t\xFFg", "t_g", "\t cve", "\xC3\xA9", "tag2", ""};
    char value[MADE_TEXT_LEN];

    hostile_text(value, random);
    snprintf(text, MADE_TEXT_LEN, "%s%s%.80s", keys[test_below(random, 12)],
             test_below(random, 4) == 0 ? "" : " \t", value);
}

static void hostile_signature(struct made_event *made, uint64_t *random)
{
    struct sl_signature *signature = &made->signature;
    const uint32_t n_references = test_below(random, 4);
    const uint32_t n_metadata = test_below(random, MADE_LIST_LEN);

    signature->gid = (uint32_t)test_random(random);
    signature->sid = (uint32_t)test_random(random);
    signature->rev = (uint32_t)test_random(random);
    signature->priority = (uint32_t)test_random(random);
    hostile_text(made->msg, random);
    hostile_text(made->classtype, random);
    hostile_text(made->category, random);
    for (uint32_t i = 0; i < n_references; i++) {
        static const char *const systems[] = {"url,", "CVE,", "bugtraq,", "url,http://", "", ","};
        char rest[MADE_TEXT_LEN];

        hostile_text(rest, random);
        snprintf(made->reference[i], MADE_TEXT_LEN, "%s%.80s", systems[test_below(random, 6)],
                 rest);
        made->references[i] = made->reference[i];
    }
    for (uint32_t i = 0; i < n_metadata; i++) {
        hostile_metadata(made->metadata[i], random);
        made->metadata_entries[i] = made->metadata[i];
    }
}

static void hostile_addr(struct sl_addr *addr, uint64_t *random)
{
    for (uint32_t i = 0; i < sizeof addr->byte; i++)
        addr->byte[i] = test_below(random, 2) == 0 ? 0 : (uint8_t)test_random(random);
    if (test_below(random, 2) == 0) {
        memset(addr->byte, 0, 10);
        memset(addr->byte + 10, 0xFF, 2);
    }
}

static void hostile_tuple(struct sl_tuple *tuple, uint64_t *random)
{
    static const uint8_t protocols[] = {SL_IP_ICMP, SL_IP_TCP, SL_IP_UDP, SL_IP_ICMPV6, SL_IP_SCTP};

    hostile_addr(&tuple->src, random);
    hostile_addr(&tuple->dst, random);
    tuple->protocol = test_below(random, 2) == 0 ? protocols[test_below(random, 5)]
                                                 : (uint8_t)test_random(random);
    tuple->src_port = test_below(random, 2) == 0 ? 0 : (uint16_t)test_random(random);
    tuple->dst_port = test_below(random, 2) == 0 ? 0 : (uint16_t)test_random(random);
}

static void hostile_payload(struct made_event *made, uint64_t *random)
{
    static const uint32_t edges[] = {0, 1, 2, 3, 7, 8, 9, 4095, 4096, 4097, MADE_PAYLOAD_LEN};
    const bool long_ones = test_below(random, 16) == 0;
    const uint32_t len = long_ones ? edges[test_below(random, 11)] : test_below(random, 100);

    for (uint32_t i = 0; i < len; i++)
        made->payload[i] =
            test_below(random, 2) == 0 ? (uint8_t)('a' + i % 26) : (uint8_t)test_random(random);
    made->event.payload = len != 0 ? made->payload : NULL;
    made->event.payload_len = len;
}

void make_hostile(struct made_event *made, uint64_t *random)
{
    static const char *const checks[] = {"tcp-syn-fin", "ttl-zero", "land", "ipv4-checksum"};
    struct sl_event *event = &made->event;
    struct sl_origin *origin = &event->origin;

    clear(made);
    hostile_text(made->source, random);
    event->live = test_below(random, 2) == 0;
    event->kind = test_below(random, 4) == 0 ? SL_EVENT_ANOMALY : SL_EVENT_ALERT;
    event->check = checks[test_below(random, sizeof checks / sizeof *checks)];
    if (event->kind == SL_EVENT_ALERT) {
        hostile_signature(made, random);
        event->signature = &made->signature;
    }
    origin->time_ns = test_below(random, 8) == 0
                          ? (int64_t)test_random(random)
                          : (int64_t)(test_random(random) % UINT64_C(2000000000000000000));
    origin->position = test_below(random, 8) == 0 ? 0 : test_random(random) >> 11;
    origin->flow = test_below(random, 4) == 0 ? 0 : test_random(random) >> 11;
    origin->flow_flags = (uint8_t)test_below(random, 16);
    if (test_below(random, 4) == 0)
        origin->vlan[0] = (uint16_t)test_below(random, 4096);
    if (origin->vlan[0] != SL_NO_VLAN && test_below(random, 2) == 0)
        origin->vlan[1] = (uint16_t)test_below(random, 4096);
    event->has_tuple = test_below(random, 8) != 0;
    if (event->has_tuple)
        hostile_tuple(&event->tuple, random);
    if (origin->flow != 0)
        event->community_id = "1:LQU9qZlK+B5F3KDmev6m5PMibrg=";
    hostile_payload(made, random);
}

void check_lines(const char *path, const char *const *lines, int n)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;

    assert_non_null(file);
    for (int i = 0; i < n; i++) {
        assert_true(getline(&line, &cap, file) > 0);
        line[strcspn(line, "\n")] = '\0';
        assert_string_equal(line, lines[i]);
    }
    assert_int_equal(getline(&line, &cap, file), -1);
    free(line);
    fclose(file);
}

void write_events(const char *spec, struct sl_event (*make)(int i), int n)
{
    struct sl_sink *sink = open_sink(spec);
    struct sl_diag diag;

    for (int i = 0; i < n; i++) {
        const struct sl_event event = make(i);

        assert_int_equal(sl_sink_write(sink, &event, &diag), SL_OK);
    }
    close_sink(sink, (uint64_t)n);
}

void check_console(struct sl_event (*make)(int i), const char *const *lines, int n)
{
    const char *path = scratch_path("console.txt");
    const int saved = stdout_to(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));

    write_events("console", make, n);
    stdout_back(saved);
    check_lines(path, lines, n);
}

void check_eve(struct sl_event (*make)(int i), const char *const *lines, int n)
{
    write_events(scratch_spec("eve", "eve.json"), make, n);
    check_lines(scratch_path("eve.json"), lines, n);
}

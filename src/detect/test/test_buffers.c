/* SPDX-License-Identifier: MIT */
/* Rules that look for contents in the names of DNS messages. */
#include "detect_fixture.h"

#include "app/dns_buffers.h"
#include "sluice/app.h"

enum { REQUEST = 0x0100, RESPONSE = 0x8180, MESSAGE_MAX = 4096, ALL_BUFFERS = 127 };

/* A message: its names are those of the questions, then, behind "|", of the answers. */
struct message {
    uint16_t flags;
    const char *names; /* "a.example b.example|c.example", each of class IN and type A */
    enum kind kind;    /* 0: UDP */
    uint16_t dst_port; /* 0: 53 */
};

#define ASK(of)                         \
    {                                   \
        .flags = REQUEST, .names = (of) \
    }
#define ANSWER(of)                       \
    {                                    \
        .flags = RESPONSE, .names = (of) \
    }

static uint32_t put_name(uint8_t *at, const char *name, size_t len)
{
    uint32_t n = 0;

    for (size_t i = 0; i < len;) {
        const size_t label_len = strcspn(name + i, ". |");

        at[n++] = (uint8_t)label_len;
        memcpy(at + n, name + i, label_len);
        n += (uint32_t)label_len;
        i += label_len + 1;
    }
    at[n++] = 0;
    return n;
}

static uint32_t put_message(uint8_t *bytes, const struct message *message)
{
    uint32_t counts[2] = {0, 0}, section = 0, len = 12;
    const char *at = message->names;

    memset(bytes, 0, 12);
    while (*at != '\0') {
        const size_t name_len = strcspn(at, " |");

        len += put_name(bytes + len, at, name_len);
        memcpy(bytes + len, "\0\1\0\1\0\0\0\1\0\4\1\2\3\4", 14);
        len += section == 0 ? 4 : 14;
        counts[section]++;
        at += name_len;
        section = *at == '|' ? 1 : section;
        at += *at != '\0';
    }
    store_be16(bytes, 0x1234);
    store_be16(bytes + 2, message->flags);
    store_be16(bytes + 4, counts[0]);
    store_be16(bytes + 6, counts[1]);
    return len;
}

static void add_message(struct sl_batch *batch, const struct message *message)
{
    static uint8_t bytes[MESSAGE_MAX];
    const struct packet packet = {.kind = message->kind == TCP ? UDP : message->kind,
                                  .dst_port =
                                      message->dst_port != 0 ? message->dst_port : (uint16_t)53,
                                  .payload = (const char *)bytes,
                                  .payload_len = put_message(bytes, message)};

    add_packet(batch, &packet);
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Hits in the payloads and in all names. */
static void find_all(struct sl_hits *hits, const struct sl_batch *batch,
                     const struct sl_literal *literals, size_t n_literals)
{
    const struct sl_batch whole = sl_batch_whole(batch);

    find_hits(hits, &whole, literals, n_literals);
    sl_hits_resolve_made(hits, batch);
    sl_hits_sort(hits);
}

/* Every literal in every packet, as if it were in every buffer. */
static void claim_all(struct sl_hits *hits, const struct sl_batch *batch, size_t n_literals)
{
    claim_hits(hits, batch, n_literals);
    for (size_t i = 0; i < hits->n; i++)
        hits->hit[i].id |= (uint64_t)ALL_BUFFERS << 32;
}

static struct sl_rules *load_all(const char *text)
{
    struct sl_rules *rules = load_rules(text);
    struct sl_rules_count count;

    sl_rules_count(rules, &count);
    if (count.loaded == 0 || count.loaded != count.lines)
        fail_msg("%s: %s", text,
                 sl_rules_bad_line(rules, 0) != NULL ? sl_rules_bad_line(rules, 0)->text
                                                     : sl_rules_skipped_rule(rules, 0)->text);
    return rules;
}

/* The alerts that the rules of the text raise for the message, with the hits that there are, and
 * with all. */
static size_t count_alerts(const char *text, const struct message *message)
{
    struct sl_rules *rules = load_all(text);
    struct sl_batch *batch = fixture_batch(64);
    const struct sl_literal *literals;
    struct sl_alert alerts[4];
    size_t n_literals, n, n_claimed;
    struct sl_hits hits;

    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, NULL), SL_OK);
    assert_int_equal(sl_batch_reserve_made(batch, 65536, 32, NULL), SL_OK);
    add_message(batch, message);
    dissect_batch(batch);
    sl_app_find(batch);
    assert_true(sl_rules_need_app(rules));
    assert_int_equal(sl_app_make(batch, batch, sl_rules_buffers(rules), 0), UINT64_MAX);
    find_all(&hits, batch, literals, n_literals);
    sl_rules_sift(rules, batch, &hits);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, alerts, 4, &n), SL_OK);
    free(hits.hit);
    claim_all(&hits, batch, n_literals);
    assert_int_equal(sl_rules_evaluate(rules, batch, &hits, alerts, 4, &n_claimed), SL_OK);
    free(hits.hit);
    assert_int_equal(n, n_claimed);
    sl_batch_free(batch);
    sl_rules_free(rules);
    return n;
}

static size_t run_over_tcp(struct sl_evaluator *evaluator, const struct sl_batch *batch,
                           const struct sl_hits *hits, const struct sl_app_message *message)
{
    const struct sl_alert *alerts;
    size_t n;

    sl_evaluator_set_messages(evaluator, message, 1);
    assert_int_equal(sl_evaluator_run(evaluator, batch, hits, &alerts, &n), SL_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(alerts[i].message, 0);
    return n;
}

/* The same for the message behind its length in a segment of TCP. */
static size_t count_over_tcp(const char *text, const struct message *message)
{
    static uint8_t bytes[2 + MESSAGE_MAX];
    const uint32_t len = put_message(bytes + 2, message);
    const struct packet packet = {
        .dst_port = 53, .payload = (const char *)bytes, .payload_len = 2 + len};
    const struct sl_app_value value = {bytes + 2, len, SL_DNS_MESSAGE};
    const uint8_t side = (message->flags & 0x8000) != 0;
    struct sl_app_message said = {.app = SL_APP_DNS, .side = side};
    struct sl_rules *rules = load_all(text);
    struct sl_batch *batch = fixture_batch(64);
    struct sl_evaluator *evaluator;
    const struct sl_literal *literals;
    struct sl_hits hits;
    size_t n_literals;

    said.half[side] = (struct sl_app_half){.value = &value, .n_values = 1, .has_head = true};
    store_be16(bytes, (uint16_t)len);
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, NULL), SL_OK);
    assert_true(sl_rules_need_steps(rules));
    assert_int_equal(sl_rules_need_values(rules), UINT64_C(1) << SL_DNS_MESSAGE);
    assert_int_equal(sl_batch_reserve_made(batch, 65536, 32, NULL), SL_OK);
    add_packet(batch, &packet);
    dissect_batch(batch);
    batch->origin[0].app = SL_APP_DNS;
    assert_int_equal(dns_make_names(batch, 0, value.bytes, len, sl_rules_buffers(rules), 0),
                     UINT32_MAX);
    find_all(&hits, batch, literals, n_literals);
    assert_int_equal(sl_evaluator_create(&evaluator, rules, NULL), SL_OK);
    const size_t n = run_over_tcp(evaluator, batch, &hits, &said);
    free(hits.hit);
    claim_all(&hits, batch, n_literals);
    assert_int_equal(run_over_tcp(evaluator, batch, &hits, &said), n);
    free(hits.hit);
    sl_evaluator_free(evaluator);
    sl_batch_free(batch);
    sl_rules_free(rules);
    return n;
}

struct trial {
    const char *options;
    struct message message;
    bool matches;
};

static void check_with(size_t (*count)(const char *text, const struct message *message),
                       const char *header, const struct trial *trials, size_t n)
{
    char text[1024];

    for (size_t i = 0; i < n; i++) {
        if (count == count_over_tcp && trials[i].message.names[0] == '\0')
            continue; /* the header alone is no message of UDP */
        snprintf(text, sizeof text, "alert %s any any -> any any (msg:\"x\"; %s sid:1;)\n", header,
                 trials[i].options);
        if (count(text, &trials[i].message) != trials[i].matches)
            fail_msg("%s of '%s': expected %d", text, trials[i].message.names, trials[i].matches);
    }
}

#define CHECK(header, trials) \
    check_with(count_alerts, header, trials, sizeof(trials) / sizeof *(trials))
#define CHECK_TCP(header, trials) \
    check_with(count_over_tcp, header, trials, sizeof(trials) / sizeof *(trials))

/* ---- tests ----------------------------------------------------------------------------------- */

static void contents_are_those_of_names(void **state)
{
    static const struct trial trials[] = {
        {"dns.query; content:\"evil.example\";", ASK("www.evil.example"), true},
        {"dns_query; content:\"evil.example\";", ASK("www.evil.example"), true},
        {"dns.query; content:\"Evil\";", ASK("www.evil.example"), false},
        {"dns.query; pcrexform:\"(\\w+)\\.example\"; content:\"evil\"; bsize:4;",
         ASK("www.evil.example"), true},
        /* A rule is stopped whose expression takes too long. */
        {"dns.query; pcrexform:\"((?:a|aa)+)[xy]\"; content:!\"x\";", ASK("aaaa.example"), false},
        {"dns.query; pcrexform:\"((?:a|aa)+)[xy]\"; content:!\"x\";", ASK("aaaa.com"), true},
        {"dns.query; pcrexform:\"((?:a|aa)+)[xy]\"; content:!\"x\";",
         ASK("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com"), false},
        {"dns.query; content:\"Evil\"; nocase;", ASK("www.eVIL.example"), true},
        {"dns.query; content:\"www\"; startswith;", ASK("www.evil.example"), true},
        {"dns.query; content:\"evil\"; startswith;", ASK("www.evil.example"), false},
        {"dns.query; content:\".example\"; endswith;", ASK("www.evil.example"), true},
        {"dns.query; content:\".evil\"; endswith;", ASK("www.evil.example"), false},
        {"dns.query; content:\"evil\"; offset:4; depth:4;", ASK("www.evil.example"), true},
        {"dns.query; content:\"evil\"; depth:7;", ASK("www.evil.example"), false},
        {"dns.query; content:\"www.\"; content:\"evil\"; distance:0; within:4;",
         ASK("www.evil.example"), true},
        {"dns.query; content:\"www.\"; content:\"example\"; distance:0; within:7;",
         ASK("www.evil.example"), false},
        {"dns.query; content:\"evil\"; isdataat:!9,relative;", ASK("www.evil.example"), true},
        {"dns.query; content:\"evil\"; isdataat:!8,relative;", ASK("www.evil.example"), false},
        {"dns.answers.rrname; absent;", ASK("a"), true},
        {"dns.answers.rrname; absent;", ANSWER("a|b"), false},
        {"dns.query; absent;", ASK(""), false},
        {"dns.query; absent;", ANSWER("a|b"), false},
        {"dns.response.rrname; absent;", ASK("a"), false},
        {"dns.answers.rrname; absent:or_else; content:\"b\";", ASK("a"), true},
        {"dns.answers.rrname; absent:or_else; content:\"b\";", ANSWER("a|b"), true},
        {"dns.answers.rrname; absent:or_else; content:\"b\";", ANSWER("b|c"), false},
        {"dns.query; content:\"a\"; dns.authorities.rrname; absent;", ASK("a"), true},
        {"dns.answers.rrname; to_lowercase; absent:or_else; content:!\"b\"; bsize:1;",
         ANSWER("a|B"), false},
        {"dns.query; content:!\"evil\";", ASK("www.good.example"), true},
        {"dns.query; content:!\"evil\";", ASK("www.evil.example"), false},
        {"dns.query; content:\".\";", ASK("a.b"), true},
        {"dns.query; content:\".\";", ASK("ab"), false},
    };

    (void)state;
    CHECK("dns", trials);
    CHECK_TCP("dns", trials);
    CHECK_TCP("tcp", trials);
    CHECK("udp", trials);
    CHECK("ip", trials);
}

static void names_have_sizes_and_periods(void **state)
{
    static const struct trial trials[] = {
        {"dns.query; content:\"a.b\"; bsize:3;", ASK("a.b"), true},
        {"dns.query; content:\"a.b\"; bsize:3;", ASK("a.bc"), false},
        {"dns.query; bsize:>3; content:\"a.b\";", ASK("a.bc"), true},
        {"dns.query; content:\"a.b\"; bsize:>4;", ASK("a.bc"), false},
        {"dns.query; content:\"a.b\"; bsize:<4;", ASK("a.bc"), false},
        {"dns.query; content:\"a.b\"; bsize:3<>5;", ASK("a.bc"), true},
        {"dns.query; content:\"a.b\"; bsize:4<>9;", ASK("a.bc"), false},
        {"dns.query; bsize:0;", ASK(""), false},
        {"dns.query; dotprefix; content:\".evil.example\"; endswith;", ASK("evil.example"), true},
        {"dns.query; dotprefix; content:\".evil.example\"; endswith;", ASK("x.evil.example"), true},
        {"dns.query; dotprefix; content:\".evil.example\"; endswith;", ASK("notevil.example"),
         false},
        {"dns.query; content:\".evil.example\"; endswith;", ASK("evil.example"), false},
        {"dns.query; dotprefix; content:\".a\"; bsize:2;", ASK("a"), true},
    };

    (void)state;
    CHECK("dns", trials);
    CHECK_TCP("dns", trials);
    CHECK_TCP("tcp", trials);
}

static void names_are_transformed(void **state)
{
    static const struct trial trials[] = {
        {"dns.query; to_lowercase; content:\"evil\";", ASK("www.EviL.example"), true},
        {"dns.query; to_lowercase; content:\"evil\";", ASK("www.EviM.example"), false},
        {"dns.query; content:\"rs-\"; startswith; dotprefix; content:\".evil\";", ASK("rs-a.evil"),
         true},
        {"dns.query; content:\"rs-\"; startswith; dotprefix; content:\".rs\";", ASK("rs-a.evil"),
         true},
        {"dns.query; content:\"rs-\"; startswith; dotprefix; content:\".rs\";", ASK("x.rs-a"),
         false},
        {"dns.query; to_uppercase; content:\"EVIL\"; fast_pattern;", ASK("a.b evil"), true},
        {"dns.query; to_lowercase; dotprefix; content:\".evil\";", ASK("EVIL.a"), true},
        {"dns.query; to_lowercase; dotprefix; content:\".evil\";", ASK("xEVIL.a"), false},
        {"dns.query; dotprefix; to_lowercase; content:\".evil\";", ASK("a EVIL.a"), true},
        {"dns.query; dotprefix; dotprefix; content:\"..evil\";", ASK("evil"), true},
        {"dns.query; url_decode; content:\"evil\";", ASK("ev%69l"), true},
        {"dns.query; url_decode; content:\"evil\";", ASK("ev%6al"), false},
        {"dns.query; url_decode; bsize:4;", ASK("abc ev%69l"), true},
        {"dns.query; to_sha256; content:\"|ba 78 16 bf|\"; startswith;", ASK("a abc"), true},
        {"dns.query; to_sha256; content:\"|ba 78 16 bf|\"; startswith;", ASK("a abd"), false},
        {"dns.answers.rrname; to_lowercase; content:\"two\";", ANSWER("one|a TWO"), true},
        {"dns.answers.rrname; to_lowercase; content:\"one\";", ANSWER("ONE|a two"), false},
        {"dns.query; to_lowercase; content:\"one\"; dns.query; content:\"ONE\";", ASK("ONE"), true},
        {"dns.query; to_lowercase; content:\"one\"; dns.query; content:\"ONE\";", ASK("One"),
         false},
    };

    (void)state;
    CHECK("dns", trials);
    CHECK_TCP("dns", trials);
    CHECK_TCP("tcp", trials);
}

static void each_name_is_met_alone(void **state)
{
    static const struct trial trials[] = {
        {"dns.query; content:\"one\"; content:\"two\";", ASK("one.a two.a"), false},
        {"dns.query; content:\"one\"; content:\"two\";", ASK("x.a one.two"), true},
        {"dns.query; content:\"one\"; dns.query; content:\"two\";", ASK("two.a one.a"), true},
        {"dns.query; content:\"one\"; dns.query; content:\"three\";", ASK("two.a one.a"), false},
        {"dns.query; content:!\"one\";", ASK("one.a two.a"), true},
    };

    (void)state;
    CHECK("dns", trials);
    CHECK_TCP("dns", trials);
    CHECK_TCP("tcp", trials);
}

static void buffers_are_those_of_directions_and_sections(void **state)
{
    static const struct trial trials[] = {
        {"dns.query; content:\"one\";", ANSWER("one.a|two.a"), false},
        {"dns.queries.rrname; content:\"one\";", ANSWER("one.a|two.a"), true},
        {"dns.queries.rrname; content:\"one\";", ASK("one.a"), true},
        {"dns.queries.rrname; content:\"two\";", ANSWER("one.a|two.a"), false},
        {"dns.answers.rrname; content:\"two\";", ANSWER("one.a|two.a"), true},
        {"dns.answers.rrname; content:\"one\";", ANSWER("one.a|two.a"), false},
        {"dns.response.rrname; content:\"one\";", ANSWER("one.a|two.a"), true},
        {"dns.response.rrname; content:\"two\";", ANSWER("one.a|two.a"), true},
        {"dns.response.rrname; content:\"one\";", ASK("one.a"), false},
        {"dns.queries.rrname; content:\"one\"; dns.answers.rrname; content:\"two\";",
         ANSWER("one.a|two.a"), true},
        {"dns.authorities.rrname; content:\"two\";", ANSWER("one.a|two.a"), false},
        {"dns.additionals.rrname; content:\"two\";", ANSWER("one.a|two.a"), false},
    };

    (void)state;
    CHECK("dns", trials);
    CHECK_TCP("dns", trials);
    CHECK_TCP("tcp", trials);
}

static void fields_of_messages_are_compared(void **state)
{
    static const struct trial trials[] = {
        {"dns.opcode:0;", ASK("one.a"), true},
        {"dns.opcode:!0;", ASK("one.a"), false},
        {"dns.opcode:>3;", {.flags = 0x2900, .names = "one.a"}, true},
        {"dns.opcode:4;", {.flags = 0x2900, .names = "one.a"}, false},
        {"dns.rcode:3;", {.flags = 0x8183, .names = "one.a"}, true},
        {"dns.rcode:3;", ANSWER("one.a|two.a"), false},
        {"dns.rcode:NXDOMAIN;", {.flags = 0x8183, .names = "one.a"}, true},
        {"dns.rcode:!nxdomain;", {.flags = 0x8183, .names = "one.a"}, false},
        {"dns.rcode:1-4;", {.flags = 0x8183, .names = "one.a"}, true},
        {"dns.rcode:!2;", {.flags = 0x8182, .names = "one.a"}, false},
        {"app-layer-event:dns.z_flag_set;", {.flags = 0x0140, .names = "one.a"}, true},
        {"app-layer-event:dns.z_flag_set;", ASK("one.a"), false},
        {"app-layer-event:DNS.Invalid_Opcode;", {.flags = 0x3800, .names = "one.a"}, true},
        {"app-layer-event:dns.invalid_opcode;", {.flags = 0x3000, .names = "one.a"}, false},
        {"app-layer-event:dns.malformed_data;", ASK("one.a"), false},
        {"dns.query; content:\"one\"; app-layer-event:dns.z_flag_set;",
         {.flags = 0x0140, .names = "one.a"},
         true},
        {"dns.rrtype:1;", ASK("one.a"), true},
        {"dns.rrtype:A;", ASK("one.a"), true},
        {"dns.rrtype:AAAA;", ASK("one.a"), false},
        {"dns.rrtype:!AAAA,all;", ASK("one.a two.a"), true},
        {"dns.rrtype:!a;", ASK("one.a two.a"), false},
        {"dns.rrtype:1,1;", ASK("one.a two.a"), true},
        {"dns.rrtype:1,2;", ASK("one.a two.a"), false},
        {"dns.rrtype:1,-2;", ASK("one.a two.a"), true},
        {"dns.rrtype:1,-3;", ASK("one.a two.a"), false},
        {"dns.rrtype:1;", ANSWER("one.a|two.a"), true},
        {"dns.rrtype:1;", {.flags = RESPONSE, .names = "one.a"}, false},
        {"dns.rrtype:1,all;", {.flags = RESPONSE, .names = "one.a"}, false},
    };

    (void)state;
    CHECK("ip", trials);
    CHECK_TCP("ip", trials);
    CHECK_TCP("dns", trials);
}

static void protocols_are_compared(void **state)
{
    static const struct trial trials[] = {
        {"app-layer-protocol:dns;", ASK("one.a"), true},
        {"app-layer-protocol:!dns;", ASK("one.a"), false},
        {"app-layer-protocol:!mdns;", ASK("one.a"), true},
        {"app-layer-protocol:!dns;", {REQUEST, "one.a", UDP, 5353}, true},
        {"app-layer-protocol:mdns,to_server;", {REQUEST, "one.a", UDP, 5353}, true},
        {"app-layer-protocol:llmnr;", {REQUEST, "one.a", UDP, 5353}, false},
        {"app-layer-protocol:dns,final;", {REQUEST, "one.a", ICMP, 0}, false},
        {"app-layer-protocol:!dns;", {REQUEST, "one.a", ICMP, 0}, false},
    };

    (void)state;
    CHECK("ip", trials);
}

static void payload_and_names_are_met_together(void **state)
{
    static const struct trial trials[] = {
        {"content:\"|12 34|\"; depth:2; dns.query; content:\"one.a\";", ASK("one.a"), true},
        {"content:\"|12 35|\"; depth:2; dns.query; content:\"one.a\";", ASK("one.a"), false},
        {"dns.query; content:\"one.a\"; pkt_data; content:\"|03|one|01|a|00|\";", ASK("one.a"),
         true},
        {"content:\"one.a\";", ASK("one.a"), false},
        {"content:\"|03|one\";", ASK("one.a"), true},
        {"", ASK("one.a"), true},
    };

    (void)state;
    CHECK("dns", trials);
}

static void dns_is_found_by_its_bytes(void **state)
{
    static const struct trial trials[] = {
        {"dns.query; content:\"one\";", {REQUEST, "one.a", UDP, 40000}, true},
        {"dns.query; content:\"one\";", {REQUEST, "one.a", UDP, 5353}, false},
        {"dns.query; content:\"one\";", {REQUEST, "one.a", UDP, 5355}, false},
        {"dns.query; content:\"one\";", {REQUEST, "one.a", ICMP, 0}, false},
    };

    (void)state;
    CHECK("dns", trials);
}

/* How many rules of a text are loaded, skipped and bad. */
static void check_load(const char *text, size_t loaded, size_t skipped, size_t bad)
{
    struct sl_rules *rules = load_rules(text);
    struct sl_rules_count count;

    sl_rules_count(rules, &count);
    assert_int_equal(count.loaded, loaded);
    assert_int_equal(count.skipped, skipped);
    assert_int_equal(count.bad, bad);
    sl_rules_free(rules);
}

static void misplaced_options_are_bad(void **state)
{
    (void)state;
    check_load("alert dns any any -> any any (dns.query; sid:1;)", 0, 0, 1);
    check_load("alert dns any any -> any any (dns.query; pkt_data; content:\"a\"; sid:1;)", 0, 0,
               1);
    check_load("alert dns any any -> any any (content:\"a\"; bsize:1; sid:1;)", 0, 0, 1);
    check_load("alert dns any any -> any any (content:\"a\"; dotprefix; sid:1;)", 0, 0, 1);
    check_load("alert dns any any -> any any (dns.query; content:\"a\"; dotprefix; sid:1;)", 0, 0,
               1);
    check_load("alert dns any any -> any any (content:\"a\"; dns.query; nocase; sid:1;)", 0, 0, 1);
    check_load("alert dns any any -> any any (dns.query; bsize:x; sid:1;)", 0, 0, 1);
    check_load("alert tcp any any -> any 53 (dns.query; content:\"a\"; sid:1;)", 1, 0, 0);
    check_load("alert icmp any any -> any any (dns.query; content:\"a\"; sid:1;)", 0, 1, 0);
}

/* ---- made items ------------------------------------------------------------------------------ */

/* The items of a batch are the same, however little of them fits at once. */
static void names_that_do_not_fit_go_on(void **state)
{
    static const struct message messages[] = {
        {REQUEST, "one.a two.a three.a", UDP, 0},
        {RESPONSE, "four.a|five.a six.a", UDP, 0},
        {REQUEST, "seven.a", UDP, 0},
    };
    static const char *const names[] = {".one.a",  ".two.a", ".three.a", ".four.a",
                                        ".five.a", ".six.a", ".seven.a"};
    static const uint32_t items[] = {0, 0, 0, 1, 1, 1, 2};
    struct sl_batch *batch = fixture_batch(8);

    (void)state;
    for (size_t i = 0; i < 3; i++)
        add_message(batch, &messages[i]);
    dissect_batch(batch);
    sl_app_find(batch);
    for (uint32_t n_fit = 1; n_fit <= 8; n_fit++) {
        struct sl_batch *rest = fixture_batch(9);
        uint64_t from = 0;
        size_t n = 0;

        assert_int_equal(sl_batch_reserve_made(rest, 4096, n_fit, NULL), SL_OK);
        while (from != UINT64_MAX) {
            sl_batch_reset(rest);
            from = sl_app_make(batch, rest, ALL_BUFFERS, from);
            assert_true(rest->n_made == n_fit || from == UINT64_MAX);
            for (uint32_t i = 0; i < rest->n_made; i++, n++) {
                assert_int_equal(rest->made[i].item, items[n]);
                assert_int_equal(rest->payload[i].len, strlen(names[n]));
                assert_memory_equal(rest->bytes + rest->payload[i].offset, names[n],
                                    strlen(names[n]));
            }
        }
        assert_int_equal(n, 7);
        sl_batch_free(rest);
    }
    sl_batch_free(batch);
}

/* A message has variables of its own: rules of one packet see them, and no other packet. */
static void messages_have_bits(void **state)
{
    const struct message message = ASK("a.example");

    (void)state;
    assert_int_equal(
        count_alerts("alert dns any any -> any any (xbits:isset,b,track tx; sid:1;)", &message), 0);
    assert_int_equal(
        count_alerts("alert dns any any -> any any (xbits:isset,b,track tx; sid:1;)\n"
                     "alert dns any any -> any any (xbits:isnotset,c,track tx; sid:2;)\n"
                     "alert dns any any -> any any (dns.query; content:\"a.\"; "
                     "xbits:set,b,track tx; noalert; sid:3;)\n",
                     &message),
        2);
}

/* Parsers follow the sides of flows for them alone. */
static void sides_are_asked_for(void **state)
{
    static const struct {
        const char *rule;
        bool asks;
    } cases[] = {{"alert tcp any any -> any any (app-layer-protocol:!tls; sid:1;)", true},
                 {"alert tcp any any -> any any (stream_size:client,>,5; sid:1;)", false}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_rules *rules = load_rules(cases[i].rule);
        const struct sl_literal *literals;
        size_t n;

        assert_int_equal(sl_rules_compile(rules, &literals, &n, NULL), SL_OK);
        assert_true(sl_rules_ask_stream_facts(rules));
        assert_int_equal(sl_rules_need_sides(rules), cases[i].asks);
        sl_rules_free(rules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_those_of_names),
        cmocka_unit_test(names_have_sizes_and_periods),
        cmocka_unit_test(names_are_transformed),
        cmocka_unit_test(each_name_is_met_alone),
        cmocka_unit_test(buffers_are_those_of_directions_and_sections),
        cmocka_unit_test(fields_of_messages_are_compared),
        cmocka_unit_test(protocols_are_compared),
        cmocka_unit_test(payload_and_names_are_met_together),
        cmocka_unit_test(dns_is_found_by_its_bytes),
        cmocka_unit_test(misplaced_options_are_bad),
        cmocka_unit_test(names_that_do_not_fit_go_on),
        cmocka_unit_test(sides_are_asked_for),
        cmocka_unit_test(messages_have_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

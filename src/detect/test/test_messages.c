/* SPDX-License-Identifier: MIT */
/* Rules about what messages of flows say: on which messages they alert. */
#include "detect_fixture.h"

#include <stdio.h>
#include <string.h>

#include "app/app_body.h"
#include "detect/rule.h"
#include "sluice/app.h"

enum { MESSAGES_MAX = 8, VALUES_MAX = 24, ALL_OF_MESSAGES = (1 << 30) - 1 };

struct value {
    enum sl_app_value_id id;
    const char *text;
};

/* Messages, the values of their halves, and the packets that they are of. */
struct scene {
    struct sl_batch *batch;
    struct sl_app_message message[MESSAGES_MAX];
    size_t n;
    struct sl_app_value values[MESSAGES_MAX][2][VALUES_MAX];
    struct sl_app_piece piece[MESSAGES_MAX];
    struct sl_app_part part[2][2]; /* of a side's body */
};

static const struct value request[] = {
    {SL_HTTP_METHOD, "POST"},
    {SL_HTTP_URI, "/a/index.php?id=7"},
    {SL_HTTP_URI_RAW, "/a/%69ndex.php?id=7"},
    {SL_HTTP_HOST, "www.evil.example"},
    {SL_HTTP_HOST_RAW, "WWW.evil.example:80"},
    {SL_HTTP_PROTOCOL, "HTTP/1.1"},
    {SL_HTTP_START_LINE, "POST /a/%69ndex.php?id=7 HTTP/1.1"},
    {SL_HTTP_START, "POST /a HTTP/1.1\r\nHost: x\r\n\r\n"},
    {SL_HTTP_HEADER, "Host: www.evil.example\r\nUser-Agent: Probe 1.0\r\n"},
    {SL_HTTP_HEADER_RAW, "HOST: WWW.evil.example\r\nUser-Agent: Probe 1.0\r\n\r\n"},
    {SL_HTTP_HEADER_NAMES, "\r\nHost\r\nUser-Agent\r\n\r\n"},
    {SL_HTTP_COOKIE, "id=asked"},
    {SL_HTTP_USER_AGENT, "Probe 1.0"},
    {SL_HTTP_REFERER, "http://before.example/"},
    {SL_HTTP_ACCEPT, "*/*"},
    {SL_HTTP_ACCEPT_LANG, "en-GB"},
    {SL_HTTP_ACCEPT_ENC, "gzip"},
    {SL_HTTP_CONNECTION, "keep-alive"},
    {SL_HTTP_CONTENT_TYPE, "text/csv"},
    {SL_HTTP_CONTENT_LEN, "26"},
};

static const struct value response[] = {
    {SL_HTTP_PROTOCOL, "HTTP/1.0"},
    {SL_HTTP_START_LINE, "HTTP/1.0 404 Not Found"},
    {SL_HTTP_HEADER, "Server: Box/9\r\nSet: 1\r\n"},
    {SL_HTTP_COOKIE, "id=given"},
    {SL_HTTP_STAT_CODE, "404"},
    {SL_HTTP_STAT_MSG, "Not Found"},
    {SL_HTTP_CONTENT_TYPE, "text/html"},
    {SL_HTTP_SERVER, "Box/9"},
    {SL_HTTP_LOCATION, "http://next.example/"},
};

static const char asked[] = "name=value&more=first,second", given[] = "<html>none such</html>";

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void say(struct scene *scene, int side, const struct value *value, size_t n)
{
    struct sl_app_half *half = &scene->message[scene->n].half[side];
    struct sl_app_value *to = scene->values[scene->n][side];

    half->value = to;
    for (size_t i = 0; i < n; i++)
        to[half->n_values++] = (struct sl_app_value){
            (const uint8_t *)value[i].text, (uint32_t)strlen(value[i].text), (uint32_t)value[i].id};
    half->has_head = true;
}

/* Ends the message: it is of the packet, and shows the first `len` bytes of a body. */
static void add_message(struct scene *scene, uint32_t item, enum sl_app app, int side,
                        enum sl_app_step step, const char *body, uint32_t shown, uint32_t len)
{
    struct sl_app_message *message = &scene->message[scene->n];
    struct sl_app_half *half = &message->half[side];

    message->item = item;
    message->app = (uint8_t)app;
    message->side = (uint8_t)side;
    message->step = (uint8_t)step;
    message->flow = 1;
    half->has_ended = step == SL_APP_END;
    if (body != NULL) {
        scene->values[scene->n][side][half->n_values++] =
            (struct sl_app_value){(const uint8_t *)body, len, SL_APP_BODY};
        half->body_len = message->body_len = len;
        message->body_shown = shown;
    }
    scene->n++;
}

static void open_scene(struct scene *scene)
{
    const struct packet packets[] = {
        {.src_port = 4000,
         .dst_port = 80,
         .payload = "POST packet",
         .flow = SL_FLOW_TO_SERVER | SL_FLOW_ESTABLISHED},
        {.src_port = 80, .dst_port = 4000, .payload = "HTTP packet", .flow = SL_FLOW_ESTABLISHED},
    };

    memset(scene, 0, sizeof *scene);
    scene->batch = fixture_batch(2);
    add_packet(scene->batch, &packets[0]);
    add_packet(scene->batch, &packets[1]);
    dissect_batch(scene->batch);
}

/* The packets hold what each message adds to its body, and matchers find it there alone. */
static void put_bodies_into_packets(struct scene *scene)
{
    const struct packet packets[] = {
        {.src_port = 4000,
         .dst_port = 80,
         .payload = "POST packet name=value&more=first,second",
         .flow = SL_FLOW_TO_SERVER | SL_FLOW_ESTABLISHED},
        {.src_port = 80,
         .dst_port = 4000,
         .payload = "HTTP packet <html>none such</html>",
         .flow = SL_FLOW_ESTABLISHED},
    };

    sl_batch_free(scene->batch);
    scene->batch = fixture_batch(2);
    add_packet(scene->batch, &packets[0]);
    add_packet(scene->batch, &packets[1]);
    dissect_batch(scene->batch);
    for (size_t m = 0; m < scene->n; m++) {
        struct sl_app_message *message = &scene->message[m];
        const uint32_t shown = message->body_shown;

        scene->piece[m] = (struct sl_app_piece){
            .item = message->item, .begin = 12 + shown, .len = message->body_len - shown};
        message->pieces = message->body_len != 0 ? &scene->piece[m] : NULL;
    }
}

/* 0: the head of a request; 1: the begin of its body; 2: its end. 3: the head of the response; 4:
 * its end, with the body. */
static void open_http(struct scene *scene)
{
    open_scene(scene);
    for (int i = 0; i < 3; i++) {
        say(scene, 0, request, COUNT(request));
        add_message(scene, 0, SL_APP_HTTP, 0,
                    i == 0   ? SL_APP_HEAD
                    : i == 1 ? SL_APP_MORE
                             : SL_APP_END,
                    i == 0 ? NULL : asked, i == 2 ? 10 : 0, i == 1 ? 10 : (uint32_t)strlen(asked));
    }
    for (int i = 0; i < 2; i++) {
        say(scene, 0, request, COUNT(request));
        say(scene, 1, response, COUNT(response));
        add_message(scene, 1, SL_APP_HTTP, 1, i == 0 ? SL_APP_HEAD : SL_APP_END,
                    i == 0 ? NULL : given, 0, (uint32_t)strlen(given));
    }
}

static const struct value client_hello[] = {
    {SL_TLS_SNI, "mail.evil.example"},
    {SL_TLS_JA3_HASH, "0123456789abcdef0123456789abcdef"},
    {SL_TLS_JA3, "771,49195-49199,0-10,23,0"},
    {SL_TLS_JA4, "t13d1516h2_8daaf6152771_b186095e22b6"},
    {SL_TLS_ALPN, "h2"},
    {SL_TLS_ALPN, "http/1.1"},
    {SL_TLS_RANDOM, "client client client client rand"},
};

static const struct value server_hello[] = {
    {SL_TLS_VERSION, "1.2"},
    {SL_TLS_JA3S_HASH, "fedcba9876543210fedcba9876543210"},
    {SL_TLS_JA3S, "771,49195,0"},
    {SL_TLS_ALPN, "h2"},
    {SL_TLS_RANDOM, "server server server server rand"},
};

static const struct value certificates[] = {
    {SL_TLS_VERSION, "1.2"},
    {SL_TLS_CERT_SUBJECT, "CN=mail.evil.example"},
    {SL_TLS_CERT_ISSUER, "C=XX, O=Nobody"},
    {SL_TLS_CERT_SERIAL, "01:23:AB"},
    {SL_TLS_CERT_FINGERPRINT, "aa:bb:cc"},
    {SL_TLS_CERT_NOT_BEFORE, "2024-01-31T23:59:59"},
    {SL_TLS_CERT_NOT_AFTER, "2024-12-31T00:00:00"},
    {SL_TLS_JA3S_HASH, "fedcba9876543210fedcba9876543210"},
    {SL_TLS_CERT, "first in DER"},
    {SL_TLS_CERT, "second in DER"},
    {SL_TLS_CERT_ALT_NAME, "mail.evil.example"},
    {SL_TLS_CERT_ALT_NAME, "www.evil.example"},
};

/* 0: the client's hello; 1: the server's; 2: its certificates. */
static void open_tls(struct scene *scene)
{
    open_scene(scene);
    say(scene, 0, client_hello, COUNT(client_hello));
    scene->message[0].version[0] = 0x0304;
    scene->message[0].seen = SL_TLS_SEEN_CLIENT_HELLO;
    add_message(scene, 0, SL_APP_TLS, 0, SL_APP_HEAD, NULL, 0, 0);
    for (int i = 0; i < 2; i++) {
        say(scene, 0, client_hello, COUNT(client_hello));
        if (i == 0)
            say(scene, 1, server_hello, COUNT(server_hello));
        else
            say(scene, 1, certificates, COUNT(certificates));
        scene->message[scene->n].n_certificates = i == 0 ? 0 : 2;
        scene->message[scene->n].later = i == 1;
        scene->message[scene->n].version[0] = 0x0304;
        scene->message[scene->n].version[1] = 0x0303;
        scene->message[scene->n].seen = SL_TLS_SEEN_CLIENT_HELLO | SL_TLS_SEEN_SERVER_HELLO;
        add_message(scene, 1, SL_APP_TLS, 1, SL_APP_HEAD, NULL, 0, 0);
    }
}

/* ---- evaluation ------------------------------------------------------------------------------ */

static void add_hit(struct sl_hits *hits, uint32_t item, uint64_t id)
{
    if (hits->n == hits->cap) {
        hits->cap *= 2;
        hits->hit = realloc(hits->hit, hits->cap * sizeof *hits->hit);
    }
    assert_non_null(hits->hit);
    hits->hit[hits->n++] = (struct sl_hit){item, 0, id};
}

/* Whether this value was not in a message of the side before. */
static bool is_new(const struct scene *scene, size_t m, int side, const struct sl_app_value *value)
{
    const struct sl_app_half *before = m != 0 ? &scene->message[m - 1].half[side] : NULL;

    if (side != scene->message[m].side)
        return false;
    for (uint32_t i = 0; before != NULL && i < before->n_values; i++)
        if (before->value[i].id == value->id && before->value[i].len == value->len &&
            before->value[i].bytes == value->bytes)
            return false;
    return true;
}

/* Whether the literal is in a value; of a body that packets hold, across the bytes shown before. */
static bool holds(const struct sl_app_message *message, const struct sl_app_value *value,
                  const struct sl_literal *literal)
{
    const bool in_pieces = value->id == SL_APP_BODY && message->pieces != NULL;
    const uint32_t shown = message->body_shown;

    for (uint32_t at = 0; at + literal->len <= value->len; at++)
        if (literal_is_at(literal, value->bytes + at) &&
            (!in_pieces || (at < shown && at + literal->len > shown)))
            return true;
    return false;
}

/* The hits in payloads, and in the new values of messages. */
static void find_all(struct sl_hits *hits, const struct scene *scene,
                     const struct sl_literal *literals, size_t n_literals)
{
    find_hits(hits, scene->batch, literals, n_literals);
    for (size_t m = 0; m < scene->n; m++)
        for (int side = 0; side < 2; side++) {
            const struct sl_app_half *half = &scene->message[m].half[side];

            for (uint32_t i = 0; i < half->n_values; i++)
                for (size_t id = 0; id < n_literals; id++)
                    if (is_new(scene, m, side, &half->value[i]) &&
                        holds(&scene->message[m], &half->value[i], &literals[id]))
                        add_hit(hits, scene->message[m].item,
                                (uint64_t)sl_app_buffer_of(half->value[i].id) << 32 | id);
        }
    hits->in_order = false;
    sl_hits_sort(hits);
}

/* Every literal in every buffer. */
static void claim_all(struct sl_hits *hits, const struct scene *scene, size_t n_literals)
{
    claim_hits(hits, scene->batch, n_literals);
    for (size_t i = 0; i < hits->n; i++)
        hits->hit[i].id |= (uint64_t)ALL_OF_MESSAGES << 32;
}

/* What packets hold of bodies is nowhere else. */
static void lend_bodies(struct scene *lent, const struct scene *scene)
{
    enum { FIRST = 7 };

    *lent = *scene;
    for (size_t m = 0; m < lent->n; m++) {
        struct sl_app_message *message = &lent->message[m];
        struct sl_app_half *half = &message->half[message->side];
        struct sl_app_value *const values = lent->values[m][message->side];
        struct sl_app_part *const part = lent->part[message->side];

        if (message->pieces == NULL)
            continue;
        memcpy(values, half->value, half->n_values * sizeof *values);
        half->value = values;
        struct sl_app_value *const body = &values[half->n_values - 1];
        assert_int_equal(body->id, SL_APP_BODY);
        part[1].bytes = body->bytes + FIRST;
        if (part[1].len < body->len - FIRST)
            part[1].len = body->len - FIRST;
        part[0] = (struct sl_app_part){&part[1], body->bytes, FIRST};
        body->bytes = NULL;
        message->parts = part;
    }
}

/* Writes the indices of the messages of the alerts, and "-" for one of none. */
static void alerted(const struct sl_rules *rules, const struct scene *as_whole,
                    const struct sl_hits *hits, char *text)
{
    static struct scene lent;
    const struct scene *const scene = &lent;
    struct sl_evaluator *evaluator;
    const struct sl_alert *alerts;
    struct sl_diag diag;
    size_t n;

    lend_bodies(&lent, as_whole);
    assert_int_equal(sl_evaluator_create(&evaluator, rules, &diag), SL_OK);
    sl_evaluator_set_messages(evaluator, scene->message, scene->n);
    assert_int_equal(sl_evaluator_run(evaluator, scene->batch, hits, &alerts, &n), SL_OK);
    for (size_t i = 0; i < n; i++) {
        const uint32_t m = alerts[i].message;

        *text++ = m == SL_ALERT_NO_MESSAGE ? '-' : (char)('0' + m);
        if (m != SL_ALERT_NO_MESSAGE)
            assert_int_equal(alerts[i].item, scene->message[m].item);
    }
    *text = '\0';
    sl_evaluator_free(evaluator);
}

static bool alerts_on(const struct scene *scene, const char *text, const char *expected)
{
    const struct sl_literal *literals;
    struct sl_rules *rules = load_rules(text);
    struct sl_hits hits;
    size_t n_literals;
    struct sl_diag diag;
    char found[64], claimed[64];

    if (sl_rules_signature(rules, 0) == NULL) {
        const struct sl_diag *bad = sl_rules_bad_line(rules, 0);

        bad = bad != NULL ? bad : sl_rules_skipped_rule(rules, 0);
        print_error("%s: %s\n", text, bad != NULL ? bad->text : "");
        sl_rules_free(rules);
        return false;
    }
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
    find_all(&hits, scene, literals, n_literals);
    sl_rules_sift(rules, scene->batch, &hits);
    keep_run_ends(&hits, literals);
    alerted(rules, scene, &hits, found);
    free(hits.hit);
    claim_all(&hits, scene, n_literals);
    alerted(rules, scene, &hits, claimed);
    free(hits.hit);
    sl_rules_free(rules);
    if (strcmp(found, expected) == 0 && strcmp(claimed, expected) == 0)
        return true;
    print_error("%s: '%s', and of claimed hits '%s', not '%s'\n", text, found, claimed, expected);
    return false;
}

struct row {
    const char *options, *expected;
};

static void check(const struct scene *scene, const char *head, const struct row *rows, size_t n)
{
    char text[512];
    int n_wrong = 0;

    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "%s (%s sid:1;)", head, rows[i].options);
        n_wrong += !alerts_on(scene, text, rows[i].expected);
    }
    assert_int_equal(n_wrong, 0);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Each buffer has its bytes, and no other buffer has them. */
static void test_http_buffers(void **state)
{
    static const struct row rows[] = {
        {"http.method; content:\"POST\"; bsize:4;", "0"},
        {"http.uri; content:\"/a/index.php\"; startswith;", "0"},
        {"http.uri; content:\"%69ndex\";", ""},
        {"http.uri.raw; content:\"%69ndex\";", "0"},
        {"http.host; content:\"www.evil.example\"; bsize:16;", "0"},
        {"http.host.raw; content:\"WWW\"; startswith;", "0"},
        {"http.protocol; content:\"HTTP/1.1\";", "0"},
        {"http.protocol; content:\"HTTP/1.0\";", "3"},
        {"http.protocol; content:\"HTTP/1.\";", "03"},
        {"http.request_line; content:\"POST /a\"; startswith;", "0"},
        {"http.response_line; content:\"404 Not\";", "3"},
        {"http.request_line; content:\"404 Not\";", ""},
        {"http.start; content:\"HTTP/1.1|0d 0a|Host\";", "0"},
        {"http.header; content:\"Probe 1.0|0d 0a|\";", "0"},
        {"http.header; content:\"Server: Box/9\";", "3"},
        {"http.header.raw; content:\"HOST: \";", "0"},
        {"http.header_names; content:\"|0d 0a|User-Agent|0d 0a|\";", "0"},
        {"http.header_names; content:!\"Referer\";", "0"},
        {"http.cookie; content:\"id=asked\";", "0"},
        {"http.cookie; content:\"id=given\";", "3"},
        {"flow:to_server; http.cookie; content:\"id=\";", "0"},
        {"flow:to_client,established; http.cookie; content:\"id=\";", "3"},
        {"http.user_agent; content:\"Probe\"; pcre:\"/^Probe \\d\\.\\d$/\";", "0"},
        {"http.referer; content:\"before\";", "0"},
        {"http.accept; content:\"*/*\";", "0"},
        {"http.accept_lang; content:\"en-GB\";", "0"},
        {"http.accept_enc; content:\"gzip\";", "0"},
        {"http.connection; content:\"keep-alive\";", "0"},
        {"http.content_type; content:\"text/\";", "03"},
        {"http.content_len; byte_test:0,>,25,0,string,dec;", "0"},
        {"http.content_len; byte_test:0,>,26,0,string,dec;", ""},
        {"http.stat_code; content:\"404\";", "3"},
        {"http.stat_msg; content:\"Not Found\";", "3"},
        {"http.server; content:\"Box\";", "3"},
        {"http.location; content:\"next.example\";", "3"},
        {"http.request_header; content:\"Host: x\"; bsize:7;", "0"},
        {"http.request_header; content:\"POST\";", ""},
        {"http.response_header; content:\"Host\";", ""},
        {"http.protocol:to_client; content:\"HTTP/1.\";", "3"},
        {"http.protocol:to_server; content:\"HTTP/1.\";", "0"},
        {"urilen:17;", "0"},
        {"urilen:>17;", ""},
        {"urilen:19,raw;", "0"},
        {"http.host; dotprefix; content:\".evil.example\"; endswith;", "0"},
        {"http.host; dotprefix; content:\".www.evil.example\"; startswith;", "0"},
        {"http.host.raw; to_lowercase; content:\"www.\";", "0"},
        {"http.uri; to_md5; content:\"a\";", ""},
    };
    struct scene scene;

    (void)state;
    open_http(&scene);
    check(&scene, "alert http any any -> any any", rows, COUNT(rows));
    check(&scene, "alert tcp any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

/* A body is seen at each step, and a rule that has matched does not alert again. */
static void test_bodies(void **state)
{
    static const struct row rows[] = {
        {"http.request_body; content:\"name=value\";", "1"},
        {"http.request_body; content:\"more=first\";", "2"},
        {"http.request_body; content:\"name=\"; content:\"second\"; distance:0;", "2"},
        {"http.request_body; content:\"second\"; endswith;", "2"},
        {"http.request_body; content:\"value\"; endswith;", ""},
        {"http.request_body; bsize:28;", "2"},
        {"http.request_body; bsize:10;", ""},
        {"http.request_body; content:!\"none such\";", "1"},
        {"http.response_body; content:\"none such\";", "4"},
        {"file.data; content:\"none such\";", "4"},
        {"file_data; content:\"=\";", "1"},
        {"file_data; content:\"n\";", "14"},
        {"flow:to_client; file_data; content:\"n\";", "4"},
        {"http.uri; content:\"index\"; http.request_body; content:\"name\";", "1"},
        {"http.uri; content:\"index\"; http.request_body; content:!\"zzz\";", "1"},
        {"http.uri; content:\"other\"; http.request_body; content:\"name\";", ""},
        {"http.method; content:\"POST\"; http.request_body; content:\"more\";", "2"},
        {"http.stat_code; content:\"404\"; file.data; content:\"<html>\"; depth:6;", "4"},
        {"http.stat_code; content:\"404\"; http.uri; content:\"index\";", "3"},
        {"http.response_body; absent;", ""},
        {"http.request_body; to_lowercase; content:\"more=\";", "2"},
        {"http.request_body; content:\"va\"; offset:5; depth:2;", "1"},
        {"http.request_body; content:\"VA\"; offset:5; depth:2; nocase;", "1"},
        {"http.request_body; content:\"lu\"; offset:5; depth:2;", ""},
        {"http.request_body; content:\"na\"; startswith;", "1"},
        {"http.request_body; content:\"ma\"; startswith;", ""},
        {"http.response_body; content:\"<h\"; depth:2;", "4"},
        {"http.request_body; content:\"fi\"; offset:16; depth:2;", "2"},
        {"http.server; content:\"Box/9\"; http.response_body; content:!\"zzz\";", "4"},
    };
    struct scene scene;

    (void)state;
    open_http(&scene);
    check(&scene, "alert http any any -> any any", rows, COUNT(rows));
    put_bodies_into_packets(&scene);
    check(&scene, "alert http any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

/* A hit in a packet is one of a body where all of its literal is. */
static void test_hits_beside_a_body(void **state)
{
    static const struct row rows[] = {
        {"http.request_body; content:\"packet\"; content:!\"zzz\";", ""},
        {"http.response_body; content:\"<html>\"; depth:6;", "4"},
    };
    const char text[] =
        "alert http any any -> any any (http.request_body; content:\"name\"; sid:1;)";
    const struct sl_literal *literals;
    struct sl_rules *rules = load_rules(text);
    struct sl_hits hits;
    struct scene scene;
    size_t n_literals;
    struct sl_diag diag;
    char found[64];

    (void)state;
    open_http(&scene);
    put_bodies_into_packets(&scene);
    check(&scene, "alert http any any -> any any", rows, COUNT(rows));
    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, &diag), SL_OK);
    for (int32_t off = -1; off <= 1; off++) {
        find_all(&hits, &scene, literals, n_literals);
        assert_int_equal(hits.n, 1);
        assert_int_equal(hits.hit[0].offset, 16);
        scene.piece[1].begin = (uint32_t)(12 + off);
        alerted(rules, &scene, &hits, found);
        assert_string_equal(found, off > 0 ? "" : "1");
        free(hits.hit);
    }
    sl_rules_free(rules);
    sl_batch_free(scene.batch);
}

/* A body in the middle of a run, and two packets, of which the last holds both. */
static void put_body_into_run(struct scene *scene)
{
    enum { BEFORE = 3 };
    static const char body[] = "AAAAAAAAAAAAAAAAAA";
    static const struct packet packets[] = {
        {.dst_port = 80, .payload = "x", .flow = SL_FLOW_TO_SERVER | SL_FLOW_ESTABLISHED},
        {.dst_port = 80,
         .payload = "xxAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAyy",
         .flow = SL_FLOW_TO_SERVER | SL_FLOW_ESTABLISHED},
    };

    open_scene(scene);
    say(scene, 0, request, COUNT(request));
    add_message(scene, 1, SL_APP_HTTP, 0, SL_APP_MORE, body, 0, sizeof body - 1);
    sl_batch_free(scene->batch);
    scene->batch = fixture_batch(2);
    add_packet(scene->batch, &packets[0]);
    add_packet(scene->batch, &packets[1]);
    dissect_batch(scene->batch);
    scene->piece[0] = (struct sl_app_piece){.item = 1, .begin = 2 + BEFORE, .len = sizeof body - 1};
    scene->message[0].pieces = &scene->piece[0];
}

/* A run reaches over the bytes of a body, and has hits before and behind them alone. */
static void test_bodies_inside_runs(void **state)
{
    static const struct row rows[] = {
        {"http.request_body; content:\"AAAAAAAAAAAAAAAA\";", "0"},
        {"http.request_body; content:\"aaaaaaaaaaaaaaaaaa\"; nocase;", "0"},
        {"http.request_body; content:\"AAAAAAAAAAAAAAAAAAA\";", ""},
    };
    struct scene scene;

    (void)state;
    put_body_into_run(&scene);
    check(&scene, "alert http any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

/* The flow of the body ended in the batch: another packet stands for it. */
static void test_late_bodies_inside_runs(void **state)
{
    static const struct packet stand_in = {.dst_port = 80,
                                           .flow = SL_FLOW_TO_SERVER | SL_FLOW_ESTABLISHED};
    static const uint32_t before[] = {1};
    const struct sl_literal *literals;
    struct sl_rules *rules = load_rules("alert http any any -> any any (http.request_body; "
                                        "content:\"AAAAAAAAAAAAAAAA\"; sid:1;)");
    struct sl_batch *late_batch = fixture_batch(1);
    struct sl_evaluator *evaluator;
    const struct sl_alert *alerts;
    struct scene scene;
    struct sl_hits hits;
    size_t n_literals, n;

    (void)state;
    put_body_into_run(&scene);
    add_packet(late_batch, &stand_in);
    dissect_batch(late_batch);
    scene.message[0].item = 0;
    const struct sl_late late = {
        .batch = late_batch, .before = before, .messages = scene.message, .n_messages = 1};

    assert_int_equal(sl_rules_compile(rules, &literals, &n_literals, NULL), SL_OK);
    find_hits(&hits, scene.batch, literals, n_literals);
    keep_run_ends(&hits, literals);
    assert_int_equal(sl_evaluator_create(&evaluator, rules, NULL), SL_OK);
    sl_evaluator_set_messages(evaluator, NULL, 0);
    sl_evaluator_set_late(evaluator, &late);
    assert_int_equal(sl_evaluator_run(evaluator, scene.batch, &hits, &alerts, &n), SL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(alerts[0].item, 1);
    sl_evaluator_free(evaluator);
    free(hits.hit);
    sl_rules_free(rules);
    sl_batch_free(late_batch);
    sl_batch_free(scene.batch);
}

/* The dialects of older rules and those of Snort 3. */
static void test_dialects(void **state)
{
    static const struct row rows[] = {
        {"content:\"index\"; http_uri; content:\"Probe\"; http_user_agent;", "0"},
        {"content:\"index\"; http_uri; content:\"php\"; distance:1; within:3; http_uri;", "0"},
        {"content:\"index\"; http_uri; content:\"php\"; distance:2; http_uri;", ""},
        {"content:\"id=7\"; http_uri; isdataat:!1,relative;", "0"},
        {"content:\"id=\"; http_uri; isdataat:!1,relative;", ""},
        {"content:\"POST\"; http_method; pcre:\"/index\\.php/Ui\";", "0"},
        {"content:\"POST\"; http_method; pcre:\"/Host\\x3a [a-z.]+\\r\\n/H\";", "0"},
        {"pcre:\"/^name=/P\";", "1"},
        {"content:\"index\"; http_uri; content:\"POST\"; http_method; depth:4;", "0"},
        {"content:\"index\"; http_uri; content:\"post\"; http_method; depth:4; nocase;", "0"},
        {"content:\"index\"; http_uri; content:\"OST\"; http_method; depth:3;", ""},
        {"http.uri; content:\"index\"; http.method; content:\"POST\"; within:4;", "0"},
        {"http.uri; content:\"index\"; http.method; content:\"POS\"; within:3; content:\"T\";",
         "0"},
        {"http.uri; content:\"index\"; http.method; content:\"OST\"; within:3;", ""},
        {"http.method; content:\"P\"; content:\"OST\"; distance:0; within:3; http.uri; "
         "content:\"index\";",
         "0"},
        {"content:\"index\"; http_uri; content:\"POSTED\"; http_method; depth:6;", ""},
        {"pcre:\"/such/Q\";", "4"},
        {"pcre:\"/^40\\d$/S\";", "3"},
        {"uricontent:\"INDEX\"; nocase;", "0"},
        {"content:\"404\"; http_stat_code;", "3"},
        {"content:!\"Referer\"; http_header; content:\"Probe\"; http_header;", "0"},
        {"http_uri; content:\"index\",fast_pattern,nocase; content:\".php\",distance 0;", "0"},
        {"http_header; content:\"Probe\"; service:http;", "0"},
        {"http_header:field user-agent; content:\"Probe\"; bufferlen:<20; service:http;", "0"},
        {"http_header:field User-Agent; content:\"index\"; service:http;", ""},
        {"flow:to_client; http_uri; content:\"index\"; file_data; content:\"html\"; service:http;",
         "4"},
        {"http_client_body; bufferlen:>20; content:\"name\"; service:http;", "2"},
    };
    struct scene scene;

    (void)state;
    open_http(&scene);
    check(&scene, "alert tcp any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

/* "=>" asks for values of both sides. */
static void test_both_sides(void **state)
{
    static const struct row rows[] = {
        {"http.uri; content:\"index\"; http.stat_code; content:\"404\";", "3"},
        {"http.uri; content:\"other\"; http.stat_code; content:\"404\";", ""},
        {"http.uri; content:\"index\"; fast_pattern; http.response_body; content:\"such\";", "4"},
        {"http.protocol:to_server; content:\"1.1\"; http.protocol:to_client; content:\"1.0\";",
         "3"},
        {"http.protocol:to_client; content:\"1.1\"; http.protocol:to_server; content:\"1.0\";", ""},
        {"http.uri; content:\"index\";", "3"},
    };
    struct scene scene;

    (void)state;
    open_http(&scene);
    check(&scene, "alert http any any => any 80", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

/* Rules about files are evaluated on their messages, and know the transaction's values so far. */
static void test_files(void **state)
{
    static const struct row rows[] = {
        {"file.name; content:\"report.PDF\"; bsize:10;", "5"},
        {"flow:to_client; file.name; content:\"report\";", "5"},
        {"flow:to_server; file.name; content:\"report\";", ""},
        {"fileext:\"pdf\";", "5"},
        {"fileext:df;", ""},
        {"fileext:!\"pdf\";", ""},
        {"fileext:!\"doc\"; filestore;", "5"},
        {"filename:\"PORT.\";", "5"},
        {"filename:!report;", ""},
        {"file.magic; content:\"PDF document\"; startswith;", "5"},
        {"filemagic:\"pdf\";", "5"},
        {"filesize:22;", "5"},
        {"filesize:20<>24; fileext:pdf;", "5"},
        {"filesize:>22;", ""},
        {"http.uri; content:\"index\"; fileext:pdf;", "5"},
        {"http.uri; content:\"other\"; fileext:pdf;", ""},
        {"http.stat_code; content:\"404\"; file.data; content:\"such\"; filesize:<30;", "5"},
    };
    const struct sl_app_file file = {
        .name = {(const uint8_t *)"report.PDF", 10, SL_FILE_NAME},
        .magic = {(const uint8_t *)"PDF document, version 1.4", 25, SL_FILE_MAGIC},
        .size = 22,
    };
    struct scene scene;

    (void)state;
    open_http(&scene);
    say(&scene, 0, request, COUNT(request));
    say(&scene, 1, response, COUNT(response));
    scene.message[5].file = &file;
    add_message(&scene, 1, SL_APP_HTTP, 1, SL_APP_FILE, given, (uint32_t)strlen(given),
                (uint32_t)strlen(given));
    check(&scene, "alert http any any -> any any", rows, COUNT(rows));
    check(&scene, "alert http any any => any any",
          (const struct row[]){{"http.uri; content:\"index\"; filesize:to_client,<30;", "5"}}, 1);
    sl_batch_free(scene.batch);
}

/* An event is a message of its own. With other options it is seen when the side ends. */
static void test_events(void **state)
{
    static const struct row rows[] = {
        {"app-layer-event:http.request_chunk_extension;", "5"},
        {"flow:to_server; app-layer-event:http.request_chunk_extension;", "5"},
        {"flow:to_client; app-layer-event:http.request_chunk_extension;", ""},
        {"app-layer-event:http.request_field_too_long;", ""},
        {"app-layer-event:http.request_chunk_extension; http.uri; content:\"index\";", "2"},
        {"app-layer-event:http.request_chunk_extension; http.uri; content:\"other\";", ""},
        {"app-layer-event:http.request_field_too_long; http.uri; content:\"index\";", ""},
        {"app-layer-event:http.request_chunk_extension; content:\"POST\";", "2"},
    };
    enum sl_app app;
    const uint32_t event = sl_app_event_find("http.request_chunk_extension", 28, &app);
    struct scene scene;

    (void)state;
    open_http(&scene);
    say(&scene, 0, request, COUNT(request));
    scene.message[5].event = (uint8_t)event;
    scene.message[2].events = scene.message[5].events = UINT64_C(1) << event;
    add_message(&scene, 1, SL_APP_HTTP, 0, SL_APP_EVENT, NULL, 0, 0);
    check(&scene, "alert http any any -> any any", rows, COUNT(rows));
    check(&scene, "alert tcp any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

static const struct value envelope[] = {
    {SL_SMTP_HELO, "me"}, {SL_SMTP_RCPT_TO, "<a@b>"}, {SL_SMTP_RCPT_TO, "<c@d>"}};

static const struct value whole_mail[] = {{SL_SMTP_HELO, "me"},
                                          {SL_SMTP_RCPT_TO, "<a@b>"},
                                          {SL_SMTP_RCPT_TO, "<c@d>"},
                                          {SL_EMAIL_SUBJECT, "win"},
                                          {SL_EMAIL_URL, "http://x.test"}};

/* An envelope, an attachment, the mail. */
static void test_smtp(void **state)
{
    static const struct row rows[] = {
        {"smtp.helo; content:\"me\";", "0"},
        {"smtp.rcpt_to; content:\"<c@d>\"; bsize:5;", "0"},
        {"smtp.mail_from; content:\"a\";", ""},
        {"email.subject; content:\"win\";", "2"},
        {"email.url; content:\"x.test\"; smtp.helo; content:\"me\";", "2"},
        {"email.from; content:\"win\";", ""},
        {"file_data; content:\"asked\";", "1"},
        {"flow:to_client; file_data; content:\"asked\";", ""},
    };
    static const char attached[] = "asked for";
    struct scene scene;

    (void)state;
    open_scene(&scene);
    say(&scene, 0, envelope, COUNT(envelope));
    add_message(&scene, 0, SL_APP_SMTP, 0, SL_APP_HEAD, NULL, 0, 0);
    say(&scene, 0, envelope, COUNT(envelope));
    add_message(&scene, 0, SL_APP_SMTP, 0, SL_APP_END, attached, 0, sizeof attached - 1);
    say(&scene, 0, whole_mail, COUNT(whole_mail));
    scene.message[2].later = true;
    add_message(&scene, 0, SL_APP_SMTP, 0, SL_APP_HEAD, NULL, 0, 0);
    check(&scene, "alert smtp any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

/* A command, its replies. */
static void test_ftp(void **state)
{
    static const struct value command[] = {{SL_FTP_COMMAND, "PASV"}};
    static const struct value replies[] = {
        {SL_FTP_COMPLETION_CODE, "150"}, {SL_FTP_COMPLETION_CODE, "227"}, {SL_FTP_REPLY, "go on"}};
    static const struct row rows[] = {
        {"ftp.command; content:\"PASV\";", "0"},
        {"ftp.completion_code; content:\"227\";", "1"},
        {"ftp.reply; content:\"go on\"; bsize:5;", "1"},
        {"ftp.mode:passive;", "01"},
        {"ftp.mode:active;", ""},
        {"ftp.dynamic_port:>1000; flow:to_client;", "1"},
        {"ftp.dynamic_port:<1000;", ""},
    };
    struct scene scene;

    (void)state;
    open_scene(&scene);
    for (int side = 0; side < 2; side++) {
        say(&scene, 0, command, COUNT(command));
        if (side == 1)
            say(&scene, 1, replies, COUNT(replies));
        scene.message[scene.n].port = 2000;
        scene.message[scene.n].ftp_mode = SL_FTP_PASSIVE;
        add_message(&scene, (uint32_t)side, SL_APP_FTP, side, SL_APP_HEAD, NULL, 0, 0);
    }
    check(&scene, "alert ftp any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

/* Messages 0 and 2 are heads of the sides, 1 and 3 their ends. */
static void test_dcerpc(void **state)
{
    static const struct value interface[] = {
        {SL_DCERPC_INTERFACE, "367abb81-9844-35f1-ad32-98f038001003"}};
    static const struct row rows[] = {
        {"dce_iface:367ABB81-9844-35F1-AD32-98F038001003;", "02"},
        {"dcerpc.iface:367abb81-9844-35f1-ad32-98f038001003,=2,any_frag; flow:to_server;", "0"},
        {"dcerpc.iface:367abb81-9844-35f1-ad32-98f038001003,<2;", ""},
        {"dcerpc.iface:367abb81-9844-35f1-ad32-98f038001004;", ""},
        {"dce_iface:uuid 367abb81-9844-35f1-ad32-98f038001003,version >1; flow:to_server;", "0"},
        {"dce_opnum:\"15\"; flow:to_server;", "0"},
        {"dce_opnum:15; flow:to_server;", "0"},
        {"dcerpc.opnum:15; flow:to_client;", "2"},
        {"dcerpc.opnum:>15;", ""},
        {"dcerpc.stub_data; content:\"quest\";", "1"},
        {"dce_stub_data; content:\"swer\"; flow:to_client; dce_opnum:15;", "3"},
        {"dce_iface:367abb81-9844-35f1-ad32-98f038001003; dce_stub_data; content:\"e\"; "
         "bsize:6;",
         "3"},
        {"dce_stub_data; byte_test:2,=,25970,0,dce; flow:to_server;", "1"},
        {"dce_stub_data; byte_test:2,=,29285,0,dce; flow:to_server;", ""},
        {"dce_stub_data; byte_test:2,=,24942,0,dce; flow:to_client;", "3"},
    };
    struct scene scene;

    (void)state;
    open_scene(&scene);
    for (int i = 0; i < 4; i++) {
        const char *const stub = i == 1 ? "request" : i == 3 ? "answer" : NULL;
        struct sl_app_message *const message = &scene.message[scene.n];

        say(&scene, 0, interface, 1);
        if (i >= 2)
            say(&scene, 1, interface, 1);
        message->call.opnum = 15;
        message->call.major = 2;
        message->call.n_fragments[0] = 1;
        message->call.is_little[0] = true;
        add_message(&scene, i / 2, SL_APP_DCERPC, i / 2, stub != NULL ? SL_APP_END : SL_APP_HEAD,
                    stub, 0, stub != NULL ? (uint32_t)strlen(stub) : 0);
    }
    check(&scene, "alert tcp any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

static void test_quic(void **state)
{
    static const struct row rows[] = {
        {"quic.version; content:\"|6b 33 43 cf|\"; bsize:4;", "01"},
        {"quic.version; content:\"|6b 33 43 cf|\"; flow:to_client;", "1"},
        {"quic.version; content:\"|00 00 00 01|\";", ""},
        {"quic.sni; content:\"mail\"; startswith;", "0"},
        {"tls.sni; content:\"mail\"; quic_version; content:\"k3C\";", "0"},
        {"ja3.hash; content:\"0123456789\";", "0"},
        {"ja4.hash; content:\"t13\";", "0"},
    };
    const struct packet packet = {.kind = UDP, .dst_port = 443, .flow = SL_FLOW_TO_SERVER};
    const struct packet answer = {.kind = UDP, .src_port = 443, .flow = SL_FLOW_ESTABLISHED};
    struct scene scene;

    (void)state;
    memset(&scene, 0, sizeof scene);
    scene.batch = fixture_batch(2);
    add_packet(scene.batch, &packet);
    add_packet(scene.batch, &answer);
    dissect_batch(scene.batch);
    say(&scene, 0, client_hello, COUNT(client_hello));
    scene.message[0].quic_version = scene.message[1].quic_version = 0x6b3343cf;
    add_message(&scene, 0, SL_APP_QUIC, 0, SL_APP_HEAD, NULL, 0, 0);
    add_message(&scene, 1, SL_APP_QUIC, 1, SL_APP_HEAD, NULL, 0, 0);
    check(&scene, "alert quic any any -> any any", rows, COUNT(rows));
    check(&scene, "alert udp any any -> any any", rows, COUNT(rows));
    sl_batch_free(scene.batch);
}

/* Addresses, ports and the flow are those of the message's side. Payload is the packet's. */
static void test_headers(void **state)
{
    static const struct row to_server[] = {
        {"http.uri; content:\"index\";", "0"},
        {"http.stat_code; content:\"404\";", ""},
        {"http.uri; content:\"index\"; content:\"php\"; distance:1;", "0"},
        {"content:\"POST packet\"; http.uri; content:\"index\";", "0"},
        {"content:\"HTTP packet\"; http.uri; content:\"index\";", ""},
        {"http.uri; content:\"index\"; dsize:11;", "0"},
        {"content:\"POST packet\"; flow:to_server;", "-"},
    };
    static const struct row to_client[] = {
        {"http.uri; content:\"index\";", ""},
        {"http.stat_code; content:\"404\";", "3"},
    };
    struct scene scene;

    (void)state;
    open_http(&scene);
    check(&scene, "alert tcp any any -> any 80", to_server, COUNT(to_server));
    check(&scene, "alert tcp any 80 -> any any", to_client, COUNT(to_client));
    for (size_t i = 0; i < scene.n; i++) /* a packet of the other side completes it */
        scene.message[i].item = 1;
    check(&scene, "alert tcp any any -> any 80", to_server, 3);
    check(&scene, "alert tcp any 80 -> any any", to_client, COUNT(to_client));
    check(&scene, "alert tcp any any -> any 9",
          (const struct row[]){{"http_uri; content:\"index\"; service:http;", "0"}}, 1);
    sl_batch_free(scene.batch);
}

static void test_tls(void **state)
{
    static const struct row rows[] = {
        {"tls.sni; content:\"mail.evil.example\"; bsize:17;", "0"},
        {"tls.sni; dotprefix; content:\".evil.example\"; endswith;", "0"},
        {"tls_sni; content:\"mail\"; tls.cert_subject; content:\"mail\";", "2"},
        {"tls.cert_subject; content:\"CN=mail\";", "2"},
        {"tls_cert_issuer; content:\"O=Nobody\";", "2"},
        {"tls.cert_serial; content:\"01:23\";", "2"},
        {"tls.cert_fingerprint; content:\"aa:bb:cc\";", "2"},
        {"tls.certs; content:\"second\"; startswith;", "2"},
        {"tls.certs; content:\"first\"; content:\"second\";", ""},
        {"tls.subjectaltname; content:\"www.evil.example\"; bsize:16;", "2"},
        {"ja3.hash; content:\"0123456789abcdef\";", "0"},
        {"ja3_hash; content:\"fedcba\";", ""},
        {"ja3.string; content:\"49195-49199\";", "0"},
        {"ja3s.hash; content:\"fedcba\";", "1"},
        {"ja3s.string; content:\"49195\";", "1"},
        {"ja4.hash; content:\"t13d1516h2_\"; startswith;", "0"},
        {"tls.alpn; content:\"http/1.1\";", "0"},
        {"tls.alpn; content:\"h2\";", "01"},
        {"tls.subject:\"CN=mail\";", "2"},
        {"tls.subject:!\"CN=mail\";", ""},
        {"tls.issuerdn:\"O=Nobody\"; tls.subject:\"mail\";", "2"},
        {"tls.fingerprint:\"AA:bb\";", "2"},
        {"tls.cert_chain_len:2;", "2"},
        {"tls.cert_chain_len:>2;", ""},
        {"tls_cert_notbefore:2024-01-31T23:59:59;", "2"},
        {"tls_cert_notbefore:2024-01-31;", ""},
        {"tls_cert_notbefore:1706745599;", "2"},
        {"tls_cert_notbefore:>2024-02;", ""},
        {"tls_cert_notbefore:< 2024-02;", "2"},
        {"tls_cert_notafter:2024-12-31<>2025-01-01 00;", "2"},
        {"tls_cert_notafter:2024-12-31 00:01<>2999-01-01;", ""},
        {"tls_cert_notafter:>2024-12-30; tls.cert_subject; content:\"mail\";", "2"},
        {"tls_cert_expired;", ""},
        {"tls_cert_valid;", "2"},
        {"tls.version:1.2;", "1"},
        {"ssl_version:tls1.2,tls1.3;", "01"},
        {"ssl_version:!tls1.2;", "0"},
        {"ssl_state:client_hello;", "01"},
        {"ssl_state:server_hello;", "1"},
        {"ssl_state:!server_hello;", "0"},
        {"ssl_state:server_hello; content:\"HTTP packet\";", "2"},
        {"tls.random; content:\"client\"; startswith; bsize:32;", "0"},
        {"tls.random_time; content:\"serv\"; bsize:4;", "1"},
        {"tls.random_bytes; content:\"nt client\"; startswith; bsize:28;", "0"},
        {"tls.random_time; content:\"nt\";", ""},
    };
    static const struct row late[] = {{"tls_cert_expired;", "2"}, {"tls_cert_valid;", ""}};
    struct scene scene;

    (void)state;
    open_tls(&scene);
    check(&scene, "alert tls any any -> any any", rows, COUNT(rows));
    check(&scene, "alert tcp any any -> any any", rows, COUNT(rows));
    check(&scene, "alert ip any any -> any any", rows, COUNT(rows));
    for (uint32_t i = 0; i < scene.batch->n_items; i++)
        scene.batch->origin[i].time_ns = INT64_C(1735603201) * 1000000000; /* a second too late */
    check(&scene, "alert tls any any -> any any", late, COUNT(late));
    sl_batch_free(scene.batch);
}

/* Of several messages of a packet each alerts, and those of a priority are in their order. */
static void test_order(void **state)
{
    struct scene scene;

    (void)state;
    open_http(&scene);
    scene.message[1] = scene.message[0];
    scene.message[1].transaction = 1;
    assert_true(alerts_on(&scene,
                          "alert http any any -> any any (http.uri; content:\"index\"; sid:1; "
                          "priority:2;)\n"
                          "alert http any any -> any any (http.method; content:\"POST\"; sid:2; "
                          "priority:1;)\n"
                          "alert tcp any any -> any any (content:\"POST\"; sid:3; priority:2;)",
                          "0101-"));
    sl_batch_free(scene.batch);
}

static void test_values_are_asked_for(void **state)
{
    const struct sl_literal *literals;
    struct sl_rules *rules = load_rules("alert http any any -> any any (http.uri; content:\"abc\"; "
                                        "http.cookie; content:!\"d\"; sid:1;)");
    struct sl_diag diag;
    size_t n;

    (void)state;
    assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_OK);
    assert_int_equal(sl_rules_need_values(rules),
                     UINT64_C(1) << SL_HTTP_URI | UINT64_C(1) << SL_HTTP_COOKIE);
    assert_int_equal(sl_rules_buffers(rules), SL_BUFFER_HTTP_URI);
    assert_int_equal(sl_rules_need_files(rules), 0);
    assert_int_equal(n, 1);
    sl_rules_free(rules);
}

static void test_common_contents_are_not_sought(void **state)
{
    struct sl_rules *rules =
        load_rules("alert http any any -> any any (file.data; content:\"object\"; "
                   "content:\"////////\"; fast_pattern; sid:1;)");
    char text[1024];

    (void)state;
    assert_true(sl_rules_explain(rules, 1, 1, text, sizeof text));
    assert_non_null(strstr(text, "found by the literal \"object\""));
    assert_non_null(strstr(text, ": it is common\n"));
    sl_rules_free(rules);
}

/* A rule that keeps a number goes on in its order. */
static void test_cheap_sections_are_walked_first(void **state)
{
    static const struct {
        const char *steps;
        uint32_t order[3]; /* numbers of sections */
    } rules[] = {
        {"pkt_data; content:\"a\"; file.data; content:\"b\"; http.method; content:\"c\";",
         {2, 1, 0}},
        {"http.method; content:\"a\"; http.uri; content:\"b\"; file.data; content:\"c\";",
         {1, 2, 3}},
        {"content:\"a\"; byte_extract:1,0,n; file.data; content:\"b\"; http.method; content:\"c\";",
         {0, 1, 2}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++) {
        const struct sl_literal *literals;
        struct sl_diag diag;
        char text[256];
        size_t n;

        snprintf(text, sizeof text, "alert http any any -> any any (%s sid:1;)", rules[i].steps);

        struct sl_rules *loaded = load_rules(text);

        assert_int_equal(sl_rules_compile(loaded, &literals, &n, &diag), SL_OK);
        assert_int_equal(loaded->rule[0]->n_sections, 3);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(loaded->rule[0]->walk[k].steps->section, rules[i].order[k]);
        sl_rules_free(loaded);
    }
}

/* A rule on an event alone needs no other messages, and state of a handshake needs no values. */
static void test_messages_are_asked_for(void **state)
{
    static const struct {
        const char *options;
        bool steps, events;
    } cases[] = {{"app-layer-event:tls.invalid_certificate;", false, true},
                 {"ssl_state:client_hello;", true, false},
                 {"tls.sni; content:\"a\";", true, false},
                 {"content:\"a\";", false, false}};

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[128];
        struct sl_diag diag;
        const struct sl_literal *literals;
        size_t n;

        snprintf(text, sizeof text, "alert tls any any -> any any (%s sid:1;)", cases[i].options);
        struct sl_rules *rules = load_rules(text);
        assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_OK);
        assert_int_equal(sl_rules_need_steps(rules), cases[i].steps);
        assert_int_equal(sl_rules_need_events(rules), cases[i].events);
        sl_rules_free(rules);
    }
}

static void test_files_are_asked_for(void **state)
{
    static const struct {
        const char *options;
        uint32_t files;
    } cases[] = {{"filesize:3;", SL_RULES_FILES},
                 {"fileext:\"exe\";", SL_RULES_FILES},
                 {"filemagic:\"PDF\";", SL_RULES_FILES | SL_RULES_FILE_MAGIC}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        struct sl_diag diag;
        const struct sl_literal *literals;
        size_t n;

        snprintf(text, sizeof text, "alert http any any -> any any (%s sid:1;)", cases[i].options);
        struct sl_rules *rules = load_rules(text);
        assert_int_equal(sl_rules_compile(rules, &literals, &n, &diag), SL_OK);
        assert_int_equal(sl_rules_need_files(rules), cases[i].files);
        sl_rules_free(rules);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_buffers),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_hits_beside_a_body),
        cmocka_unit_test(test_bodies_inside_runs),
        cmocka_unit_test(test_late_bodies_inside_runs),
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_tls),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_smtp),
        cmocka_unit_test(test_ftp),
        cmocka_unit_test(test_dcerpc),
        cmocka_unit_test(test_quic),
        cmocka_unit_test(test_both_sides),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_common_contents_are_not_sought),
        cmocka_unit_test(test_cheap_sections_are_walked_first),
        cmocka_unit_test(test_values_are_asked_for),
        cmocka_unit_test(test_messages_are_asked_for),
        cmocka_unit_test(test_files_are_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

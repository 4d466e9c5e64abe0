/* SPDX-License-Identifier: MIT */
/* Random flows of HTTP/1, read by this parser and by libhtp with Suricata's settings: both read the
 * same of each transaction. Folded fields are left out, as libhtp 0.5 and Suricata 8 differ. */
#include "test.h"

#include "app/app_stream.h"
#include "app/http.h"

#ifdef HAVE_HTP
#include <htp/htp.h>

enum { TRANSACTIONS = 8, FLOWS = 3000 };

/* The reading of a flow: a line for each transaction, bodies joined. */
struct reading {
    struct app_text head[TRANSACTIONS], body[TRANSACTIONS][2];
    uint32_t n;
};

static void clear(struct reading *reading)
{
    for (int i = 0; i < TRANSACTIONS; i++)
        reading->head[i].len = reading->body[i][0].len = reading->body[i][1].len = 0;
    reading->n = 0;
}

static void add(struct app_text *text, const char *name, const void *bytes, size_t len)
{
    app_text_add(text, name, (uint32_t)strlen(name));
    app_text_add(text, bytes, (uint32_t)len);
    app_text_add(text, "\n", 1);
}

/* ---- this parser ----------------------------------------------------------------------------- */

static void hear(void *to, const struct app_news *news)
{
    static const struct {
        const char *name;
        enum sl_app_value_id id;
    } parts[] = {
        {"method ", SL_HTTP_METHOD}, {"raw ", SL_HTTP_URI_RAW},       {"uri ", SL_HTTP_URI},
        {"host ", SL_HTTP_HOST},     {"protocol ", SL_HTTP_PROTOCOL}, {"code ", SL_HTTP_STAT_CODE},
        {"msg ", SL_HTTP_STAT_MSG},  {"header ", SL_HTTP_HEADER},     {"cookie ", SL_HTTP_COOKIE}};
    struct reading *const reading = to;
    struct app_text text = {0};
    struct app_span value;

    if (news->number >= TRANSACTIONS)
        return;
    if (news->kind == APP_BODY)
        app_text_add(&reading->body[news->number][news->side], news->bytes, news->len);
    reading->n = news->number >= reading->n ? (uint32_t)news->number + 1 : reading->n;
    for (size_t i = 0; news->kind == APP_HEAD && i < sizeof parts / sizeof *parts; i++) {
        text.len = 0;
        if (http_value_get(&value, news->transaction, (enum app_side)news->side, parts[i].id,
                           &text))
            add(&reading->head[news->number], parts[i].name, value.bytes, value.len);
    }
    app_text_free(&text);
}

static void read_here(struct reading *reading, const struct app_text flow[2])
{
    const struct app_listener listener = {hear, reading};
    struct app_stream *stream = app_stream_open();

    assert_non_null(stream);
    for (int side = 0; side < 2; side++)
        assert_true(app_stream_give(stream, (enum app_side)side, flow[side].bytes, flow[side].len,
                                    &listener));
    app_stream_close(stream, &listener);
}

/* ---- libhtp ---------------------------------------------------------------------------------- */

static struct reading *htp_reading; /* of the flow that libhtp reads */

static int hear_body(htp_tx_data_t *data, int side)
{
    const size_t i = htp_list_size(data->tx->conn->transactions);

    for (size_t at = 0; at < i && at < TRANSACTIONS; at++)
        if (htp_list_get(data->tx->conn->transactions, at) == data->tx && data->len != 0)
            app_text_add(&htp_reading->body[at][side], data->data, (uint32_t)data->len);
    return HTP_OK;
}

static int hear_request_body(htp_tx_data_t *data)
{
    return hear_body(data, APP_CLIENT);
}

static int hear_response_body(htp_tx_data_t *data)
{
    return hear_body(data, APP_SERVER);
}

static void add_bstr(struct app_text *text, const char *name, const bstr *value)
{
    if (value != NULL && bstr_len(value) != 0)
        add(text, name, bstr_ptr(value), bstr_len(value));
}

static void add_uri(struct app_text *text, const htp_tx_t *tx)
{
    struct app_text uri = {0};
    uint64_t flags = 0;

    if (tx->parsed_uri->path != NULL)
        app_text_add(&uri, bstr_ptr(tx->parsed_uri->path),
                     (uint32_t)bstr_len(tx->parsed_uri->path));
    if (tx->parsed_uri->query != NULL) {
        bstr *query = bstr_dup(tx->parsed_uri->query);

        assert_non_null(query);
        (void)htp_urldecode_inplace(tx->cfg, HTP_DECODER_URLENCODED, query, &flags);
        app_text_add(&uri, "?", 1);
        app_text_add(&uri, bstr_ptr(query), (uint32_t)bstr_len(query));
        bstr_free(query);
    }
    if (uri.len != 0)
        add(text, "uri ", uri.bytes, uri.len);
    app_text_free(&uri);
}

static void add_headers(struct app_text *text, const htp_table_t *headers, const char *cookie)
{
    struct app_text all = {0};
    const htp_header_t *found = NULL;

    for (size_t i = 0; i < htp_table_size(headers); i++) {
        const htp_header_t *header = htp_table_get_index(headers, i, NULL);

        if (bstr_cmp_c_nocase(header->name, cookie) == 0) {
            found = header;
            continue;
        }
        app_text_add(&all, bstr_ptr(header->name), (uint32_t)bstr_len(header->name));
        app_text_add(&all, ": ", 2);
        app_text_add(&all, bstr_ptr(header->value), (uint32_t)bstr_len(header->value));
        app_text_add(&all, "\r\n", 2);
    }
    if (all.len != 0)
        add(text, "header ", all.bytes, all.len);
    if (found != NULL)
        add(text, "cookie ", bstr_ptr(found->value), bstr_len(found->value));
    app_text_free(&all);
}

static void read_tx(struct app_text *text, const htp_tx_t *tx)
{
    add_bstr(text, "method ", tx->request_method);
    add_bstr(text, "raw ", tx->request_uri);
    add_uri(text, tx);
    add_bstr(text, "host ", tx->request_hostname);
    add_bstr(text, "protocol ", tx->request_protocol);
    add_headers(text, tx->request_headers, "cookie");
    add_bstr(text, "protocol ", tx->response_protocol);
    add_bstr(text, "code ", tx->response_status);
    add_bstr(text, "msg ", tx->response_message);
    add_headers(text, tx->response_headers, "set-cookie");
}

static htp_cfg_t *suricata_config(void)
{
    htp_cfg_t *config = htp_config_create();

    assert_non_null(config);
    assert_int_equal(htp_config_set_server_personality(config, HTP_SERVER_IDS), HTP_OK);
    htp_config_set_convert_lowercase(config, HTP_DECODER_URL_PATH, 0);
    htp_config_set_plusspace_decode(config, HTP_DECODER_URLENCODED, 0);
    htp_config_set_u_encoding_decode(config, HTP_DECODER_URLENCODED, 1);
    htp_config_set_parse_request_cookies(config, 0);
    htp_config_set_allow_space_uri(config, 1);
    htp_config_set_response_decompression(config, 1);
    htp_config_register_request_body_data(config, hear_request_body);
    htp_config_register_response_body_data(config, hear_response_body);
    return config;
}

static void read_libhtp(struct reading *reading, htp_cfg_t *config, const struct app_text flow[2])
{
    htp_connp_t *parser = htp_connp_create(config);

    assert_non_null(parser);
    htp_reading = reading;
    htp_connp_open(parser, "1.1.1.1", 1, "2.2.2.2", 80, NULL);
    (void)htp_connp_req_data(parser, NULL, flow[0].bytes, flow[0].len);
    (void)htp_connp_res_data(parser, NULL, flow[1].bytes, flow[1].len);
    htp_connp_close(parser, NULL);
    const htp_list_t *list = htp_connp_get_connection(parser)->transactions;
    reading->n = (uint32_t)htp_list_size(list);
    for (uint32_t i = 0; i < reading->n && i < TRANSACTIONS; i++)
        read_tx(&reading->head[i], htp_list_get(list, i));
    htp_connp_destroy_all(parser);
}

/* ---- random flows ---------------------------------------------------------------------------- */

static const char *pick(uint64_t *seed, const char *const *from, uint32_t n)
{
    return from[test_below(seed, n)];
}

#define PICK(seed, ...)                            \
    pick(seed, (const char *const[]){__VA_ARGS__}, \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void put(struct app_text *text, const char *string)
{
    app_text_add(text, string, (uint32_t)strlen(string));
}

static void put_uri(struct app_text *text, uint64_t *seed)
{
    put(text, PICK(seed, "/", "/", "/", "http://Host.example:81/", "http://u:p@h.example/"));
    for (uint32_t n = test_below(seed, 8); n != 0; n--)
        put(text,
            PICK(seed, "a", "B", "/", "//", "..", ".", "/./", "/../", "%41", "%2f", "%5C", "\\",
                 "%zz", "%", "%u0041", "%uff0f", "%u00", "\xc3\xa9", "\xff", "+", "%00", ";"));
    if (test_below(seed, 3) == 0) {
        put(text, "?");
        for (uint32_t n = test_below(seed, 5); n != 0; n--)
            put(text, PICK(seed, "a=b", "&", "%41", "%2F", "..", "//", "+", "\\", "?", "%u0041"));
    }
}

static void put_fields(struct app_text *text, uint64_t *seed)
{
    for (uint32_t n = test_below(seed, 5); n != 0; n--) {
        put(text, PICK(seed, "Accept", "X-A", "x-a", "Cookie", "Set-Cookie", "Server", "User-Agent",
                       "Referer", "A b"));
        put(text, PICK(seed, ":", ": ", ":\t", " : ", ":   "));
        put(text, PICK(seed, "value", "", "a, b", "k=v; l=w", "two words ", "\"q\"", "a:b"));
        put(text, PICK(seed, "\r\n", "\r\n", "\r\n", "\n"));
    }
}

static void put_body(struct app_text *text, uint64_t *seed, bool needed)
{
    char line[64];
    const uint32_t len = test_below(seed, 20), kind = test_below(seed, needed ? 2 : 3);

    if (kind == 2) {
        put(text, "\r\n");
        return;
    }
    if (kind == 1) {
        (void)snprintf(line, sizeof line, "Content-Length: %u\r\n\r\n", len);
        put(text, line);
        for (uint32_t i = 0; i < len; i++)
            put(text, "x");
        return;
    }
    put(text, "Transfer-Encoding: chunked\r\n\r\n");
    for (uint32_t n = test_below(seed, 4); n != 0; n--)
        put(text,
            PICK(seed, "1\r\na\r\n", "0a\r\n0123456789\r\n", "3;x=y\r\nabc\r\n", "2 \r\n\r\n\r\n"));
    put(text, "0\r\n\r\n");
}

static void put_flow(struct app_text flow[2], uint64_t *seed)
{
    for (uint32_t n = 1 + test_below(seed, 3); n != 0; n--) {
        const char *method = PICK(seed, "GET", "POST", "HEAD", "PUT", "OPTIONS");

        put(&flow[0], method);
        put(&flow[0], " ");
        put_uri(&flow[0], seed);
        put(&flow[0], PICK(seed, " HTTP/1.1\r\n", " HTTP/1.1\r\n", " HTTP/1.0\r\n", " HTTP/1.1\n",
                           " http/1.1\r\n"));
        put(&flow[0], PICK(seed, "Host: A.Example\r\n", "Host: b.example:8080\r\n",
                           "Host: [::1]:80\r\n", ""));
        put_fields(&flow[0], seed);
        put_body(&flow[0], seed, false);

        put(&flow[1], PICK(seed, "HTTP/1.1 200 OK\r\n", "HTTP/1.1 404 Not  Found \r\n",
                           "HTTP/1.0 302 \r\n", "HTTP/1.1 200\r\n", "HTTP/1.1 500  x\n"));
        put_fields(&flow[1], seed);
        if (strcmp(method, "HEAD") == 0)
            put(&flow[1], "Content-Length: 7\r\n\r\n");
        else
            put_body(&flow[1], seed, true);
    }
}

static void compare(const struct reading *here, const struct reading *there,
                    const struct app_text flow[2])
{
    bool same = here->n == there->n;

    for (int i = 0; i < TRANSACTIONS && same; i++) {
        const struct app_text *const a[] = {&here->head[i], &here->body[i][0], &here->body[i][1]};
        const struct app_text *const b[] = {&there->head[i], &there->body[i][0],
                                            &there->body[i][1]};

        for (int part = 0; part < 3; part++) {
            same &=
                a[part]->len == b[part]->len &&
                (a[part]->len == 0 || memcmp(a[part]->bytes, b[part]->bytes, a[part]->len) == 0);
            if (!same)
                fail_msg("%.*s--------\n%.*s-------- here (%u):\n%.*s-------- libhtp (%u):\n%.*s",
                         (int)flow[0].len, flow[0].bytes, (int)flow[1].len, flow[1].bytes, here->n,
                         (int)a[part]->len, a[part]->bytes, there->n, (int)b[part]->len,
                         b[part]->bytes);
        }
    }
    assert_int_equal(here->n, there->n);
}

static void check_flow(htp_cfg_t *config, struct app_text flow[2])
{
    static struct reading here, there;

    clear(&here);
    clear(&there);
    read_here(&here, flow);
    read_libhtp(&there, config, flow);
    compare(&here, &there, flow);
}

static void test_agrees(void **state)
{
    struct app_text flow[2] = {{0}, {0}};
    htp_cfg_t *config = suricata_config();
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < FLOWS; i++) {
        flow[0].len = flow[1].len = 0;
        put_flow(flow, &seed);
        check_flow(config, flow);
    }
    htp_config_destroy(config);
    for (int side = 0; side < 2; side++)
        app_text_free(&flow[side]);
}
/* Responses that are no good HTTP. */
static void test_agrees_on_odd_responses(void **state)
{
    static const char *const heads[] = {"HTTP/1.1 200 ok\rA: b\r\n",
                                        "HTTP/1.1 200 ok\r\nA: b\rB: c\r\r\n",
                                        "HTTP/1.1 200 ok\r\nA: b\r\r\rB: c\r\n",
                                        "HTTP/1.1 200 ok\nA: b\n\rB: c\n",
                                        "HTTP/1.1 200 ok\r\nA: b\r\n B: c\r\n",
                                        "HTTP/1.1 200 ok\r\n A: b\r\n",
                                        "HTTP/1.1 200 ok\r\nA\r\n : b\r\n",
                                        "HTTP/1.1 200 ok\r\n: b\r\nno colon\r\n",
                                        "HTTP/1.1 102 ok\r\nA: b\r\n",
                                        "http/1.1 200 ok\r\nA:: b\r\n"};
    static const char *const bodies[] = {
        "Content-Length: 3\r\n\r\nfoo",
        "Content-Length: 3\n\r\r\nfoo",
        "Content-Length: 3\n \nfoo",
        "Content-Length: 3\n\t\n\nfoo",
        "Content-Length: 3 6\r\n\r\nfoobar",
        "Content-Length: -1\r\n\r\nfoobar",
        "Transfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nXXfoo\nbar",
        "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nfoo",
        "Content-Encoding: deflate\r\nContent-Length: 6\r\n\r\nX5O!P%"};
    struct app_text flow[2] = {{0}, {0}};
    htp_cfg_t *config = suricata_config();

    (void)state;
    put(&flow[0], "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (size_t j = 0; j < sizeof bodies / sizeof *bodies; j++) {
            flow[1].len = 0;
            put(&flow[1], heads[i]);
            put(&flow[1], bodies[j]);
            check_flow(config, flow);
        }
    htp_config_destroy(config);
    for (int side = 0; side < 2; side++)
        app_text_free(&flow[side]);
}
#else
static void test_agrees(void **state)
{
    (void)state;
    test_skip("libhtp is not there (Debian: libhtp-dev)");
}

static void test_agrees_on_odd_responses(void **state)
{
    test_agrees(state);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees),
                                       cmocka_unit_test(test_agrees_on_odd_responses)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

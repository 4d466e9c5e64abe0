/* SPDX-License-Identifier: MIT */
/* Flows of HTTP/1, whole and in random pieces. */
#include "test.h"

#include <zlib.h>

#include "app/http.h"
#include "app_trial.h"

/* An act in a flow. NULL bytes: a gap of len bytes; 0 bytes: the side ends. */
struct act {
    enum app_side side;
    const char *bytes;
    uint32_t len; /* 0: of the string */
};

static char *play(const struct act *act, size_t n, uint32_t mean, uint64_t seed)
{
    struct app_trial trial;
    char *told;

    trial_begin(&trial);
    for (size_t i = 0; i < n; i++) {
        if (act[i].bytes == NULL)
            trial_gap(&trial, act[i].side, act[i].len);
        else if (act[i].bytes[0] == '\0' && act[i].len == 0)
            trial_end_side(&trial, act[i].side);
        else
            trial_give(&trial, act[i].side, act[i].bytes,
                       act[i].len != 0 ? act[i].len : (uint32_t)strlen(act[i].bytes), mean, &seed);
    }
    trial_end(&trial);
    assert_false(trial.failed);
    told = strdup((char *)trial.told.bytes);
    assert_non_null(told);
    trial_free(&trial);
    return told;
}

/* The report is the same for any cuts. Returns it. */
static char *report_of(const struct act *act, size_t n)
{
    char *whole = play(act, n, 0, 1);

    for (uint64_t seed = 1; seed <= 40; seed++) {
        char *cut = play(act, n, seed % 4 == 0 ? 1 : (uint32_t)(seed * 3), seed);

        assert_string_equal(cut, whole);
        free(cut);
    }
    return whole;
}

#define TOLD(...)                                \
    report_of((const struct act[]){__VA_ARGS__}, \
              sizeof((const struct act[]){__VA_ARGS__}) / sizeof(struct act))

static void expect(char *told, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strstr(told, *words) == NULL)
            fail_msg("'%s' is not in:\n%s", *words, told);
    free(told);
}

#define EXPECT(told, ...) expect(told, (const char *const[]){__VA_ARGS__, NULL})

static const char get[] = "GET /a%2Fb/../c?q=%41+x HTTP/1.1\r\nHost: Example.COM:8080\r\n"
                          "User-Agent:  me \r\nCookie: k=v\r\nX: 1\r\nx: 2\r\nY: a\r\n\t b\r\n\r\n";
static const char ok[] = "HTTP/1.1 200 All right\r\nContent-Length: 5\r\nSet-Cookie: a\r\n"
                         "Set-Cookie: b\r\nServer: s\r\n\r\nhello";

static void test_plain(void **state)
{
    (void)state;
    EXPECT(
        TOLD({APP_CLIENT, get, 0}, {APP_SERVER, ok, 0}), "http 0 c head method=[GET]",
        " uri=[/a/c?q=A+x]", " uri_raw=[/a%2Fb/../c?q=%41+x]", " host=[example.com]",
        " host_raw=[Example.COM:8080]", " protocol=[HTTP/1.1]", " cookie=[k=v]", " agent=[me]",
        " header=[Host: Example.COM:8080\\r\\nUser-Agent: me\\r\\nX: 1, 2\\r\\nY: a\\x09b\\r\\n]",
        " names=[\\r\\nHost\\r\\nUser-Agent\\r\\nCookie\\r\\nX\\r\\nY\\r\\n\\r\\n]",
        " code=[200] msg=[All right]", " cookie=[a, b]", " server=[s]",
        "http 0 s end body 5=[hello]", "http 0 c done");
}

static void test_pipelined(void **state)
{
    static const char requests[] =
        "\r\nPOST /1 HTTP/1.1\nContent-Length: 3\n\nabcHEAD /2 HTTP/1.1\n"
        "\nGET /3 HTTP/1.0\r\n\r\n";
    static const char responses[] =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 x\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3;a=b\r\nabc\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nHTTP/1.0 200 OK\r\n\r\nto the end";

    (void)state;
    EXPECT(TOLD({APP_CLIENT, requests, 0}, {APP_SERVER, responses, 0}, {APP_SERVER, "", 0}),
           "http 0 c end body 3=[abc]", "http 0 s head", " code=[201]",
           "http 0 s end body 13=[abc0123456789]\nhttp 0 c done", "http 1 s end body 0=[]",
           "http 2 s end body 10=[to the end]\nhttp 2 c done");
}

static uint32_t pack(uint8_t *to, uint32_t room, const void *bytes, uint32_t len, int window)
{
    z_stream zlib = {0};

    assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    zlib.next_in = (Bytef *)(uintptr_t)bytes;
    zlib.avail_in = len;
    zlib.next_out = to;
    zlib.avail_out = room;
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&zlib);
    return room - zlib.avail_out;
}

/* A response whose body is packed, and marked so. */
static uint32_t packed_response(char *to, const char *coding, const uint8_t *body, uint32_t len)
{
    const int head = sprintf(to,
                             "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n"
                             "Content-Length: %u\r\n\r\n",
                             coding, len);

    memcpy(to + head, body, len);
    return (uint32_t)head + len;
}

static void test_codings(void **state)
{
    static const int windows[] = {31, 15, -15};
    static const char *const names[] = {"gzip", "deflate", "x-deflate"};
    static const uint8_t brotli[] = "\x0b\x02\x80hello\x03";
    uint8_t once[512], twice[512];
    char response[1024];

    (void)state;
    for (int i = 0; i < 3; i++) {
        const uint32_t len = pack(once, sizeof once, "hello, hello", 12, windows[i]);

        EXPECT(TOLD({APP_CLIENT, get, 0},
                    {APP_SERVER, response, packed_response(response, names[i], once, len)}),
               "http 0 s end body 12=[hello, hello]");
    }
    const uint32_t len = pack(once, sizeof once, "hello, hello", 12, 15);
    const uint32_t len2 = pack(twice, sizeof twice, once, len, 31);

    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "deflate, gzip", twice, len2)}),
           "http 0 s end body 12=[hello, hello]");
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "br", brotli, sizeof brotli - 1)}),
           "http 0 s end body 5=[hello]");
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "gzip", (uint8_t *)"plain", 5)}),
           "http 0 s end body 5=[plain]");
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "gzip", (uint8_t *)"x", 1)}),
           "http 0 s end body 1=[x]");
    /* One that is not there; one that is not known; three. */
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "deflate, deflate", once, len)}),
           "http 0 s end body 12=[hello, hello]");
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "deflate, identity,", once, len)}),
           "http 0 s end body 12=[hello, hello]");
    const uint32_t len3 = pack(once, sizeof once, twice, len2, -15);
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response,
                 packed_response(response, "deflate, gzip, deflate", once, len3)}),
           "http 0 s end body 12=[hello, hello]");
}

/* A head of gzip may have any flags, and parts of any length; a failure behind it is damage. */
static void test_gzip_heads(void **state)
{
    static const char *const heads[] = {
        "\x02....\0\x03??", "\xe0....\0\x03", "\x08....\0\x03name\0",
        "\x1c....\0\x03\x03\0abcname\0comment\0", "\x04....\0\x03\0\0"};
    static const uint8_t lens[] = {9, 7, 12, 25, 9};
    uint8_t packed[256] = "\x1f\x8b\x08";
    char response[512];

    (void)state;
    for (int i = 0; i < 5; i++) {
        memcpy(packed + 3, heads[i], lens[i]);
        const uint32_t len = 3U + lens[i] + pack(packed + 3 + lens[i], 200, "hello", 5, -15);

        EXPECT(TOLD({APP_CLIENT, get, 0},
                    {APP_SERVER, response, packed_response(response, "gzip", packed, len)}),
               "http 0 s end body 5=[hello]");
        memset(packed + len, 0, sizeof packed - len);
    }
    memcpy(packed + 3, heads[1], lens[1]);
    /* A block of two bytes as they are, then one of a kind that does not exist. */
    memcpy(packed + 10, "\0\2\0\xfd\xffhi\7", 8);
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "gzip", packed, 18)}),
           "gzip_decompression_failed", "http 0 s end cut body 2=[hi]");
}

/* Behind 1,024 bytes without output damage is damage. */
static void test_held_coding_is_bounded(void **state)
{
    static uint8_t packed[1500] = "\x1f\x8b\x08\x08....\0\x03";
    static char response[2048];

    (void)state;
    memset(packed + 10, 'n', sizeof packed - 10);
    packed[1013] = '\0';
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "gzip", packed, 1100)}),
           "http 0 s end body 1100=[");
    packed[1013] = 'n';
    packed[1023] = '\0';
    EXPECT(TOLD({APP_CLIENT, get, 0},
                {APP_SERVER, response, packed_response(response, "gzip", packed, 1100)}),
           "gzip_decompression_failed", "http 0 s end cut body 0=[]");
}

/* Heads that browsers and libhtp read, whatever the standard says. */
static void test_odd_heads(void **state)
{
    static const char *const responses[][2] = {
        /* CRs end lines; a run of them ends one; empty ones do not end the head. */
        {"HTTP/1.1 200\rA: b\r\rTransfer-Encoding:chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
         "body 1=[x]"},
        {"HTTP/1.1 200\nA: b\n\rTransfer-Encoding:\r chunked\n\n1\r\nx\r\n0\r\n\r\n", "body 1=[x]"},
        {"HTTP/1.1 200\r\nA: b\r\n\r\r\nContent-Length: 1\r\n\r\nx", "body 1=[x]"},
        {"HTTP/1.1 200\r\nContent-Length: 1\n\r\r\nx", "body 1=[x]"},
        /* A blank ends the head where no LF follows. */
        {"HTTP/1.1 200\r\nContent-Length: 1\n \nx", "body 1=[x]"},
        {"HTTP/1.1 200\r\nContent-Length: 1\n\t\n\nx", "body 1=[x]"},
        /* NULs do not count; they fold, too. A name may be folded, and fields may begin blank. */
        {"HTTP/1.1 200\r\nA: b\r\n Content-Length: 1\r\n\r\nx", "body 1=[x]"},
        {"HTTP/1.0 200\r\nA: b\r\n Content-Length: 1\r\n\r\nxy", "body 2=[xy]"},
        {"HTTP/1.1 200\r\nContent-Length\r\n \r\n :\r\n 1\r\n\r\nx", "body 1=[x]"},
        /* Bytes before a response are passed over. */
        {" \t\r\nfoo\r\nHTTP/1.1 200 ok\r\nContent-Length: 1\r\n\r\nx", "body 1=[x]"},
        {"foo\r\nbar", "body 8=[foo\\r\\nbar]"},
        {"foo", "body 3=[foo]"},
        /* A body where none should be. */
        {"HTTP/1.1 102 x\r\nContent-Length: 1\r\n\r\nx", "body 1=[x]"},
        {"HTTP/1.1 100 x\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 y\r\n\r\n", "code=[204]"},
        /* A length with more behind it: the body goes on where no response follows. */
        {"HTTP/1.1 200\r\nContent-Length: 1 9\r\n\r\nxHTyz", "body 5=[xHTyz]"},
        {"HTTP/1.1 200\r\nContent-Length: 1 9\r\n\r\nxHT", "body 3=[xHT]"},
        {"HTTP/1.1 200\r\nContent-Length: 1 9\r\n\r\nxHTTP/1.1 201\r\n\r\n", "body 1=[x]"},
        {"HTTP/1.1 200\r\nContent-Length: -1\r\n\r\nxyz", "body 3=[xyz]"},
        /* A line that states no length of a chunk is the body. */
        {"HTTP/1.0 200\r\nTransfer-Encoding: x chunked\r\n\r\n xyz", "body 4=[ xyz]"},
        {"HTTP/1.0 200\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nfffffffff\nyz",
         "body 13=[xfffffffff\\nyz]"}};
    static const char nuls[] =
        "HTTP/1.1 200\r\nTransfer\0-Encoding\0:\r\n\0ch\0unked\r\n\r\n1\r\nx\r\n0\r\n\r\n";

    (void)state;
    for (size_t i = 0; i < sizeof responses / sizeof *responses; i++)
        EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, responses[i][0], 0}, {APP_SERVER, "", 0}),
               responses[i][1]);
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, nuls, sizeof nuls - 1}), "body 1=[x]");
}

/* A stray line before a response is bounded. */
static void test_long_stray_line(void **state)
{
    static char response[70000];

    (void)state;
    memset(response, 'x', sizeof response);
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, response, sizeof response}),
           "http 0 s end body 70000=[");
    memcpy(response + 600, "\nHTTP/1.1 200\n\n", 16);
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, response, 616}), "http 0 s end body 616=[");
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, response + 89, 527}), "code=[200]");
}

/* A head without protocol that is too long is none. */
static void test_long_head_without_protocol(void **state)
{
    static char fields[70000];

    (void)state;
    memset(fields, 'x', sizeof fields);
    EXPECT(TOLD({APP_CLIENT, "GET /x\r\n", 0}, {APP_CLIENT, fields, sizeof fields},
                {APP_SERVER, ok, 0}),
           "request_field_too_long", "http 0 s end body 5=[hello]");
}

/* A server that speaks first has answered nothing, however the request is cut. */
static void test_banner(void **state)
{
    (void)state;
    EXPECT(TOLD({APP_SERVER, "banner\r\nmore\r\n", 0}, {APP_CLIENT, "MKWORKSPACE /x\r\n\r\n", 0},
                {APP_SERVER, ok, 0}),
           "http 0 s end body 5=[hello]");
}

/* A request without protocol may have fields, as libhtp has it. */
static void test_missing_protocol(void **state)
{
    (void)state;
    EXPECT(TOLD({APP_CLIENT, "POST /x\r\nHost: a\r\nContent-Length: 1\r\n\r\ny", 0}),
           "head method=[POST] uri=[/x]", " host=[a]", "http 0 c end body 1=[y]");
    EXPECT(TOLD({APP_CLIENT, "GET /x\r\n\r\nGET /y HTTP/1.1\r\n\r\n", 0}),
           "http 0 c head method=[GET] uri=[/x]", "http 1 c head method=[GET] uri=[/y]");
    EXPECT(TOLD({APP_CLIENT, "GET /x\r\n", 0}, {APP_SERVER, ok, 0}, {APP_CLIENT, get, 0}),
           "http 0 c end body 0=[]\n", "http 0 s end body 5=[hello]\nhttp 0 c done",
           "http 1 c head method=[GET]");
    EXPECT(TOLD({APP_CLIENT, "GET /x\r\nGET /y\r\n", 0}, {APP_SERVER, ok, 0}),
           "http 0 s end body 5=[hello]\nhttp 0 c done");
    /* A gap behind a line that was not judged yet. */
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, "HTTP/1.1 200 x\nContent-Length: 9\n \n", 0},
                {APP_SERVER, NULL, 4}, {APP_SERVER, "56789", 0},
                {APP_SERVER, "\nHTTP/1.1 204 y\r\n\r\n", 0}),
           "http 0 s end body 5=[56789]", "code=[204]");
    EXPECT(TOLD({APP_CLIENT, "GET /x\r\n", 0}, {APP_CLIENT, NULL, 9}),
           "http 0 c head method=[GET] uri=[/x]");
}

/* Behind a refused body the next request comes, or the body all the same. */
static void test_expect(void **state)
{
    static const char put[] =
        "PUT /a HTTP/1.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
    static const char no[] = "HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n";

    (void)state;
    EXPECT(TOLD({APP_CLIENT, put, 0}, {APP_SERVER, no, 0}, {APP_CLIENT, get, 0}),
           "http 0 c end body 0=[]\nhttp 0 c done\nhttp 1 c head method=[GET]");
    EXPECT(TOLD({APP_CLIENT, put, 0}, {APP_SERVER, no, 0}, {APP_CLIENT, "GETxGET ", 0},
                {APP_CLIENT, "/ HTTP/1.1\r\n\r\n", 0}),
           "http 0 c end body 4=[GETx]\nhttp 0 c done\nhttp 1 c head method=[GET]");
    EXPECT(TOLD({APP_CLIENT, put, 0}, {APP_SERVER, no, 0}, {APP_CLIENT, "GE", 0}),
           "http 0 c end cut body 2=[GE]");
    EXPECT(
        TOLD({APP_CLIENT, put, 0}, {APP_SERVER, "HTTP/1.1 301 x\r\n\r\n", 0}, {APP_CLIENT, get, 4}),
        "http 0 c end body 4=[GET ]");
}

/* A flow that ends in a head reports the part that came. */
static void test_head_without_end(void **state)
{
    (void)state;
    EXPECT(TOLD({APP_CLIENT, "GET /x HTTP/1.1\r\nHost: a", 0}),
           "http 0 c head method=[GET] uri=[/x]", " host=[a]", "http 0 c end cut");
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, "HTTP/1.1 404 No", 0}), "code=[404] msg=[No]",
           "http 0 s end cut");
    EXPECT(TOLD({APP_SERVER, "HTTP/1.1 408 x\r\n\r\n", 0}, {APP_CLIENT, "GET", 0}),
           "head method=[GET]");
    char *nothing = TOLD({APP_CLIENT, get, 0}, {APP_CLIENT, "GARBAGE", 0});
    assert_null(strstr(nothing, "http 1"));
    free(nothing);
}

static void test_tunnels(void **state)
{
    static const char connect[] = "CONNECT x.example:443 HTTP/1.1\r\n\r\n";
    static const char upgrade[] = "GET /chat HTTP/1.1\r\nUpgrade: x\r\n\r\n";

    (void)state;
    EXPECT(TOLD({APP_CLIENT, connect, 0}, {APP_SERVER, "HTTP/1.1 200 OK\r\n\r\n", 0},
                {APP_CLIENT, get, 0}, {APP_SERVER, ok, 0}),
           " host=[x.example]", "http 0 c done\nhttp 0 c head method=[GET]",
           "http 0 s end body 5=[hello]");
    EXPECT(TOLD({APP_CLIENT, connect, 0},
                {APP_SERVER, "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", 0},
                {APP_CLIENT, get, 0}, {APP_SERVER, ok, 0}),
           "http 0 c done\nhttp 1 c head method=[GET]", "http 1 s end body 5=[hello]");
    EXPECT(TOLD({APP_CLIENT, upgrade, 0},
                {APP_SERVER, "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nHTTP/1.1 no", 0},
                {APP_CLIENT, "\x81\x05 bytes", 0}),
           "http 0 s end body 0=[]\nhttp 0 c done");
}

static void test_damage(void **state)
{
    static const char body[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012";
    static const char chunks[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc";

    (void)state;
    /* Behind a gap in a body it goes on; behind one in a head the next message is sought. */
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, body, 0}, {APP_SERVER, NULL, 4},
                {APP_SERVER, "789", 0}),
           "http 0 s end body 6=[012789]");
    EXPECT(TOLD({APP_CLIENT, "GET /x HTTP/1.1\r\nA: ", 0}, {APP_CLIENT, NULL, 9},
                {APP_CLIENT, "rest\r\n\r\nGET /y HTTP/1.1\r\n\r\n", 0}),
           "http 0 c head method=[GET] uri=[/y]");
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, body, 0}, {APP_SERVER, NULL, 99},
                {APP_CLIENT, get, 0}, {APP_SERVER, "HTHTTP/1.xHHTTP/1.1 204 x\r\n\r\n", 0}),
           "http 0 s end cut body 3=[012]", "http 1 s head protocol=[HTTP/1.1]", "code=[204]");
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, body, 0}), "http 0 s end cut body 3=[012]");
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, chunks, 0}), "invalid_response_chunk_len",
           "body 7=[zz\\r\\nabc]");
    EXPECT(TOLD({APP_CLIENT, "CONNECT [::1:8 HTTP/1.1\r\nHost: a.example\r\n\r\n", 0}),
           " host=[a.example] ");
    /* One side alone; a response that is a body; no HTTP at all. */
    EXPECT(TOLD({APP_SERVER, ok, 0}), "unable_to_match_response_to_request",
           "http 0 s end body 5=[hello]\nhttp 0 c done");
    EXPECT(
        TOLD({APP_CLIENT, "GET /\r\n", 0}, {APP_SERVER, "<html>\n</html>", 0}, {APP_SERVER, "", 0}),
        "http 0 s end body 14=[<html>\\n</html>]");
    char *sip = TOLD({APP_CLIENT, "OPTIONS sip:a@b SIP/2.0\r\n\r\n", 0},
                     {APP_SERVER, "SIP/2.0 200 OK\r\n\r\n", 0});
    assert_non_null(strstr(sip, "sip 1 s head"));
    assert_null(strstr(sip, "http"));
    free(sip);
}

static void test_uris(void **state)
{
    static const char *const uris[][2] = {
        {"/a//b\\c", " uri=[/a/b/c] "},
        {"/%u0041%u2215x", " uri=[/A/x] "},
        {"/%zz%4", " uri=[/%zz%4] "},
        {"/x/./y/../../../z", " uri=[/z] "},
        {"/\xc3\xa9", " uri=[/\\xe9] "},
        {"http://U:p@Host.EXAMPLE.:81/x?y#z", " uri=[/x?y#z] "},
        {"http://U:p@Host.EXAMPLE.:81/x?y#z", " host=[host.example] host_raw=[Host.EXAMPLE.] "},
        {"/a b c", " uri=[/a b c] "},
        {"/?a=%2e%2E/%5c", " uri=[/?a=../\\x5c] "},
        {"/a/b/..", " uri=[/a] "},
        {"./a", " uri=[a] "},
        {"../a", " uri=[a] "},
        {".a/b", " uri=[.a/b] "},
        {"http://[::1]:8/", " host=[[::1]] "},
        {"http://[::1:8/", " host=[[::1:8] "}};

    (void)state;
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        char request[128];

        (void)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: field.example\r\n\r\n",
                       uris[i][0]);
        EXPECT(TOLD({APP_CLIENT, request, 0}), uris[i][1]);
    }
}

/* ---- hostile flows --------------------------------------------------------------------------- */

static void test_endless_head(void **state)
{
    struct app_trial trial;
    uint64_t seed = 1;

    (void)state;
    trial_begin(&trial);
    trial_give(&trial, APP_CLIENT, "GET / HTTP/1.1\r\n", 16, 0, &seed);
    for (int i = 0; i < 100000; i++)
        trial_give(&trial, APP_CLIENT, "Name: a value\r\n", 15, 0, &seed);
    assert_false(trial.failed);
    assert_true(trial.held_max < (1 << 18));
    assert_true(app_stream_held(trial.stream) < 4096);
    assert_false(app_stream_listens(trial.stream, APP_CLIENT));
    trial_end(&trial);
    trial_free(&trial);
}

static void test_many_requests(void **state)
{
    struct app_trial trial;
    const uint32_t n = test_fewer(100000, 20000);
    uint64_t seed = 1;

    (void)state;
    trial_begin(&trial);
    trial.quiet = true;
    for (uint32_t i = 0; i < n; i++)
        trial_give(&trial, APP_CLIENT, "GET / HTTP/1.1\r\n\r\n", 18, 0, &seed);
    for (uint32_t i = 0; i < n; i++)
        trial_give(&trial, APP_SERVER, "HTTP/1.1 304 x\r\n\r\n", 18, 0, &seed);
    assert_false(trial.failed);
    assert_true(trial.held_max < (1 << 16));
    trial_end(&trial);
    trial_free(&trial);
}

static void test_bomb(void **state)
{
    static uint8_t zeros[1 << 24], packed[1 << 16];
    struct app_trial trial;
    static char response[1 << 17];
    uint64_t seed = 1;
    const uint32_t len = pack(packed, sizeof packed, zeros, sizeof zeros, 31);

    (void)state;
    trial_begin(&trial);
    trial.quiet = true;
    trial_give(&trial, APP_CLIENT, get, sizeof get - 1, 0, &seed);
    trial_give(&trial, APP_SERVER, response, packed_response(response, "gzip", packed, len), 1000,
               &seed);
    assert_false(trial.failed);
    assert_true(trial.body_len > (1 << 20) && trial.body_len < (6 << 20));
    assert_true(trial.held_max < (1 << 17));
    trial_end(&trial);
    trial_free(&trial);
}

/* The memory of an ordinary open flow, in the middle of its response. */
static void test_memory(void **state)
{
    static const char request[] =
        "GET /assets/site/css/main.css?v=20240117 HTTP/1.1\r\nHost: www.example.com\r\n"
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120 Safari\r\n"
        "Accept: text/css,*/*;q=0.1\r\nAccept-Language: en-GB,en;q=0.9\r\n"
        "Accept-Encoding: gzip, deflate\r\nReferer: http://www.example.com/index.html\r\n"
        "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n"
        "Connection: keep-alive\r\nCache-Control: max-age=0\r\n\r\n";
    static const char response[] =
        "HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nServer: nginx\r\n"
        "Content-Type: text/css\r\nContent-Length: 100000\r\nLast-Modified: Sun, 31 Dec 2023 "
        "00:00:00 GMT\r\nETag: \"0123456789\"\r\nCache-Control: public\r\n\r\nbody";
    struct app_trial trial;
    uint64_t seed = 1;

    (void)state;
    trial_begin(&trial);
    trial_give(&trial, APP_CLIENT, request, sizeof request - 1, 0, &seed);
    trial_give(&trial, APP_SERVER, response, sizeof response - 1, 0, &seed);
    print_message("bytes of an open flow: %u\n", (unsigned)app_stream_held(trial.stream));
    assert_true(app_stream_held(trial.stream) <= 4096);
    trial_end(&trial);
    trial_free(&trial);
}

/* Were all that may begin a message read from its begin each time, the test would not end. */
static void test_endless_lines_behind_a_doubtful_body(void **state)
{
    enum { LINES = 2000000 };
    static const char head[] = "HTTP/1.1 200 ok\r\nContent-Length: 3 6\r\n\r\nfoo";
    char *response = malloc(sizeof head + LINES);
    struct act act[] = {{APP_CLIENT, "GET / HTTP/1.1\r\n\r\n", 0},
                        {APP_SERVER, response, sizeof head - 1 + LINES}};

    (void)state;
    assert_non_null(response);
    memcpy(response, head, sizeof head - 1);
    memset(response + sizeof head - 1, '\n', LINES);
    char *told = play(act, 2, 0, 1);
    assert_non_null(strstr(told, "foo"));
    free(told);
    free(response);
}

/* A text that grows. */
struct line {
    char text[4096];
    uint32_t len;
};

static void put(struct line *to, const char *text)
{
    const size_t len = strlen(text);

    assert_true(to->len + len < sizeof to->text);
    memcpy(to->text + to->len, text, len + 1);
    to->len += (uint32_t)len;
}

/* The first text, and one of `few` times any of them; few is 0: never. */
static const char *pick(uint64_t *seed, const char *const *texts, uint32_t few)
{
    uint32_t count = 0;

    while (texts[count] != NULL)
        count++;
    return few != 0 && test_below(seed, few) == 0 ? texts[test_below(seed, count)] : texts[0];
}

/* A head of random fields, each with a name of its own or one that others have, and what is put
 * together of it: its fields without those of cookies, and the whole. */
static void make_head(uint64_t *seed, bool is_plain, struct line *head, struct line *fields,
                      struct line *start)
{
    static const char *const names[] = {"A", "Bc", "Content-Type", "Cookie", "D\tE", "F", NULL};
    static const char *const colons[] = {": ", ":", " : ", ":  ", ":\t", NULL};
    static const char *const values[] = {"value", "", "a:b", "long value, of words", NULL};
    static const char *const ends[] = {"\r\n", "\n", " \r\n", "\r\n\t\r\n", NULL};
    const uint32_t few = is_plain ? 0 : 4;

    put(head, "GET / HTTP/1.1");
    put(head, pick(seed, (const char *const[]){"\r\n", "\n", NULL}, few));
    put(start, "GET / HTTP/1.1\r\n");
    for (int i = 0; names[i] != NULL; i++) {
        const char *value = pick(seed, values, 2);
        const bool folds = !is_plain && *value != '\0' && test_below(seed, 8) == 0;

        if (test_below(seed, 2) == 0)
            continue;
        put(head, names[i]);
        put(head, pick(seed, colons, few));
        put(head, value);
        put(head, folds ? "\r\n more" : "");
        put(head, pick(seed, ends, few));
        for (int k = strcmp(names[i], "Cookie") == 0; k < 2; k++) {
            put(k == 0 ? fields : start, names[i]);
            put(k == 0 ? fields : start, ": ");
            put(k == 0 ? fields : start, value);
            put(k == 0 ? fields : start, folds ? " more\r\n" : "\r\n");
        }
    }
    put(head, "\r\n");
    put(start, "\r\n");
}

/* Of a request. */
static void read_head(struct http_head *head, const char *text, uint32_t len)
{
    uint8_t *bytes = malloc(len);

    assert_non_null(bytes);
    memcpy(bytes, text, len);
    assert_true(http_head_read(head, bytes, len, true));
}

static void check_value(const struct http_transaction *transaction, enum sl_app_value_id id,
                        const struct line *expected)
{
    struct app_text text = {0};
    struct app_span value = {NULL, 0};

    if (!http_value_get(&value, transaction, APP_CLIENT, id, &text))
        value.len = 0;
    assert_int_equal(value.len, expected->len);
    if (value.len != 0)
        assert_memory_equal(value.bytes, expected->text, value.len);
    app_text_free(&text);
}

/* Heads whose lines are as most clients send them are not put together again. The values say the
 * same. */
static void test_values_are_put_together(void **state)
{
    uint64_t seed = 1;
    uint32_t n_plain = 0;

    (void)state;
    for (int round = 0; round < 4000; round++) {
        struct line head = {.len = 0}, fields = {.len = 0}, start = {.len = 0};
        struct http_transaction transaction = {.flags = 0};
        struct http_message *message = &transaction.message[APP_CLIENT];

        make_head(&seed, round % 2 == 0, &head, &fields, &start);
        read_head(&message->head, head.text, head.len);
        message->has_head = true;
        n_plain += message->head.is_plain;
        assert_true(round % 2 != 0 || message->head.is_plain);
        check_value(&transaction, SL_HTTP_HEADER, &fields);
        check_value(&transaction, SL_HTTP_START, &start);
        http_head_free(&message->head);
    }
    assert_in_range(n_plain, 2001, 3000);
}

/* More fields than are read make no plain head. */
static void test_fields_are_left_out(void **state)
{
    enum { FIELDS = HTTP_FIELDS_MAX + 1, FIELD_LEN = 10 };
    static const char line[] = "GET / HTTP/1.1\r\n";
    struct http_transaction transaction = {.flags = 0};
    struct http_head *const head = &transaction.message[APP_CLIENT].head;
    char *const text = malloc(sizeof line + FIELDS * FIELD_LEN + 3);
    struct app_text composed = {0};
    struct app_span value;
    uint32_t len = sizeof line - 1;

    (void)state;
    assert_non_null(text);
    memcpy(text, line, sizeof line);
    for (uint32_t i = 0; i < FIELDS; i++, len += FIELD_LEN)
        snprintf(text + len, FIELD_LEN + 1, "N%04u: v\r\n", i);
    memcpy(text + len, "\r\n", 2);
    transaction.message[APP_CLIENT].has_head = http_head_read(head, (uint8_t *)text, len + 2, true);
    assert_true(transaction.message[APP_CLIENT].has_head);
    assert_false(head->is_plain);
    assert_true(http_value_get(&value, &transaction, APP_CLIENT, SL_HTTP_HEADER, &composed));
    assert_int_equal(value.len, HTTP_FIELDS_MAX * FIELD_LEN);
    app_text_free(&composed);
    http_head_free(head);
}

static void test_names_with_nuls(void **state)
{
    static const char request[] = "GET / HTTP/1.1\r\nCoo\0k\0ie: first\r\nCoo\0ki\0e: second\r\n"
                                  "X\0Y: 1\r\nx\0y: 2\r\n\r\n";

    (void)state;
    EXPECT(TOLD({APP_CLIENT, request, sizeof request - 1}), " cookie=[first]", ": 1, 2\\r\\n");
}

static void test_cookies_of_servers(void **state)
{
    static const char response[] = "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nCookie: b\r\n"
                                   "Content-Length: 0\r\n\r\n";

    (void)state;
    EXPECT(TOLD({APP_CLIENT, get, 0}, {APP_SERVER, response, 0}),
           " header=[Cookie: b\\r\\nContent-Length: 0\\r\\n]", " cookie=[a]");
}

/* As a table of names has to be in order. */
static void test_all_names_are_known(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: \r\nAccept: \r\nCookie: \r\nExpect: \r\n"
                               "Server: \r\nReferer: \r\nLocation: \r\nConnection: \r\n"
                               "Set-Cookie: \r\nUser-Agent: \r\nContent-Type: \r\n"
                               "Authorization: \r\nContent-Length: \r\nAccept-Encoding: \r\n"
                               "Accept-Language: \r\nContent-Encoding: \r\n"
                               "Transfer-Encoding: \r\nContent-Disposition: \r\n\r\n";
    struct http_head head;

    (void)state;
    read_head(&head, text, sizeof text - 1);
    assert_int_equal(head.n_fields, HTTP_N_NAMES - 1);
    for (uint32_t i = 0; i < head.n_fields; i++)
        assert_int_equal(head.field[i].known, i + 1);
    http_head_free(&head);
}

static void test_fields_are_found_by_their_names(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHOST: a\r\nAccept-Encoding: b\r\n"
                               "accept-languagE: c\r\nHosts: d\r\nUser_Agent: e\r\n"
                               "Ex\0pect: f\r\nContent-Length: g\r\nExpect: h\r\n\r\n";
    static const struct {
        enum http_name name;
        char value;
    } found[] = {{HTTP_HOST, 'a'},   {HTTP_ACCEPT_ENCODING, 'b'}, {HTTP_ACCEPT_LANGUAGE, 'c'},
                 {HTTP_EXPECT, 'f'}, {HTTP_CONTENT_LENGTH, 'g'},  {HTTP_USER_AGENT, 0},
                 {HTTP_ACCEPT, 0},   {HTTP_CONTENT_TYPE, 0}};
    struct http_head head;

    (void)state;
    read_head(&head, text, sizeof text - 1);
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        const struct http_field *field = http_field_find(&head, found[i].name);

        assert_int_equal(field != NULL, found[i].value != 0);
        if (field != NULL)
            assert_int_equal(head.bytes[field->value.at], found[i].value);
    }
    http_head_free(&head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_values_are_put_together),
        cmocka_unit_test(test_fields_are_left_out),
        cmocka_unit_test(test_names_with_nuls),
        cmocka_unit_test(test_cookies_of_servers),
        cmocka_unit_test(test_all_names_are_known),
        cmocka_unit_test(test_fields_are_found_by_their_names),
        cmocka_unit_test(test_pipelined),
        cmocka_unit_test(test_codings),
        cmocka_unit_test(test_tunnels),
        cmocka_unit_test(test_gzip_heads),
        cmocka_unit_test(test_held_coding_is_bounded),
        cmocka_unit_test(test_odd_heads),
        cmocka_unit_test(test_long_stray_line),
        cmocka_unit_test(test_head_without_end),
        cmocka_unit_test(test_expect),
        cmocka_unit_test(test_missing_protocol),
        cmocka_unit_test(test_banner),
        cmocka_unit_test(test_long_head_without_protocol),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_uris),
        cmocka_unit_test(test_endless_head),
        cmocka_unit_test(test_many_requests),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_endless_lines_behind_a_doubtful_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

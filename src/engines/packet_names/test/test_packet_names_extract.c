/* SPDX-License-Identifier: MIT */
/* Names in packets: examples of each protocol and of packets without a name. Random and damaged
 * messages, each cut at every byte, are compared with the oracle, and packets as they lie in
 * batches. */
#include "dissect/test/frame_fixture.h"
#include "engines/packet_names/packet_names_extract.h"
#include "packet_names_fixture.h"
#include "sluice/dissect.h"
#include "test.h"

/* Sanitizers are an order of magnitude slower. */
#if defined(__SANITIZE_ADDRESS__)
enum { N_RANDOM = 40000, N_CUT = 100 };
#else
enum { N_RANDOM = 150000, N_CUT = 400 };
#endif

static struct sl_packet_name found[SL_PACKET_NAMES_MAX];
static uint8_t name_bytes[SL_PACKET_NAMES_LEN];

/* The bytes lie alone in memory, so that reading one too many is seen. */
static struct name_out extract(enum ref_carrier carrier, uint16_t src_port, uint16_t dst_port,
                               const void *bytes, uint32_t len, uint32_t sent_len, uint8_t **alone)
{
    static const enum name_carrier carriers[] = {[REF_UDP] = NAME_CARRIER_UDP,
                                                 [REF_TCP] = NAME_CARRIER_TCP,
                                                 [REF_FRAME] = NAME_CARRIER_LINK};
    struct name_out out = name_out_of(found, name_bytes);
    struct name_packet packet = {.len = len,
                                 .sent_len = sent_len,
                                 .carrier = carriers[carrier],
                                 .src_port = src_port,
                                 .dst_port = dst_port};

    *alone = malloc(len);
    if (len != 0)
        memcpy(*alone, bytes, len);
    packet.bytes = *alone;
    name_extract(&out, &packet, name_protocol(&packet));
    return out;
}

/* ---- examples -------------------------------------------------------------------------------- */

struct example {
    enum ref_carrier carrier;
    uint16_t port;
    const char *bytes;
    uint32_t len;
    const char *names;  /* "dns www.parc.com\n..." */
    uint32_t misses[3]; /* each + 1; 0: none */
};

#define BYTES(text) text, sizeof(text) - 1
#define DNS_HEAD(n) "\x12\x34\x01\x00\x00" n "\x00\x00\x00\x00\x00\x00"
#define QUESTION "\x00\x01\x00\x01"

#define MISS(name)                      \
    {                                   \
        SL_PACKET_NAMES_MISS_##name + 1 \
    }

static const struct example examples[] = {
    /* DNS */
    {REF_UDP, 53, BYTES(DNS_HEAD("\1") "\3WWW\4Parc\3com\0" QUESTION), "dns www.parc.com", {0}},
    {REF_UDP, 5353, BYTES(DNS_HEAD("\1") "\3a b\5local\0" QUESTION), "dns a\\032b.local", {0}},
    {REF_UDP, 53, BYTES(DNS_HEAD("\1") "\0" QUESTION), "dns .", {0}},
    {REF_UDP,
     53,
     BYTES(DNS_HEAD("\1") "\3"
                          "192\1"
                          "0\1"
                          "2\1"
                          "1\0" QUESTION),
     "dns 192.0.2.1",
     {0}},
    {REF_UDP,
     53,
     BYTES(DNS_HEAD("\2") "\3www\4parc\3com\0" QUESTION "\3ftp\xC0\x10" QUESTION),
     "dns www.parc.com\ndns ftp.parc.com",
     {0}},
    {REF_UDP, 53, BYTES(DNS_HEAD("\1") "\1a\xC0\x0C" QUESTION), "", MISS(DNS_LONG)},
    {REF_UDP, 53, BYTES(DNS_HEAD("\1") "\1a\xC0\x0E" QUESTION), "", MISS(DNS_POINTER)},
    {REF_UDP, 53, BYTES(DNS_HEAD("\1") "\1a\xC0\x20" QUESTION), "", MISS(DNS_CUT)},
    {REF_UDP, 53, BYTES(DNS_HEAD("\1") "\1a\xC0\x0B" QUESTION), "dns a", {0}},
    {REF_UDP, 53, BYTES(DNS_HEAD("\1") "\1a\xC0\x14" QUESTION "\1b\0"), "dns a.b", {0}},
    {REF_UDP, 53,
     BYTES(DNS_HEAD("\1") "\x41"
                          "a" QUESTION),
     "", MISS(DNS_LABEL)},
    {REF_UDP, 53, BYTES(DNS_HEAD("\1") "\3www\4parc\3com\0\0\1\0"), "", MISS(DNS_CUT)},
    {REF_UDP, 53, BYTES("\x12\x34\x01\x00"), "", MISS(DNS_HEADER)},
    {REF_UDP, 53, BYTES(DNS_HEAD("\7") "\1a\0" QUESTION), "", MISS(DNS_HEADER)},
    {REF_UDP, 53, BYTES(DNS_HEAD("\0")), "", {0}},
    {REF_UDP, 54, BYTES(DNS_HEAD("\1") "\1a\0" QUESTION), "", {0}},
    {REF_TCP,
     53,
     BYTES("\0\x13" DNS_HEAD("\1") "\1a\0" QUESTION "\0\x13" DNS_HEAD("\1") "\1b\0" QUESTION),
     "dns a\ndns b",
     {0}},
    {REF_TCP, 53, BYTES("\0\x13" DNS_HEAD("\1") "\1a"), "", MISS(DNS_CUT)},
    {REF_TCP, 53, BYTES("\0"), "", MISS(DNS_CUT)},
    /* HTTP */
    {REF_TCP,
     80,
     BYTES("GET /a/b?c HTTP/1.1\r\nHost: WWW.parc.com:8080\r\n\r\n"),
     "http www.parc.com/a/b?c",
     {0}},
    {REF_TCP,
     3128,
     BYTES("GET http://u:p@a.test/x HTTP/1.0\nHost: b.test\n\n"),
     "http a.test/x",
     {0}},
    {REF_TCP, 80, BYTES("CONNECT a.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n"), "http a.test", {0}},
    {REF_TCP, 80, BYTES("OPTIONS * HTTP/1.1\r\nHost: b.test\r\n\r\n"), "http b.test", {0}},
    {REF_TCP,
     80,
     BYTES("GET / HTTP/1.1\r\nhost:[2001:DB8::1]:80\r\n\r\n"),
     "http [2001:db8::1]",
     {0}},
    {REF_TCP, 80, BYTES("GET /%7e/%2F/../x y HTTP/1.1\r\nHost: a\r\n"), "http a/~/x%20y", {0}},
    {REF_TCP,
     80,
     BYTES("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\n\r\n"),
     "http a/1\nhttp b/2",
     {0}},
    {REF_TCP,
     80,
     BYTES("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\nGET /0 GET /2 HTTP/1.1\r\n"
           "Host: b\r\n\r\n"),
     "http a/1\nhttp b/2",
     {0}},
    {REF_TCP,
     80,
     BYTES("POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nGET /2 HTTP/1.1\r\n"
           "Host: b\r\n\r\n"),
     "http a/1",
     {0}},
    {REF_TCP,
     80,
     BYTES("\r\nGET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /2 HTTP/1.1\r\nHost: b\r\n\r\n"),
     "http a/1\nhttp b/2",
     {0}},
    {REF_TCP, 80, BYTES("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "http a",
     MISS(HTTP_HOSTS)},
    {REF_TCP, 80, BYTES("GET / HTTP/1.0\r\n\r\n"), "", MISS(HTTP_NO_HOST)},
    {REF_TCP, 80, BYTES("GET / HTTP/1.0\r\nHost:\r\n\r\n"), "", MISS(HTTP_NO_HOST)},
    {REF_TCP, 80, BYTES("GET / HTTP/1.0\r\nAccept: x\r\nHo"), "", MISS(HTTP_CUT)},
    {REF_TCP, 80, BYTES("GET /an/endless/path"), "", MISS(HTTP_CUT)},
    {REF_TCP, 80, BYTES("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), "", MISS(HTTP_HOST)},
    {REF_TCP, 80, BYTES("GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n"), "", MISS(HTTP_HOST)},
    {REF_TCP, 80, BYTES("GET a/b HTTP/1.1\r\nHost: a\r\n\r\n"), "", MISS(HTTP_URL)},
    {REF_TCP, 80, BYTES("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"), "", MISS(HTTP_URL)},
    {REF_TCP, 80, BYTES("INVITE sip:a@b SIP/2.0\r\nHost: a\r\n\r\n"), "", {0}},
    {REF_TCP, 25, BYTES("EHLO a.test\r\n"), "", {0}},
    {REF_TCP, 80, BYTES("HTTP/1.1 200 OK\r\nHost: a\r\n\r\n"), "", {0}},
    {REF_UDP, 80, BYTES("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "", {0}},
    /* NDN */
    {REF_UDP, 6363, BYTES("\5\7\7\5\x08\3com"), "ndn /com", {0}},
    {REF_FRAME, 0, BYTES("\6\7\7\5\x08\3com\0\0\0"), "ndn /com", {0}},
    {REF_UDP,
     56363,
     BYTES("\x64\x10\x51\1\7\x50\x0B\5\x09\7\7\x08\3com\x36\0"),
     "ndn /com/54=...",
     {0}},
    {REF_TCP, 6363, BYTES("\5\7\7\5\x08\3com\5\5\7\3\x08\1a"), "ndn /com\nndn /a", {0}},
    /* The name is whole, the packet is not. */
    {REF_UDP, 6363, BYTES("\6\xFD\x10\0\7\5\x08\3com\x15"), "ndn /com", {0}},
    {REF_UDP, 6363, BYTES("\5\7\7\5\x08\3co"), "", MISS(NDN_CUT)},
    {REF_UDP, 6363, BYTES("\5\7\7\6\x08\3com"), "", MISS(NDN_BAD)},
    {REF_UDP, 6363, BYTES("\5\xFD\0\7\7\5\x08\3com"), "", MISS(NDN_BAD)},
    {REF_UDP, 6363, BYTES("\5\xFF\0\0\0\0\0\0\0\7\7\5\x08\3com"), "", MISS(NDN_BAD)},
    {REF_UDP, 6363, BYTES("\x64\x0C\x53\1\2\x50\7\5\5\7\3\x08\1a"), "", MISS(NDN_FRAGMENT)},
    {REF_UDP, 6363, BYTES("\x64\0"), "", MISS(NDN_EMPTY)},
    {REF_UDP, 6363, BYTES("\x09\7\7\5\x08\3com"), "", MISS(NDN_OTHER)},
    {REF_UDP, 6363, BYTES("\5\7\x08\5\x08\3com"), "", MISS(NDN_NAME)},
    {REF_UDP, 6363, BYTES("\5\7\7\5\1\3com"), "", MISS(NDN_COMPONENT)},
};

/* Names as "protocol name" lines. */
static void print_names(const struct name_out *out, char *text, size_t cap)
{
    size_t len = 0;

    *text = '\0';
    for (uint32_t i = 0; i < out->n; i++) {
        len += (size_t)snprintf(text + len, cap - len, "%s%s ", i > 0 ? "\n" : "",
                                sl_packet_names_protocol_name(out->found[i].protocol));
        len += sl_name_write(&out->found[i].name, text + len, cap - len);
    }
}

static void check_example(const struct example *example, size_t i)
{
    char text[4096];
    uint32_t misses = 0;

    for (int m = 0; m < 3 && example->misses[m] != 0; m++)
        misses |= 1u << (example->misses[m] - 1);
    for (int side = 0; side < 2; side++) {
        uint8_t *alone;
        const struct name_out out =
            extract(example->carrier, side ? example->port : 40000, side ? 40000 : example->port,
                    example->bytes, example->len, example->len, &alone);

        print_names(&out, text, sizeof text);
        if (strcmp(text, example->names) != 0)
            fail_msg("example %zu: '%s', expected '%s'", i, text, example->names);
        if (out.misses != misses)
            fail_msg("example %zu: misses %x, expected %x", i, out.misses, misses);
        free(alone);
    }
}

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check_example(&examples[i], i);
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++) {
        assert_non_null(sl_packet_names_miss_name((enum sl_packet_names_miss)m));
        assert_non_null(sl_packet_names_miss_text((enum sl_packet_names_miss)m));
    }
}

static void test_fields(void **state)
{
    static const char dns[] = "\x12\x34\x81\x80\0\1\0\0\0\0\0\0\1a\0\0\x1C\0\1";
    static const char http[] = "M-SEARCH /x?y HTTP/1.0\r\nHost: a:8080\r\n\r\n";
    uint8_t *alone;

    (void)state;
    assert_int_equal(extract(REF_UDP, 53, 9, dns, sizeof dns - 1, sizeof dns - 1, &alone).n, 1);
    assert_int_equal(found[0].offset, 12);
    assert_int_equal(found[0].dns.id, 0x1234);
    assert_int_equal(found[0].dns.flags, 0x8180);
    assert_int_equal(found[0].dns.rrtype, 28);
    assert_int_equal(found[0].dns.rrclass, 1);
    free(alone);

    assert_int_equal(extract(REF_TCP, 9, 80, http, sizeof http - 1, sizeof http - 1, &alone).n, 1);
    assert_int_equal(found[0].offset, 9);
    assert_int_equal(found[0].http.method.offset, 0);
    assert_int_equal(found[0].http.method.len, 8);
    assert_int_equal(found[0].http.target.offset, 9);
    assert_int_equal(found[0].http.target.len, 4);
    assert_int_equal(found[0].http.port, 8080);
    assert_int_equal(found[0].http.minor, 0);
    assert_int_equal(found[0].name.host_len, 3);
    free(alone);
}

/* ---- TLS ------------------------------------------------------------------------------------- */

/* A ClientHello with these extensions; `session` bytes of session id. */
static void make_hello(struct made_message *made, const void *extensions, uint32_t len)
{
    made->len = 0;
    made_number(made, 0x160301, 3);
    made_number(made, 0, 2);
    made_number(made, 1, 1);
    made_number(made, 0, 3);
    made_number(made, 0x0303, 2);
    for (int i = 0; i < 8; i++)
        made_number(made, 0x01020304, 4);
    made_number(made, 0, 1);
    made_number(made, 0x00021301, 4);
    made_number(made, 0x0100, 2);
    if (extensions != NULL) {
        made_number(made, len, 2);
        made_put(made, extensions, len);
    }
    made_length(made, 6, 3);
    made_length(made, 3, 2);
}

static void check_hello(const struct made_message *made, uint32_t len, const char *name,
                        uint32_t misses)
{
    char text[512];
    uint8_t *alone;
    const struct name_out out = extract(REF_TCP, 40000, 8443, made->byte, len, len, &alone);

    print_names(&out, text, sizeof text);
    assert_string_equal(text, name);
    assert_int_equal(out.misses, misses);
    free(alone);
}

#define SERVER_NAME "\0\0\0\x11\0\x0F\0\0\x0CWWW.parc.com"
#define VERSIONS "\0\x2B\0\5\4\x1A\x1A\3\4"

static void test_client_hellos(void **state)
{
    static struct made_message made;
    static const uint32_t none = 1u << SL_PACKET_NAMES_MISS_TLS_NO_NAME,
                          bad = 1u << SL_PACKET_NAMES_MISS_TLS_BAD,
                          cut = 1u << SL_PACKET_NAMES_MISS_TLS_CUT,
                          host = 1u << SL_PACKET_NAMES_MISS_TLS_HOST;

    (void)state;
    make_hello(&made, BYTES(SERVER_NAME VERSIONS));
    check_hello(&made, made.len, "tls www.parc.com", 0);
    assert_int_equal(found[0].tls.version, 0x0304);
    assert_memory_equal(made.byte + found[0].offset, "WWW.parc.com", 12);
    /* Cut behind the name, before its last byte, before its version. */
    check_hello(&made, found[0].offset + 12, "tls www.parc.com", 0);
    assert_int_equal(found[0].tls.version, 0x0303);
    check_hello(&made, found[0].offset + 11, "", cut);
    check_hello(&made, 9, "", cut);
    check_hello(&made, 3, "", cut);
    make_hello(&made, BYTES(VERSIONS SERVER_NAME));
    check_hello(&made, made.len, "tls www.parc.com", 0);
    make_hello(&made, BYTES(VERSIONS));
    check_hello(&made, made.len, "", none);
    make_hello(&made, NULL, 0);
    check_hello(&made, made.len, "", none);
    /* A list that is longer than its extension, a name that is no host, an empty one. */
    make_hello(&made, BYTES("\0\0\0\x11\0\x10\0\0\x0CWWW.parc.com"));
    check_hello(&made, made.len, "", bad);
    make_hello(&made, BYTES("\0\0\0\6\0\4\0\0\1/"));
    check_hello(&made, made.len, "", host);
    make_hello(&made, BYTES("\0\0\0\5\0\3\0\0\0"));
    check_hello(&made, made.len, "", host);
    /* Another handshake message; application data. */
    made.byte[5] = 2;
    check_hello(&made, made.len, "", 0);
    made.byte[0] = 23;
    check_hello(&made, made.len, "", 0);
}

/* ---- against the oracle ---------------------------------------------------------------------- */

static uint32_t n_compared[SL_N_PACKET_NAMES_PROTOCOLS], n_missed[SL_N_PACKET_NAMES_MISSES];

static void compare(const struct made_message *made, uint32_t len, uint32_t sent_len, uint64_t seed)
{
    const struct ref_name *expected;
    uint8_t *alone;
    const uint32_t n = ref_names(&expected, made->carrier, made->src_port, made->dst_port,
                                 made->byte, len, sent_len);
    const struct name_out out =
        extract(made->carrier, made->src_port, made->dst_port, made->byte, len, sent_len, &alone);

    if (out.n != n)
        fail_msg("seed %llx, %u bytes: %u names, expected %u", (unsigned long long)seed, len, out.n,
                 n);
    for (uint32_t i = 0; i < n; i++) {
        const struct sl_name *name = &out.found[i].name;

        if (out.found[i].protocol != expected[i].protocol ||
            out.found[i].offset != expected[i].offset || name->len != expected[i].len ||
            name->host_len != expected[i].host_len ||
            memcmp(name->bytes, expected[i].bytes, name->len) != 0)
            fail_msg("seed %llx, %u bytes: name %u differs", (unsigned long long)seed, len, i);
        assert_int_equal(sl_name_well_formed(name->bytes, name->len), name->len);
        n_compared[out.found[i].protocol]++;
    }
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        n_missed[m] += out.misses >> m & 1;
    free(alone);
}

static void test_random_messages(void **state)
{
    struct made_message *made = malloc(sizeof *made);
    uint64_t random = 11;

    (void)state;
    for (int i = 0; i < N_RANDOM; i++) {
        const uint64_t seed = random;

        make_message(made, &random);
        if (i % 4 != 0)
            damage_message(made, &random);
        compare(made, made->len, made->len + (i % 8 == 0 ? 100 : 0), seed);
    }
    /* Enough of everything was there. */
    for (int p = 0; p < SL_N_PACKET_NAMES_PROTOCOLS; p++)
        assert_true(n_compared[p] > N_RANDOM / 16);
    for (int m = 0; m < SL_N_PACKET_NAMES_MISSES; m++)
        if (n_missed[m] < 2 && m != SL_PACKET_NAMES_MISS_DNS_LONG)
            fail_msg("%s: %u times", sl_packet_names_miss_name((enum sl_packet_names_miss)m),
                     n_missed[m]);
    free(made);
}

static void test_messages_cut_at_every_byte(void **state)
{
    struct made_message *made = malloc(sizeof *made);
    uint64_t random = 12;

    (void)state;
    for (int i = 0; i < N_CUT; i++) {
        const uint64_t seed = random;

        make_message(made, &random);
        for (uint32_t len = 0; len <= made->len && len < 2000; len++)
            compare(made, len, made->len, seed);
    }
    free(made);
}

/* As many names as there are taken, and not one more; the rest is said. */
static void test_more_names_than_are_taken(void **state)
{
    static struct made_message made;
    uint8_t *alone;

    (void)state;
    made_number(&made, 0x12340100, 4);
    made_number(&made, SL_PACKET_NAMES_MAX + 1, 2);
    made_number(&made, 0, 6);
    for (int i = 0; i <= SL_PACKET_NAMES_MAX; i++)
        made_put(&made, "\1a\0\0\1\0\1", 7);
    const struct name_out out = extract(REF_UDP, 1, 53, made.byte, made.len, made.len, &alone);
    assert_int_equal(out.n, SL_PACKET_NAMES_MAX);
    assert_int_equal(out.misses, 1u << SL_PACKET_NAMES_MISS_MORE);
    free(alone);
}

/* The longest name and the deepest that there are. */
static void test_longest_domains(void **state)
{
    static struct made_message made;
    char text[600];
    uint8_t *alone;

    (void)state;
    for (uint32_t label_len = 1; label_len <= 63; label_len++) {
        for (uint32_t wire = 252; wire <= 256; wire++) {
            made.len = 0;
            made_number(&made, 0x12340100, 4);
            made_number(&made, 1, 2);
            made_number(&made, 0, 6);
            for (uint32_t left = wire - 1; left > 0;) {
                uint32_t len = label_len < left - 1 ? label_len : left - 1;

                if (left - 1 - len == 1) /* the rest takes two bytes at least */
                    len = len < 63 ? len + 1 : len - 1;
                made_number(&made, len, 1);
                for (uint32_t i = 0; i < len; i++)
                    made_number(&made, 'x', 1);
                left -= len + 1;
            }
            made_number(&made, 0, 1);
            made_number(&made, 0x00010001, 4);
            const struct name_out out =
                extract(REF_UDP, 1, 53, made.byte, made.len, made.len, &alone);
            assert_int_equal(out.n, wire <= 255);
            assert_int_equal(out.misses, wire <= 255 ? 0 : 1u << SL_PACKET_NAMES_MISS_DNS_LONG);
            print_names(&out, text, sizeof text);
            assert_int_equal(strlen(text), wire <= 255 ? 4 + wire - 2 : 0);
            free(alone);
        }
    }
}

/* ---- in batches ------------------------------------------------------------------------------ */

static void add_frame(struct sl_batch *batch, const struct frame *f, uint16_t link_type,
                      uint32_t wire_len)
{
    const uint32_t item = sl_batch_add(batch, f->byte, f->len, 0);

    batch->origin[item].link_type = link_type;
    batch->origin[item].wire_len = wire_len > f->len ? wire_len : f->len;
}

static void frame_query(struct frame *f, uint32_t sent_len)
{
    static const char query[] = DNS_HEAD("\1") "\4parc\3com\0" QUESTION;
    const uint32_t ip = frame_ipv4(f, SL_IP_UDP, 0);

    frame_udp(f, 40000, 53, sent_len != 0 ? sent_len : sizeof query - 1);
    frame_bytes(f, query, sizeof query - 1);
    frame_end_ipv4(f, ip);
}

static void frame_interest(struct frame *f)
{
    frame_bytes(f, "\5\7\7\5\x08\3com\0\0\0", 12);
}

static void check_item(const struct sl_batch *batch, uint32_t item, const char *expected,
                       uint32_t offset)
{
    struct name_out out = {.found = found};
    char text[256];

    out.n = sl_packet_names_find(batch, item, found, name_bytes, &out.misses);
    print_names(&out, text, sizeof text);
    assert_string_equal(text, expected);
    if (out.n > 0)
        assert_int_equal(found[0].offset, offset);
}

static void test_packets_of_a_batch(void **state)
{
    static struct frame f;
    struct sl_dissect_stats stats = {.packets = {0}};
    struct sl_batch *batch;

    (void)state;
    assert_int_equal(sl_batch_create(&batch, 1 << 16, 64, NULL), SL_OK);
    f.len = 0;
    frame_ethernet(&f, 0x0800);
    frame_query(&f, 0);
    add_frame(batch, &f, 1, 0);
    f.len = 0;
    frame_ethernet(&f, 0x8624);
    frame_interest(&f);
    add_frame(batch, &f, 1, 0);
    f.len = 0;
    frame_ethernet(&f, 0x8100);
    frame_tag(&f, 7, 0x88A8);
    frame_tag(&f, 8, 0x8624);
    frame_interest(&f);
    add_frame(batch, &f, 1, 0);
    f.len = 0;
    frame_bytes(&f, "\0\0\0\1\0\6\1\2\3\4\5\6\0\0\x86\x24", 16);
    frame_interest(&f);
    add_frame(batch, &f, 113, 0);
    f.len = 0;
    frame_bytes(&f, "\x86\x24\0\0\0\0\0\1\0\1\0\6\1\2\3\4\5\6\0\0", 20);
    frame_interest(&f);
    add_frame(batch, &f, 276, 0);
    f.len = 0;
    frame_ethernet(&f, 0x8624); /* nothing behind it */
    add_frame(batch, &f, 1, 0);
    f.len = 0;
    frame_ethernet(&f, 0x8624); /* another link type */
    frame_interest(&f);
    add_frame(batch, &f, 105, 0);
    f.len = 0;
    frame_query(&f, 0);
    f.len -= 3; /* the capture cut it */
    add_frame(batch, &f, 101, f.len + 3);
    sl_dissect(batch, &stats);
    check_item(batch, 0, "dns parc.com", 12);
    check_item(batch, 1, "ndn /com", 14 + 4);
    check_item(batch, 2, "ndn /com", 22 + 4);
    check_item(batch, 3, "ndn /com", 16 + 4);
    check_item(batch, 4, "ndn /com", 20 + 4);
    check_item(batch, 5, "", 0);
    check_item(batch, 6, "", 0);
    check_item(batch, 7, "", 0);
    sl_batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_client_hellos),
        cmocka_unit_test(test_random_messages),
        cmocka_unit_test(test_messages_cut_at_every_byte),
        cmocka_unit_test(test_more_names_than_are_taken),
        cmocka_unit_test(test_longest_domains),
        cmocka_unit_test(test_packets_of_a_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

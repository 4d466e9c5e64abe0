/* SPDX-License-Identifier: MIT */
/* Protocols that are known by their first bytes, in one piece and byte by byte. */
#include "test.h"

#include "app/app_stream.h"
#include "app/known.h"

#define BYTES(text) (text), (uint32_t)(sizeof(text) - 1)

/* The protocol after these bytes of a side. `piece`: bytes of a call. */
static enum sl_app after(struct app_stream *stream, enum app_side side, const char *bytes,
                         uint32_t len, uint32_t piece)
{
    for (uint32_t at = 0; at < len; at += piece)
        assert_true(app_stream_give(stream, side, (const uint8_t *)bytes + at,
                                    len - at < piece ? len - at : piece, NULL));
    return app_stream_app(stream);
}

static enum sl_app app_of(enum app_side side, const char *bytes, uint32_t len, uint32_t piece)
{
    struct app_stream *stream = app_stream_open();

    assert_non_null(stream);
    const enum sl_app app = after(stream, side, bytes, len, piece);
    app_stream_close(stream, NULL);
    return app;
}

static void test_first_bytes_name_a_protocol(void **state)
{
    static const struct {
        const char *bytes;
        uint32_t len;
        uint8_t side, app;
    } cases[] = {
        {BYTES("SSH-2.0-x\r\n"), 0, SL_APP_SSH},
        {BYTES("SSH-2.0-x\r\n"), 1, SL_APP_SSH},
        {BYTES("RFB 003.008\n"), 1, SL_APP_RFB},
        {BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0, SL_APP_HTTP2},
        {BYTES("\0\0\0\x2F\xFFSMBr"), 0, SL_APP_SMB},
        {BYTES("\0\0\0\x2F\xFESMBr"), 1, SL_APP_SMB},
        {BYTES("\0\0\0\x08\x04\xD2\x16\x2F"), 0, SL_APP_PGSQL},
        {BYTES("\0\0\0\x10\x04\xD2\x16\x2E\0\0\0\1"), 0, SL_APP_PGSQL},
        {BYTES("\0\0\0\x4E\0\3\0\0user\0rules\0"), 0, SL_APP_PGSQL},
        {BYTES("\x10\x0C\0\4MQTT\4\2"), 0, SL_APP_MQTT},
        {BYTES("\x10\x8C\1\0\4MQTT\4\2"), 0, SL_APP_MQTT},
        {BYTES("\x63\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), 0, SL_APP_ENIP},
        {BYTES("\x05\x64\x08\xC4\x0A\0\1\0\xFC\x42\xC1"), 0, SL_APP_DNP3},
        {BYTES("\x05\x64\x08\xC4\x0A\0\1\0\xFC\x43\xC1"), 0, SL_APP_UNKNOWN}, /* its checksum */
        {BYTES("\5\0\x0B\3\x10\0\0\0\x48\0\0\0\1\0\0\0"), 0, SL_APP_DCERPC},
        {BYTES("\5\0\x0B\3\x10\0\0\0\x08\0\0\0\1\0\0\0"), 0, SL_APP_UNKNOWN}, /* its length */
        {BYTES("\3\0\0\x13\x0E\xE0\0\0\0\0\0\1\0\x08\0\3\0\0\0"), 0, SL_APP_RDP},
        {BYTES("220 mail.example.org ESMTP\r\n"), 1, SL_APP_SMTP},
        {BYTES("220-Welcome to Pure-FTPd\r\n"), 1, SL_APP_FTP},
        {BYTES("220 ready\r\n"), 1, SL_APP_UNKNOWN},
        {BYTES("ehlo x\r\n"), 0, SL_APP_SMTP},
        {BYTES("QUIT\r\n"), 0, SL_APP_SMTP},
        {BYTES("USER anonymous\r\n"), 0, SL_APP_FTP},
        {BYTES("+OK ready\r\n"), 1, SL_APP_POP3},
        {BYTES("* OK ready\r\n"), 1, SL_APP_IMAP},
        {BYTES("\1\2\3\4\5\6\7\x08\x09"), 0, SL_APP_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t piece = 1; piece <= 64; piece += 7)
            assert_int_equal(
                app_of((enum app_side)cases[i].side, cases[i].bytes, cases[i].len, piece),
                cases[i].app);
}

/* A greeting that names none waits for the client. */
static void test_the_client_says_it(void **state)
{
    struct app_stream *stream = app_stream_open();

    (void)state;
    assert_non_null(stream);
    assert_int_equal(after(stream, APP_SERVER, BYTES("220 ready\r\n"), 64), SL_APP_UNKNOWN);
    assert_int_equal(after(stream, APP_CLIENT, BYTES("HELO x\r\n"), 64), SL_APP_SMTP);
    app_stream_close(stream, NULL);
}

/* What a side says, in pieces. */
struct said {
    enum app_side side;
    const char *text;
};

static void expect_sides(const struct said *said, size_t n, uint32_t piece,
                         const struct app_sides *expected)
{
    struct app_stream *stream = app_stream_open();
    struct app_sides sides = {0};

    assert_non_null(stream);
    for (size_t i = 0; i < n; i++) {
        (void)after(stream, said[i].side, said[i].text, (uint32_t)strlen(said[i].text), piece);
        app_stream_take_sides(stream, &sides);
    }
    assert_memory_equal(sides.app, expected->app, sizeof sides.app);
    assert_int_equal(sides.before, expected->before);
    assert_int_equal(sides.found, expected->found);
    app_stream_close(stream, NULL);
}

static void test_sides_have_protocols_of_their_own(void **state)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n";
    static const char noise[] =
        "\1\2\3\4\5\6\7\x08\x09 and no word of a protocol, up to the end of "
        "the bytes that are kept";
    const struct {
        struct said said[3];
        size_t n;
        struct app_sides expected;
    } cases[] = {
        {{{APP_CLIENT, request}}, 1, {{SL_APP_HTTP, 0}, 0, 1}},
        {{{APP_CLIENT, request}, {APP_SERVER, "SSH-2.0-x\r\n"}},
         2,
         {{SL_APP_HTTP, SL_APP_SSH}, 0, 3}},
        {{{APP_SERVER, "SSH-2.0-x\r\n"}, {APP_CLIENT, request}},
         2,
         {{SL_APP_HTTP, SL_APP_SSH}, 0, 3}},
        {{{APP_CLIENT, request}, {APP_SERVER, noise}}, 2, {{SL_APP_HTTP, SL_APP_HTTP}, 0, 1}},
        {{{APP_SERVER, noise}, {APP_CLIENT, request}}, 2, {{SL_APP_HTTP, SL_APP_HTTP}, 0, 1}},
        {{{APP_SERVER, noise}}, 1, {{0, 0}, 0, 0}},
        {{{APP_SERVER, noise}, {APP_CLIENT, noise}}, 2, {{APP_NONE, APP_NONE}, 0, 3}},
        {{{APP_SERVER, "+OK ready\r\n"}, {APP_CLIENT, "USER a\r\nPASS b\r\n"}},
         2,
         {{SL_APP_POP3, SL_APP_POP3}, 0, 2}},
        {{{APP_CLIENT, request},
          {APP_SERVER, "HTTP/1.1 101 x\r\nUpgrade: h2c\r\n\r\n"},
          {APP_CLIENT, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}},
         3,
         {{SL_APP_HTTP2, 0}, SL_APP_HTTP, 3}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (uint32_t piece = 1; piece <= 64; piece += 9)
            expect_sides(cases[i].said, cases[i].n, piece, &cases[i].expected);
}

static void test_datagrams(void **state)
{
    char ike[28] = "12345678", enip[24] = "\x63";

    (void)state;
    ike[17] = 0x20;
    ike[27] = sizeof ike;
    assert_int_equal(known_datagram((const uint8_t *)ike, sizeof ike), SL_APP_IKE);
    assert_int_equal(known_datagram((const uint8_t *)ike, sizeof ike - 1), SL_APP_UNKNOWN);
    ike[17] = 0x30;
    assert_int_equal(known_datagram((const uint8_t *)ike, sizeof ike), SL_APP_UNKNOWN);
    assert_int_equal(known_datagram((const uint8_t *)enip, sizeof enip), SL_APP_ENIP);
    enip[2] = 1;
    assert_int_equal(known_datagram((const uint8_t *)enip, sizeof enip), SL_APP_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_bytes_name_a_protocol),
        cmocka_unit_test(test_the_client_says_it),
        cmocka_unit_test(test_sides_have_protocols_of_their_own),
        cmocka_unit_test(test_datagrams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Handshakes of TLS, whole and in random pieces. Digests of fingerprints are those of `md5sum` and
 * `sha256sum` over the texts that JA3 and JA4 define. */
#include "test.h"

#include "app/tls.h"
#include "app_trial.h"

static const char client_hello[] = "\x01\0\0\x90\x03\x03" /* the length is set by record_of */
                                   "0123456789abcdef0123456789abcdef"
                                   "\0"
                                   "\0\x06\x2a\x2a\x13\x01\xc0\x2b"
                                   "\x01\0"
                                   "\0\x53"
                                   "\x0a\x0a\0\0"
                                   "\0\0\0\x12\0\x10\0\0\x0dWww.example.c"
                                   "\0\x0a\0\x08\0\x06\x1a\x1a\0\x1d\0\x17"
                                   "\0\x0b\0\x02\x01\0"
                                   "\0\x0d\0\x06\0\x04\x04\x03\x08\x04"
                                   "\0\x10\0\x0e\0\x0c\x02h2\x08http/1.1"
                                   "\0\x2b\0\x07\x06\x3a\x3a\x03\x04\x03\x03";

static const char server_hello_13[] = "\x02\0\0\x37\x03\x03"
                                      "0123456789abcdef0123456789abcdef"
                                      "\0"
                                      "\x13\x01\0"
                                      "\0\x0f"
                                      "\0\x2b\0\x02\x03\x04"
                                      "\0\x10\0\x05\0\x03\x02h2";

static const char server_hello_12[] = "\x02\0\0\x26\x03\x03"
                                      "0123456789abcdef0123456789abcdef"
                                      "\0"
                                      "\xc0\x2b\0";

/* C=DE, ST=Bavaria, O=Example Ltd, CN=www.example.com, emailAddress=a@example.com */
static const char certificate[] =
    "\x30\x82\x02\x4f\x30\x82\x01\xf5\xa0\x03\x02\x01\x02\x02\x03\x00\xff\x01\x30\x0a\x06\x08"
    "\x2a\x86\x48\xce\x3d\x04\x03\x02\x30\x6d\x31\x0b\x30\x09\x06\x03\x55\x04\x06\x13\x02\x44"
    "\x45\x31\x10\x30\x0e\x06\x03\x55\x04\x08\x0c\x07\x42\x61\x76\x61\x72\x69\x61\x31\x14\x30"
    "\x12\x06\x03\x55\x04\x0a\x0c\x0b\x45\x78\x61\x6d\x70\x6c\x65\x20\x4c\x74\x64\x31\x18\x30"
    "\x16\x06\x03\x55\x04\x03\x0c\x0f\x77\x77\x77\x2e\x65\x78\x61\x6d\x70\x6c\x65\x2e\x63\x6f"
    "\x6d\x31\x1c\x30\x1a\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x01\x16\x0d\x61\x40\x65\x78"
    "\x61\x6d\x70\x6c\x65\x2e\x63\x6f\x6d\x30\x1e\x17\x0d\x32\x36\x31\x31\x32\x34\x30\x35\x31"
    "\x32\x32\x34\x5a\x17\x0d\x33\x36\x31\x31\x32\x31\x30\x35\x31\x32\x32\x34\x5a\x30\x6d\x31"
    "\x0b\x30\x09\x06\x03\x55\x04\x06\x13\x02\x44\x45\x31\x10\x30\x0e\x06\x03\x55\x04\x08\x0c"
    "\x07\x42\x61\x76\x61\x72\x69\x61\x31\x14\x30\x12\x06\x03\x55\x04\x0a\x0c\x0b\x45\x78\x61"
    "\x6d\x70\x6c\x65\x20\x4c\x74\x64\x31\x18\x30\x16\x06\x03\x55\x04\x03\x0c\x0f\x77\x77\x77"
    "\x2e\x65\x78\x61\x6d\x70\x6c\x65\x2e\x63\x6f\x6d\x31\x1c\x30\x1a\x06\x09\x2a\x86\x48\x86"
    "\xf7\x0d\x01\x09\x01\x16\x0d\x61\x40\x65\x78\x61\x6d\x70\x6c\x65\x2e\x63\x6f\x6d\x30\x59"
    "\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03"
    "\x42\x00\x04\x5b\x20\x5c\x38\xe9\x23\x51\xcc\xfe\x92\xb7\x41\x3a\x12\x1a\xd5\x14\x26\x55"
    "\x3e\xd6\xe3\x0b\xa6\x23\xb1\xb5\x0f\xce\x46\xc0\xa1\xa4\x0a\x8f\x44\xc5\x83\x37\x4c\x02"
    "\x6e\xee\xb0\x9d\x1d\x64\x60\xe8\xe7\x2a\xcb\x99\x61\x89\xf5\x01\xd0\x13\x95\x32\x0c\x34"
    "\x81\xa3\x81\x83\x30\x81\x80\x30\x1d\x06\x03\x55\x1d\x0e\x04\x16\x04\x14\x8f\x36\x2b\x9f"
    "\x16\xf6\xa2\x5b\xee\xeb\xc7\xda\xa5\x71\xd7\x28\x4b\x26\x78\x36\x30\x1f\x06\x03\x55\x1d"
    "\x23\x04\x18\x30\x16\x80\x14\x8f\x36\x2b\x9f\x16\xf6\xa2\x5b\xee\xeb\xc7\xda\xa5\x71\xd7"
    "\x28\x4b\x26\x78\x36\x30\x0f\x06\x03\x55\x1d\x13\x01\x01\xff\x04\x05\x30\x03\x01\x01\xff"
    "\x30\x2d\x06\x03\x55\x1d\x11\x04\x26\x30\x24\x82\x0f\x77\x77\x77\x2e\x65\x78\x61\x6d\x70"
    "\x6c\x65\x2e\x63\x6f\x6d\x82\x0b\x65\x78\x61\x6d\x70\x6c\x65\x2e\x63\x6f\x6d\x87\x04\xc0"
    "\x00\x02\x01\x30\x0a\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02\x03\x48\x00\x30\x45\x02\x20"
    "\x41\x49\xd0\xb3\x86\x68\x06\x65\x37\x08\xcd\x7b\x87\x3c\x12\xa6\x6e\x99\x14\x56\x14\x4a"
    "\xcb\x5a\x99\xb0\x16\xcb\x2d\x8b\xf1\x3b\x02\x21\x00\xd1\x09\x66\x7e\xd8\xc4\x05\xbc\x78"
    "\x04\x9b\xe8\x83\x08\x00\xee\x22\xab\xc4\xd6\xe3\x2a\xbd\x6a\x6d\x5a\xde\x36\x94\xd6\x46"
    "\x10";

static void put_number(struct app_text *text, uint32_t number, int n)
{
    while (n-- != 0)
        app_text_add_byte(text, (uint8_t)(number >> 8 * n));
}

/* Appends a record with these bytes; in several records of `most` bytes, where they are more. */
static void put_record(struct app_text *text, uint8_t type, const void *bytes, uint32_t len,
                       uint32_t most)
{
    for (uint32_t at = 0; at < len || at == 0; at += most) {
        const uint32_t n = len - at < most ? len - at : most;

        app_text_add_byte(text, type);
        put_number(text, 0x0303, 2);
        put_number(text, n, 2);
        app_text_add(text, (const char *)bytes + at, n);
        if (len == 0)
            break;
    }
}

/* A hello of the handshake, with its own length. */
static void put_hello(struct app_text *text, const char *hello, uint32_t len, uint32_t most)
{
    struct app_text copy = {0};

    app_text_add(&copy, hello, len);
    copy.bytes[2] = (uint8_t)((len - 4) >> 8);
    copy.bytes[3] = (uint8_t)(len - 4);
    put_record(text, 22, copy.bytes, copy.len, most);
    app_text_free(&copy);
}

/* A chain of one certificate, twice. */
static void put_certificates(struct app_text *text, const char *der, uint32_t len, uint32_t most)
{
    struct app_text message = {0};

    app_text_add_byte(&message, 11);
    put_number(&message, 2 * (len + 3) + 3, 3);
    put_number(&message, 2 * (len + 3), 3);
    for (int i = 0; i < 2; i++) {
        put_number(&message, len, 3);
        app_text_add(&message, der, len);
    }
    put_record(text, 22, message.bytes, message.len, most);
    app_text_free(&message);
}

static char *play(const struct app_text side[2], uint32_t mean, uint64_t seed)
{
    struct app_trial trial;
    char *told;

    trial_begin(&trial);
    for (int i = 0; i < 2; i++)
        trial_give(&trial, (enum app_side)i, side[i].bytes, side[i].len, mean, &seed);
    assert_false(app_stream_listens(trial.stream, APP_CLIENT));
    assert_false(app_stream_listens(trial.stream, APP_SERVER));
    assert_true(trial.held_max <= 8192);
    trial_end(&trial);
    assert_false(trial.failed);
    told = strdup((char *)trial.told.bytes);
    assert_non_null(told);
    trial_free(&trial);
    return told;
}

static void expect(const struct app_text side[2], const char *const *words)
{
    char *whole = play(side, 0, 1);

    for (uint64_t seed = 1; seed <= 40; seed++) {
        char *cut = play(side, (uint32_t)seed, seed);

        assert_string_equal(cut, whole);
        free(cut);
    }
    for (; *words != NULL; words++)
        if (strstr(whole, *words) == NULL)
            fail_msg("'%s' is not in:\n%s", *words, whole);
    free(whole);
}

#define EXPECT(side, ...) expect(side, (const char *const[]){__VA_ARGS__, NULL})

static void test_13(void **state)
{
    (void)state;
    for (uint32_t most = 16384; most != 0; most /= 7) {
        struct app_text side[2] = {{0}, {0}};

        put_hello(&side[0], client_hello, sizeof client_hello - 1, most);
        put_record(&side[0], 20, "\1", 1, most);
        put_hello(&side[0], client_hello, sizeof client_hello - 1, most);
        put_record(&side[0], 23, "secret", 6, 6);
        put_hello(&side[1], server_hello_13, sizeof server_hello_13 - 1, most);
        put_record(&side[1], 20, "\1", 1, most);
        put_hello(&side[1], server_hello_13, sizeof server_hello_13 - 1, most);
        put_record(&side[1], 23, "secret", 6, 6);
        EXPECT(side, " sni=[Www.example.c]", " ja3=[87991a9b84cb5b4bc5f84c5ecad46032]",
               " ja3_string=[771,4865-49195,0-10-11-13-16-43,29-23,0]",
               " ja4=[t13d0206h2_777cda164f4b_fb71836bce29]", " version=[1.3]",
               " ja3s=[2b83a23dea22815f9c4ffaaeaebdc796] ja3s_string=[771,4865,43-16]",
               " client_alpn=[h2] client_alpn=[http/1.1]", " server_alpn=[h2]",
               "tls 0 s head sni=[Www.example.c] version=[1.3]", "tls 0 c done");
        app_text_free(&side[0]);
        app_text_free(&side[1]);
    }
}

/* A server of an early draft of TLS 1.3 sends no session and no compression. */
static void test_early_13(void **state)
{
    static const char server_hello[] = "\x02\0\0\x26\x03\x04"
                                       "0123456789abcdef0123456789abcdef"
                                       "\x13\x01"
                                       "\0\0";
    struct app_text side[2] = {{0}, {0}};

    (void)state;
    put_hello(&side[0], client_hello, sizeof client_hello - 1, 16384);
    put_record(&side[0], 23, "secret", 6, 6);
    put_hello(&side[1], server_hello, sizeof server_hello - 1, 16384);
    put_record(&side[1], 23, "secret", 6, 6);
    EXPECT(side, " ja3s_string=[772,4865,]", "tls 0 c done");
    app_text_free(&side[0]);
    app_text_free(&side[1]);
}

static void test_12(void **state)
{
    static const char subject[] = " subject=[C=DE, ST=Bavaria, O=Example Ltd, CN=www.example.com, "
                                  "emailAddress=a@example.com]";

    (void)state;
    for (uint32_t most = 16384; most > 40; most /= 7) {
        struct app_text side[2] = {{0}, {0}};

        put_hello(&side[0], client_hello, sizeof client_hello - 1, most);
        put_record(&side[0], 20, "\1", 1, most);
        put_record(&side[0], 22, "\xe5 finished", 10, most); /* encrypted */
        put_hello(&side[1], server_hello_12, sizeof server_hello_12 - 1, most);
        put_certificates(&side[1], certificate, sizeof certificate - 1, most);
        put_record(&side[1], 20, "\1", 1, most);
        EXPECT(side, " version=[1.2]", subject, " issuer=[C=DE, ", " serial=[00:FF:01]",
               " fingerprint=[4b:4b:3d:26:1e:c0:e0:ae:53:d5:b7:e5:01:9d:ba:94:e3:c0:17:b8]",
               " not_before=[2026-11-24T05:12:24] not_after=[2036-11-21T05:12:24]",
               " name=[www.example.com] name=[example.com]", " certificates=2", "tls 0 c done");
        app_text_free(&side[0]);
        app_text_free(&side[1]);
    }
}

/* Where the length of an element is cut, or is whole and too much. */
static void test_damaged_certificates(void **state)
{
#define CUT "tls 0 s event certificate_invalid_length\n"
#define BAD "tls 0 s event invalid_certificate\n"
    static const struct {
        const char *der;
        uint32_t len;
        const char *event;
    } cases[] = {{"", 0, BAD},
                 {"\x30", 1, CUT},
                 {"\x30\x03\x02\x01\x00", 5, BAD},
                 {"\x30\x05\x30\x84\xff\xff\xff\xfa\x04", 9, CUT},
                 {"\x30\x06\x30\x84\xff\xff\xff\xfa\x04", 9, BAD},
                 {"\x30\x84\x00\x00", 4, CUT},
                 {"\x30\x09\x30\x06\xa0\x03\x02\x01\x02\x02\x01", 11, CUT},
                 {"\x30\x09\x30\x07\xa0\x03\x02\x01\x02\x02\x01", 11, BAD}};

    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct app_text side[2] = {{0}, {0}};

        put_hello(&side[0], client_hello, sizeof client_hello - 1, 16384);
        put_record(&side[0], 20, "\1", 1, 1);
        put_record(&side[0], 22, "\xe5 finished", 10, 10);
        put_hello(&side[1], server_hello_12, sizeof server_hello_12 - 1, 16384);
        put_certificates(&side[1], cases[c].der, cases[c].len, 16384);
        put_record(&side[1], 20, "\1", 1, 1);
        char *told = play(side, 0, 1);

        assert_non_null(strstr(told, cases[c].event));
        assert_null(strstr(told, strcmp(cases[c].event, CUT) == 0 ? BAD : CUT));
        assert_non_null(strstr(told, "tls 0 s event invalid_handshake_message\n"));
        free(told);
        app_text_free(&side[0]);
        app_text_free(&side[1]);
    }
}

/* A message that states too much, and records that never are a message: bounded. */
static void test_hostile(void **state)
{
    static const char huge[] = "\x16\x03\x01\x00\x20\x01\xff\xff\xff";
    static uint8_t zeros[16384];
    struct app_text record = {0};
    struct app_trial trial;
    uint64_t seed = 1;

    (void)state;
    trial_begin(&trial);
    trial_give(&trial, APP_CLIENT, huge, sizeof huge - 1, 0, &seed);
    assert_false(app_stream_listens(trial.stream, APP_CLIENT));
    zeros[0] = 2;
    zeros[1] = 1; /* 65,536 bytes, that come in pieces */
    put_record(&record, 22, zeros, sizeof zeros, sizeof zeros);
    for (int i = 0; i < 1000; i++)
        trial_give(&trial, APP_SERVER, record.bytes, record.len, 0, &seed);
    assert_false(trial.failed);
    assert_true(trial.held_max < (1 << 18));
    trial_end(&trial);
    trial_free(&trial);
    app_text_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_13), cmocka_unit_test(test_early_13), cmocka_unit_test(test_12),
        cmocka_unit_test(test_damaged_certificates), cmocka_unit_test(test_hostile)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

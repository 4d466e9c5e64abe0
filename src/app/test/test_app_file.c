/* SPDX-License-Identifier: MIT */
/* Files of HTTP and of mails: the reported ones are compared with those sent, whatever the cuts.
 * Hashes are compared with published ones, and kinds with what people call them. */
#include "app/app_file.h"

#include <stdio.h>

#include "app/app_stream.h"
#include "test.h"

enum { FILES_MAX = 64, TEXT_MAX = 512, N_TRIALS = 400 };

/* The reported files. */
struct told {
    struct app_files files;
    struct app_file_tools *tools;
    struct app_text line[FILES_MAX], bytes; /* of the file at hand */
    uint32_t n;
    bool good;
};

static void give(void *to, const struct sl_app_file *file, uint64_t offset, const uint8_t *bytes,
                 uint32_t len)
{
    struct told *told = to;

    assert_int_equal(file->size, offset);
    assert_int_equal(told->bytes.len, offset);
    app_text_add(&told->bytes, bytes, len);
}

static void add(struct app_text *line, const char *text)
{
    app_text_add(line, text, (uint32_t)strlen(text));
}

static void add_hash(struct app_text *line, const struct sl_app_file *file, int hash)
{
    static const uint32_t lens[] = {16, 20, 32};
    char digits[3];

    add(line, hash == SL_FILE_MD5 ? " md5=" : hash == SL_FILE_SHA1 ? " sha1=" : " sha256=");
    for (uint32_t i = 0; i < lens[hash]; i++) {
        snprintf(digits, sizeof digits, "%02x", file->hash[hash][i]);
        add(line, digits);
    }
}

/* "number name size CLOSED", gaps, hashes and the kind. */
static void end(void *to, const struct sl_app_file *file)
{
    struct told *told = to;
    struct app_text *line = &told->line[told->n];
    char number[64];

    assert_true(told->n++ < FILES_MAX);
    snprintf(number, sizeof number, "%u ", file->number);
    add(line, number);
    app_text_add(line, file->name.bytes, file->name.len);
    snprintf(number, sizeof number, " %llu %s%s", (unsigned long long)file->size,
             file->state == SL_FILE_CLOSED ? "CLOSED" : "TRUNCATED", file->has_gaps ? " gaps" : "");
    add(line, number);
    for (int hash = 0; hash < SL_N_FILE_HASHES; hash++)
        if ((file->hashes >> hash & 1) != 0)
            add_hash(line, file, hash);
    if (file->magic.len != 0)
        add(line, " magic=");
    app_text_add(line, file->magic.bytes, file->magic.len);
    app_text_add_byte(line, 0);
    assert_int_equal(told->bytes.len, file->size);
    told->bytes.len = 0;
}

static void hear(void *to, const struct app_news *news)
{
    struct told *told = to;
    const struct app_file_listener listener = {give, end, told};

    told->good &= app_files_take(&told->files, told->tools, news, &listener);
}

static void begin(struct told *told, uint8_t hashes, bool magic)
{
    const struct app_file_config config = {hashes, magic};

    *told = (struct told){.tools = app_file_tools_create(&config), .good = true};
    assert_non_null(told->tools);
    assert_null(app_file_tools_fault(told->tools));
}

static void finish(struct told *told)
{
    app_files_free(&told->files);
    assert_true(told->good);
    assert_int_equal(app_files_held(&told->files), 0);
    app_file_tools_free(told->tools);
    app_text_free(&told->bytes);
}

static void forget(struct told *told)
{
    for (uint32_t i = 0; i < told->n; i++)
        app_text_free(&told->line[i]);
}

/* Both sides, in pieces of `piece` bytes, of at most so many where seed is not NULL. */
static void play(struct told *told, const char *const sides[2], const uint32_t lens[2],
                 uint32_t piece, uint64_t *seed)
{
    struct app_stream *stream = app_stream_open();
    const struct app_listener listener = {hear, told};

    assert_non_null(stream);
    for (int side = 0; side < 2; side++)
        for (uint32_t at = 0; at < lens[side];) {
            const uint32_t left = lens[side] - at;
            const uint32_t want = seed != NULL ? 1 + test_below(seed, piece) : piece;
            const uint32_t n = want < left ? want : left;

            assert_true(app_stream_give(stream, (enum app_side)side,
                                        (const uint8_t *)sides[side] + at, n, &listener));
            at += n;
        }
    app_stream_close(stream, &listener);
}

static void check(const char *request, const char *response, uint8_t hashes, bool magic,
                  const char *const *lines)
{
    const char *const sides[2] = {request, response};
    const uint32_t lens[2] = {(uint32_t)strlen(request), (uint32_t)strlen(response)};

    for (uint32_t piece = 1; piece < 5000; piece = piece * 3 + 1) {
        struct told told;
        uint32_t n = 0;

        begin(&told, hashes, magic);
        play(&told, sides, lens, piece, NULL);
        finish(&told);
        for (; lines[n] != NULL; n++) {
            assert_true(n < told.n);
            assert_string_equal((const char *)told.line[n].bytes, lines[n]);
        }
        assert_int_equal(told.n, n);
        forget(&told);
    }
}

#define GET "GET /a/b%20c.txt?q=1 HTTP/1.1\r\nHost: h\r\n\r\n"
#define MD5 1
#define SHA1 2
#define SHA256 4

static void test_bodies_are_files(void **state)
{
    (void)state;
    check(GET, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", MD5 | SHA1 | SHA256, false,
          (const char *const[]){
              "0 /a/b c.txt 3 CLOSED md5=900150983cd24fb0d6963f7d28e17f72 "
              "sha1=a9993e364706816aba3e25717850c26c9cd0d89d "
              "sha256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
              NULL});
    check(GET,
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
          "Content-Disposition: attachment; size=3; FileName=\"x; y.exe\"\r\n\r\n"
          "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n",
          MD5, false,
          (const char *const[]){"0 x; y.exe 3 CLOSED md5=900150983cd24fb0d6963f7d28e17f72", NULL});
    check("PUT /up HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na"
          "POST /form HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"
          "PROPFIND /dav HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab",
          "HTTP/1.1 204 No Content\r\n\r\n", 0, false,
          (const char *const[]){"0 /up 1 CLOSED", "0 /form 2 CLOSED", NULL});
    check("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", 0,
          false, (const char *const[]){NULL});
    check(GET, "HTTP/1.1 200 OK\r\n\r\nup to the end", 0, false,
          (const char *const[]){"0 /a/b c.txt 13 CLOSED", NULL});
}

static void test_a_body_may_be_cut(void **state)
{
    (void)state;
    check(GET, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", MD5, false,
          (const char *const[]){"0 /a/b c.txt 3 TRUNCATED md5=900150983cd24fb0d6963f7d28e17f72",
                                NULL});
    check(GET, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nno gzip", 0,
          false, (const char *const[]){"0 /a/b c.txt 7 CLOSED", NULL});
    check(GET,
          "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 17\r\n\r\n"
          "\x78\xda\x4a\x4c\x4a\x06\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
          0, false, (const char *const[]){"0 /a/b c.txt 3 TRUNCATED", NULL});
}

static void test_kinds(void **state)
{
    (void)state;
    check(GET, "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n%PDF-1.4 abcd\n", 0, true,
          (const char *const[]){"0 /a/b c.txt 14 CLOSED magic=PDF document, version 1.4", NULL});
}

#define FORM_HEAD(len)                                              \
    "POST /form HTTP/1.1\r\nHost: h\r\nContent-Length: " len "\r\n" \
    "Content-Type: multipart/form-data; charset=x; boundary=\"b-b\"\r\n\r\n"

static void test_parts(void **state)
{
    (void)state;
    check(FORM_HEAD("214") "--b-b\r\ncontent-disposition: form-data; name=a\r\n\r\nno file\r\n"
                           "--b-b  \r\nContent-Disposition: form-data; filename=\"x.txt\"\r\n\r\n"
                           "\r\n--b-\r\nabc\r\n--b-b\r\n"
                           "X: y\r\nContent-Disposition: form-data; filename=y\r\n\r\n\r\n--b-b--"
                           "\r\nno part",
          "HTTP/1.1 204 No Content\r\n\r\n", 0, false,
          (const char *const[]){"0 x.txt 11 CLOSED", "1 y 0 CLOSED", NULL});
    check(FORM_HEAD("69") "--b-b\r\nContent-Disposition: form-data; filename=z\r\n\r\nabc\r\n--b-",
          "HTTP/1.1 204 No Content\r\n\r\n", 0, false,
          (const char *const[]){"0 z 3 TRUNCATED", NULL});
}

#define MAIL                                                    \
    "DATA\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" \
    "--b\r\nContent-Type: a/b; name=x\r\n\r\nabc\r\n"           \
    "--b\r\nContent-Type: a/b; name=y\r\n\r\nde\r\n--b--\r\n.\r\n"

/* The attachments of each mail are counted from 0. */
static void test_mails(void **state)
{
    (void)state;
    check("EHLO a\r\n" MAIL MAIL, "", 0, false,
          (const char *const[]){"0 x 3 CLOSED", "1 y 2 CLOSED", "0 x 3 CLOSED", "1 y 2 CLOSED",
                                NULL});
}

/* ---- random bodies --------------------------------------------------------------------------- */

/* Bytes that boundaries are made of, so that they nearly occur. */
static void add_random(struct app_text *text, uint64_t *seed)
{
    static const char some[] = "\r\n-bB";
    const uint32_t len = test_below(seed, 40);

    for (uint32_t i = 0; i < len; i++)
        app_text_add_byte(text, (uint8_t)some[test_below(seed, sizeof some - 1)]);
}

static bool contains(const struct app_text *text, uint32_t from, const char *what)
{
    return text->len > from &&
           memmem(text->bytes + from, text->len - from, what, strlen(what)) != NULL;
}

/* A body of random parts without the boundary, and the expected reports of it. */
static uint32_t make_body(struct app_text *body, char expected[][TEXT_MAX], uint64_t *seed)
{
    const uint32_t n = 1 + test_below(seed, 5);

    for (uint32_t i = 0; i < n; i++) {
        char head[TEXT_MAX];

        snprintf(head, sizeof head, "--bB\r\nContent-Disposition: a; filename=f%u\r\n\r\n", i);
        add(body, head);
        const uint32_t from = body->len;
        do {
            body->len = from;
            add_random(body, seed);
            app_text_add(body, "\r\n", 2);
        } while (contains(body, from - 2, "\r\n--bB"));
        snprintf(expected[i], TEXT_MAX, "%u f%u %u CLOSED", i, i, body->len - 2 - from);
    }
    add(body, "--bB--");
    return n;
}

static void test_random_parts(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int trial = 0; trial < N_TRIALS; trial++) {
        char expected[5][TEXT_MAX];
        struct app_text body = {0}, request = {0};
        const uint32_t n = make_body(&body, expected, &seed);
        struct told told;
        char head[TEXT_MAX];

        snprintf(head, sizeof head,
                 "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %u\r\n"
                 "Content-Type: multipart/form-data; boundary=bB\r\n\r\n",
                 body.len);
        add(&request, head);
        app_text_add(&request, body.bytes, body.len);
        begin(&told, 0, false);
        play(&told, (const char *const[]){(const char *)request.bytes, ""},
             (const uint32_t[]){request.len, 0}, 1 + test_below(&seed, 60), &seed);
        finish(&told);
        assert_int_equal(told.n, n);
        for (uint32_t i = 0; i < n; i++)
            assert_string_equal((const char *)told.line[i].bytes, expected[i]);
        forget(&told);
        app_text_free(&body);
        app_text_free(&request);
    }
}

/* Missing bytes make no hash, and no end. */
static void test_gaps(void **state)
{
    static const char request[] = GET, response[] = "HTTP/1.1 200 OK\r\n\r\nabc";
    struct app_stream *stream = app_stream_open();
    struct told told;
    const struct app_listener listener = {hear, &told};

    (void)state;
    begin(&told, MD5, false);
    assert_true(app_stream_give(stream, APP_CLIENT, (const uint8_t *)request, sizeof request - 1,
                                &listener));
    assert_true(app_stream_give(stream, APP_SERVER, (const uint8_t *)response, sizeof response - 1,
                                &listener));
    assert_true(app_stream_gap(stream, APP_SERVER, 5, &listener));
    assert_true(app_stream_give(stream, APP_SERVER, (const uint8_t *)"d", 1, &listener));
    app_stream_close(stream, &listener);
    stream = app_stream_open();
    assert_true(app_stream_give(stream, APP_CLIENT, (const uint8_t *)request, sizeof request - 1,
                                &listener));
    assert_true(app_stream_give(stream, APP_SERVER, (const uint8_t *)response, sizeof response - 1,
                                &listener));
    assert_true(app_stream_gap(stream, APP_SERVER, 5, &listener));
    app_stream_close(stream, &listener);
    finish(&told);
    assert_int_equal(told.n, 2);
    assert_string_equal((const char *)told.line[0].bytes, "0 /a/b c.txt 4 CLOSED gaps");
    assert_string_equal((const char *)told.line[1].bytes, "0 /a/b c.txt 3 TRUNCATED gaps");
    forget(&told);
}

/* A part whose head lacks bytes is no file. */
static void test_gap_in_a_head(void **state)
{
    static const char begin_form[] =
        FORM_HEAD("130") "--b-b\r\n"
                         "Content-Disposition: form-data; filename=\"x";
    static const char rest[] = "y\"\r\n\r\nabc\r\n--b-b\r\n"
                               "Content-Disposition: form-data; filename=z\r\n\r\nde\r\n--b-b--";
    struct app_stream *stream = app_stream_open();
    struct told told;
    const struct app_listener listener = {hear, &told};

    (void)state;
    begin(&told, 0, false);
    assert_true(app_stream_give(stream, APP_CLIENT, (const uint8_t *)begin_form,
                                sizeof begin_form - 1, &listener));
    assert_true(app_stream_gap(stream, APP_CLIENT, 5, &listener));
    assert_true(
        app_stream_give(stream, APP_CLIENT, (const uint8_t *)rest, sizeof rest - 1, &listener));
    app_stream_close(stream, &listener);
    finish(&told);
    assert_int_equal(told.n, 1);
    assert_string_equal((const char *)told.line[0].bytes, "0 z 2 CLOSED");
    forget(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_are_files),
        cmocka_unit_test(test_a_body_may_be_cut),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_mails),
        cmocka_unit_test(test_random_parts),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_gap_in_a_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

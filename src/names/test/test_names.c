/* SPDX-License-Identifier: MIT */
/* Names: written names are read back, in all syntaxes and for all bytes; other texts are refused
 * with a reason. */
#include <arpa/inet.h>
#include <ctype.h>

#include "names/syntax/name_host_core.h"
#include "names/syntax/name_plain.h"
#include "names/syntax/name_text.h"
#include "sluice/names.h"
#include "test.h"

static const char *read_name(struct sl_name *name, enum sl_name_syntax syntax, const char *text)
{
    static uint8_t bytes[SL_NAME_LEN_MAX];

    return sl_name_read(name, syntax, bytes, sizeof bytes, text, strlen(text));
}

static void assert_written(enum sl_name_syntax syntax, const char *text, const char *expected)
{
    struct sl_name name;
    char out[1024];
    const char *why = read_name(&name, syntax, text);

    if (why != NULL)
        fail_msg("'%s': %s", text, why);
    assert_int_equal(sl_name_write(&name, out, sizeof out), strlen(expected));
    assert_string_equal(out, expected);
}

static void assert_no_name(enum sl_name_syntax syntax, const char *text, const char *word)
{
    struct sl_name name;
    const char *why = read_name(&name, syntax, text);

    if (why == NULL)
        fail_msg("'%s' was taken", text);
    if (strstr(why, word) == NULL)
        fail_msg("'%s': '%s' does not say '%s'", text, why, word);
}

/* The same bytes from two texts? */
static void assert_same(enum sl_name_syntax syntax, const char *text, enum sl_name_syntax other,
                        const char *other_text)
{
    uint8_t bytes[512];
    struct sl_name a, b;

    assert_null(sl_name_read(&a, syntax, bytes, sizeof bytes, text, strlen(text)));
    assert_null(read_name(&b, other, other_text));
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.bytes, b.bytes, a.len);
}

static void test_ndn_uris(void **state)
{
    static const char *const same[] = {
        "/",
        "/a",
        "/com/parc/www",
        "/...",
        "/a/.../b",
        "/....",
        "/%00%2F%25",
        "/seg=0",
        "/v=18446744073709551615",
        "/off=256",
        "/t=65536",
        "/seq=7",
        "/32=KEY",
        "/65535=...",
        "/54=%00%05",
        "/50=",
        "/sha256digest=893259d98aca58c451453f29ec7dc38688e690dd0b59ef4f3b9d33738bff0b8d",
        "/params-sha256=893259d98aca58c451453f29ec7dc38688e690dd0b59ef4f3b9d33738bff0b8d"};

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (strcmp(same[i], "/50=") == 0)
            assert_no_name(SL_NAME_NDN, same[i], "empty component");
        else
            assert_written(SL_NAME_NDN, same[i], same[i]);
    }
    assert_written(SL_NAME_NDN, "ndn:/a/b/", "/a/b");
    assert_written(SL_NAME_NDN, "ndn://authority/a", "/a");
    assert_written(SL_NAME_NDN, "/8=www", "/www");
    assert_written(SL_NAME_NDN, "/54=%05", "/v=5");
    assert_written(SL_NAME_NDN, "/%61%2e", "/a.");
    assert_written(SL_NAME_NDN, "/a+b\xC3\xA4", "/a%2Bb%C3%A4");
    assert_written(SL_NAME_NDN, "/%2E%2E", "/.....");
    assert_no_name(SL_NAME_NDN, "a/b", "begins with '/'");
    assert_no_name(SL_NAME_NDN, "/a//b", "empty component");
    assert_no_name(SL_NAME_NDN, "/a/../b", "'..'");
    assert_no_name(SL_NAME_NDN, "/a%2", "'%'");
    assert_no_name(SL_NAME_NDN, "/a%zz", "'%'");
    assert_no_name(SL_NAME_NDN, "/a b", "blank");
    assert_no_name(SL_NAME_NDN, "/x=1", "type");
    assert_no_name(SL_NAME_NDN, "/0=a", "type");
    assert_no_name(SL_NAME_NDN, "/65536=a", "type");
    assert_no_name(SL_NAME_NDN, "/08=a", "type");
    assert_no_name(SL_NAME_NDN, "/seg=01", "number");
    assert_no_name(SL_NAME_NDN, "/v=18446744073709551616", "number");
    assert_no_name(SL_NAME_NDN, "/1=abc", "32 bytes");
    assert_no_name(SL_NAME_NDN, "/sha256digest=00", "64");
}

static void test_domains(void **state)
{
    char label[80], text[300];

    (void)state;
    assert_same(SL_NAME_DOMAIN, "www.parc.com", SL_NAME_NDN, "/com/parc/www");
    assert_same(SL_NAME_DOMAIN, "WWW.Parc.COM.", SL_NAME_NDN, "/com/parc/www");
    assert_same(SL_NAME_DOMAIN, ".", SL_NAME_NDN, "/");
    assert_same(SL_NAME_DOMAIN, "192.0.2.1", SL_NAME_NDN, "/192.0.2.1");
    assert_written(SL_NAME_DOMAIN, "_dmarc.XN--MNCHEN-3YA.de.", "_dmarc.xn--mnchen-3ya.de");
    assert_written(SL_NAME_DOMAIN, "192.0.2.1", "192.0.2.1");
    assert_written(SL_NAME_DOMAIN, ".", ".");
    assert_no_name(SL_NAME_DOMAIN, "m\xC3\xBCnchen.de", "xn--");
    assert_no_name(SL_NAME_DOMAIN, "a..b", "empty label");
    assert_no_name(SL_NAME_DOMAIN, ".a", "empty label");
    assert_no_name(SL_NAME_DOMAIN, "a b", "character");
    assert_no_name(SL_NAME_DOMAIN, "a.1", "IPv4");
    assert_no_name(SL_NAME_DOMAIN, "1.2.3.256", "IPv4");
    memset(label, 'a', 64);
    label[64] = '\0';
    assert_no_name(SL_NAME_DOMAIN, label, "63");
    label[63] = '\0';
    assert_written(SL_NAME_DOMAIN, label, label);
    for (int i = 0; i < 127; i++)
        memcpy(text + 2 * i, "a.", 3);
    text[254] = 'b';
    text[255] = '\0';
    assert_no_name(SL_NAME_DOMAIN, text, "253");
}

static void test_urls(void **state)
{
    (void)state;
    assert_same(SL_NAME_URL, "http://www.parc.com/a/b", SL_NAME_NDN, "/com/parc/www/a/b");
    assert_same(SL_NAME_URL, "HTTP://u:p@WWW.parc.com:8080//a/./x/../b/#f", SL_NAME_NDN,
                "/com/parc/www/a/b");
    assert_same(SL_NAME_URL, "parc.com", SL_NAME_DOMAIN, "parc.com");
    assert_written(SL_NAME_URL, "https://a.b/c?d=e/f", "a.b/c?d=e/f");
    assert_written(SL_NAME_URL, "https://a.b?q", "a.b?q");
    assert_written(SL_NAME_URL, "a.b/%7e%2f%3f%zz", "a.b/~%2F%3F%25zz");
    assert_written(SL_NAME_URL, "a.b/x y\xC3\xA4", "a.b/x%20y%C3%A4");
    assert_written(SL_NAME_URL, "a.b/../../c", "a.b/c");
    assert_written(SL_NAME_URL, "a.b/c/%2e%2e/d", "a.b/d");
    assert_written(SL_NAME_URL, "http://[2001:DB8:0::1]:80/x", "[2001:db8::1]/x");
    assert_no_name(SL_NAME_URL, "http://a.b:x/", "port");
    assert_no_name(SL_NAME_URL, "http://[::1", "port");
    assert_no_name(SL_NAME_URL, "http://[::z]/", "IPv6");
    assert_no_name(SL_NAME_URL, "http:///a", "empty name");
    assert_no_name(SL_NAME_URL, "http://%61.b/", "character");
}

static void test_the_syntax_is_guessed(void **state)
{
    static const struct {
        const char *text;
        enum sl_name_syntax syntax;
    } names[] = {{"/a", SL_NAME_NDN},          {"ndn:/a", SL_NAME_NDN}, {"a.b", SL_NAME_DOMAIN},
                 {"http://a.b", SL_NAME_URL},  {"a.b/c", SL_NAME_URL},  {"a.b:80", SL_NAME_URL},
                 {"http://[::1]", SL_NAME_URL}};
    struct sl_name name;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(read_name(&name, SL_NAME_AUTO, names[i].text));
        assert_int_equal(name.syntax, names[i].syntax);
    }
}

/* Every name of random components is written as a URI that gives the same bytes. */
static void test_any_bytes_round_trip(void **state)
{
    static uint8_t bytes[4096], back[4096];
    static char text[16384];
    uint64_t random = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t len = 0;
        struct sl_name name, again;

        for (uint32_t n = test_below(&random, 6); n > 0; n--) {
            static const uint32_t types[] = {8, 8, 8, 50, 54, 58, 3, 253, 65535, 1};
            uint8_t value[300];
            uint32_t type = types[test_below(&random, 10)];
            uint32_t value_len =
                type == 1 ? 32 : test_below(&random, test_below(&random, 9) ? 10 : 300);

            for (uint32_t i = 0; i < value_len; i++)
                value[i] = test_below(&random, 3) ? (uint8_t)test_random(&random) : '.';
            assert_true(sl_name_append(bytes, sizeof bytes, &len, type, value, value_len));
        }
        name = (struct sl_name){bytes, (uint32_t)len, (uint32_t)len, SL_NAME_NDN};
        const size_t text_len = sl_name_write(&name, text, sizeof text);
        assert_int_equal(strlen(text), text_len);
        assert_null(sl_name_read(&again, SL_NAME_NDN, back, sizeof back, text, text_len));
        assert_int_equal(again.len, len);
        assert_memory_equal(back, bytes, len);
    }
}

/* Random URIs, most of whose bytes stand for themselves: where a prefix is said to be the text's
 * begin, it is written so. Plain ones are. */
static void test_texts_that_are_prefixes(void **state)
{
    static const char bytes[] = "abcdefghijklm-._~XYZ0123456789///,%=.";
    uint64_t random = 5;
    uint32_t n_known = 0;

    (void)state;
    for (int round = 0; round < 50000; round++) {
        const uint32_t plain = test_below(&random, 2), len = 1 + test_below(&random, 80);
        char text[81] = "/", out[400];
        struct sl_name name;

        for (uint32_t i = 1; i < len; i++)
            text[i] = bytes[test_below(&random, plain ? 14 : sizeof bytes - 1)];
        text[len] = '\0';
        if (read_name(&name, SL_NAME_AUTO, text) != NULL)
            continue;
        struct sl_name prefix = name;
        struct sl_name_component component;
        size_t at = 0;
        while (sl_name_next(name.bytes, name.len, &at, &component)) {
            const size_t n = name_ndn_prefix_text(&name, (uint32_t)at, text, len);

            prefix.len = prefix.host_len = (uint32_t)at;
            n_known += n > 0;
            if (n > 0) {
                assert_int_equal(sl_name_write(&prefix, out, sizeof out), n);
                assert_memory_equal(out, text, n);
            } else {
                assert_true(!plain || len > 64);
            }
        }
    }
    assert_true(n_known > 10000);
}

/* Whether a line is to be read as a plain name: it is written as it is, and no byte or component
 * has a second meaning. */
static bool is_plain_line(const char *line, const struct sl_name *name)
{
    const size_t len = strlen(line);
    char out[400];

    const size_t n = sl_name_write(name, out, sizeof out);
    return len < 64 && strpbrk(line, "=%") == NULL && strstr(line, "/.") == NULL &&
           (n == len || (n == len - 1 && line[n] == '/')) && memcmp(line, out, n) == 0;
}

static void check_plain(const struct sl_name *name, const char *line,
                        const struct name_plain *plain)
{
    uint8_t bytes[NAME_PLAIN_ROOM];
    struct sl_name prefix = *name;
    struct sl_name_component component;
    uint32_t len;
    size_t at = 0;

    const uint64_t heads = name_plain_read(bytes, &len, line, plain);
    assert_int_equal(len, name->len);
    assert_memory_equal(bytes, name->bytes, len);
    assert_int_equal(heads != 0, len > 0 && len <= 64);
    while (heads != 0 && sl_name_next(bytes, len, &at, &component)) {
        char out[400];

        prefix.len = prefix.host_len = (uint32_t)at;
        const size_t n = sl_name_write(&prefix, out, sizeof out);
        assert_int_equal(name_plain_prefix(heads, (uint32_t)at), n);
        assert_memory_equal(line, out, n);
    }
}

/* Lines of all lengths at all places of a text: all plain names of it are found, and no other. */
static void test_plain_lines(void **state)
{
    enum { N_LINES = 100 };
    static const char bytes[] = "abcdefghijklmn///-._~XYZ0123456789,%=. @[\r\x7F\x80\xC3`{^\x01";
    uint64_t random = 7;
    uint32_t n_plain = 0;

    (void)state;
    for (uint32_t round = 0; round < test_fewer(1000, 100); round++) {
        char text[N_LINES * 91 + NAME_PLAIN_SLACK], *end = text;
        struct name_marks marks[NAME_N_MARKS(N_LINES * 91)];

        for (uint32_t i = 0; i < N_LINES; i++) {
            const uint32_t kinds = test_below(&random, 4) ? 17 : sizeof bytes - 1;

            *end++ = test_below(&random, 20) ? '/' : 'a';
            for (uint32_t n = test_below(&random, 90); n > 0; n--)
                *end++ = bytes[test_below(&random, kinds)];
            end -= test_below(&random, 30) == 0; /* empty lines, too */
            *end++ = '\n';
        }
        memset(end, '\n', NAME_PLAIN_SLACK);
        name_mark(text, (size_t)(end - text), marks);
        for (char *line = text; line < end; line += strlen(line) + 1) {
            struct name_plain plain;
            struct sl_name name;

            const bool is_plain = name_plain_at(marks, (size_t)(line - text), &plain);
            *strchr(line, '\n') = '\0';
            const bool is_name = read_name(&name, SL_NAME_NDN, line) == NULL;
            assert_int_equal(is_plain, is_name && is_plain_line(line, &name));
            n_plain += is_plain;
            if (is_plain) {
                assert_int_equal(plain.len, strlen(line));
                check_plain(&name, line, &plain);
            }
        }
    }
    assert_true(n_plain > test_fewer(10000, 1000));
}

/* A short URI is read and written in a way of its own. "ndn:" and a long component are read and
 * written in the way of all. */
static void test_short_names_are_as_long_ones(void **state)
{
    static const char letters[] = "//aZ09-_~.%=!\x7F\x80 $";
    static const char tail[] = "/longer-than-all-that-a-short-name-may-have-in-memory-or-as-a-text";
    uint64_t random = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[512], other_bytes[512];
        char text[200] = "ndn:/", written[600], other_written[600];
        struct sl_name name, other;
        size_t len = 5;

        /* Letters that need nothing are the most frequent. */
        for (uint32_t n = test_below(&random, 68); n > 0; n--)
            text[len++] = letters[test_below(&random, test_below(&random, 8) ? 9 : 18)];
        if (text[5] == '/') /* it would begin an authority */
            text[5] = 'a';
        const char *why = sl_name_read(&name, SL_NAME_NDN, bytes, sizeof bytes, text + 4, len - 4);
        const char *other_why =
            sl_name_read(&other, SL_NAME_NDN, other_bytes, sizeof other_bytes, text, len);
        assert_true(why == other_why);
        if (why != NULL)
            continue;
        assert_int_equal(name.len, other.len);
        assert_memory_equal(bytes, other_bytes, name.len);

        size_t other_len = other.len;
        assert_true(sl_name_append(other_bytes, sizeof other_bytes, &other_len, SL_NAME_GENERIC,
                                   tail + 1, sizeof tail - 2));
        other.len = other.host_len = (uint32_t)other_len;
        len = sl_name_write(&name, written, sizeof written);
        other_len = sl_name_write(&other, other_written, sizeof other_written);
        assert_int_equal(other_len, (name.len == 0 ? 0 : len) + sizeof tail - 1);
        assert_memory_equal(written, other_written, name.len == 0 ? 0 : len);
        assert_int_equal(written[len], '\0');
    }
}

static void test_names_that_do_not_fit(void **state)
{
    static char text[2 * SL_NAME_LEN_MAX];
    uint8_t bytes[8];
    struct sl_name name;

    (void)state;
    assert_null(sl_name_read(&name, SL_NAME_NDN, bytes, sizeof bytes, "/abcdef", 7));
    assert_non_null(sl_name_read(&name, SL_NAME_NDN, bytes, sizeof bytes, "/abcdefg", 8));
    memset(text, 'a', sizeof text);
    text[0] = '/';
    text[8193] = '\0';
    assert_null(read_name(&name, SL_NAME_NDN, text));
    assert_int_equal(name.len, 8192 + 4);
    text[8193] = 'a';
    text[sizeof text - 1] = '\0';
    assert_no_name(SL_NAME_NDN, text, "longer");
    for (size_t i = 0; i < 400; i++)
        memcpy(text + 2 * i, "/a", 2);
    text[400] = '\0';
    assert_null(read_name(&name, SL_NAME_NDN, text));
    assert_int_equal(name.len, 200 * 3);
    /* Cut as snprintf cuts. */
    assert_int_equal(sl_name_write(&name, (char *)bytes, 4), 400);
    assert_string_equal((char *)bytes, "/a/");
    assert_int_equal(sl_name_write(&name, NULL, 0), 400);
}

static void assert_packet(const char *packet, size_t len, const char *uri)
{
    /* An allocation of its own, so that a read behind the packet is found. */
    uint8_t *copy = malloc(len + !len);
    struct sl_name name;
    char text[256];

    memcpy(copy, packet, len);
    const char *why = sl_name_from_packet(&name, copy, len);
    if (uri == NULL) {
        assert_non_null(why);
    } else {
        assert_null(why);
        sl_name_write(&name, text, sizeof text);
        assert_string_equal(text, uri);
    }
    free(copy);
}

#define PACKET(bytes) (bytes), sizeof(bytes) - 1

static void test_packets(void **state)
{
    static const char interest[] = "\x05\x0B\x07\x05\x08\x01"
                                   "a\x32\x00"
                                   "\x0A\x02zz";

    (void)state;
    assert_packet(PACKET("\x05\x0D\x07\x07\x08\x01"
                         "a\x36\x02\x01\x00\x0A\x02zz"),
                  "/a/v=256");
    assert_packet(PACKET("\x06\x02\x07\x00"), "/");
    assert_packet(PACKET("\x06\x02\x07\x00padding"), "/");
    assert_packet(PACKET("\x05\x05\x07\x03\x08\x01"
                         "a"),
                  "/a");
    /* In NDNLPv2: a sequence number, then the fragment. */
    assert_packet(PACKET("\x64\x0D\x51\x02\x00\x01\x50\x07\x05\x05\x07\x03\x08\x01"
                         "a"),
                  "/a");
    assert_packet(PACKET("\x64\x09\x50\x07\x05\x05\x07\x03\x08\x01"
                         "a"),
                  "/a");
    assert_packet(PACKET("\x64\x0C\x53\x01\x01\x50\x07\x05\x05\x07\x03\x08\x01"
                         "a"),
                  "/a");
    assert_packet(PACKET("\x64\x0C\x53\x01\x02\x50\x07\x05\x05\x07\x03\x08\x01"
                         "a"),
                  NULL);
    assert_packet(PACKET("\x64\x00"), NULL);
    assert_packet(PACKET("\x03\x02\x07\x00"), NULL); /* another packet */
    assert_packet(PACKET("\x05\x02\x08\x00"), NULL); /* no name */
    assert_packet(PACKET("\x05\x05\x07\x03\x00\x01"
                         "a"),
                  NULL); /* type 0 */
    assert_packet(PACKET("\x05\x05\x07\x03\x08\x02"
                         "a"),
                  NULL); /* over the name */
    assert_packet(PACKET("\x05\x05\x07\x04\x08\x01"
                         "a"),
                  NULL); /* over the packet */
    assert_packet(PACKET("\x05\x07\x07\x05\x08\xFD\x00\x01"
                         "a"),
                  NULL); /* not shortest */
    assert_packet(PACKET("\x05\x09\x07\x07\xFE\x00\x01\x00\x00\x01"
                         "a"),
                  NULL); /* type 65536 */
    assert_packet(PACKET("\x05\x05\x07\x03\x01\x01"
                         "a"),
                  NULL); /* short digest */
    for (size_t len = 0; len < sizeof interest - 1; len++)
        assert_packet(interest, len, NULL);
}

/* Texts of few characters, so that many are addresses or nearly: inet_pton judges. */
static void test_addresses_as_inet(void **state)
{
    static const char alphabet[] = "0012f:::.a5";
    uint64_t random = 7;
    uint32_t n_good = 0;

    (void)state;
    for (int i = 0; i < 2000000; i++) {
        uint8_t ours[16], theirs[16];
        char text[32];
        const uint32_t len = test_below(&random, 22);

        for (uint32_t k = 0; k < len; k++)
            text[k] = alphabet[test_below(&random, sizeof alphabet - 1)];
        text[len] = '\0';
        assert_int_equal(name_parse_ipv4(ours, text, len), inet_pton(AF_INET, text, theirs));
        const bool good = name_parse_ipv6(ours, text, len);
        if (good != (inet_pton(AF_INET6, text, theirs) == 1))
            fail_msg("'%s': %s", text, good ? "taken" : "refused");
        if (!good)
            continue;
        assert_memory_equal(ours, theirs, 16);
        n_good++;
    }
    assert_true(n_good > 1000);
}

/* A GPU's search, at all places in blocks, with what is looked for before and behind the text too.
 */
static void test_search_by_blocks(void **state)
{
    static _Alignas(NAME_BLOCK) char memory[8 * NAME_BLOCK];
    uint64_t random = 5;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        const uint32_t begin = test_below(&random, 3 * NAME_BLOCK);
        const uint32_t len = test_below(&random, 4 * NAME_BLOCK);
        const char *text = memory + begin, *end = text + len;
        const char byte = (char)test_below(&random, 256);

        for (uint32_t k = 0; k < sizeof memory; k++) /* bytes that borrow from the next are near */
            memory[k] = (char)(byte ^ (int)(test_below(&random, 12) == 0 ? 0 : 1u << (k % 8)));
        const char *found = memchr(text, byte, len);
        assert_ptr_equal(name_find_blocks(text, end, byte), found != NULL ? found : end);
    }
}

static uint32_t high_bit(bool set, int at)
{
    return set ? UINT32_C(0x80) << at * 8 : 0;
}

/* Each byte at each of four places, beside others that would carry. */
static void test_four_characters(void **state)
{
    (void)state;
    for (uint32_t others = 0; others < 256; others += 5)
        for (uint32_t byte = 0; byte < 256; byte++)
            for (int at = 0; at < 4; at++) {
                const uint32_t mask = UINT32_C(0xFF) << at * 8;
                const uint32_t four = (NAME_ALL4(others) & ~mask) | byte << at * 8;
                const uint32_t rest = NAME_ALL4((uint32_t)'a') & ~mask;
                const bool host = name_host_byte((uint8_t)byte) == byte && byte != 0;
                const bool plain = byte > ' ' && byte < 0x7F && byte != '%';
                const uint32_t lower =
                    byte < 0x80 ? (uint32_t)(unsigned char)tolower((int)byte) : byte;

                assert_int_equal(name_lower4(four) & mask, lower << at * 8);
                assert_int_equal(name_in_range4(four, '%', '9') & mask,
                                 high_bit(byte >= '%' && byte <= '9', at));
                assert_int_equal(name_is_host4(rest | byte << at * 8), host);
                assert_int_equal(name_is_plain4(rest | byte << at * 8), plain);
                assert_int_equal(name_has4(rest | byte << at * 8, '.'), byte == '.');
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ndn_uris),
        cmocka_unit_test(test_domains),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_the_syntax_is_guessed),
        cmocka_unit_test(test_any_bytes_round_trip),
        cmocka_unit_test(test_short_names_are_as_long_ones),
        cmocka_unit_test(test_texts_that_are_prefixes),
        cmocka_unit_test(test_plain_lines),
        cmocka_unit_test(test_names_that_do_not_fit),
        cmocka_unit_test(test_addresses_as_inet),
        cmocka_unit_test(test_search_by_blocks),
        cmocka_unit_test(test_four_characters),
        cmocka_unit_test(test_packets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

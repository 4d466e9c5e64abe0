/* SPDX-License-Identifier: MIT */
/* Transforms against the oracle, hashes against the examples of RFC 1321 and FIPS 180, and rules
 * with transforms on packets. */
#include "detect_pairs.h"

#include "detect/transform/transform.h"
#include "transform_ref.h"

enum { LEN_MAX = 300 };

/* ---- the oracle ------------------------------------------------------------------------------ */

static const struct named {
    const char *name, *value;
    struct transform transform;
} all[] = {
    {"dotprefix", "", {.kind = TRANSFORM_DOT_PREFIX}},
    {"to_lowercase", "", {.kind = TRANSFORM_LOWER}},
    {"to_uppercase", "", {.kind = TRANSFORM_UPPER}},
    {"strip_whitespace", "", {.kind = TRANSFORM_STRIP_WHITESPACE}},
    {"compress_whitespace", "", {.kind = TRANSFORM_COMPRESS_WHITESPACE}},
    {"url_decode", "", {.kind = TRANSFORM_URL_DECODE}},
    {"xor", "0a0Dff", {.kind = TRANSFORM_XOR, .key = (const uint8_t *)"\x0A\x0D\xFF", .len = 3}},
    {"from_base64", "", {.kind = TRANSFORM_BASE64, .mode = BASE64_RFC4648}},
    {"from_base64", "mode rfc2045", {.kind = TRANSFORM_BASE64, .mode = BASE64_RFC2045}},
    {"strip_pseudo_headers", "", {.kind = TRANSFORM_STRIP_PSEUDO_HEADERS}},
    {"header_lowercase", "", {.kind = TRANSFORM_HEADER_LOWER}},
};

enum { N_ALL = sizeof all / sizeof all[0] };

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Bytes that transforms care about, more often than others. */
static uint32_t make_text(uint32_t *state, uint8_t *bytes)
{
    static const char alphabet[] = "  \t\r\n\v\f%%%%+:::==AaBbZz0123456789fF/.\xC3\xA4\x80";
    const uint32_t len = next(state) % LEN_MAX;

    for (uint32_t i = 0; i < len; i++)
        bytes[i] = next(state) % 16 == 0 ? (uint8_t)next(state)
                                         : (uint8_t)alphabet[next(state) % (sizeof alphabet - 1)];
    return len;
}

/* Chains of up to three transforms, on many texts. */
static void test_chains(void **unused)
{
    static uint8_t bytes[LEN_MAX + TRANSFORMS_MAX + 64], from[LEN_MAX + 64], to[LEN_MAX + 64];
    struct transform_work work = {0};
    uint32_t state = 7;

    (void)unused;
    for (int i = 0; i < 20000; i++) {
        struct transform_chain chain = {.n = 1 + next(&state) % 3};
        uint32_t len = make_text(&state, bytes);
        size_t ref_len = len;

        memcpy(from, bytes, len);
        for (uint32_t k = 0; k < chain.n; k++) {
            const struct named *named = &all[next(&state) % N_ALL];

            chain.step[k] = named->transform;
            ref_len = transform_ref(named->name, named->value, from, ref_len, to);
            memcpy(from, to, ref_len);
        }
        assert_in_range(ref_len, 0, transform_chain_room(&chain, len));
        assert_true(transform_chain_apply(&chain, &work, bytes, &len));
        assert_int_equal(len, ref_len);
        assert_memory_equal(bytes, from, len);
    }
    transform_work_free(&work);
}

/* A text, the result of a transform of it, and the transform. */
static const struct example {
    const char *from, *to;
    struct transform transform;
} examples[] = {
    {"Suricata%20is%20%27awesome%21%27%2500%25ZZ%4",
     "Suricata is 'awesome!'%00%ZZ%4",
     {.kind = TRANSFORM_URL_DECODE}},
    {"a+b%2b%", "a b+%", {.kind = TRANSFORM_URL_DECODE}},
    {"%+%41%4g", "%+A%4g", {.kind = TRANSFORM_URL_DECODE}},
    {"a \t b", "a b", {.kind = TRANSFORM_COMPRESS_WHITESPACE}},
    {"Header1: Value1\n:method:get\nheader2:Value2\n",
     "Header1: Value1\nheader2:Value2\n",
     {.kind = TRANSFORM_STRIP_PSEUDO_HEADERS}},
    {"Header1: Value1\nHEADER2:Value2\n",
     "header1: Value1\nheader2:Value2\n",
     {.kind = TRANSFORM_HEADER_LOWER}},
    {"VGhpcyBpcyBTdXJpY2F0YQ==", "This is Suricata", {.kind = TRANSFORM_BASE64}},
    {"/?arg=dGhpc2lzYXRlc3QK", "thisisatest\n", {.kind = TRANSFORM_BASE64, .offset = 6}},
    {"/?arg=Zm 9v Ym Fy",
     "foobar",
     {.kind = TRANSFORM_BASE64, .offset = 6, .mode = BASE64_RFC2045}},
    {"Zm 9v Ym Fy", "f", {.kind = TRANSFORM_BASE64}},
    {"Zm9vYmFy", "foo", {.kind = TRANSFORM_BASE64, .len = 4}},
    {"Zm9vYmFy", "foobar", {.kind = TRANSFORM_BASE64, .mode = BASE64_STRICT}},
    {"Zm9vYg==", "foob", {.kind = TRANSFORM_BASE64, .mode = BASE64_STRICT}},
    {"Zm9vYh==", "Zm9vYh==", {.kind = TRANSFORM_BASE64, .mode = BASE64_STRICT}},
    {"Zm9vYg", "Zm9vYg", {.kind = TRANSFORM_BASE64, .mode = BASE64_STRICT}},
    {"Zm 9v", "Zm 9v", {.kind = TRANSFORM_BASE64, .mode = BASE64_STRICT}},
    {"Zg==Zg==", "Zg==Zg==", {.kind = TRANSFORM_BASE64, .mode = BASE64_STRICT}},
    {"!", "!", {.kind = TRANSFORM_BASE64}},
    {"abc", "abc", {.kind = TRANSFORM_BASE64, .offset = 3}},
    {"abcd", "ab`g", {.kind = TRANSFORM_XOR, .offset = 2, .len = 1, .key = (const uint8_t *)"\3"}},
    {"abc", "abc", {.kind = TRANSFORM_XOR, .offset = 9, .len = 1, .key = (const uint8_t *)"\3"}},
    {"abc",
     "\x90\x01\x50\x98\x3C\xD2\x4F\xB0\xD6\x96\x3F\x7D\x28\xE1\x7F\x72",
     {.kind = TRANSFORM_MD5}},
    {"abc",
     "\xA9\x99\x3E\x36\x47\x06\x81\x6A\xBA\x3E\x25\x71\x78\x50\xC2\x6C\x9C\xD0\xD8\x9D",
     {.kind = TRANSFORM_SHA1}},
    {"abc",
     "\xBA\x78\x16\xBF\x8F\x01\xCF\xEA\x41\x41\x40\xDE\x5D\xAE\x22\x23\xB0\x03\x61\xA3\x96\x17\x7A"
     "\x9C\xB4\x10\xFF\x61\xF2\x00\x15\xAD",
     {.kind = TRANSFORM_SHA256}},
    {"", "", {.kind = TRANSFORM_SHA256}},
    {"", "", {.kind = TRANSFORM_DOT_PREFIX}},
};

static uint32_t len_of(const struct example *example)
{
    return example->transform.kind == TRANSFORM_SHA256 && example->from[0] != '\0'
               ? 32
               : (uint32_t)strlen(example->to);
}

static void test_examples(void **state)
{
    struct transform_work work = {0};

    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const struct transform_chain chain = {.n = 1, .step = {examples[i].transform}};
        uint32_t len = (uint32_t)strlen(examples[i].from);
        uint8_t bytes[128];

        memcpy(bytes, examples[i].from, len);
        assert_true(transform_chain_apply(&chain, &work, bytes, &len));
        if (len != len_of(&examples[i]) || memcmp(bytes, examples[i].to, len) != 0)
            fail_msg("'%s' became '%.*s'", examples[i].from, (int)len, bytes);
    }
    transform_work_free(&work);
}

/* ---- unpacking ------------------------------------------------------------------------------- */

/* "evil " twenty times, by zlib 1.2 of Python. */
static const char gzipped[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x2d\xcb\xcc\x51\x48\xa5"
                              "\x2d\x01\x00\xe4\x47\xf3\x04\x64\x00\x00\x00";
static const char deflated[] = "\x78\xda\x4b\x2d\xcb\xcc\x51\x48\xa5\x2d\x01\x00\x32\xfd\x24\x41";

static void check_unpacked(enum transform_kind kind, uint32_t max, const char *from,
                           uint32_t from_len, uint32_t expected)
{
    const struct transform_chain chain = {.n = 1, .step = {{.kind = kind, .len = max}}};
    struct transform_work *work = calloc(1, sizeof *work);
    uint8_t *bytes = malloc(transform_chain_room(&chain, from_len));

    assert_true(work != NULL && bytes != NULL);
    memcpy(bytes, from, from_len);
    assert_true(transform_chain_apply(&chain, work, bytes, &from_len));
    assert_int_equal(from_len, expected);
    for (uint32_t i = 0; i < from_len; i++)
        assert_int_equal(bytes[i], "evil "[i % 5]);
    transform_work_free(work);
    free(work);
    free(bytes);
}

static void test_unpacking(void **state)
{
    enum { GZIPPED = sizeof gzipped - 1, DEFLATED = sizeof deflated - 1, ALL = 100 };

    (void)state;
    check_unpacked(TRANSFORM_GUNZIP, 1024, gzipped, GZIPPED, ALL);
    check_unpacked(TRANSFORM_ZLIB, 1024, deflated, DEFLATED, ALL);
    check_unpacked(TRANSFORM_ZLIB, ALL, deflated, DEFLATED, ALL);
    check_unpacked(TRANSFORM_ZLIB, 8, deflated, DEFLATED, 8);
    check_unpacked(TRANSFORM_GUNZIP, 1, gzipped, GZIPPED, 1);
    check_unpacked(TRANSFORM_GUNZIP, 1024, deflated, DEFLATED, 0);
    check_unpacked(TRANSFORM_ZLIB, 1024, gzipped, GZIPPED, 0);
    check_unpacked(TRANSFORM_ZLIB, 1024, deflated, DEFLATED - 4, ALL); /* the sum is cut off */
    check_unpacked(TRANSFORM_GUNZIP, 1024, "text", 4, 0);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void test_rules(void **state)
{
    static const struct pair pairs[] = {
        {RULE("ip", "ip.src; xor:\"ff\"; content:\"|3f 57 ff fe|\"; bsize:4;"),
         {.kind = TCP},
         {.kind = TCP, .src = 1}},
        {RULE("ip", "ip.src; to_md5; bsize:16;"), {.kind = TCP}, {.kind = ARP}},
        {RULE("ip", "ip.src; to_sha1; bsize:20;"), {.kind = TCP6}, {.kind = ARP}},
        {RULE("ip", "ip.src; dotprefix; dotprefix; bsize:6; content:\"..|c0|\"; startswith;"),
         {.kind = TCP},
         {.kind = TCP, .src = 1}},
        {RULE("ip", "ip.src; dotprefix; bsize:17;"), {.kind = TCP6}, {.kind = TCP}},
        {RULE("ip", "udp.hdr; url_decode; content:\"A|00|\"; startswith; bsize:6;"),
         {.kind = UDP, .src_port = 0x2534, .dst_port = 0x3100},
         {.kind = UDP, .src_port = 0x2534, .dst_port = 0x4700}},
        {RULE("ip", "ip.src; to_lowercase; content:\"abcd\";"),
         {.src = 0x41624344},
         {.src = 0x41624345}},
        {RULE("ip", "ip.src; to_uppercase; content:\"ABCD\"; ip.src; content:\"aBcD\";"),
         {.src = 0x61426344},
         {.src = 0x61426364}},
        {RULE("ip", "ip.src; strip_whitespace; bsize:2;"),
         {.src = 0x20410942},
         {.src = 0x20414142}},
        {RULE("ip", "ip.src; compress_whitespace; bsize:3;"),
         {.src = 0x20094142},
         {.src = 0x20410942}},
        {RULE("ip", "ip.src; from_base64; content:\"foo\"; bsize:3;"),
         {.src = 0x5A6D3976},
         {.src = 0x5A6D3977}},
        {RULE("ip", "ip.src; xor:20; to_uppercase; content:!\"A\";"),
         {.src = 0x42424242},
         {.src = 0x42424241}},
        {RULE("ip", "ip.src; pcrexform:\"A(.*)\"; content:\"BC\"; startswith; bsize:2;"),
         {.src = 0x20414243},
         {.src = 0x20614243}},
        {RULE("ip", "ip.src; pcrexform:\"(?:^| )(..)\"; to_lowercase; content:\"ab\"; bsize:2;"),
         {.src = 0x41422041},
         {.src = 0x20434142}},
        {RULE("ip", "ip.src; pcrexform:\"A()B\"; content:!\"A\";"),
         {.src = 0x41424141},
         {.src = 0x41434141}},
        /* A buffer that does not match, or not with its group, stays as it is. */
        {RULE("ip", "ip.src; pcrexform:\"A(.)\"; bsize:4;"),
         {.src = 0x42424242},
         {.src = 0x41424242}},
        {RULE("ip", "ip.src; pcrexform:\"A(B)?\"; bsize:4;"),
         {.src = 0x41434343},
         {.src = 0x41424343}},
    };

    (void)state;
    CHECK(pairs);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_unpacking),
        cmocka_unit_test(test_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
